from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "sensors/task_list.h" nogil:
    enum:
        SH_MAX_TASK_SOURCES

    struct sh_task_source:
        int fd
        bint directory
        uint32_t primary

    struct sh_task_sources:
        sh_task_source source[256]
        uint32_t count
        uint32_t allocations[256]
        uint32_t primary_count

    void sh_task_start_times(const int32_t *tids, uint32_t count, int64_t *start_times)
