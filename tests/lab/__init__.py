"""The kernel lab: other kernels in QEMU, with this checkout's tests inside."""
