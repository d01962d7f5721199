from libc.stdint cimport int64_t, uint32_t


cdef extern from "lab/standstill.h" nogil:
    struct sh_standstill_gap:
        int64_t from_ns
        int64_t until_ns

    struct sh_standstill_watcher:
        int cpu
        sh_standstill_gap *gaps

    struct sh_standstill_watch:
        int64_t period_ns
        int64_t least_late_ns
        uint32_t count
        sh_standstill_watcher *watchers

    int sh_standstill_start(sh_standstill_watch *watch)
    void sh_standstill_stop(sh_standstill_watch *watch)
    uint32_t sh_standstill_gap_count(const sh_standstill_watcher *watcher)
