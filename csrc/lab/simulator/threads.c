#include "lab/simulator/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = UINT32_MAX, SMALLEST_POOL = 64 };

/* --- queues ----------------------------------------------------------------------------------- */

static bool make_room(struct sh_sim_machine *machine, struct sh_sim_queue *queue) {
    if (queue->length < queue->capacity)
        return true;
    const uint32_t capacity = queue->capacity ? 2 * queue->capacity : SMALLEST_POOL;
    struct sh_sim_thread *threads = NULL;
    machine->error = capacity > SH_SIM_MAX_BACKLOG ? -EOVERFLOW : -ENOMEM;
    if (capacity <= SH_SIM_MAX_BACKLOG)
        threads = malloc(capacity * sizeof(*threads));
    if (!threads)
        return false;
    for (uint32_t i = 0; i < queue->length; i++)
        threads[i] = queue->threads[(queue->first + i) % queue->capacity];
    free(queue->threads);
    *queue = (struct sh_sim_queue){threads, capacity, 0, queue->length};
    machine->error = 0;
    return true;
}

struct sh_sim_thread *sh_sim_queue_at(struct sh_sim_queue *queue, uint32_t index) {
    return &queue->threads[(queue->first + index) % queue->capacity];
}

void sh_sim_queue_push(struct sh_sim_machine *machine, struct sh_sim_queue *queue,
                       struct sh_sim_thread thread) {
    if (make_room(machine, queue))
        *sh_sim_queue_at(queue, queue->length++) = thread;
}

void sh_sim_queue_push_front(struct sh_sim_machine *machine, struct sh_sim_queue *queue,
                             struct sh_sim_thread thread) {
    if (!make_room(machine, queue))
        return;
    queue->first = (queue->first + queue->capacity - 1) % queue->capacity;
    queue->length++;
    *sh_sim_queue_at(queue, 0) = thread;
}

struct sh_sim_thread sh_sim_queue_pop(struct sh_sim_queue *queue) {
    const struct sh_sim_thread thread = *sh_sim_queue_at(queue, 0);
    queue->first = (queue->first + 1) % queue->capacity;
    queue->length--;
    return thread;
}

/* --- requests --------------------------------------------------------------------------------- */

static uint32_t new_request(struct sh_sim_machine *machine, uint32_t primary, int64_t arrival_ns) {
    if (machine->free_request == NONE) {
        const uint32_t old = machine->request_capacity, capacity = old ? 2 * old : SMALLEST_POOL;
        struct sh_sim_request *requests =
            realloc(machine->requests, capacity * sizeof(*machine->requests));
        if (!requests) {
            machine->error = -ENOMEM;
            return NONE;
        }
        for (uint32_t i = old; i < capacity; i++)
            requests[i].threads = i + 1 < capacity ? i + 1 : NONE;
        machine->requests = requests;
        machine->request_capacity = capacity;
        machine->free_request = old;
    }
    const uint32_t number = machine->free_request;
    machine->free_request = machine->requests[number].threads;
    machine->requests[number] = (struct sh_sim_request){arrival_ns, primary, 0};
    machine->in_system++;
    machine->primaries[primary].arrived++;
    return number;
}

void sh_sim_finish_thread(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_request *request = &machine->requests[number];
    struct sh_sim_primary *primary = &machine->primaries[request->primary];
    if (--request->threads)
        return;
    sh_sim_latencies_add(&primary->latencies, machine->now_ns - request->arrival_ns);
    primary->completed++;
    machine->in_system--;
    request->threads = machine->free_request;
    machine->free_request = number;
}

void sh_sim_take_arrivals(struct sh_sim_machine *machine, uint32_t number) {
    struct sh_sim_primary *primary = &machine->primaries[number];
    struct sh_sim_traffic *traffic = &primary->traffic;
    const int64_t send_ns = machine->config.sharing.queues ? 0 : traffic->config.send_ns;
    struct sh_sim_queue *queue = send_ns ? &primary->unsent : &primary->queue;
    for (uint32_t batch = sh_sim_traffic_batch(traffic); batch > 0; batch--) {
        const uint32_t request = new_request(machine, number, traffic->next_ns);
        if (machine->error)
            return;
        const uint32_t threads = sh_sim_traffic_fork(traffic);
        machine->requests[request].threads = threads + (send_ns > 0);
        for (uint32_t i = 0; i < threads && !machine->error; i++) {
            const int64_t service_ns = sh_sim_traffic_service(traffic);
            primary->work_ns += (uint64_t)service_ns;
            sh_sim_queue_push(machine, queue,
                              (struct sh_sim_thread){.request = request, .service_ns = service_ns});
        }
        if (send_ns && !machine->error) {
            const struct sh_sim_thread sender = {
                .request = request, .service_ns = send_ns, .sends = true};
            primary->work_ns += (uint64_t)send_ns;
            sh_sim_queue_push(machine, &primary->queue, sender);
        }
    }
    sh_sim_traffic_advance(traffic);
}

/* --- threads on cores ------------------------------------------------------------------------- */

struct sh_sim_primary *sh_sim_owner(struct sh_sim_machine *machine,
                                    const struct sh_sim_thread *thread) {
    return &machine->primaries[machine->requests[thread->request].primary];
}

void sh_sim_note_peaks(struct sh_sim_machine *machine) {
    machine->changed = true;
    if (machine->busy > machine->busy_peak)
        machine->busy_peak = machine->busy;
    if (machine->demand > machine->demand_peak)
        machine->demand_peak = machine->demand;
    if (machine->demand > machine->spent_demand_max)
        machine->spent_demand_max = machine->demand;
}

bool sh_sim_was_lent(const struct sh_sim_machine *machine, int64_t since_ns) {
    return machine->lent + machine->returning > 0 || machine->lent_until_ns > since_ns;
}

static uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void sh_sim_wake(struct sh_sim_machine *machine, struct sh_sim_thread *thread, bool blamed) {
    thread->ready_ns = machine->now_ns;
    thread->elastic_before_ns = machine->totals.elastic_core_ns;
    thread->blamed = blamed;
}

/* How long the elastic group has held up a thread that has waited since then. */
static int64_t held_up(const struct sh_sim_machine *machine, int64_t since_ns) {
    const struct sh_sim_elastic_stints *seen = &machine->elastic_stints;
    int64_t first_ns = machine->now_ns;
    for (uint32_t i = 0; i < SH_SIM_STINTS; i++) {
        const uint32_t at = (seen->last + SH_SIM_STINTS - i) % SH_SIM_STINTS;
        if (seen->stints[at].until_ns <= since_ns)
            break;
        first_ns = seen->stints[at].from_ns;
    }
    return machine->now_ns - (first_ns > since_ns ? first_ns : since_ns);
}

static void note_harm(struct sh_sim_machine *machine, struct sh_sim_primary *primary,
                      const struct sh_sim_thread *thread) {
    const struct sh_sim_ended_wait wait = {
        .wait_ns = machine->now_ns - thread->ready_ns,
        .elastic_ns = machine->totals.elastic_core_ns -
                      max_u64(thread->elastic_before_ns, machine->elastic_idle_ns),
        .here_ns = thread->held_ns ? machine->now_ns - thread->held_ns : 0,
    };
    sh_sim_harm_add_wait(&primary->harm, sh_sim_was_lent(machine, thread->ready_ns), &wait);
}

/* What lending has held up is behind what it held up before: who waits for the core of one that
 * began late begins late, too, by as much at most. */
static int64_t held_up_behind(const struct sh_sim_machine *machine, struct sh_sim_core *core,
                              const struct sh_sim_thread *thread) {
    const int64_t wait_ns = machine->now_ns - thread->ready_ns;
    int64_t held_ns = wait_ns ? held_up(machine, thread->ready_ns) : 0;
    if (held_ns < core->late_by_ns)
        held_ns = core->late_by_ns < wait_ns ? core->late_by_ns : wait_ns;
    core->late_by_ns = held_ns;
    return held_ns;
}

void sh_sim_note_dispatch(struct sh_sim_machine *machine, struct sh_sim_primary *primary,
                          uint32_t number, struct sh_sim_thread *thread) {
    struct sh_sim_totals *totals = &machine->totals;
    const int64_t wait_ns = machine->now_ns - thread->ready_ns;
    totals->dispatches++;
    totals->wait_ns += (uint64_t)wait_ns;
    sh_sim_latencies_add(&machine->waits, wait_ns);
    sh_histogram_add(&machine->recent.waits, wait_ns);
    sh_histogram_add(&machine->recent.runs, thread->service_ns);
    if (wait_ns > machine->config.long_wait_ns) {
        totals->long_waits++;
        totals->blamed_waits += thread->blamed;
    }
    note_harm(machine, primary, thread);
    const int64_t held_ns = held_up_behind(machine, &machine->cores[number], thread);
    thread->held_up_ns += held_ns;
    if (sh_sim_was_lent(machine, thread->ready_ns))
        sh_sim_harm_add_held_up(&primary->harm, wait_ns, held_ns);
}

void sh_sim_start(struct sh_sim_machine *machine, uint32_t number, struct sh_sim_thread thread) {
    struct sh_sim_core *core = &machine->cores[number];
    struct sh_sim_primary *primary = sh_sim_owner(machine, &thread);
    sh_sim_note_dispatch(machine, primary, number, &thread);
    thread.held_ns = 0;
    if (core->cold)
        thread.service_ns += machine->config.cold_ns;
    core->cold = core->queued = false;
    core->busy = true;
    core->thread = thread;
    primary->running++;
    machine->busy++;
    sh_sim_note_peaks(machine);
    sh_sim_agenda_set(&machine->agenda, number, machine->now_ns + thread.service_ns);
}

void sh_sim_count_dispatches(struct sh_sim_machine *machine, int64_t service_ns) {
    const int64_t every_ns = machine->config.dispatch_every_ns;
    if (every_ns == 0)
        return;
    machine->dispatch_credit_ns += service_ns;
    machine->totals.dispatches += (uint64_t)(machine->dispatch_credit_ns / every_ns);
    machine->dispatch_credit_ns %= every_ns;
}

void sh_sim_add_idle(struct sh_sim_machine *machine, uint32_t number) {
    machine->cores[number].slot = machine->idle_count;
    machine->idle[machine->idle_count++] = number;
}

void sh_sim_remove_idle(struct sh_sim_machine *machine, uint32_t number) {
    const uint32_t slot = machine->cores[number].slot, last = machine->idle[--machine->idle_count];
    machine->idle[slot] = last;
    machine->cores[last].slot = slot;
}
