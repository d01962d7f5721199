from libc.stdint cimport int32_t, uint64_t

cdef extern from *:
    ctypedef int32_t atomic_int32_t "_Atomic int32_t"

cdef extern from "actuators/nudge.h" nogil:
    struct sh_nudge:
        int tasks_fd
        atomic_int32_t *pinned_tid
        uint64_t nudges

    void sh_nudge_close(sh_nudge *nudge)
