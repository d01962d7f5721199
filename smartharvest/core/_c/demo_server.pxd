from libc.stdint cimport int64_t


cdef extern from "lab/demo_server.h" nogil:
    struct sh_server_slice:
        const int64_t *arrival_ns
        const int64_t *work
        int64_t *latency_ns
        size_t count
        int64_t steps_per_ms

    struct sh_server:
        pass

    int64_t sh_server_calibrate()
    int sh_server_start(sh_server *server, int workers)
    void sh_server_serve(sh_server *server, const sh_server_slice *slice)
    void sh_server_stop(sh_server *server)
