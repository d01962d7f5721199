"""Short functions on cores that come and go: who runs what, what an eviction costs, a price."""
