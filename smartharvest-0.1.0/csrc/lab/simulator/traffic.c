#include "lab/simulator/traffic.h"

#include <math.h>

enum { STREAMS_PER_PRIMARY = 8 };

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t exponential_ns(struct sh_sim_random *random, double mean_ns) {
    const double ns = mean_ns * sh_sim_exponential(random);
    return ns < 1.0 ? 1 : (int64_t)ns;
}

void sh_sim_traffic_init(struct sh_sim_traffic *traffic, const struct sh_sim_traffic_config *config,
                         uint64_t seed, uint32_t number) {
    const uint64_t first = (uint64_t)number * STREAMS_PER_PRIMARY + 1;
    *traffic = (struct sh_sim_traffic){.config = *config, .phase_end_ns = INT64_MAX};
    sh_sim_random_seed(&traffic->arrival, seed, first);
    sh_sim_random_seed(&traffic->phase, seed, first + 1);
    sh_sim_random_seed(&traffic->batch, seed, first + 2);
    sh_sim_random_seed(&traffic->fork, seed, first + 3);
    sh_sim_random_seed(&traffic->service, seed, first + 4);
    traffic->lognormal_mu = log(config->service_mean_ns) - config->sigma * config->sigma / 2;
    if (config->schedule_length)
        traffic->entry_end_ns = config->schedule[0].for_ns;
    if (config->arrivals == SH_SIM_MMPP) {
        /* As if it had always been running. */
        const double on_share = config->on_ns / (config->on_ns + config->off_ns);
        traffic->on = sh_sim_uniform(&traffic->phase) < on_share;
        traffic->phase_end_ns =
            exponential_ns(&traffic->phase, traffic->on ? config->on_ns : config->off_ns);
    }
    sh_sim_traffic_advance(traffic);
}

/* Batches a nanosecond, now. */
static double rate(const struct sh_sim_traffic *traffic) {
    const struct sh_sim_traffic_config *c = &traffic->config;
    double per_ns = c->schedule[traffic->entry].per_s / 1e9 / c->batch_mean;
    if (c->arrivals == SH_SIM_MMPP) {
        const double mean = (c->on_ns * c->multiplier + c->off_ns) / (c->on_ns + c->off_ns);
        per_ns *= (traffic->on ? c->multiplier : 1.0) / mean;
    }
    return per_ns;
}

static void pass_boundary(struct sh_sim_traffic *traffic, int64_t at_ns) {
    const struct sh_sim_traffic_config *c = &traffic->config;
    if (traffic->phase_end_ns <= at_ns) {
        traffic->on = !traffic->on;
        traffic->phase_end_ns +=
            exponential_ns(&traffic->phase, traffic->on ? c->on_ns : c->off_ns);
    }
    if (traffic->entry_end_ns <= at_ns) {
        traffic->entry = (traffic->entry + 1) % c->schedule_length;
        traffic->entry_end_ns += c->schedule[traffic->entry].for_ns;
    }
}

static bool ever_arrives(const struct sh_sim_traffic_config *config) {
    for (uint32_t i = 0; i < config->schedule_length; i++)
        if (config->schedule[i].per_s > 0)
            return true;
    return false;
}

static void advance_trace(struct sh_sim_traffic *traffic) {
    const struct sh_sim_traffic_config *c = &traffic->config;
    if (c->trace_length == 0) {
        traffic->next_ns = INT64_MAX;
        return;
    }
    if (traffic->entry == c->trace_length) {
        traffic->entry = 0;
        traffic->trace_base_ns += c->trace_period_ns;
    }
    traffic->next_ns = traffic->trace_base_ns + c->trace[traffic->entry++];
}

void sh_sim_traffic_advance(struct sh_sim_traffic *traffic) {
    if (traffic->config.arrivals == SH_SIM_TRACE) {
        advance_trace(traffic);
        return;
    }
    if (!ever_arrives(&traffic->config)) {
        traffic->next_ns = INT64_MAX;
        return;
    }
    /* The rate integrated over time grows by this from one arrival to the next, however often it
     * changes in between. */
    double left =
        traffic->config.arrivals == SH_SIM_PACED ? 1.0 : sh_sim_exponential(&traffic->arrival);
    int64_t now_ns = traffic->next_ns;
    for (;;) {
        const int64_t boundary_ns = min_i64(traffic->entry_end_ns, traffic->phase_end_ns);
        const double per_ns = rate(traffic), span_ns = (double)(boundary_ns - now_ns);
        if (per_ns * span_ns >= left) {
            traffic->next_ns = now_ns + llround(left / per_ns);
            return;
        }
        left -= per_ns * span_ns;
        now_ns = boundary_ns;
        pass_boundary(traffic, boundary_ns);
    }
}

uint32_t sh_sim_traffic_batch(struct sh_sim_traffic *traffic) {
    const double mean = traffic->config.batch_mean;
    if (mean <= 1.0)
        return 1;
    const double more = sh_sim_exponential(&traffic->batch) / -log1p(-1.0 / mean);
    return more < 1e6 ? 1 + (uint32_t)more : 1000000;
}

uint32_t sh_sim_traffic_fork(struct sh_sim_traffic *traffic) {
    const struct sh_sim_traffic_config *c = &traffic->config;
    if (c->fork_min == c->fork_max)
        return c->fork_min;
    return c->fork_min + sh_sim_below(&traffic->fork, c->fork_max - c->fork_min + 1);
}

int64_t sh_sim_traffic_service(struct sh_sim_traffic *traffic) {
    const struct sh_sim_traffic_config *c = &traffic->config;
    double ns = c->service_mean_ns;
    switch (c->service) {
    case SH_SIM_DETERMINISTIC:
        break;
    case SH_SIM_EXPONENTIAL:
        ns *= sh_sim_exponential(&traffic->service);
        break;
    case SH_SIM_LOGNORMAL:
        ns = exp(traffic->lognormal_mu + c->sigma * sh_sim_normal(&traffic->service));
        break;
    case SH_SIM_ERLANG: {
        double stages = 0;
        for (uint32_t i = 0; i < c->shape; i++)
            stages += sh_sim_exponential(&traffic->service);
        ns *= stages / c->shape;
        break;
    }
    }
    return ns < 1.0 ? 1 : llround(ns);
}
