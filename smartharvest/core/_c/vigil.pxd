from libc.stdint cimport int64_t


cdef extern from "guardian/vigil.h" nogil:
    struct sh_vigil_page:
        pass

    struct sh_vigil_look:
        int64_t now_ns
        int64_t phase
        int64_t loop_beat_ns
        int64_t agent_beat_ns

    struct sh_vigil_limits:
        int64_t shrink_after
        int64_t kill_after
        int64_t loop_due
        int64_t agent_due
        int64_t look_soon
        int64_t look_late
        int64_t standstill

    struct sh_vigil:
        sh_vigil_limits limits
        sh_vigil_page *page
        int pidfd
        sh_vigil_look last
        sh_vigil_look look

    int64_t sh_vigil_until_next(const sh_vigil_limits *limits, const sh_vigil_look *look)
    bint sh_vigil_is_well(
        const sh_vigil_limits *limits, const sh_vigil_look *last, const sh_vigil_look *look
    )
    int sh_vigil_wait(sh_vigil *vigil, int64_t wait_ns, bint well)
