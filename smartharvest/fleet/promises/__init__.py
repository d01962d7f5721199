"""What may be promised of Harvest VMs: how many survive, with how many cores, how surely."""
