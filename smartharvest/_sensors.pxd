"""What other extension modules build on: new sensors."""

from smartharvest._c.sensor cimport sh_sensor


cdef class Sensor:
    cdef sh_sensor seam
