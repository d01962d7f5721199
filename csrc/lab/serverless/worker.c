#include "lab/serverless/worker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING_NS 1.0 /* events are at whole nanoseconds */

int sh_faas_cluster_init(struct sh_faas_cluster *cluster) {
    const size_t pairs = (size_t)cluster->slots * cluster->functions;
    cluster->workers = calloc(cluster->slots, sizeof(*cluster->workers));
    cluster->next = calloc(cluster->invocations ? cluster->invocations : 1, sizeof(*cluster->next));
    cluster->top = malloc((pairs ? pairs : 1) * sizeof(*cluster->top));
    cluster->bottom = malloc((pairs ? pairs : 1) * sizeof(*cluster->bottom));
    cluster->instances = NULL;
    cluster->instance_count = cluster->instance_capacity = 0;
    cluster->free_instance = SH_FAAS_NONE;
    if (!cluster->workers || !cluster->next || !cluster->top || !cluster->bottom)
        return -ENOMEM;
    memset(cluster->top, 0xff, pairs * sizeof(*cluster->top));
    memset(cluster->bottom, 0xff, pairs * sizeof(*cluster->bottom));
    for (uint32_t i = 0; i < cluster->slots; i++) {
        struct sh_faas_worker *worker = &cluster->workers[i];
        worker->queue_head = worker->queue_tail = SH_FAAS_NONE;
        worker->newest = worker->oldest = SH_FAAS_NONE;
    }
    return 0;
}

void sh_faas_cluster_destroy(struct sh_faas_cluster *cluster) {
    for (uint32_t i = 0; cluster->workers && i < cluster->slots; i++)
        free(cluster->workers[i].running);
    free(cluster->workers);
    free(cluster->next);
    free(cluster->top);
    free(cluster->bottom);
    free(cluster->instances);
}

/* --- cores ------------------------------------------------------------------------------------ */

static double rate_of(const struct sh_faas_worker *worker) {
    if (!worker->running_count || worker->cores <= 0.0)
        return 0.0;
    const double share = worker->cores / worker->running_count;
    return share < 1.0 ? share : 1.0;
}

void sh_faas_worker_advance(struct sh_faas_cluster *cluster, uint32_t slot, int64_t now_ns) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    const int64_t until_ns =
        now_ns < cluster->measure_until_ns ? now_ns : cluster->measure_until_ns;
    const double rate = rate_of(worker);
    if (worker->alive && until_ns > worker->at_ns) {
        const double measured_ns = (double)(until_ns - worker->at_ns);
        worker->core_ns += worker->cores * measured_ns;
        worker->busy_core_ns += rate * worker->running_count * measured_ns;
    }
    worker->served_ns += rate * (double)(now_ns - worker->at_ns);
    worker->at_ns = now_ns;
}

int64_t sh_faas_worker_next_ns(const struct sh_faas_cluster *cluster, uint32_t slot) {
    const struct sh_faas_worker *worker = &cluster->workers[slot];
    const double rate = rate_of(worker);
    if (rate <= 0.0)
        return INT64_MAX;
    const double left_ns = ceil((worker->running[0].finish - worker->served_ns) / rate);
    if (left_ns > 1e17)
        return INT64_MAX;
    return worker->at_ns + (left_ns > 0.0 ? (int64_t)left_ns : 0);
}

/* --- the heap of running invocations ---------------------------------------------------------- */

static bool sooner(const struct sh_faas_job *a, const struct sh_faas_job *b) {
    return a->finish < b->finish || (a->finish == b->finish && a->invocation < b->invocation);
}

static int push(struct sh_faas_worker *worker, struct sh_faas_job job) {
    if (worker->running_count == worker->running_capacity) {
        const uint32_t capacity = worker->running_capacity ? 2 * worker->running_capacity : 16;
        struct sh_faas_job *running = realloc(worker->running, capacity * sizeof(*worker->running));
        if (!running)
            return -ENOMEM;
        worker->running = running;
        worker->running_capacity = capacity;
    }
    uint32_t i = worker->running_count++;
    for (; i > 0 && sooner(&job, &worker->running[(i - 1) / 2]); i = (i - 1) / 2)
        worker->running[i] = worker->running[(i - 1) / 2];
    worker->running[i] = job;
    return 0;
}

static uint32_t pop(struct sh_faas_worker *worker) {
    const uint32_t invocation = worker->running[0].invocation;
    const struct sh_faas_job last = worker->running[--worker->running_count];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < worker->running_count; i = child) {
        if (child + 1 < worker->running_count &&
            sooner(&worker->running[child + 1], &worker->running[child]))
            child++;
        if (!sooner(&worker->running[child], &last))
            break;
        worker->running[i] = worker->running[child];
    }
    if (worker->running_count)
        worker->running[i] = last;
    return invocation;
}

/* --- idle instances --------------------------------------------------------------------------- */

static int add_idle(struct sh_faas_cluster *cluster, uint32_t slot, uint32_t function) {
    uint32_t number = cluster->free_instance;
    if (number != SH_FAAS_NONE) {
        cluster->free_instance = cluster->instances[number].older;
    } else {
        if (cluster->instance_count == cluster->instance_capacity) {
            const uint32_t capacity =
                cluster->instance_capacity ? 2 * cluster->instance_capacity : 256;
            struct sh_faas_instance *instances =
                realloc(cluster->instances, capacity * sizeof(*cluster->instances));
            if (!instances)
                return -ENOMEM;
            cluster->instances = instances;
            cluster->instance_capacity = capacity;
        }
        number = cluster->instance_count++;
    }
    struct sh_faas_worker *worker = &cluster->workers[slot];
    const size_t pair = (size_t)slot * cluster->functions + function;
    cluster->instances[number] = (struct sh_faas_instance){
        .idle_since_ns = worker->at_ns,
        .function = function,
        .newer = SH_FAAS_NONE,
        .older = worker->newest,
        .above = SH_FAAS_NONE,
        .below = cluster->top[pair],
    };
    if (worker->newest != SH_FAAS_NONE)
        cluster->instances[worker->newest].newer = number;
    else
        worker->oldest = number;
    worker->newest = number;
    if (cluster->top[pair] != SH_FAAS_NONE)
        cluster->instances[cluster->top[pair]].above = number;
    else
        cluster->bottom[pair] = number;
    cluster->top[pair] = number;
    return 0;
}

static void remove_idle(struct sh_faas_cluster *cluster, uint32_t slot, uint32_t number) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    struct sh_faas_instance *all = cluster->instances;
    struct sh_faas_instance *one = &all[number];
    const size_t pair = (size_t)slot * cluster->functions + one->function;
    *(one->newer != SH_FAAS_NONE ? &all[one->newer].older : &worker->newest) = one->older;
    *(one->older != SH_FAAS_NONE ? &all[one->older].newer : &worker->oldest) = one->newer;
    *(one->above != SH_FAAS_NONE ? &all[one->above].below : &cluster->top[pair]) = one->below;
    *(one->below != SH_FAAS_NONE ? &all[one->below].above : &cluster->bottom[pair]) = one->above;
    one->older = cluster->free_instance;
    cluster->free_instance = number;
}

static void end_oldest(struct sh_faas_cluster *cluster, uint32_t slot) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    const uint32_t oldest = worker->oldest;
    worker->used_memory_mib -= cluster->memory_mib[cluster->instances[oldest].function];
    remove_idle(cluster, slot, oldest);
}

void sh_faas_worker_expire(struct sh_faas_cluster *cluster, uint32_t slot) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    while (worker->oldest != SH_FAAS_NONE &&
           worker->at_ns - cluster->instances[worker->oldest].idle_since_ns >
               cluster->keep_alive_ns)
        end_oldest(cluster, slot);
}

void sh_faas_worker_clear(struct sh_faas_cluster *cluster, uint32_t slot) {
    while (cluster->workers[slot].oldest != SH_FAAS_NONE)
        end_oldest(cluster, slot);
}

/* --- invocations ------------------------------------------------------------------------------ */

static double memory_of(const struct sh_faas_cluster *cluster, uint32_t invocation) {
    return cluster->memory_mib[cluster->function[invocation]];
}

static void dequeue(struct sh_faas_cluster *cluster, struct sh_faas_worker *worker) {
    worker->queue_head = cluster->next[worker->queue_head];
    worker->queue_length--;
}

/* 1: it runs; 0: no memory; -ENOMEM. */
static int begin(struct sh_faas_cluster *cluster, uint32_t slot, uint32_t invocation) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    const uint32_t function = cluster->function[invocation];
    const double memory_mib = cluster->memory_mib[function];
    double work_ns = (double)cluster->work_ns[invocation];
    sh_faas_worker_expire(cluster, slot);
    const uint32_t idle = cluster->top[(size_t)slot * cluster->functions + function];
    if (idle != SH_FAAS_NONE) {
        remove_idle(cluster, slot, idle);
    } else {
        while (worker->used_memory_mib + memory_mib > worker->total_memory_mib &&
               worker->oldest != SH_FAAS_NONE)
            end_oldest(cluster, slot);
        if (worker->used_memory_mib + memory_mib > worker->total_memory_mib)
            return 0;
        worker->used_memory_mib += memory_mib;
        cluster->cold[invocation] = 1;
        work_ns += (double)cluster->cold_ns[function];
    }
    const int err = push(worker, (struct sh_faas_job){worker->served_ns + work_ns, invocation});
    return err ? err : 1;
}

int sh_faas_worker_take(struct sh_faas_cluster *cluster, uint32_t slot, uint32_t invocation) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    worker->held_memory_mib += memory_of(cluster, invocation);
    if (!worker->queue_length) {
        const int begun = begin(cluster, slot, invocation);
        if (begun)
            return begun < 0 ? begun : 0;
    }
    cluster->next[invocation] = SH_FAAS_NONE;
    if (worker->queue_length++)
        cluster->next[worker->queue_tail] = invocation;
    else
        worker->queue_head = invocation;
    worker->queue_tail = invocation;
    return 0;
}

uint32_t sh_faas_worker_hand_back(struct sh_faas_cluster *cluster, uint32_t slot) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    if (!worker->queue_length)
        return SH_FAAS_NONE;
    const uint32_t invocation = worker->queue_head;
    dequeue(cluster, worker);
    worker->held_memory_mib -= memory_of(cluster, invocation);
    return invocation;
}

int sh_faas_worker_start_waiting(struct sh_faas_cluster *cluster, uint32_t slot) {
    while (cluster->workers[slot].queue_length) {
        const int begun = begin(cluster, slot, cluster->workers[slot].queue_head);
        if (begun <= 0)
            return begun;
        dequeue(cluster, &cluster->workers[slot]);
    }
    return 0;
}

uint32_t sh_faas_worker_finished(struct sh_faas_cluster *cluster, uint32_t slot) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    if (!worker->running_count || worker->running[0].finish > worker->served_ns + ROUNDING_NS)
        return SH_FAAS_NONE;
    /* Its memory stays in use, as an idle instance's. Without room for that it is not kept. */
    const uint32_t invocation = pop(worker);
    worker->held_memory_mib -= memory_of(cluster, invocation);
    if (add_idle(cluster, slot, cluster->function[invocation]))
        worker->used_memory_mib -= memory_of(cluster, invocation);
    return invocation;
}

uint32_t sh_faas_worker_abort(struct sh_faas_cluster *cluster, uint32_t slot) {
    struct sh_faas_worker *worker = &cluster->workers[slot];
    if (!worker->running_count)
        return SH_FAAS_NONE;
    const uint32_t invocation = pop(worker);
    worker->held_memory_mib -= memory_of(cluster, invocation);
    worker->used_memory_mib -= memory_of(cluster, invocation);
    return invocation;
}
