"""Measurements of speed, ``python -m bench``: each returns its figures, none is a test."""
