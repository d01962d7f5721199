"""Functions on workers whose cores come and go, in virtual time and from a seed."""
