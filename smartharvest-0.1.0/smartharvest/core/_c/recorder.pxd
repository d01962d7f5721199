from libc.stdint cimport int64_t, uint16_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "lab/recorder.h" nogil:
    enum:
        SH_TRACE_UNSEEN

    struct sh_change:
        int64_t time_ns
        uint16_t busy, demand

    struct sh_recorder:
        uint64_t changes, gaps, lost

    void sh_recorder_init(
        sh_recorder *recorder,
        const sh_sensor *inner,
        int64_t poll_ns,
        int64_t gap_ns,
        sh_sensor *sensor,
    )
    uint32_t sh_recorder_take(
        sh_recorder *recorder, sh_change *changes, uint32_t most, int64_t *until_ns
    )
