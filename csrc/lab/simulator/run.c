#include "lab/simulator/run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

int sh_sim_run_init(struct sh_sim_run *run, const struct sh_sim_machine_config *machine,
                    const struct sh_sim_traffic_config *traffic, const uint32_t *cores,
                    uint32_t primary_count, const struct sh_loop_config *loop) {
    memset(run, 0, sizeof(*run));
    run->loop.event_fd = run->loop.plan_fd = -1;
    int err = sh_sim_machine_init(&run->machine, machine, traffic, cores, primary_count);
    if (err)
        return err;
    err = sh_loop_init(&run->loop, loop);
    if (err)
        return err;
    /* Nobody sleeps on it: a window ends the call instead. */
    close(run->loop.event_fd);
    run->loop.event_fd = -1;
    sh_sim_machine_sensor(&run->machine, loop->exact, &run->loop.sensor);
    sh_sim_machine_actuator(&run->machine, &run->loop.actuator);
    return 0;
}

void sh_sim_run_destroy(struct sh_sim_run *run) {
    sh_loop_destroy(&run->loop);
    sh_sim_machine_destroy(&run->machine);
}

int sh_sim_run_post(struct sh_sim_run *run, int64_t at_ns, const struct sh_plan *plan) {
    const uint32_t waiting = run->plan_head - run->plan_tail;
    if (waiting == SH_SIM_PENDING_PLANS)
        return -EAGAIN;
    if (waiting > 0) {
        const int64_t last_ns = run->plans[(run->plan_head - 1) % SH_SIM_PENDING_PLANS].at_ns;
        at_ns = at_ns > last_ns ? at_ns : last_ns;
    }
    run->plans[run->plan_head++ % SH_SIM_PENDING_PLANS] =
        (struct sh_sim_pending_plan){at_ns, *plan};
    return 0;
}

static int64_t next_plan_ns(const struct sh_sim_run *run) {
    return run->plan_head == run->plan_tail
               ? INT64_MAX
               : run->plans[run->plan_tail % SH_SIM_PENDING_PLANS].at_ns;
}

static int64_t next_given_ns(const struct sh_sim_run *run) {
    return run->given_next < run->given_length ? run->given_next * run->given_window_ns : INT64_MAX;
}

static void judge_window(struct sh_sim_run *run, uint32_t held) {
    struct sh_sim_machine *machine = &run->machine;
    run->busy_peak = machine->busy_peak;
    run->demand_peak = machine->demand_peak;
    run->under_predictions += held < machine->config.cores && machine->demand_peak > held;
    machine->busy_peak = machine->busy;
    machine->demand_peak = machine->demand;
}

/* An event-driven loop looks at once, or when it wakes up. */
static void wake(struct sh_sim_run *run, int64_t now_ns) {
    run->next_poll_ns = min_i64(run->next_poll_ns, now_ns > run->awake_ns ? now_ns : run->awake_ns);
}

static void wake_if_pressed(struct sh_sim_run *run) {
    const struct sh_loop *loop = &run->loop;
    const struct sh_sim_machine *machine = &run->machine;
    const uint32_t cores = sh_loop_alarm_waits(loop) ? machine->demand : machine->busy;
    if (loop->config.event_driven && loop->seq != 0 && cores >= sh_loop_alarm_level(loop))
        wake(run, machine->now_ns);
}

static int poll_once(struct sh_sim_run *run) {
    struct sh_sim_machine *machine = &run->machine;
    struct sh_loop *loop = &run->loop;
    const int64_t now_ns = run->next_poll_ns;
    const uint32_t seq = loop->seq, held = loop->primary_cores;
    const uint64_t assignments =
        atomic_load_explicit(&loop->counters.assignments, memory_order_relaxed);
    sh_sim_machine_wait(machine, now_ns);
    machine->changed = false;
    const bool by_event = seq != 0 && loop->config.event_driven;
    const int64_t window_end_ns = loop->window.start_ns + loop->config.window_ns;
    const int err = sh_loop_step(loop, by_event ? window_end_ns : now_ns, now_ns);
    if (run->sleep_ns &&
        assignments != atomic_load_explicit(&loop->counters.assignments, memory_order_relaxed))
        run->awake_ns = now_ns + run->sleep_ns;
    run->next_poll_ns = now_ns + loop->config.poll_ns;
    if (loop->config.event_driven)
        run->next_poll_ns = sh_loop_next_look(loop);
    if (run->next_poll_ns < run->awake_ns)
        run->next_poll_ns = run->awake_ns;
    if (seq != 0 && loop->seq != seq)
        judge_window(run, held);
    wake_if_pressed(run);
    return err;
}

/* Polls that are due before until_ns, during which the machine does nothing by itself. Ends early
 * when a poll changes the machine's agenda or hands a window over. */
static int poll_until(struct sh_sim_run *run, int64_t until_ns) {
    struct sh_sim_machine *machine = &run->machine;
    struct sh_loop *loop = &run->loop;
    const uint64_t assignments = machine->totals.assignments;
    while (run->next_poll_ns < until_ns) {
        const bool quiet = !run->every_poll && !machine->changed && !loop->config.event_driven &&
                           run->next_poll_ns == loop->last_poll_ns + loop->config.poll_ns;
        const struct sh_reading reading = {machine->busy, machine->demand};
        if (quiet && sh_loop_repeat(loop, until_ns, &reading)) {
            run->next_poll_ns = loop->last_poll_ns + loop->config.poll_ns;
            continue;
        }
        const int err = poll_once(run);
        if (err)
            return err;
        if (loop->ring_head != loop->ring_tail || machine->totals.assignments != assignments)
            return 0;
    }
    return 0;
}

static void deliver_plan(struct sh_sim_run *run) {
    const struct sh_sim_pending_plan *next = &run->plans[run->plan_tail++ % SH_SIM_PENDING_PLANS];
    sh_loop_post(&run->loop, &next->plan);
    if (run->loop.config.event_driven)
        wake(run, next->at_ns);
}

int sh_sim_run_advance(struct sh_sim_run *run, int64_t until_ns) {
    struct sh_sim_machine *machine = &run->machine;
    struct sh_loop *loop = &run->loop;
    for (;;) {
        if (loop->ring_head != loop->ring_tail)
            return 1;
        const int64_t event_ns = sh_sim_agenda_next_ns(&machine->agenda);
        const int64_t plan_ns = next_plan_ns(run), given_ns = next_given_ns(run);
        const int64_t next_ns = min_i64(until_ns, min_i64(event_ns, min_i64(plan_ns, given_ns)));
        if (!run->given && run->next_poll_ns < next_ns) {
            const int err = poll_until(run, next_ns);
            if (err)
                return err;
            continue;
        }
        if (next_ns >= until_ns) {
            sh_sim_machine_wait(machine, until_ns);
            return 0;
        }
        if (next_ns == plan_ns) {
            deliver_plan(run);
        } else if (next_ns == given_ns) {
            sh_sim_machine_wait(machine, given_ns);
            sh_sim_machine_assign(machine, run->given[run->given_next++]);
        } else {
            sh_sim_machine_step(machine);
            if (machine->error)
                return machine->error;
            wake_if_pressed(run);
        }
    }
}
