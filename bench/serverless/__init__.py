"""``make reproduce-serverless``: the paper's comparisons on the simulated workers."""
