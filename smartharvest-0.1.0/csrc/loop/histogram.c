#include "loop/histogram.h"

static uint32_t bucket_of(uint64_t value) {
    if (value < SH_HISTOGRAM_SUB)
        return (uint32_t)value;
    uint32_t exponent = 63u - (uint32_t)__builtin_clzll(value); /* >= 3 */
    uint32_t mantissa = (uint32_t)(value >> (exponent - 3)) & (SH_HISTOGRAM_SUB - 1);
    return (exponent - 2) * SH_HISTOGRAM_SUB + mantissa;
}

int64_t sh_histogram_edge(uint32_t bucket) {
    if (bucket < SH_HISTOGRAM_SUB)
        return bucket;
    uint32_t exponent = bucket / SH_HISTOGRAM_SUB + 2;
    uint64_t mantissa = SH_HISTOGRAM_SUB + bucket % SH_HISTOGRAM_SUB;
    return (int64_t)(((mantissa + 1) << (exponent - 3)) - 1);
}

/* A single writer needs no read-modify-write instruction. */
static void bump(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

void sh_histogram_add(struct sh_histogram *histogram, int64_t value_ns) {
    sh_histogram_add_times(histogram, value_ns, 1);
}

void sh_histogram_add_times(struct sh_histogram *histogram, int64_t value_ns, uint64_t times) {
    uint64_t value = value_ns > 0 ? (uint64_t)value_ns : 0;
    uint32_t bucket = bucket_of(value);
    if (bucket >= SH_HISTOGRAM_BUCKETS)
        bucket = SH_HISTOGRAM_BUCKETS - 1;
    bump(&histogram->count[bucket], times);
    bump(&histogram->total, times);
    bump(&histogram->sum_ns, value * times);
    if ((int64_t)value > atomic_load_explicit(&histogram->max_ns, memory_order_relaxed))
        atomic_store_explicit(&histogram->max_ns, (int64_t)value, memory_order_relaxed);
}

int64_t sh_histogram_quantile(const struct sh_histogram *histogram, double q) {
    uint64_t total = atomic_load_explicit(&histogram->total, memory_order_relaxed);
    int64_t max_ns = atomic_load_explicit(&histogram->max_ns, memory_order_relaxed);
    double rank = q * (double)total;
    uint64_t seen = 0;
    if (total == 0)
        return 0;
    for (uint32_t i = 0; i < SH_HISTOGRAM_BUCKETS; i++) {
        seen += atomic_load_explicit(&histogram->count[i], memory_order_relaxed);
        if (seen > 0 && (double)seen >= rank)
            return sh_histogram_edge(i) < max_ns ? sh_histogram_edge(i) : max_ns;
    }
    return max_ns;
}
