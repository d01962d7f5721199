/* What a primary VM is asked to do: when requests arrive, how many threads each needs and for how
 * long. Open loop: nothing here depends on how the requests fare, so every policy meets the same
 * traffic. */
#ifndef SH_SIM_TRAFFIC_H
#define SH_SIM_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/simulator/random.h"

enum sh_sim_arrivals {
    SH_SIM_POISSON,
    SH_SIM_MMPP,
    SH_SIM_PACED, /* equal distances */
    SH_SIM_TRACE, /* at the times given */
};

enum sh_sim_service { SH_SIM_DETERMINISTIC, SH_SIM_EXPONENTIAL, SH_SIM_LOGNORMAL, SH_SIM_ERLANG };

struct sh_sim_rate {
    int64_t for_ns; /* > 0; after the last entry the first follows again */
    double per_s;   /* requests */
};

struct sh_sim_traffic_config {
    enum sh_sim_arrivals arrivals;
    const struct sh_sim_rate *schedule; /* long-run means, batches and bursts included */
    uint32_t schedule_length;
    double multiplier;    /* mmpp: rate when on over rate when off */
    double on_ns, off_ns; /* mmpp: means of exponential times */
    double batch_mean;    /* >= 1; geometric */
    const int64_t *trace; /* ascending, repeated after trace_period_ns */
    uint32_t trace_length;
    int64_t trace_period_ns;
    enum sh_sim_service service;
    double service_mean_ns;
    double sigma;                /* lognormal: of the logarithm */
    uint32_t shape;              /* erlang: stages */
    uint32_t fork_min, fork_max; /* threads of a request, uniform */
    /* CPU time that sending a request to its threads takes, 0 if no thread of the primary's does.
     * Each request has its own, but with a queue for each core: there one sends all, and takes half
     * of it, and half more for each that it wakes. With such queues only: CPU time that a worker's
     * waking up and going to sleep takes. */
    int64_t send_ns, wake_ns;
};

struct sh_sim_traffic {
    struct sh_sim_traffic_config config;
    struct sh_sim_random arrival, phase, batch, fork, service; /* streams by purpose */
    double lognormal_mu;
    int64_t next_ns;
    uint32_t entry; /* of the schedule or the trace */
    int64_t entry_end_ns;
    int64_t trace_base_ns;
    bool on; /* mmpp */
    int64_t phase_end_ns;
};

/* Starts at time 0; `number` tells the primaries of one run apart. */
void sh_sim_traffic_init(struct sh_sim_traffic *traffic, const struct sh_sim_traffic_config *config,
                         uint64_t seed, uint32_t number);

/* Moves next_ns to the following arrival, INT64_MAX if there is none. */
void sh_sim_traffic_advance(struct sh_sim_traffic *traffic);

/* Requests that arrive together, >= 1. */
uint32_t sh_sim_traffic_batch(struct sh_sim_traffic *traffic);

/* Threads of one request, >= 1. */
uint32_t sh_sim_traffic_fork(struct sh_sim_traffic *traffic);

/* CPU time of one thread, >= 1 ns. */
int64_t sh_sim_traffic_service(struct sh_sim_traffic *traffic);

#endif
