"""What a node's harvest promises a cluster, and how cluster engines follow it."""
