#include "lab/simulator/dispatch.h"

#include <stddef.h>

#include "lab/simulator/queues.h"
#include "lab/simulator/threads.h"

/* The ready thread that has waited longest. */
static struct sh_sim_thread next_ready(struct sh_sim_machine *machine) {
    struct sh_sim_primary *longest = NULL;
    for (uint32_t i = 0; i < machine->primary_count; i++) {
        struct sh_sim_primary *primary = &machine->primaries[i];
        if (primary->ready && (!longest || sh_sim_queue_at(&primary->queue, 0)->ready_ns <
                                               sh_sim_queue_at(&longest->queue, 0)->ready_ns))
            longest = primary;
    }
    longest->ready--;
    machine->ready--;
    return sh_sim_queue_pop(&longest->queue);
}

void sh_sim_serve_waiting(struct sh_sim_machine *machine) {
    while (machine->ready && machine->idle_count) {
        const uint32_t number = machine->idle[machine->idle_count - 1];
        sh_sim_remove_idle(machine, number);
        sh_sim_start(machine, number, next_ready(machine));
    }
}

void sh_sim_admit_core(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    core->state = SH_SIM_PRIMARY;
    core->busy = false;
    if (core->queued) {
        sh_sim_start(machine, number, core->thread);
        return;
    }
    sh_sim_add_idle(machine, number);
    sh_sim_serve_waiting(machine);
}

/* --- shared placement ------------------------------------------------------------------------- */

static void stall(struct sh_sim_machine *machine, uint32_t number, struct sh_sim_thread thread) {
    struct sh_sim_core *core = &machine->cores[number];
    const double share = sh_sim_uniform(&machine->placement);
    core->queued = true;
    core->thread = thread;
    core->thread.held_ns = machine->now_ns;
    machine->stalled++;
    machine->totals.stranded++;
    sh_sim_agenda_set(&machine->agenda, number,
                      machine->now_ns + (int64_t)(share * (double)machine->config.sharing.tick_ns));
}

static struct sh_sim_thread unstall(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].queued = false;
    machine->stalled--;
    sh_sim_agenda_set(&machine->agenda, number, INT64_MAX);
    return machine->cores[number].thread;
}

void sh_sim_end_stall(struct sh_sim_machine *machine, uint32_t number) {
    const struct sh_sim_thread thread = unstall(machine, number);
    machine->elastic--;
    sh_sim_start(machine, number, thread);
}

/* Newly idle cores of the primaries' own look for work elsewhere. */
static void pull_stalled(struct sh_sim_machine *machine) {
    for (uint32_t i = 0; machine->stalled && machine->idle_count && i < machine->config.cores; i++)
        if (machine->cores[i].queued) {
            const uint32_t number = machine->idle[machine->idle_count - 1];
            sh_sim_remove_idle(machine, number);
            struct sh_sim_thread thread = unstall(machine, i);
            thread.held_ns = 0; /* it was not that core that it waited for */
            sh_sim_start(machine, number, thread);
        }
}

/* Of the cores that run the elastic group with nobody queued, the one with this index. */
static uint32_t open_elastic(const struct sh_sim_machine *machine, uint32_t index) {
    uint32_t number = 0;
    for (;; number++) {
        const struct sh_sim_core *core = &machine->cores[number];
        if (core->state == SH_SIM_LENT && !core->busy && !core->queued && index-- == 0)
            return number;
    }
}

static void start_on_elastic(struct sh_sim_machine *machine, uint32_t number,
                             struct sh_sim_thread thread) {
    if (sh_sim_uniform(&machine->placement) < machine->config.sharing.stall_share) {
        stall(machine, number, thread);
        return;
    }
    machine->elastic--;
    sh_sim_start(machine, number, thread);
}

/* Whether a place was found for the thread: to the kernel a core that runs an idle group is idle.
 */
static bool place_shared(struct sh_sim_machine *machine, struct sh_sim_queue *queue) {
    const uint32_t idle = machine->idle_count, open = machine->elastic - machine->stalled;
    if (idle + open == 0)
        return false;
    const uint32_t chosen = sh_sim_below(&machine->placement, idle + open);
    if (chosen < idle) {
        const uint32_t number = machine->idle[chosen];
        sh_sim_remove_idle(machine, number);
        sh_sim_start(machine, number, sh_sim_queue_pop(queue));
        return true;
    }
    start_on_elastic(machine, open_elastic(machine, chosen - idle), sh_sim_queue_pop(queue));
    return true;
}

/* A thread has left a core and another one wants it. */
static void start_next(struct sh_sim_machine *machine, uint32_t number,
                       struct sh_sim_thread thread) {
    if (machine->cores[number].state == SH_SIM_LENT &&
        sh_sim_uniform(&machine->placement) < machine->config.sharing.turn_share) {
        machine->elastic++;
        stall(machine, number, thread);
        return;
    }
    sh_sim_start(machine, number, thread);
}

void sh_sim_share_core(struct sh_sim_machine *machine) {
    uint32_t number = machine->config.cores - 1;
    while (machine->cores[number].state == SH_SIM_LENT)
        number--;
    machine->cores[number].state = SH_SIM_LENT;
    machine->lent++;
    machine->totals.lent++;
    if (machine->config.sharing.queues) {
        sh_sim_queues_share(machine, number);
        return;
    }
    if (machine->cores[number].busy)
        return;
    sh_sim_remove_idle(machine, number);
    machine->elastic++;
}

void sh_sim_keep_core(struct sh_sim_machine *machine) {
    uint32_t number = 0;
    while (machine->cores[number].state != SH_SIM_LENT)
        number++;
    struct sh_sim_core *core = &machine->cores[number];
    core->state = SH_SIM_PRIMARY;
    machine->lent--;
    machine->totals.given_back++;
    if (machine->config.sharing.queues) {
        sh_sim_queues_keep(machine, number);
        return;
    }
    if (core->busy)
        return;
    machine->elastic--;
    if (core->queued) {
        sh_sim_start(machine, number, unstall(machine, number));
        return;
    }
    sh_sim_add_idle(machine, number);
    sh_sim_serve_waiting(machine);
    pull_stalled(machine);
}

/* --- who has which core ----------------------------------------------------------------------- */

static void put_back(struct sh_sim_machine *machine, struct sh_sim_thread thread) {
    struct sh_sim_primary *primary = sh_sim_owner(machine, &thread);
    sh_sim_queue_push_front(machine, &primary->queue, thread);
    primary->ready++;
    machine->ready++;
}

void sh_sim_clear_core(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    if (core->busy) {
        struct sh_sim_thread thread = core->thread;
        thread.service_ns = machine->agenda.at_ns[number] - machine->now_ns;
        sh_sim_wake(machine, &thread, true);
        core->busy = false;
        sh_sim_owner(machine, &thread)->running--;
        machine->busy--;
        machine->changed = true;
        machine->totals.preempted++;
        put_back(machine, thread);
    } else if (core->queued) {
        core->queued = false;
        core->thread.held_ns = 0;
        put_back(machine, core->thread);
    } else if (core->state == SH_SIM_PRIMARY) {
        sh_sim_remove_idle(machine, number);
    }
}

/* Of the cores coming back without a thread queued on them, the one with this index. */
static uint32_t open_in_transit(const struct sh_sim_machine *machine, uint32_t index) {
    uint32_t number = 0;
    for (;; number++) {
        const struct sh_sim_core *core = &machine->cores[number];
        if (core->state == SH_SIM_RETURNING && !core->queued && index-- == 0)
            return number;
    }
}

static uint32_t count_open_in_transit(const struct sh_sim_machine *machine) {
    uint32_t count = 0;
    if (!machine->config.queue_in_transit || !machine->returning)
        return 0;
    for (uint32_t i = 0; i < machine->config.cores; i++)
        count += machine->cores[i].state == SH_SIM_RETURNING && !machine->cores[i].queued;
    return count;
}

static void wait_for_any(struct sh_sim_machine *machine, struct sh_sim_primary *primary) {
    primary->ready++;
    machine->ready++;
}

/* Finds a place for the primary's first ready thread. */
static void place(struct sh_sim_machine *machine, struct sh_sim_primary *primary) {
    if (machine->config.sharing.shared) {
        if (!place_shared(machine, &primary->queue))
            wait_for_any(machine, primary);
        return;
    }
    if (machine->idle_count > 0) {
        const uint32_t number = machine->idle[machine->idle_count - 1];
        sh_sim_remove_idle(machine, number);
        sh_sim_start(machine, number, sh_sim_queue_pop(&primary->queue));
        return;
    }
    const uint32_t open = count_open_in_transit(machine);
    if (open == 0 || sh_sim_below(&machine->placement, open + machine->busy) >= open) {
        wait_for_any(machine, primary);
        return;
    }
    const uint32_t index = sh_sim_below(&machine->placement, open);
    struct sh_sim_core *core = &machine->cores[open_in_transit(machine, index)];
    core->queued = true;
    core->thread = sh_sim_queue_pop(&primary->queue);
    core->thread.held_ns = machine->now_ns;
    machine->totals.stranded++;
}

/* Threads of the primary become ready as far as it has cores for them. */
static void admit_threads(struct sh_sim_machine *machine, struct sh_sim_primary *primary) {
    while (primary->active < primary->cores && primary->ready < primary->queue.length) {
        struct sh_sim_thread *thread = sh_sim_queue_at(&primary->queue, primary->ready);
        sh_sim_wake(machine, thread, machine->lent + machine->returning > 0);
        thread->woke_ns = machine->now_ns;
        primary->active++;
        machine->demand++;
        if (machine->ready) { /* behind those who wait */
            wait_for_any(machine, primary);
        } else {
            place(machine, primary);
        }
        sh_sim_note_peaks(machine);
    }
}

void sh_sim_arrive(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_primary *primary = &machine->primaries[number];
    sh_sim_take_arrivals(machine, number);
    if (machine->error)
        return;
    admit_threads(machine, primary);
    sh_sim_agenda_set(&machine->agenda, machine->config.cores + number, primary->traffic.next_ns);
}

/* It wakes as many as its request has besides. They are the oldest, perhaps another's: the times of
 * all are drawn alike. */
static void send(struct sh_sim_machine *machine, struct sh_sim_primary *primary, uint32_t request) {
    for (uint32_t i = machine->requests[request].threads; i > 1 && !machine->error; i--) {
        struct sh_sim_thread thread = sh_sim_queue_pop(&primary->unsent);
        thread.request = request;
        thread.woken_by_own = true;
        sh_sim_queue_push(machine, &primary->queue, thread);
    }
    admit_threads(machine, primary);
}

void sh_sim_complete(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    struct sh_sim_primary *primary = sh_sim_owner(machine, &core->thread);
    if (core->thread.sends)
        send(machine, primary, core->thread.request);
    primary->harm.woken_by_own += core->thread.woken_by_own;
    sh_sim_count_dispatches(machine, core->thread.service_ns);
    sh_sim_harm_add_thread(&primary->harm, sh_sim_was_lent(machine, core->thread.woke_ns),
                           machine->now_ns - core->thread.woke_ns, core->thread.held_up_ns, 0);
    sh_sim_finish_thread(machine, core->thread.request);
    core->busy = false;
    primary->running--;
    primary->active--;
    machine->busy--;
    machine->demand--;
    machine->changed = true;
    if (machine->ready == 0 && primary->queue.length > 0) {
        /* The guest runs its next thread on the core it has. */
        struct sh_sim_thread thread = sh_sim_queue_pop(&primary->queue);
        sh_sim_wake(machine, &thread, false);
        thread.woke_ns = machine->now_ns;
        primary->active++;
        machine->demand++;
        start_next(machine, number, thread);
        return;
    }
    if (core->state == SH_SIM_LENT && machine->ready) {
        start_next(machine, number, next_ready(machine));
    } else if (core->state == SH_SIM_LENT) {
        machine->elastic++;
    } else {
        sh_sim_add_idle(machine, number);
        sh_sim_serve_waiting(machine);
        pull_stalled(machine);
    }
    admit_threads(machine, primary);
}
