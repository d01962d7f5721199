#include "lab/simulator/queues.h"

#include <errno.h>
#include <stdlib.h>

#include "bpf/strict_state.h"
#include "lab/simulator/threads.h"

enum { NONE = UINT32_MAX };
/* A scheduling domain's shortest interval of balancing is a millisecond for each of its CPUs, times
 * its busy_factor on one that runs somebody. A group under cpu.idle counts as nobody. */
static const int64_t BALANCE_NS_PER_CORE = 1000000, BUSY_FACTOR = 16;
/* The base slice of eight or more CPUs: who has run for so long lets others have a turn. */
static const int64_t SLICE_NS = 2800000;
/* imbalance_pct of a cache's domain: SIS_UTIL stops the search at a use of 1 / 1.17. */
static const double IMBALANCE = 1.17;

static const struct sh_sim_sharing *rules(const struct sh_sim_machine *machine) {
    return &machine->config.sharing;
}

static bool is_below(const struct sh_sim_machine *machine) {
    return rules(machine)->let_go_ns > 0;
}

static void due_in(struct sh_sim_machine *machine, uint32_t number, int64_t ns) {
    sh_sim_agenda_set(&machine->agenda, number, machine->now_ns + ns);
}

/* CPU time that a wake-up takes. */
static int64_t price(struct sh_sim_machine *machine, int64_t mean_ns) {
    return (int64_t)((double)mean_ns * sh_sim_exponential(&machine->placement));
}

static int64_t up_to(struct sh_sim_machine *machine, int64_t ns) {
    return (int64_t)(sh_sim_uniform(&machine->placement) * (double)ns);
}

/* --- who waits where -------------------------------------------------------------------------- */

static struct sh_sim_primary *primary_of(struct sh_sim_machine *machine, uint32_t id) {
    return &machine->primaries[machine->tasks[id].primary];
}

static void add_waiting(struct sh_sim_machine *machine, uint32_t number, uint32_t id, bool first) {
    struct sh_sim_core *core = &machine->cores[number];
    struct sh_sim_task *task = &machine->tasks[id];
    const bool empty = core->first == NONE;
    task->core = number;
    task->next = first ? core->first : NONE;
    if (!first && !empty)
        machine->tasks[core->last].next = id;
    if (first || empty)
        core->first = id;
    if (!first || empty)
        core->last = id;
    machine->ready++;
    primary_of(machine, id)->woken += task->step == SH_SIM_WOKEN;
}

static uint32_t take_waiting(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    const uint32_t id = core->first;
    core->first = machine->tasks[id].next;
    machine->ready--;
    primary_of(machine, id)->woken -= machine->tasks[id].step == SH_SIM_WOKEN;
    return id;
}

/* The core in whose queue the task is that has waited longest, or NONE. */
static uint32_t longest_queue(const struct sh_sim_machine *machine) {
    uint32_t longest = NONE;
    int64_t since_ns = INT64_MAX;
    for (uint32_t i = 0; machine->ready && i < machine->config.cores; i++) {
        const uint32_t id = machine->cores[i].first;
        if (id != NONE && machine->tasks[id].thread.ready_ns < since_ns) {
            since_ns = machine->tasks[id].thread.ready_ns;
            longest = i;
        }
    }
    return longest;
}

/* --- who runs --------------------------------------------------------------------------------- */

static bool is_idle(const struct sh_sim_core *core) {
    return !core->busy && !core->held && !core->elastic;
}

/* How often the core, which runs no task, looks for one elsewhere. */
static int64_t balance_every(const struct sh_sim_machine *machine, uint32_t number) {
    const bool busy = machine->cores[number].elastic && is_below(machine);
    return BALANCE_NS_PER_CORE * machine->config.cores * (busy ? BUSY_FACTOR : 1);
}

static void balance_later(struct sh_sim_machine *machine, uint32_t number) {
    due_in(machine, number, up_to(machine, balance_every(machine, number)));
}

static void go_idle(struct sh_sim_machine *machine, uint32_t number) {
    sh_sim_add_idle(machine, number);
    balance_later(machine, number);
}

static void run_elastic(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].elastic = true;
    machine->elastic++;
    balance_later(machine, number);
}

static void stop_elastic(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].elastic = machine->cores[number].leaving = false;
    machine->elastic--;
}

/* The worker takes the oldest request; false: others have taken all. */
static bool take_request(struct sh_sim_machine *machine, struct sh_sim_task *task) {
    struct sh_sim_primary *primary = &machine->primaries[task->primary];
    task->thread.service_ns = 0;
    if (primary->queue.length == 0)
        return false;
    const struct sh_sim_thread asked = sh_sim_queue_pop(&primary->queue);
    task->thread.request = asked.request;
    task->thread.service_ns = asked.service_ns;
    task->step = SH_SIM_WORKING;
    return true;
}

static void run_for(struct sh_sim_machine *machine, uint32_t number, int64_t ns) {
    machine->tasks[machine->cores[number].task].thread.service_ns = ns;
    due_in(machine, number, ns);
}

static void run_task(struct sh_sim_machine *machine, uint32_t number, uint32_t id) {
    struct sh_sim_core *core = &machine->cores[number];
    struct sh_sim_task *task = &machine->tasks[id];
    struct sh_sim_primary *primary = primary_of(machine, id);
    const struct sh_sim_traffic_config *traffic = &primary->traffic.config;
    core->displaced = core->elastic && is_below(machine);
    if (core->elastic)
        stop_elastic(machine, number);
    else if (core->slot < machine->idle_count && machine->idle[core->slot] == number)
        sh_sim_remove_idle(machine, number);
    if (task->step == SH_SIM_WOKEN) {
        if (id == primary->sender) {
            task->step = SH_SIM_SENDING;
            task->thread.service_ns =
                price(machine, traffic->send_ns / 2) + price(machine, machine->config.late_ns);
        } else {
            if (!take_request(machine, task))
                task->step = SH_SIM_RESTING;
            task->thread.service_ns +=
                price(machine, traffic->wake_ns / 2) + price(machine, machine->config.late_ns);
        }
    }
    sh_sim_note_dispatch(machine, primary, number, &task->thread);
    task->thread.held_ns = 0;
    task->core = number;
    core->leaving = false;
    core->busy = true;
    core->task = id;
    core->since_ns = machine->now_ns;
    primary->running++;
    machine->busy++;
    sh_sim_note_peaks(machine);
    due_in(machine, number, task->thread.service_ns);
}

/* Nobody runs on the core: who is next? Without turns the elastic group comes last. */
static void choose_next(struct sh_sim_machine *machine, uint32_t number, bool turns) {
    struct sh_sim_core *core = &machine->cores[number];
    const bool shares = core->state == SH_SIM_LENT && !is_below(machine);
    if (core->first != NONE && shares && turns &&
        sh_sim_uniform(&machine->placement) < rules(machine)->turn_share) {
        run_elastic(machine, number);
        machine->totals.stranded++;
        for (uint32_t id = core->first; id != NONE; id = machine->tasks[id].next)
            machine->tasks[id].thread.held_ns = machine->now_ns;
        due_in(machine, number, rules(machine)->turn_ns + up_to(machine, rules(machine)->tick_ns));
        return;
    }
    if (core->first != NONE) {
        run_task(machine, number, take_waiting(machine, number));
        return;
    }
    if (shares || core->displaced) {
        run_elastic(machine, number);
        return;
    }
    const uint32_t from = longest_queue(machine);
    if (from != NONE)
        run_task(machine, number, take_waiting(machine, from));
    else
        go_idle(machine, number);
}

static void stop_task(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    core->busy = false;
    primary_of(machine, core->task)->running--;
    machine->busy--;
    machine->changed = true;
}

/* --- waking ----------------------------------------------------------------------------------- */

/* To who wakes. */
static bool is_open(const struct sh_sim_machine *machine, const struct sh_sim_core *core) {
    return is_idle(core) || (core->elastic && !is_below(machine) && core->first == NONE);
}

static uint32_t place_for(struct sh_sim_machine *machine, uint32_t home) {
    const uint32_t cores = machine->config.cores;
    if (is_open(machine, &machine->cores[home]))
        return home;
    const double used = IMBALANCE * machine->used;
    const double looks = used < 1 ? (double)cores * (1 - used * used) : 0;
    const uint32_t first = sh_sim_below(&machine->placement, cores);
    for (uint32_t look = 0; look < (uint32_t)looks; look++) {
        const uint32_t number = (first + look) % cores;
        if (is_open(machine, &machine->cores[number]))
            return number;
    }
    return home;
}

static void wake_task(struct sh_sim_machine *machine, uint32_t id, bool by_timer) {
    struct sh_sim_task *task = &machine->tasks[id];
    const uint32_t number = place_for(machine, task->core);
    struct sh_sim_core *core = &machine->cores[number];
    const bool here = by_timer && number == task->core;
    sh_sim_wake(machine, &task->thread, machine->lent > 0);
    if (task->thread.woke_ns) {
        const int64_t interval_ns = machine->now_ns - task->thread.woke_ns;
        task->interval_ns += (interval_ns - task->interval_ns) / (task->interval_ns ? 8 : 1);
    }
    task->thread.woke_ns = machine->now_ns;
    task->thread.held_up_ns = 0;
    task->thread.woken_by_own = !by_timer && primary_of(machine, id)->sender != NONE;
    task->step = SH_SIM_WOKEN;
    primary_of(machine, id)->active++;
    machine->demand++;
    const bool alone = core->first == NONE;
    add_waiting(machine, number, id, false);
    sh_sim_note_peaks(machine);
    if (core->busy || core->held)
        return;
    if (!core->elastic || here || is_below(machine) ||
        sh_sim_uniform(&machine->placement) >= rules(machine)->stall_share) {
        run_task(machine, number, take_waiting(machine, number));
        return;
    }
    task->thread.held_ns = machine->now_ns;
    machine->totals.stranded++;
    const int64_t yields_ns = machine->now_ns + up_to(machine, rules(machine)->tick_ns);
    if (alone || yields_ns < machine->agenda.at_ns[number])
        sh_sim_agenda_set(&machine->agenda, number, yields_ns);
}

static void wake_worker(struct sh_sim_machine *machine, struct sh_sim_primary *primary) {
    const uint32_t id = primary->sleeper;
    if (id == NONE)
        return;
    primary->sleeper = machine->tasks[id].next;
    wake_task(machine, id, false);
}

static void sleep_task(struct sh_sim_machine *machine, uint32_t id) {
    struct sh_sim_task *task = &machine->tasks[id];
    struct sh_sim_primary *primary = primary_of(machine, id);
    primary->harm.woken_by_own += task->thread.woken_by_own;
    sh_sim_harm_add_thread(&primary->harm, sh_sim_was_lent(machine, task->thread.woke_ns),
                           machine->now_ns - task->thread.woke_ns, task->thread.held_up_ns,
                           task->interval_ns);
    primary->active--;
    machine->demand--;
    if (id == primary->sender)
        return;
    task->next = NONE;
    if (primary->sleeper == NONE)
        primary->sleeper = id;
    else
        machine->tasks[primary->last_sleeper].next = id;
    primary->last_sleeper = id;
}

/* --- what tasks do ---------------------------------------------------------------------------- */

/* How many workers were woken. */
static uint32_t send_due(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_primary *primary = &machine->primaries[number];
    const uint32_t before = primary->active;
    while (primary->traffic.next_ns <= machine->now_ns && !machine->error) {
        const uint32_t waiting = primary->queue.length;
        sh_sim_take_arrivals(machine, number);
        /* Each worker may take one at once. */
        for (uint32_t more = primary->queue.length - waiting; more > 0; more--)
            wake_worker(machine, primary);
    }
    return primary->active - before;
}

static void await_traffic(struct sh_sim_machine *machine, uint32_t number) {
    sh_sim_agenda_set(&machine->agenda, machine->config.cores + number,
                      machine->primaries[number].traffic.next_ns);
}

/* The core's task has done what it ran for. */
static void go_on(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    const uint32_t id = core->task;
    struct sh_sim_task *task = &machine->tasks[id];
    struct sh_sim_primary *primary = primary_of(machine, id);
    const struct sh_sim_traffic_config *traffic = &primary->traffic.config;
    if (id == primary->sender &&
        (task->step == SH_SIM_SENDING || primary->traffic.next_ns <= machine->now_ns)) {
        task->step = SH_SIM_RESTING;
        const uint32_t woken = send_due(machine, task->primary);
        run_for(machine, number, price(machine, traffic->send_ns / 2 * (woken ? woken : 1)));
        return;
    }
    if (task->step == SH_SIM_WORKING) {
        sh_sim_count_dispatches(machine, task->thread.service_ns);
        sh_sim_finish_thread(machine, task->thread.request);
        if (core->first != NONE && machine->now_ns - core->since_ns >= SLICE_NS) {
            stop_task(machine, number);
            sh_sim_wake(machine, &task->thread, machine->lent > 0);
            task->step = SH_SIM_WOKEN;
            add_waiting(machine, number, id, false);
            choose_next(machine, number, true);
            return;
        }
        task->step = SH_SIM_RESTING;
        if (take_request(machine, task))
            run_for(machine, number, task->thread.service_ns);
        else
            run_for(machine, number, price(machine, traffic->wake_ns / 2));
        return;
    }
    if (id != primary->sender && primary->queue.length > primary->woken &&
        take_request(machine, task)) {
        run_for(machine, number, task->thread.service_ns);
        return;
    }
    if (id == primary->sender)
        await_traffic(machine, task->primary);
    stop_task(machine, number);
    sleep_task(machine, id);
    choose_next(machine, number, true);
}

static uint32_t slack_of(const struct sh_sim_machine *machine) {
    const uint32_t quarter = machine->config.cores / 4;
    if (!machine->spare_most || machine->now_ns >= machine->slack_until_ns)
        return 0;
    return quarter < SH_STRICT_MOST_SLACK ? quarter : SH_STRICT_MOST_SLACK;
}

/* Below all, and some cores are kept idle: one lets go of the elastic group, or takes it. */
void sh_sim_queues_keep_spare(struct sh_sim_machine *machine) {
    const uint32_t cores = machine->config.cores;
    if (!is_below(machine))
        return;
    uint32_t taken = 0, leaving = 0, joining = 0;
    for (uint32_t i = 0; i < cores; i++) {
        taken += machine->cores[i].busy || machine->cores[i].held;
        leaving += machine->cores[i].leaving && machine->cores[i].elastic;
        joining += machine->cores[i].leaving && !machine->cores[i].elastic;
    }
    const uint32_t least = machine->spare_most, most = least + slack_of(machine);
    const uint32_t spare = taken < least ? taken : least, allowed = taken < most ? taken : most;
    for (uint32_t i = 0; i < cores; i++) {
        struct sh_sim_core *core = &machine->cores[i];
        if (core->state != SH_SIM_LENT)
            continue;
        if (is_idle(core) && !core->leaving && machine->idle_count > allowed + joining) {
            core->leaving = true;
            joining++;
            due_in(machine, i, rules(machine)->let_go_ns);
        } else if (core->elastic && !core->leaving && machine->idle_count + leaving < spare) {
            core->leaving = true;
            leaving++;
            machine->slack_until_ns = machine->now_ns + SH_STRICT_SLACK_NS;
            due_in(machine, i, rules(machine)->let_go_ns);
        }
    }
}

void sh_sim_queues_arrive(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_primary *primary = &machine->primaries[number];
    sh_sim_agenda_set(&machine->agenda, machine->config.cores + number, INT64_MAX);
    if (primary->sender != NONE) {
        wake_task(machine, primary->sender, true);
    } else {
        send_due(machine, number);
        await_traffic(machine, number);
    }
}

/* It is time for the core to look for work elsewhere; if others are idle, they do it. */
static void balance(struct sh_sim_machine *machine, uint32_t number) {
    const bool others = machine->cores[number].elastic && machine->idle_count > 0;
    const uint32_t from = others ? NONE : longest_queue(machine);
    if (from != NONE)
        run_task(machine, number, take_waiting(machine, from));
    else
        due_in(machine, number, balance_every(machine, number));
}

void sh_sim_queues_step(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    if (core->held) {
        core->held = false;
        choose_next(machine, number, false);
    } else if (core->busy) {
        go_on(machine, number);
    } else if (core->leaving) {
        core->leaving = false;
        if (core->elastic) {
            stop_elastic(machine, number);
            go_idle(machine, number);
        } else {
            sh_sim_remove_idle(machine, number);
            run_elastic(machine, number);
        }
    } else if (core->first != NONE) {
        run_task(machine, number, take_waiting(machine, number));
    } else {
        balance(machine, number);
    }
}

void sh_sim_queues_hold(struct sh_sim_machine *machine) {
    const uint32_t number = sh_sim_below(&machine->placement, machine->config.cores);
    struct sh_sim_core *core = &machine->cores[number];
    due_in(machine, machine->config.cores + machine->primary_count, machine->config.agent_every_ns);
    if (core->held)
        return;
    if (core->busy) {
        struct sh_sim_thread *thread = &machine->tasks[core->task].thread;
        thread->service_ns = machine->agenda.at_ns[number] - machine->now_ns;
        stop_task(machine, number);
        sh_sim_wake(machine, thread, false);
        add_waiting(machine, number, core->task, true);
    } else if (core->elastic) {
        stop_elastic(machine, number);
    } else {
        sh_sim_remove_idle(machine, number);
    }
    core->held = true;
    core->leaving = core->displaced = false;
    due_in(machine, number, machine->config.agent_ns);
}

void sh_sim_queues_share(struct sh_sim_machine *machine, uint32_t number) {
    if (is_idle(&machine->cores[number]) && !is_below(machine)) {
        sh_sim_remove_idle(machine, number);
        run_elastic(machine, number);
    }
}

void sh_sim_queues_keep(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_core *core = &machine->cores[number];
    core->displaced = core->leaving = false;
    if (core->elastic) {
        stop_elastic(machine, number);
        choose_next(machine, number, false);
    }
}

int sh_sim_queues_init(struct sh_sim_machine *machine) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->primary_count; i++)
        count += machine->primaries[i].cores + 1;
    machine->tasks = calloc(count, sizeof(*machine->tasks));
    if (!machine->tasks)
        return -ENOMEM;
    for (uint32_t i = 0; i < machine->config.cores; i++)
        machine->cores[i].first = NONE;
    uint32_t id = 0;
    for (uint32_t i = 0; i < machine->primary_count; i++) {
        struct sh_sim_primary *primary = &machine->primaries[i];
        primary->sender = NONE;
        primary->sleeper = id;
        for (uint32_t j = 0; j <= primary->cores; j++, id++) {
            machine->tasks[id].primary = i;
            machine->tasks[id].core = id % machine->config.cores;
            machine->tasks[id].next = j + 1 < primary->cores ? id + 1 : NONE;
        }
        primary->last_sleeper = id - 2;
        if (primary->traffic.config.send_ns)
            primary->sender = id - 1;
    }
    if (machine->config.agent_ns)
        sh_sim_agenda_set(&machine->agenda, machine->config.cores + machine->primary_count,
                          machine->config.agent_every_ns);
    return 0;
}
