/* Durations as a log-linear histogram: 1024 buckets an octave, so that a quantile is right within
 * 0.1 % in a few hundred KB, however long the run. */
#ifndef SH_SIM_LATENCIES_H
#define SH_SIM_LATENCIES_H

#include <stdint.h>

enum {
    SH_SIM_LATENCY_BITS = 10,
    SH_SIM_LATENCY_OCTAVES = 36, /* up to 2^45 ns, some ten hours; longer ones count as that */
    SH_SIM_LATENCY_BUCKETS = (SH_SIM_LATENCY_OCTAVES + 1) << SH_SIM_LATENCY_BITS,
};

struct sh_sim_latencies {
    uint64_t count[SH_SIM_LATENCY_BUCKETS];
    uint64_t total, sum_ns;
    int64_t max_ns;
};

void sh_sim_latencies_add(struct sh_sim_latencies *latencies, int64_t ns);

/* *to becomes both. */
void sh_sim_latencies_merge(struct sh_sim_latencies *to, const struct sh_sim_latencies *from);

/* Middle of a bucket, ns. */
uint64_t sh_sim_latencies_middle(uint32_t bucket);

/* Quantile q (0..1) in ns, by rank ceil(q * total); 0 when empty. */
double sh_sim_latencies_quantile(const struct sh_sim_latencies *latencies, double q);

#endif
