from libc.stdint cimport uint64_t

cdef extern from "policy/span_counts.h" nogil:
    cdef struct sh_span_counts:
        double total

    void sh_span_counts_add(sh_span_counts *spans, uint64_t ns, double count)
    void sh_span_counts_scale(sh_span_counts *spans, double factor)
    double sh_span_counts_beyond(const sh_span_counts *spans, double limit_ns)
    void sh_span_counts_by_time(sh_span_counts *into, const sh_span_counts *spans, double q)
    double sh_span_counts_quantile_ns(const sh_span_counts *spans, double q)
    void sh_span_counts_longest(
        sh_span_counts *into, const sh_span_counts *spans, double share
    )
    double sh_span_counts_beyond_delayed(
        const sh_span_counts *spans, const sh_span_counts *by, double limit_ns
    )
    double sh_span_counts_quantile_delayed_ns(
        const sh_span_counts *spans, const sh_span_counts *by, double q
    )
