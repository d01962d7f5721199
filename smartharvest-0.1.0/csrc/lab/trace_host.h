/* A recorded host, behind the loop's sensor and actuator: it says what was busy when, and keeps
 * account of what the primary would have been short of. The record knows of no lending, so nothing
 * that is lent slows the recorded primary down. */
#ifndef SH_TRACE_HOST_H
#define SH_TRACE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/recorder.h"
#include "loop/histogram.h"
#include "loop/loop.h"

struct sh_trace_host {
    /* The caller's: a stretch of the trace, ascending. */
    const struct sh_change *changes;
    uint32_t length, position; /* changes[position] is the next to happen */
    int64_t until_ns;          /* the stretch tells all up to here */
    uint32_t total;            /* cores of the primary when nothing is lent */

    struct sh_change now; /* what holds at at_ns */
    int64_t at_ns;
    uint32_t harvested;

    /* For windows weighted by time, since the last collection. */
    uint64_t spent_ns[SH_MAX_CORES + 1];
    uint32_t demand_max;
    uint64_t demand_core_ns;

    /* What the primary would have been short of: cores wanted, up to the total, and not held. */
    uint64_t seen_ns;       /* time that was not unseen */
    uint64_t short_ns;      /* time short of any core */
    uint64_t short_core_ns; /* cores short of, times time */
    uint64_t short_spells;  /* how often a shortage began */
    uint32_t short_most;    /* cores, at the worst moment */
    uint32_t short_of;      /* cores, now */
    /* How long each was missing, as if by one task; the shortage of a core that ends is the one
     * that began last. */
    struct sh_histogram waits;
    int64_t short_since_ns[SH_MAX_CORES];
};

/* Everything with the primary, before the first change. */
void sh_trace_host_init(struct sh_trace_host *host, uint32_t total, struct sh_sensor *sensor,
                        struct sh_actuator *actuator);

/* The next stretch; what is left of the last one, after its last poll, happens first. */
void sh_trace_host_feed(struct sh_trace_host *host, const struct sh_change *changes,
                        uint32_t length, int64_t until_ns);

/* Drives the loop in virtual time: the polls from *deadline_ns on and before until_ns, or before
 * the end of the stretch, each on its deadline; those that nobody made are not made here. Stops
 * early when a window waits to be taken. 0, or the -errno that the loop halted on. */
int sh_trace_host_play(struct sh_trace_host *host, struct sh_loop *loop, int64_t *deadline_ns,
                       int64_t until_ns);

#endif
