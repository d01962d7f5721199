#include "lab/serverless/cluster_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* At the same moment the change comes first, the arrival last. */
enum { CHANGE, REPORT, ARRIVAL, FIRST_WORKER };

static void *zeroed(size_t count, size_t size) {
    return calloc(count ? count : 1, size);
}

int sh_faas_run_init(struct sh_faas_run *run, const struct sh_faas_run_config *config) {
    const size_t balancers = (size_t)config->controllers * SH_FAAS_POOLS;
    memset(run, 0, sizeof(*run));
    run->config = *config;
    run->unfinished = config->invocations;
    run->cluster = (struct sh_faas_cluster){
        .slots = config->slots,
        .functions = config->functions,
        .invocations = config->invocations,
        .memory_mib = config->function_memory_mib,
        .cold_ns = config->function_cold_ns,
        .function = config->function,
        .work_ns = config->work_ns,
        .cold = config->cold,
        .keep_alive_ns = config->keep_alive_ns,
        .measure_until_ns = config->measure_until_ns,
    };
    int err = sh_faas_cluster_init(&run->cluster);
    if (!err)
        err = sh_sim_agenda_init(&run->agenda, FIRST_WORKER + config->slots);
    if (err)
        return err;
    run->balancers = zeroed(balancers, sizeof(*run->balancers));
    run->views = zeroed((size_t)config->controllers * config->slots, sizeof(*run->views));
    run->warm = zeroed((size_t)config->functions * config->slots, sizeof(*run->warm));
    run->eviction_s = zeroed(config->slots, sizeof(*run->eviction_s));
    run->waiting = zeroed(config->invocations, sizeof(*run->waiting));
    for (int i = 0; i < SH_FAAS_POOLS; i++)
        run->order[i] = zeroed(config->slots, sizeof(*run->order[i]));
    if (!run->balancers || !run->views || !run->warm || !run->eviction_s || !run->waiting ||
        !run->order[0] || !run->order[1])
        return -ENOMEM;
    for (size_t i = 0; i < balancers; i++) {
        err = sh_faas_balancer_init(&run->balancers[i], &config->options, config->functions,
                                    config->slots, config->seed, i);
        if (err)
            return err;
    }
    for (uint32_t i = 0; i < config->slots; i++)
        run->cluster.workers[i].total_memory_mib = config->worker_memory_mib[i];
    for (uint32_t i = 0; i < config->invocations; i++)
        config->end_ns[i] = -1;
    if (config->invocations)
        sh_sim_agenda_set(&run->agenda, ARRIVAL, config->arrival_ns[0]);
    if (config->changes)
        sh_sim_agenda_set(&run->agenda, CHANGE, config->change[0].at_ns);
    sh_sim_agenda_set(&run->agenda, REPORT, 0);
    return 0;
}

void sh_faas_run_destroy(struct sh_faas_run *run) {
    for (size_t i = 0; run->balancers && i < (size_t)run->config.controllers * SH_FAAS_POOLS; i++)
        sh_faas_balancer_destroy(&run->balancers[i]);
    sh_faas_cluster_destroy(&run->cluster);
    sh_sim_agenda_destroy(&run->agenda);
    free(run->balancers);
    free(run->views);
    free(run->warm);
    free(run->eviction_s);
    free(run->waiting);
    for (int i = 0; i < SH_FAAS_POOLS; i++)
        free(run->order[i]);
}

/* --- what controllers know -------------------------------------------------------------------- */

static uint32_t controller_of(const struct sh_faas_run *run, uint32_t invocation) {
    return invocation % run->config.controllers;
}

static struct sh_faas_view *view_of(struct sh_faas_run *run, uint32_t controller, uint32_t slot) {
    return &run->views[(size_t)controller * run->config.slots + slot];
}

static void count(struct sh_faas_run *run, uint32_t invocation, uint32_t slot, double sign) {
    struct sh_faas_view *view = view_of(run, controller_of(run, invocation), slot);
    view->load += sign;
    view->busy_memory_mib +=
        sign * run->config.function_memory_mib[run->config.function[invocation]];
}

static void report(struct sh_faas_run *run, uint32_t slot) {
    struct sh_faas_worker *worker = &run->cluster.workers[slot];
    sh_faas_worker_advance(&run->cluster, slot, run->now_ns);
    sh_faas_worker_expire(&run->cluster, slot);
    uint32_t warm_functions = 0;
    for (uint32_t i = worker->newest; i != SH_FAAS_NONE; i = run->cluster.instances[i].older) {
        const uint32_t function = run->cluster.instances[i].function;
        uint8_t *warm = &run->warm[(size_t)function * run->config.slots + slot];
        warm_functions += !*warm;
        *warm = 1;
    }
    for (uint32_t i = 0; i < run->config.controllers; i++) {
        struct sh_faas_view *view = view_of(run, i, slot);
        view->cores = worker->cores;
        view->load = (double)worker->running_count + worker->queue_length;
        view->busy_memory_mib = worker->held_memory_mib;
        view->eviction_s = run->eviction_s[slot];
        view->warm = warm_functions;
        view->reported_s = (double)run->now_ns / 1e9;
    }
}

/* --- sending ---------------------------------------------------------------------------------- */

static void plan_worker(struct sh_faas_run *run, uint32_t slot) {
    sh_sim_agenda_set(&run->agenda, FIRST_WORKER + slot,
                      sh_faas_worker_next_ns(&run->cluster, slot));
}

/* 0, -EAGAIN if no worker may take it, or -ENOMEM. */
static int send(struct sh_faas_run *run, uint32_t invocation) {
    const uint32_t function = run->config.function[invocation];
    const uint32_t controller = controller_of(run, invocation);
    const int kind = run->config.function_regular[function] ? SH_FAAS_REGULAR : SH_FAAS_HARVEST;
    const struct sh_faas_pool pool = {
        .views = view_of(run, controller, 0),
        .order = run->order[kind],
        .count = run->order_count[kind],
    };
    const struct sh_faas_function asked = {
        .number = function,
        .hash = run->config.function_hash[function],
        .memory_mib = run->config.function_memory_mib[function],
    };
    const int64_t slot = sh_faas_choose(
        &run->balancers[(size_t)controller * SH_FAAS_POOLS + (size_t)kind], &asked, &pool,
        &run->warm[(size_t)function * run->config.slots], (double)run->now_ns / 1e9);
    if (slot < 0)
        return (int)slot;
    count(run, invocation, (uint32_t)slot, 1.0);
    run->config.worker[invocation] = (uint32_t)slot;
    sh_faas_worker_advance(&run->cluster, (uint32_t)slot, run->now_ns);
    const int err = sh_faas_worker_take(&run->cluster, (uint32_t)slot, invocation);
    plan_worker(run, (uint32_t)slot);
    return err;
}

static int send_or_keep(struct sh_faas_run *run, uint32_t invocation) {
    const int err = send(run, invocation);
    if (err != -EAGAIN)
        return err;
    run->waiting[run->waiting_count++] = invocation;
    return 0;
}

static int send_waiting(struct sh_faas_run *run) {
    const uint32_t waiting = run->waiting_count;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < waiting; i++) {
        const int err = send(run, run->waiting[i]);
        if (err == -EAGAIN)
            run->waiting[kept++] = run->waiting[i];
        else if (err)
            return err;
    }
    run->waiting_count = kept;
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

static int on_arrival(struct sh_faas_run *run) {
    const uint32_t invocation = run->next_arrival++;
    sh_sim_agenda_set(&run->agenda, ARRIVAL,
                      run->next_arrival < run->config.invocations
                          ? run->config.arrival_ns[run->next_arrival]
                          : INT64_MAX);
    return send_or_keep(run, invocation);
}

static int on_report(struct sh_faas_run *run) {
    memset(run->warm, 0, (size_t)run->config.functions * run->config.slots);
    for (int kind = 0; kind < SH_FAAS_POOLS; kind++)
        for (uint32_t i = 0; i < run->order_count[kind]; i++)
            report(run, run->order[kind][i]);
    sh_sim_agenda_set(&run->agenda, REPORT, run->now_ns + run->config.report_ns);
    return send_waiting(run);
}

static int on_worker(struct sh_faas_run *run, uint32_t slot) {
    sh_faas_worker_advance(&run->cluster, slot, run->now_ns);
    uint32_t invocation;
    while ((invocation = sh_faas_worker_finished(&run->cluster, slot)) != SH_FAAS_NONE) {
        run->config.end_ns[invocation] = run->now_ns;
        run->unfinished--;
        count(run, invocation, slot, -1.0);
    }
    const int err = sh_faas_worker_start_waiting(&run->cluster, slot);
    plan_worker(run, slot);
    return err;
}

static void on_arrives(struct sh_faas_run *run, uint32_t slot, double cores) {
    struct sh_faas_worker *worker = &run->cluster.workers[slot];
    const int kind = run->config.worker_regular[slot] ? SH_FAAS_REGULAR : SH_FAAS_HARVEST;
    sh_faas_worker_advance(&run->cluster, slot, run->now_ns);
    worker->alive = true;
    worker->cores = cores;
    run->eviction_s[slot] = INFINITY;
    run->order[kind][run->order_count[kind]++] = slot;
    for (uint32_t i = 0; i < run->config.controllers; i++)
        *view_of(run, i, slot) = (struct sh_faas_view){
            .cores = cores,
            .min_cores = run->config.worker_min_cores[slot],
            .reported_s = -INFINITY,
            .eviction_s = INFINITY,
            .memory_mib = run->config.worker_memory_mib[slot],
            .present = true,
        };
}

/* What waits on the worker goes to others; what runs has the time of the notice. */
static int on_notice(struct sh_faas_run *run, uint32_t slot, double notice_s) {
    run->notices++;
    run->eviction_s[slot] = (double)run->now_ns / 1e9 + notice_s;
    if (run->config.options.kind == SH_FAAS_HOME_INVOKER)
        return 0; /* it knows no notices */
    /* A controller that gets something back learns why. */
    const uint32_t waiting = run->cluster.workers[slot].queue_length;
    for (uint32_t i = 0; i < waiting; i++) {
        const uint32_t invocation = sh_faas_worker_hand_back(&run->cluster, slot);
        count(run, invocation, slot, -1.0);
        view_of(run, controller_of(run, invocation), slot)->eviction_s = run->eviction_s[slot];
        run->handed_back++;
        const int err = send_or_keep(run, invocation);
        if (err)
            return err;
    }
    return 0;
}

static void leave(struct sh_faas_run *run, uint32_t slot) {
    const int kind = run->config.worker_regular[slot] ? SH_FAAS_REGULAR : SH_FAAS_HARVEST;
    uint32_t *order = run->order[kind];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->order_count[kind]; i++)
        if (order[i] != slot)
            order[kept++] = order[i];
    run->order_count[kind] = kept;
    for (uint32_t i = 0; i < run->config.controllers; i++)
        view_of(run, i, slot)->present = false;
    for (uint32_t i = 0; i < run->config.functions; i++)
        run->warm[(size_t)i * run->config.slots + slot] = 0;
}

/* What ran fails, unless it may run again; what waited has not begun and goes elsewhere. */
static int on_eviction(struct sh_faas_run *run, uint32_t slot) {
    struct sh_faas_worker *worker = &run->cluster.workers[slot];
    uint32_t invocation;
    run->evictions++;
    sh_faas_worker_advance(&run->cluster, slot, run->now_ns);
    leave(run, slot);
    while ((invocation = sh_faas_worker_abort(&run->cluster, slot)) != SH_FAAS_NONE) {
        const uint8_t begun = ++run->config.attempts[invocation];
        if (!run->config.function_idempotent[run->config.function[invocation]] ||
            begun > run->config.retries) {
            run->unfinished--;
            continue;
        }
        run->retried++;
        const int err = send_or_keep(run, invocation);
        if (err)
            return err;
    }
    while ((invocation = sh_faas_worker_hand_back(&run->cluster, slot)) != SH_FAAS_NONE) {
        run->handed_back++;
        const int err = send_or_keep(run, invocation);
        if (err)
            return err;
    }
    sh_faas_worker_clear(&run->cluster, slot);
    worker->alive = false;
    worker->cores = 0.0;
    plan_worker(run, slot);
    return 0;
}

static int on_change(struct sh_faas_run *run) {
    const struct sh_faas_change *change = &run->config.change[run->next_change++];
    const uint32_t slot = change->slot;
    sh_sim_agenda_set(&run->agenda, CHANGE,
                      run->next_change < run->config.changes
                          ? run->config.change[run->next_change].at_ns
                          : INT64_MAX);
    switch (change->kind) {
    case SH_FAAS_ARRIVES:
        on_arrives(run, slot, change->value);
        return 0;
    case SH_FAAS_RESIZED:
        sh_faas_worker_advance(&run->cluster, slot, run->now_ns);
        if (run->cluster.workers[slot].alive)
            run->cluster.workers[slot].cores = change->value;
        plan_worker(run, slot);
        return 0;
    case SH_FAAS_NOTICED:
        return on_notice(run, slot, change->value);
    case SH_FAAS_EVICTED:
        return on_eviction(run, slot);
    }
    return -EINVAL;
}

static int step(struct sh_faas_run *run, uint32_t source) {
    switch (source) {
    case ARRIVAL:
        return on_arrival(run);
    case CHANGE:
        return on_change(run);
    case REPORT:
        return on_report(run);
    }
    return on_worker(run, source - FIRST_WORKER);
}

/* All workers as of measure_until_ns at least, for what they have had and used. */
static void finish(struct sh_faas_run *run) {
    const int64_t until_ns = run->config.measure_until_ns;
    for (uint32_t i = 0; i < run->config.slots; i++)
        sh_faas_worker_advance(&run->cluster, i, run->now_ns > until_ns ? run->now_ns : until_ns);
}

int sh_faas_run_advance(struct sh_faas_run *run, uint64_t events) {
    for (uint64_t i = 0; i < events; i++) {
        const uint32_t source = sh_sim_agenda_next(&run->agenda);
        const int64_t at_ns = sh_sim_agenda_next_ns(&run->agenda);
        /* Changes go on until the last moment that is measured: they are paid for. */
        const bool over = !run->unfinished && at_ns >= run->config.measure_until_ns;
        if (over || at_ns == INT64_MAX || at_ns > run->config.give_up_ns) {
            finish(run);
            return 0;
        }
        run->now_ns = at_ns;
        run->events++;
        const int err = step(run, source);
        if (err)
            return err;
    }
    return 1;
}
