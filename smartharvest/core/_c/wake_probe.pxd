from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "sensors/wake_probe.h" nogil:
    struct sh_wake_probe:
        int32_t cpu, waker_cpu
        int group_fd
        bint idle_policy
        uint32_t wakes
        int64_t interval_ns, until_ns
        int64_t kept_ns[64]
        bint from_afar[64]
        int64_t spun_ns
        int32_t child

    int sh_wake_probe_start(sh_wake_probe *probe)
    int sh_wake_probe_run(sh_wake_probe *probe)
    void sh_wake_probe_stop(sh_wake_probe *probe)
