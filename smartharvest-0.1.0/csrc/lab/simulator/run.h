/* The loop on a simulated machine in virtual time: runs until a window waits for its answer. */
#ifndef SH_SIM_RUN_H
#define SH_SIM_RUN_H

#include "lab/simulator/machine.h"
#include "loop/loop.h"

enum { SH_SIM_PENDING_PLANS = 64 };

struct sh_sim_pending_plan {
    int64_t at_ns;
    struct sh_plan plan;
};

struct sh_sim_run {
    struct sh_sim_machine machine;
    struct sh_loop loop;
    int64_t sleep_ns; /* no poll for so long after a change of cores */
    bool every_poll;  /* make even polls that cannot change anything one by one */
    int64_t next_poll_ns;
    int64_t awake_ns;                                       /* the agent sleeps until then */
    struct sh_sim_pending_plan plans[SH_SIM_PENDING_PLANS]; /* a ring, times ascending */
    uint32_t plan_head, plan_tail;
    /* Without the loop: from_ns on every window_ns the next of these is lent. */
    const uint32_t *given;
    uint32_t given_length, given_next;
    int64_t given_window_ns;
    uint64_t under_predictions;      /* windows that wanted more cores than were left */
    uint32_t busy_peak, demand_peak; /* the last window's, between the polls too */
};

/* The loop's clock, sensor and actuator are the machine's from here on. 0 or -errno. */
int sh_sim_run_init(struct sh_sim_run *run, const struct sh_sim_machine_config *machine,
                    const struct sh_sim_traffic_config *traffic, const uint32_t *cores,
                    uint32_t primary_count, const struct sh_loop_config *loop);
void sh_sim_run_destroy(struct sh_sim_run *run);

/* Runs up to until_ns, or until a window has been handed over before: 1. 0 at until_ns; -errno if
 * the machine or the loop has failed. */
int sh_sim_run_advance(struct sh_sim_run *run, int64_t until_ns);

/* The plan reaches the loop at at_ns, not before those posted earlier. -EAGAIN: too many wait. */
int sh_sim_run_post(struct sh_sim_run *run, int64_t at_ns, const struct sh_plan *plan);

#endif
