"""Real cluster engines on loopback; each is skipped where it is not installed."""
