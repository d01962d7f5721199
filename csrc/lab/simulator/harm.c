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

void sh_sim_harm_add_held_up(struct sh_sim_harm *harm, int64_t wait_ns, int64_t held_up_ns) {
    sh_sim_latencies_add(&harm->harmed_waits, wait_ns);
    sh_sim_latencies_add(&harm->unharmed_waits, wait_ns - held_up_ns);
}

void sh_sim_harm_add_thread(struct sh_sim_harm *harm, bool lent, int64_t wake_to_sleep_ns,
                            int64_t held_up_ns, int64_t interval_ns) {
    const int64_t unharmed_ns = wake_to_sleep_ns - held_up_ns;
    sh_sim_latencies_add(&harm->sides[lent].wakes_to_sleeps, wake_to_sleep_ns);
    if (!lent)
        return;
    sh_sim_latencies_add(&harm->harmed, wake_to_sleep_ns);
    sh_sim_latencies_add(&harm->unharmed, unharmed_ns);
    const int64_t followers = interval_ns ? held_up_ns / interval_ns : 0;
    for (int64_t i = 0; i < followers; i++) {
        const int64_t behind_ns = held_up_ns * (2 * i + 1) / (2 * followers);
        sh_sim_latencies_add(&harm->harmed, unharmed_ns + behind_ns);
        sh_sim_latencies_add(&harm->harmed_waits, behind_ns);
        sh_sim_latencies_add(&harm->unharmed_waits, 0);
        sh_sim_latencies_add(&harm->unharmed, unharmed_ns);
    }
}
