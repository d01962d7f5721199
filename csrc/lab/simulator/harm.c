#include "lab/simulator/harm.h"

void sh_sim_harm_add_wait(struct sh_sim_harm *harm, bool lent,
                          const struct sh_sim_ended_wait *wait) {
    struct sh_sim_harm_side *side = &harm->sides[lent];
    sh_sim_latencies_add(&side->waits, wait->wait_ns);
    if (wait->wait_ns <= SH_SIM_LONG_WAIT_NS)
        return;
    side->long_waits++;
    side->behind_elastic += wait->elastic_ns > SH_SIM_LONG_WAIT_NS;
    side->behind_elastic_here += wait->here_ns > SH_SIM_LONG_WAIT_NS;
}

void sh_sim_harm_add_thread(struct sh_sim_harm *harm, bool lent, int64_t wake_to_sleep_ns,
                            int64_t held_up_ns) {
    sh_sim_latencies_add(&harm->sides[lent].wakes_to_sleeps, wake_to_sleep_ns);
    if (lent)
        sh_sim_latencies_add(&harm->unharmed, wake_to_sleep_ns - held_up_ns);
}
