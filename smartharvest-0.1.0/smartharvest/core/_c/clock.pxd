from libc.stdint cimport int64_t

cdef extern from "loop/clock.h" nogil:
    enum sh_pacing:
        SH_PACING_SLEEP
        SH_PACING_SPIN

    struct sh_clock:
        pass

    int64_t sh_monotonic_ns()
    void sh_clock_monotonic(sh_clock *clock, sh_pacing pacing)
