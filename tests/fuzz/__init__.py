"""Fuzzing of everything that is parsed and that others wrote (``make fuzz``)."""
