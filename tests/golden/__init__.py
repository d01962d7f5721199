"""What the program computed once from given seeds, kept as bytes that it must still compute.

``python -m tests.golden --record`` computes all of it again, for a change that is meant to change
results: the commit then shows which figures moved.
"""
