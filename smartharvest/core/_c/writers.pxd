from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


cdef extern from "sensors/writers.h" nogil:
    enum:
        SH_WRITERS_GROUPS
        SH_WRITERS_RING

    struct sh_writer:
        int64_t at_ns
        uint64_t group
        int32_t pid, parent
        char *name
        char *parent_name
        char *file

    struct sh_writers:
        pass

    int sh_writers_open(sh_writers *writers, const char **reason)
    void sh_writers_close(sh_writers *writers)
    void sh_writers_watch(sh_writers *writers, const uint64_t *groups, uint32_t count)
    uint32_t sh_writers_read(const sh_writers *writers, sh_writer *records)
