"""What other extension modules build on: drivers of the loop."""

from libc.stdint cimport int32_t, uint16_t

from smartharvest.core._actuators cimport Actuator
from smartharvest.core._c.loop cimport sh_loop
from smartharvest.core._sensors cimport Sensor


cdef class Loop:
    cdef sh_loop *c
    cdef Py_buffer beat, revoked
    cdef uint16_t *whole
    cdef int32_t *lendable
    cdef object decider, rescue, revocation
    cdef readonly Sensor sensor
    cdef readonly Actuator actuator
    cdef readonly int total
    cdef void lend(self, object order, object lendable, int elastic_min) except *
    cdef void place(self, object cpus, object realtime_cpus) except *
