from libc.stdint cimport int64_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator
from smartharvest.core._c.histogram cimport sh_histogram
from smartharvest.core._c.loop cimport sh_loop
from smartharvest.core._c.recorder cimport sh_change
from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "lab/trace_host.h" nogil:
    struct sh_trace_host:
        uint64_t seen_ns, short_ns, short_core_ns, short_spells
        uint32_t short_most
        sh_histogram waits

    void sh_trace_host_init(
        sh_trace_host *host, uint32_t total, sh_sensor *sensor, sh_actuator *actuator
    )
    void sh_trace_host_feed(
        sh_trace_host *host, const sh_change *changes, uint32_t length, int64_t until_ns
    )
    int sh_trace_host_play(
        sh_trace_host *host, sh_loop *loop, int64_t *deadline_ns, int64_t until_ns
    )
