from libc.stdint cimport int32_t, int64_t, uint32_t

from smartharvest.core._c.window cimport sh_window

cdef extern from "sensors/sensor.h" nogil:
    struct sh_reading:
        uint32_t busy, demand

    struct sh_lendable:
        const int32_t *cpus
        uint32_t count, elastic_min

    struct sh_displacements:
        int (*signal)(void *ctx, uint32_t cpu, int event_fd) noexcept nogil

    struct sh_sensor:
        int (*read)(void *ctx, int64_t now_ns, sh_reading *reading) noexcept nogil
        void *ctx
        void (*on_lent)(
            void *ctx, int64_t now_ns, const sh_lendable *lendable, uint32_t harvested
        ) noexcept nogil
        int (*collect)(void *ctx, int64_t now_ns, sh_window *window) noexcept nogil
        int wake_fd
        void (*free_for)(
            void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns
        ) noexcept nogil
