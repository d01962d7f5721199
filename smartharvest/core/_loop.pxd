"""What other extension modules build on: drivers of the loop."""

from libc.stdint cimport uint16_t

from smartharvest.core._actuators cimport Actuator
from smartharvest.core._c.loop cimport sh_loop
from smartharvest.core._sensors cimport Sensor


cdef class Loop:
    cdef sh_loop *c
    cdef Py_buffer beat
    cdef uint16_t *whole
    cdef object decider
    cdef readonly Sensor sensor
    cdef readonly Actuator actuator
    cdef readonly int total
