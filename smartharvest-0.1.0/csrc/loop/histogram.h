/* Log-linear histogram of durations: eight buckets an octave, so a quantile is right within 12.5 %.
 * One writer; readers may look at any time and see counts that are at most a moment old. */
#ifndef SH_HISTOGRAM_H
#define SH_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { SH_HISTOGRAM_SUB = 8, SH_HISTOGRAM_BUCKETS = 61 * SH_HISTOGRAM_SUB };

struct sh_histogram {
    _Atomic uint64_t count[SH_HISTOGRAM_BUCKETS];
    _Atomic uint64_t total;
    _Atomic int64_t max_ns;
    _Atomic uint64_t sum_ns;
};

void sh_histogram_add(struct sh_histogram *histogram, int64_t value_ns);

/* The same `times` times. */
void sh_histogram_add_times(struct sh_histogram *histogram, int64_t value_ns, uint64_t times);

/* Upper edge of a bucket. */
int64_t sh_histogram_edge(uint32_t bucket);

/* Upper edge of the bucket that holds quantile q (0..1), at most the maximum; 0 when empty. */
int64_t sh_histogram_quantile(const struct sh_histogram *histogram, double q);

#endif
