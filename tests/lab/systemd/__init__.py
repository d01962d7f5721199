"""The systemd lab: Debian in QEMU, systemd as its first process, the package installed."""
