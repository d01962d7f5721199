from libc.stdint cimport int64_t, uint32_t

cdef extern from "sensor.h" nogil:
    struct sh_reading:
        uint32_t busy, demand

    struct sh_sensor:
        int (*read)(
            void *ctx, int64_t now_ns, uint32_t harvested, sh_reading *reading
        ) noexcept nogil
        void *ctx
        int wake_fd
