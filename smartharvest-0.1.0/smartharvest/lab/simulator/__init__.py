"""A simulated server: the same loop, policies and safeguards in virtual time, from a seed."""
