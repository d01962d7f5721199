"""What other extension modules build on: new sensors."""

from smartharvest.core._c.sensor cimport sh_displacements, sh_sensor


cdef class Sensor:
    cdef sh_sensor seam
    cdef sh_displacements displacements_seam
