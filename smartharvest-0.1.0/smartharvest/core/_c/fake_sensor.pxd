from libc.stdint cimport int32_t, int64_t, uint8_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from *:
    ctypedef uint8_t atomic_uint8_t "_Atomic uint8_t"
    ctypedef int64_t atomic_int64_t "_Atomic int64_t"

cdef extern from "sensors/fake_sensor.h" nogil:
    struct sh_fake_sensor:
        const int32_t *script
        size_t script_length
        size_t position
        const atomic_uint8_t *cores
        size_t core_count
        const atomic_int64_t *free_ns

    void sh_fake_sensor_init(sh_fake_sensor *fake, sh_sensor *sensor)
