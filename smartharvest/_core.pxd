"""What other extension modules build on: new sensors and actuators, and drivers of the loop."""

from libc.stdint cimport uint16_t

from smartharvest._c.actuator cimport sh_actuator
from smartharvest._c.affinity cimport sh_affinity
from smartharvest._c.loop cimport sh_loop
from smartharvest._c.sensor cimport sh_sensor

cdef void *hold_slot(object slot, Py_buffer *held, size_t size) except NULL


cdef class Sensor:
    cdef sh_sensor seam


cdef class Actuator:
    cdef sh_actuator seam


cdef class ThreadsActuator(Actuator):
    cdef sh_affinity *threads


cdef class FilesActuator(Actuator):
    cdef object paths, fds, kernel_files
    cdef int open(self, str path, int flags) except -1
    cdef int handle(self, str path, int flags) except -1


cdef void *hold_slot(object slot, Py_buffer *held, size_t size) except NULL
cdef int files_write(void *ctx, int handle, const char *value, size_t length) noexcept with gil
cdef ssize_t files_read(void *ctx, int handle, char *value, size_t size) noexcept with gil


cdef class Loop:
    cdef sh_loop *c
    cdef Py_buffer beat
    cdef uint16_t *whole
    cdef object decider
    cdef readonly Sensor sensor
    cdef readonly Actuator actuator
    cdef readonly int total
