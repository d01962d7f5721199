from libc.stdint cimport int64_t, uint32_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "sensors/fake_events.h" nogil:
    struct sh_fake_events:
        pass

    int sh_fake_events_init(sh_fake_events *fake, int64_t now_ns, sh_sensor *sensor)
    void sh_fake_events_destroy(sh_fake_events *fake)
    void sh_fake_events_set(sh_fake_events *fake, int64_t now_ns, uint32_t busy, uint32_t demand)
    void sh_fake_events_fail(sh_fake_events *fake, int err)
