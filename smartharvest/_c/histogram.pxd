from libc.stdint cimport int64_t, uint64_t

cdef extern from "histogram.h" nogil:
    struct sh_histogram:
        uint64_t total
        int64_t max_ns

    void sh_histogram_add(sh_histogram *histogram, int64_t value_ns)
    int64_t sh_histogram_quantile(const sh_histogram *histogram, double q)
