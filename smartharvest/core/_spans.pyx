# cython: language_level=3
"""How many spans were how long, in C. No logic lives here."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from smartharvest.core._c.span_counts cimport (
    sh_span_counts,
    sh_span_counts_add,
    sh_span_counts_beyond,
    sh_span_counts_beyond_delayed,
    sh_span_counts_by_time,
    sh_span_counts_longest,
    sh_span_counts_quantile_delayed_ns,
    sh_span_counts_quantile_ns,
    sh_span_counts_scale,
)


cdef class SpanCounts:
    cdef sh_span_counts c

    @property
    def total(self):
        return self.c.total

    def add(self, durations, double times=1):
        cdef uint64_t ns
        cdef double count
        for ns, count in durations:
            sh_span_counts_add(&self.c, ns, times * count)

    def scale(self, double factor):
        sh_span_counts_scale(&self.c, factor)

    def clear(self):
        memset(&self.c, 0, sizeof(self.c))

    def beyond(self, double limit_ns, SpanCounts delays=None):
        if delays is None or not delays.c.total > 0:
            return sh_span_counts_beyond(&self.c, limit_ns)
        return sh_span_counts_beyond_delayed(&self.c, &delays.c, limit_ns)

    def quantile_ns(self, double q, SpanCounts delays=None):
        if delays is None or not delays.c.total > 0:
            return sh_span_counts_quantile_ns(&self.c, q)
        return sh_span_counts_quantile_delayed_ns(&self.c, &delays.c, q)

    def by_time(self, double q):
        cdef SpanCounts into = SpanCounts()
        sh_span_counts_by_time(&into.c, &self.c, q)
        return into

    def longest(self, double share):
        cdef SpanCounts into = SpanCounts()
        sh_span_counts_longest(&into.c, &self.c, share)
        return into
