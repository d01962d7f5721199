"""The paper's evaluation (section 5) on the simulated server, claim by claim."""
