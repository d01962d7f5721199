from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from "loop/histogram.h" nogil:
    enum:
        SH_HISTOGRAM_BUCKETS

    struct sh_histogram:
        uint64_t count[488]
        uint64_t total
        int64_t max_ns
        uint64_t sum_ns

    int64_t sh_histogram_edge(uint32_t bucket)
    int64_t sh_histogram_quantile(const sh_histogram *histogram, double q)


cdef inline tuple durations(const sh_histogram *kept):
    """(upper edge of a bucket in ns, count), ascending, without the empty ones."""
    cdef uint32_t i
    return tuple([
        (sh_histogram_edge(i), kept.count[i])
        for i in range(<uint32_t> SH_HISTOGRAM_BUCKETS)
        if kept.count[i]
    ])
