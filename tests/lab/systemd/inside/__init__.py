"""What runs inside a guest of the systemd lab, with Debian's python3 and nothing else."""
