from libc.stdint cimport int32_t, int64_t, uint32_t

from smartharvest.core._c.window cimport sh_window

cdef extern from "sensors/sensor.h" nogil:
    struct sh_reading:
        uint32_t busy, demand

    struct sh_sensor:
        int (*read)(
            void *ctx, int64_t now_ns, uint32_t harvested, sh_reading *reading
        ) noexcept nogil
        void *ctx
        int (*collect)(void *ctx, int64_t now_ns, sh_window *window) noexcept nogil
        int wake_fd
        void (*free_for)(
            void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns
        ) noexcept nogil
