"""A cluster whose nodes' cores come and go: ``make demo-cluster``."""
