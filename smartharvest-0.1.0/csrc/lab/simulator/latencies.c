#include "lab/simulator/latencies.h"

#include <math.h>

enum { SUB = 1 << SH_SIM_LATENCY_BITS };

void sh_sim_latencies_add(struct sh_sim_latencies *latencies, int64_t ns) {
    const uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    uint64_t bucket = value;
    if (value >= SUB) {
        const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - SH_SIM_LATENCY_BITS;
        bucket = ((uint64_t)shift << SH_SIM_LATENCY_BITS) + (value >> shift);
    }
    if (bucket >= SH_SIM_LATENCY_BUCKETS)
        bucket = SH_SIM_LATENCY_BUCKETS - 1;
    latencies->count[bucket]++;
    latencies->total++;
    latencies->sum_ns += value;
    if (ns > latencies->max_ns)
        latencies->max_ns = ns;
}

void sh_sim_latencies_merge(struct sh_sim_latencies *to, const struct sh_sim_latencies *from) {
    for (uint32_t i = 0; i < SH_SIM_LATENCY_BUCKETS; i++)
        to->count[i] += from->count[i];
    to->total += from->total;
    to->sum_ns += from->sum_ns;
    if (from->max_ns > to->max_ns)
        to->max_ns = from->max_ns;
}

/* First value of a bucket; a bucket's width is where the next one begins. */
static double lower_edge(uint64_t bucket) {
    if (bucket < 2 * SUB)
        return (double)bucket;
    const uint32_t shift = (uint32_t)(bucket >> SH_SIM_LATENCY_BITS) - 1;
    return (double)((bucket - ((uint64_t)shift << SH_SIM_LATENCY_BITS)) << shift);
}

uint64_t sh_sim_latencies_middle(uint32_t bucket) {
    return (uint64_t)((lower_edge(bucket) + lower_edge(bucket + 1)) / 2);
}

double sh_sim_latencies_quantile(const struct sh_sim_latencies *latencies, double q) {
    const double rank = ceil(q * (double)latencies->total);
    uint64_t seen = 0;
    if (latencies->total == 0)
        return 0;
    for (uint32_t i = 0; i < SH_SIM_LATENCY_BUCKETS; i++) {
        const uint64_t here = latencies->count[i];
        if (here && (double)(seen + here) >= rank) {
            /* Spread evenly over what the bucket holds: whole nanoseconds. */
            const double low = lower_edge(i), high = lower_edge(i + 1) - 1;
            const double share = here > 1 ? (rank - (double)seen - 0.5) / (double)here : 0.5;
            const double value = low + (high - low) * (share > 0 ? share : 0);
            return value < (double)latencies->max_ns ? value : (double)latencies->max_ns;
        }
        seen += here;
    }
    return (double)latencies->max_ns;
}
