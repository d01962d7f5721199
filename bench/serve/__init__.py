"""Functions on a cluster whose nodes' cores come and go: ``make demo-serverless``."""
