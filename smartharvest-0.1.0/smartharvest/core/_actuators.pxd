"""What other extension modules build on: new actuators."""

from smartharvest.core._c.actuator cimport sh_actuator
from smartharvest.core._c.affinity cimport sh_affinity


cdef class Actuator:
    cdef sh_actuator seam


cdef class ThreadsActuator(Actuator):
    cdef sh_affinity *threads


cdef class FilesActuator(Actuator):
    cdef object paths, fds, kernel_files
    cdef int open(self, str path, int flags) except -1
    cdef int handle(self, str path, int flags) except -1


cdef int files_write(void *ctx, int handle, const char *value, size_t length) noexcept with gil
cdef ssize_t files_read(void *ctx, int handle, char *value, size_t size) noexcept with gil
