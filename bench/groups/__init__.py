"""How several elastic groups share on this host, and what a primary that bursts notices of it."""
