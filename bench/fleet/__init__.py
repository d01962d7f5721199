"""The clusters' part of the papers: how many VMs, which promises, which price."""
