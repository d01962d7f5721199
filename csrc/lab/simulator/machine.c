#include "lab/simulator/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/simulator/dispatch.h"
#include "lab/simulator/queues.h"

enum { DELAY_STREAM = 1 << 20, PLACEMENT_STREAM }; /* beyond the primaries' */
/* Over which the use of cores is averaged, as the kernel does. */
static const double USE_NS = 32e6;

static void note_stint(struct sh_sim_machine *machine, int64_t until_ns) {
    struct sh_sim_elastic_stints *seen = &machine->elastic_stints;
    if (until_ns == machine->counted_ns)
        return;
    if (machine->elastic && !seen->goes_on) {
        seen->last = (seen->last + 1) % SH_SIM_STINTS;
        seen->stints[seen->last].from_ns = machine->counted_ns;
    }
    seen->goes_on = machine->elastic > 0;
    if (seen->goes_on)
        seen->stints[seen->last].until_ns = until_ns;
}

static void account(struct sh_sim_machine *machine, int64_t now_ns) {
    struct sh_sim_totals *totals = &machine->totals;
    const uint64_t ns = (uint64_t)(now_ns - machine->counted_ns);
    totals->busy_core_ns += ns * machine->busy;
    totals->demand_core_ns += ns * machine->demand;
    totals->elastic_core_ns += ns * machine->elastic;
    totals->requests_ns += ns * machine->in_system;
    if (machine->idle_count)
        machine->elastic_idle_ns = totals->elastic_core_ns;
    if (machine->lent + machine->returning)
        machine->lent_until_ns = now_ns;
    note_stint(machine, now_ns);
    if (machine->collecting) {
        machine->spent_ns[machine->busy] += ns;
        machine->spent_demand_core_ns += ns * machine->demand;
    }
    if (machine->config.sharing.queues) {
        const bool below = machine->config.sharing.let_go_ns > 0;
        const uint32_t in_use = machine->busy + (below ? 0 : machine->elastic);
        machine->used +=
            ((double)in_use / machine->config.cores - machine->used) * -expm1(-(double)ns / USE_NS);
    }
    machine->counted_ns = now_ns;
}

/* --- who has which core ----------------------------------------------------------------------- */

static int64_t draw(struct sh_sim_machine *machine, const struct sh_sim_delay *delay) {
    if (delay->length == 0)
        return 0;
    const double u = sh_sim_uniform(&machine->delays);
    uint32_t i = 1;
    while (i + 1 < delay->length && delay->share[i] < u)
        i++;
    const double width = delay->share[i] - delay->share[i - 1];
    const double part = width > 0 ? (u - delay->share[i - 1]) / width : 0;
    return delay->ns[i - 1] + (int64_t)(part * (double)(delay->ns[i] - delay->ns[i - 1]));
}

static void arrive_at_elastic(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].state = SH_SIM_LENT;
    machine->elastic++;
}

static void arrive_at_primary(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].cold = true;
    machine->elastic--;
    machine->returning--;
    sh_sim_admit_core(machine, number);
}

/* How willingly a core is lent; the most willing is taken, of several the highest number. */
static int willingness(const struct sh_sim_machine *machine, const struct sh_sim_core *core) {
    if (core->state == SH_SIM_LENT || core->state == SH_SIM_LENDING)
        return 0;
    if (machine->config.preempt_running)
        return 1;
    if (core->state == SH_SIM_RETURNING)
        return core->queued ? 2 : 4;
    return core->busy ? 1 : 3;
}

static void lend_one(struct sh_sim_machine *machine, int64_t delay_ns) {
    uint32_t number = 0;
    int most = 0;
    for (uint32_t i = 0; i < machine->config.cores; i++) {
        const int willing = willingness(machine, &machine->cores[i]);
        if (willing >= most) {
            most = willing;
            number = i;
        }
    }
    struct sh_sim_core *core = &machine->cores[number];
    sh_sim_clear_core(machine, number);
    machine->lent++;
    machine->totals.lent++;
    if (core->state == SH_SIM_RETURNING) { /* the elastic group has never left it */
        core->state = SH_SIM_LENT;
        machine->returning--;
        sh_sim_agenda_set(&machine->agenda, number, INT64_MAX);
        return;
    }
    core->state = SH_SIM_LENDING;
    sh_sim_agenda_set(&machine->agenda, number, INT64_MAX);
    if (delay_ns > 0)
        sh_sim_agenda_set(&machine->agenda, number, machine->now_ns + delay_ns);
    else
        arrive_at_elastic(machine, number);
}

static void give_back_one(struct sh_sim_machine *machine, int64_t delay_ns) {
    uint32_t number = UINT32_MAX;
    for (uint32_t i = machine->config.cores; i-- > 0;) {
        const enum sh_sim_core_state state = machine->cores[i].state;
        /* One that has not arrived yet is back at once. */
        if (state == SH_SIM_LENDING ||
            (state == SH_SIM_LENT &&
             (number == UINT32_MAX || machine->cores[number].state == SH_SIM_LENT)))
            number = i;
    }
    struct sh_sim_core *core = &machine->cores[number];
    machine->lent--;
    machine->totals.given_back++;
    sh_sim_agenda_set(&machine->agenda, number, INT64_MAX);
    if (core->state == SH_SIM_LENDING) {
        sh_sim_admit_core(machine, number);
        return;
    }
    core->state = SH_SIM_RETURNING;
    machine->returning++;
    sh_histogram_add(&machine->recent.moves, delay_ns);
    if (delay_ns > 0)
        sh_sim_agenda_set(&machine->agenda, number, machine->now_ns + delay_ns);
    else
        arrive_at_primary(machine, number);
}

void sh_sim_machine_assign(struct sh_sim_machine *machine, uint32_t lent) {
    const struct sh_sim_mechanism *mechanism = &machine->config.mechanism;
    if (lent > machine->config.cores)
        lent = machine->config.cores;
    if (lent == machine->lent)
        return;
    const bool lends = lent > machine->lent;
    if (machine->config.sharing.shared) {
        account(machine, machine->now_ns);
        machine->totals.assignments++;
        while (machine->lent != lent) {
            if (lends)
                sh_sim_share_core(machine);
            else
                sh_sim_keep_core(machine);
        }
        sh_sim_queues_keep_spare(machine);
        return;
    }
    const struct sh_sim_delay *delay = lends ? &mechanism->lend : &mechanism->give_back;
    int64_t delay_ns = draw(machine, delay);
    account(machine, machine->now_ns);
    machine->totals.assignments++;
    while (machine->lent != lent) {
        if (lends)
            lend_one(machine, delay_ns);
        else
            give_back_one(machine, delay_ns);
        if (mechanism->per_core && machine->lent != lent)
            delay_ns = draw(machine, delay);
    }
    sh_sim_serve_waiting(machine); /* those who lost their core */
}

/* --- the seams -------------------------------------------------------------------------------- */

static int machine_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    const struct sh_sim_machine *machine = ctx;
    (void)now_ns;
    reading->busy = machine->busy;
    reading->demand = machine->demand;
    return 0;
}

static int machine_collect(void *ctx, int64_t now_ns, struct sh_window *window) {
    struct sh_sim_machine *machine = ctx;
    account(machine, now_ns);
    for (uint32_t busy = 0; machine->collecting && busy <= machine->config.cores; busy++)
        if (machine->spent_ns[busy])
            sh_window_weigh(window, busy, machine->spent_ns[busy]);
    if (machine->collecting) {
        window->demand_core_ns += machine->spent_demand_core_ns;
        if (machine->spent_demand_max > window->demand_max)
            window->demand_max = machine->spent_demand_max;
    }
    memset(machine->spent_ns, 0, (machine->config.cores + 1) * sizeof(machine->spent_ns[0]));
    machine->spent_demand_core_ns = 0;
    machine->spent_demand_max = machine->demand;
    machine->collecting = true;
    return 0;
}

void sh_sim_machine_sensor(struct sh_sim_machine *machine, bool exact, struct sh_sensor *sensor) {
    *sensor = (struct sh_sensor){.read = machine_read, .ctx = machine, .wake_fd = -1};
    if (exact) {
        sensor->collect = machine_collect;
        machine_collect(machine, machine->now_ns, NULL);
    }
}

static int machine_assign(void *ctx, uint32_t harvested) {
    struct sh_sim_machine *machine = ctx;
    sh_sim_machine_assign(machine, machine->config.elastic_min + harvested);
    return 0;
}

void sh_sim_machine_actuator(struct sh_sim_machine *machine, struct sh_actuator *actuator) {
    *actuator = (struct sh_actuator){.assign = machine_assign, .ctx = machine};
}

/* --- time ------------------------------------------------------------------------------------- */

void sh_sim_machine_wait(struct sh_sim_machine *machine, int64_t until_ns) {
    account(machine, until_ns);
    machine->now_ns = until_ns;
}

void sh_sim_machine_step(struct sh_sim_machine *machine) {
    const uint32_t source = sh_sim_agenda_next(&machine->agenda);
    const bool queues = machine->config.sharing.queues;
    sh_sim_machine_wait(machine, sh_sim_agenda_next_ns(&machine->agenda));
    if (source >= machine->config.cores + machine->primary_count) {
        sh_sim_queues_hold(machine);
        sh_sim_queues_keep_spare(machine);
        return;
    }
    if (source >= machine->config.cores) {
        (queues ? sh_sim_queues_arrive : sh_sim_arrive)(machine, source - machine->config.cores);
        sh_sim_queues_keep_spare(machine);
        return;
    }
    sh_sim_agenda_set(&machine->agenda, source, INT64_MAX);
    if (queues) {
        sh_sim_queues_step(machine, source);
        sh_sim_queues_keep_spare(machine);
        return;
    }
    switch (machine->cores[source].state) {
    case SH_SIM_PRIMARY:
        sh_sim_complete(machine, source);
        break;
    case SH_SIM_LENDING:
        arrive_at_elastic(machine, source);
        break;
    case SH_SIM_RETURNING:
        arrive_at_primary(machine, source);
        break;
    case SH_SIM_LENT:
        if (machine->cores[source].busy)
            sh_sim_complete(machine, source);
        else
            sh_sim_end_stall(machine, source);
        break;
    }
}

void sh_sim_machine_keep_spare(struct sh_sim_machine *machine, uint32_t most) {
    account(machine, machine->now_ns);
    machine->spare_most = most;
    sh_sim_queues_keep_spare(machine);
}

static void note_long_wait(const struct sh_sim_machine *machine, const struct sh_sim_thread *thread,
                           struct sh_sim_long_waits *found) {
    const int64_t wait_ns = machine->now_ns - thread->ready_ns;
    if (wait_ns <= machine->config.long_wait_ns)
        return;
    found->all++;
    found->blamed += thread->blamed;
    if (thread->blamed && wait_ns > found->blamed_longest_ns)
        found->blamed_longest_ns = wait_ns;
}

struct sh_sim_long_waits sh_sim_machine_long_waits(const struct sh_sim_machine *machine) {
    struct sh_sim_long_waits found = {0, 0, 0};
    for (uint32_t i = 0; i < machine->primary_count; i++) {
        const struct sh_sim_queue *queue = &machine->primaries[i].queue;
        for (uint32_t j = 0; j < machine->primaries[i].ready; j++)
            note_long_wait(machine, &queue->threads[(queue->first + j) % queue->capacity], &found);
    }
    for (uint32_t i = 0; i < machine->config.cores; i++)
        if (machine->cores[i].queued)
            note_long_wait(machine, &machine->cores[i].thread, &found);
    for (uint32_t i = 0; machine->config.sharing.queues && i < machine->config.cores; i++)
        for (uint32_t id = machine->cores[i].first; id != UINT32_MAX; id = machine->tasks[id].next)
            note_long_wait(machine, &machine->tasks[id].thread, &found);
    return found;
}

/* --- making and unmaking ---------------------------------------------------------------------- */

static bool is_possible(const struct sh_sim_traffic_config *c) {
    return c->service_mean_ns > 0 && c->batch_mean >= 1 && c->fork_min >= 1 &&
           c->fork_max >= c->fork_min && (c->service != SH_SIM_ERLANG || c->shape >= 1) &&
           (c->arrivals == SH_SIM_TRACE || c->schedule_length >= 1) &&
           (c->arrivals != SH_SIM_MMPP || (c->on_ns > 0 && c->off_ns > 0 && c->multiplier > 0));
}

int sh_sim_machine_init(struct sh_sim_machine *machine, const struct sh_sim_machine_config *config,
                        const struct sh_sim_traffic_config *traffic, const uint32_t *cores,
                        uint32_t primary_count) {
    memset(machine, 0, sizeof(*machine));
    if (config->cores < 1 || config->cores > SH_MAX_CORES || config->elastic_min >= config->cores ||
        (config->elastic_min && !config->sharing.shared) ||
        (config->sharing.queues && !config->sharing.shared) ||
        (config->sharing.let_go_ns && !config->sharing.queues) || primary_count < 1 ||
        primary_count > SH_SIM_MAX_PRIMARIES)
        return -EINVAL;
    for (uint32_t i = 0; i < primary_count; i++)
        if (cores[i] < 1 || !is_possible(&traffic[i]))
            return -EINVAL;
    machine->config = *config;
    machine->free_request = UINT32_MAX;
    machine->primary_count = primary_count;
    machine->primaries = calloc(primary_count, sizeof(*machine->primaries));
    machine->cores = calloc(config->cores, sizeof(*machine->cores));
    machine->idle = calloc(config->cores, sizeof(*machine->idle));
    if (sh_sim_agenda_init(&machine->agenda, config->cores + primary_count + 1) != 0 ||
        !machine->primaries || !machine->cores || !machine->idle)
        return -ENOMEM;
    sh_sim_random_seed(&machine->delays, config->seed, DELAY_STREAM);
    sh_sim_random_seed(&machine->placement, config->seed, PLACEMENT_STREAM);
    for (uint32_t i = 0; i < config->cores; i++)
        sh_sim_admit_core(machine, i);
    for (uint32_t i = 0; i < primary_count; i++) {
        struct sh_sim_primary *primary = &machine->primaries[i];
        primary->cores = cores[i];
        sh_sim_traffic_init(&primary->traffic, &traffic[i], config->seed, i);
        sh_sim_agenda_set(&machine->agenda, config->cores + i, primary->traffic.next_ns);
    }
    if (config->sharing.queues && sh_sim_queues_init(machine) != 0)
        return -ENOMEM;
    if (config->elastic_min)
        sh_sim_machine_assign(machine, config->elastic_min);
    return 0;
}

void sh_sim_machine_destroy(struct sh_sim_machine *machine) {
    for (uint32_t i = 0; machine->primaries && i < machine->primary_count; i++) {
        free(machine->primaries[i].queue.threads);
        free(machine->primaries[i].unsent.threads);
    }
    free(machine->primaries);
    free(machine->tasks);
    free(machine->cores);
    free(machine->idle);
    free(machine->requests);
    sh_sim_agenda_destroy(&machine->agenda);
}
