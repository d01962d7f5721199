from libc.stdint cimport int64_t, uint32_t

cdef extern from "loop/window.h" nogil:
    enum:
        SH_MAX_CORES

    struct sh_window:
        pass

    struct sh_features:
        double min, max, mean, std, median

    void sh_window_reset(sh_window *window, int64_t start_ns)
    void sh_window_add(sh_window *window, uint32_t busy, uint32_t demand)
    void sh_window_features(const sh_window *window, sh_features *features)
