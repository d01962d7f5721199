/* Which worker runs an invocation: the choices of smartharvest/serverless/balancers/, for the
 * simulator. The words and the order of the arithmetic are those of the Python modules; a test
 * holds both to the same choices. */
#ifndef SH_FAAS_BALANCER_H
#define SH_FAAS_BALANCER_H

#include "lab/simulator/random.h"

#include <stdbool.h>
#include <stdint.h>

enum sh_faas_kind {
    SH_FAAS_MIN_WORKER_SET,
    SH_FAAS_SHORTEST_QUEUE,
    SH_FAAS_HOME_INVOKER,
    SH_FAAS_TWO_CHOICES,
};

/* One worker, as of reported_s: struct Worker of view.py. Memory is in whole MiB. */
struct sh_faas_view {
    double cores, min_cores, load, reported_s;
    double eviction_s; /* infinite: no notice */
    double memory_mib, busy_memory_mib;
    uint32_t warm; /* functions that would start warm */
    bool present;
};

struct sh_faas_function {
    uint32_t number; /* 0..functions-1 */
    uint32_t hash;
    double memory_mib;
};

struct sh_faas_options {
    enum sh_faas_kind kind;
    double fresh_s, lost_s;         /* struct Caution */
    double fill, grow_at, forget_s; /* of Min-Worker-Set */
    double cold_cost;               /* of Min-Worker-Set and Join-the-Shortest-Queue */
};

struct sh_faas_member {
    uint32_t slot;
    double used_s;
};

/* The workers of one function, the longest-serving first. */
struct sh_faas_set {
    struct sh_faas_member *members;
    uint32_t count, capacity;
};

struct sh_faas_balancer {
    struct sh_faas_options options;
    struct sh_sim_random random;
    uint32_t functions, slots;
    struct sh_faas_set *sets; /* [functions] */
    uint32_t *found;          /* [slots]; those that a choice is among */
    uint32_t *mark;           /* [slots]; == stamp: a member of the set in question */
    uint32_t stamp;
    uint32_t *steps; /* [slots]; coprime to steps_for and to one another */
    uint32_t step_count, steps_for;
};

/* What a choice is made from. */
struct sh_faas_pool {
    const struct sh_faas_view *views; /* [slots] */
    const uint32_t *order;            /* [count]; the slots of those that are there */
    uint32_t count;
};

/* 0 or -ENOMEM; destroy after either. */
int sh_faas_balancer_init(struct sh_faas_balancer *balancer, const struct sh_faas_options *options,
                          uint32_t functions, uint32_t slots, uint64_t seed, uint64_t stream);
void sh_faas_balancer_destroy(struct sh_faas_balancer *balancer);

/* The worker's slot; -EAGAIN if nobody may take it, -ENOMEM. warm[slot]: the function would start
 * warm there. */
int64_t sh_faas_choose(struct sh_faas_balancer *balancer, const struct sh_faas_function *function,
                       const struct sh_faas_pool *pool, const uint8_t *warm, double now_s);

#endif
