/* What lending costs each primary, by the definitions of the in-kernel sensor (docs/reference/
 * sensors.md), from the model. */
#ifndef SH_SIM_HARM_H
#define SH_SIM_HARM_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/simulator/latencies.h"

enum { SH_SIM_LONG_WAIT_NS = 200000 };

/* Dispatches that something was lent in, or all others. */
struct sh_sim_harm_side {
    struct sh_sim_latencies waits, wakes_to_sleeps; /* the latter of whole threads */
    uint64_t long_waits, behind_elastic, behind_elastic_here;
};

struct sh_sim_harm {
    struct sh_sim_harm_side sides[2]; /* nothing lent, something lent */
    /* What the threads of the latter took, and would have without what lending held them up for;
     * with those that would have come while a task was held up. */
    struct sh_sim_latencies harmed, unharmed;
    /* The same of their waits for a core. */
    struct sh_sim_latencies harmed_waits, unharmed_waits;
    uint64_t woken_by_own; /* threads, by another of the same primary's */
};

/* A wait that has ended. elastic_ns: CPU time of the elastic group since a core was last idle;
 * here_ns: how long the elastic group had the core on which it was waited for. */
struct sh_sim_ended_wait {
    int64_t wait_ns;
    uint64_t elastic_ns;
    int64_t here_ns;
};

void sh_sim_harm_add_wait(struct sh_sim_harm *harm, bool lent,
                          const struct sh_sim_ended_wait *wait);
/* One of a thread's waits has ended, in which lending held it up for so long. */
void sh_sim_harm_add_held_up(struct sh_sim_harm *harm, int64_t wait_ns, int64_t held_up_ns);
/* held_up_ns: of the time, what lending held the thread up for; interval_ns: from one of its
 * task's wake-ups to the next, lately, or 0. */
void sh_sim_harm_add_thread(struct sh_sim_harm *harm, bool lent, int64_t wake_to_sleep_ns,
                            int64_t held_up_ns, int64_t interval_ns);

#endif
