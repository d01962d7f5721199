from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from "histogram.h" nogil:
    enum:
        SH_HISTOGRAM_BUCKETS

    struct sh_histogram:
        uint64_t count[488]
        uint64_t total
        int64_t max_ns

    void sh_histogram_add(sh_histogram *histogram, int64_t value_ns)
    int64_t sh_histogram_edge(uint32_t bucket)
    int64_t sh_histogram_quantile(const sh_histogram *histogram, double q)
