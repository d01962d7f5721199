"""Adapters that set how many cores of a node a cluster engine may use."""
