"""Clusters: where to place, what is left to harvest, what may be promised, and what it costs."""
