"""Lends a latency-sensitive service's idle cores to a batch group and takes them back in time."""

__version__ = "0.1.0"
