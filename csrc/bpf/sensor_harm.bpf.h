/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What lending costs each primary. */
#ifndef SH_SENSOR_HARM_BPF_H
#define SH_SENSOR_HARM_BPF_H

#include "sensor_waits.bpf.h"

/* Of each CPU each primary. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as are needed, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_harm);
} harms SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SH_BPF_TRACKED_TASKS); /* one without harm, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_tracked_task);
} tracked_tasks SEC(".maps");

enum {
    CLOCK_AGE_LOG2 = 24,      /* a wake-up renews a difference of the clocks that is as old, ns */
    TIMELY_SWITCHES = 7,      /* every 8th switch reads the clock in any case */
    LOOK_SPACING_NS = 256,    /* of looks at other CPUs, for each CPU */
    ANYWAY_DISPATCHES = 8192, /* older ones count less */
    INTERVALS_LOG2 = 3,       /* as many make the mean of those between a task's wake-ups */
    LONGEST_INTERVAL_NS = 1 << 26,
    FOLLOWER_STEPS = 8, /* of the times for which those are held up who come meanwhile */
    MOST_EXCUSED = 16,  /* waits in a row */
};

/* CLOCK_MONOTONIC at a switch to a task that queued up at `queued`. The run queue's clock has just
 * been read, but for a task that preempts another: it then still says when that task woke up. So
 * only then it takes a clock of its own. The difference of the two is the least that is seen, or
 * what it is at a wake-up, where the queue's has just been read. */
static __always_inline uint64_t time_of_switch(struct sh_bpf_cpu *own, uint64_t queued,
                                               uint64_t clock) {
    if (likely(queued != clock && own->offset_at && own->switches & TIMELY_SWITCHES))
        return clock + own->offset_ns;
    const uint64_t now = bpf_ktime_get_ns();
    const int64_t offset = (int64_t)(now - clock);
    if (unlikely(offset < own->offset_ns || !own->offset_at)) {
        own->offset_ns = offset;
        own->offset_at = clock;
    }
    return now;
}

static __always_inline void compare_clocks_at_wakeup(struct task_struct *task, uint64_t clock) {
    const uint32_t cpu = (uint32_t)queue_of(task)->cpu;
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own || likely(!((clock - own->offset_at) >> CLOCK_AGE_LOG2)))
        return;
    own->offset_ns = (int64_t)(bpf_ktime_get_ns() - clock);
    own->offset_at = clock;
}

/* Which CPUs are idle and which run elastic tasks, and since when. */
static __always_inline void note_use(struct sh_bpf_cpu *own, uint32_t was, uint32_t is,
                                     uint64_t clock) {
    if (was == SH_BPF_IDLE && is != SH_BPF_IDLE)
        own->idle_until = clock;
    const uint64_t since = own->elastic_since;
    if (is == SH_BPF_ELASTIC) {
        if (!since)
            own->elastic_since = clock;
    } else if (since) {
        const uint64_t count = own->elastic_stints + 1;
        struct sh_bpf_stint *stint = &own->elastic[count & (SH_BPF_STINTS - 1)];
        stint->from = since;
        stint->until = clock;
        own->elastic_stints = count;
        own->elastic_since = 0;
    }
}

static __always_inline void note_agent(struct sh_bpf_cpu *own, const struct task_struct *prev,
                                       const struct task_struct *next, uint64_t clock) {
    if (unlikely(next->tgid == settings.agent)) {
        if (prev->tgid != settings.agent)
            own->agent.from = clock;
    } else if (unlikely(prev->tgid == settings.agent)) {
        own->agent.until = clock;
    }
}

/* How much of a stint lies between two moments. */
static __always_inline uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from,
                                        uint64_t until) {
    if (begin < from)
        begin = from;
    if (end > until)
        end = until;
    return begin < end ? end - begin : 0;
}

/* How long elastic tasks ran on a CPU between two moments, as far as its stints go back. */
GLOBAL uint64_t elastic_between(uint32_t number, uint64_t from, uint64_t until) {
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu)
        return 0;
    const uint64_t since = *(volatile uint64_t *)&cpu->elastic_since;
    uint64_t sum = since ? overlap(since, until, from, until) : 0;
    for (int i = 0; i < SH_BPF_STINTS; i++) {
        /* In this order: of a stint that is being written nothing is seen. */
        const uint64_t end = *(volatile uint64_t *)&cpu->elastic[i].until;
        const uint64_t begin = *(volatile uint64_t *)&cpu->elastic[i].from;
        sum += overlap(begin, end, from, until);
    }
    return sum;
}

struct judgement {
    uint64_t from, until; /* of the wait: no CPU was idle in it */
    uint64_t elastic;     /* CPU time of elastic tasks in it */
};

static int leave_out_idle(uint32_t i, void *data) {
    struct judgement *judgement = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu)
        return 0;
    if (*(volatile uint32_t *)&cpu->runner == SH_BPF_IDLE) {
        judgement->from = judgement->until;
        return 1;
    }
    const uint64_t idle_until = *(volatile uint64_t *)&cpu->idle_until;
    if (idle_until > judgement->from)
        judgement->from = idle_until;
    return 0;
}

static int sum_elastic(uint32_t i, void *data) {
    struct judgement *judgement = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    judgement->elastic += elastic_between(number, judgement->from, judgement->until);
    return judgement->elastic > SH_BPF_LONG_WAIT_NS;
}

enum { BEHIND_ELASTIC = 1, BEHIND_ELASTIC_HERE = 2, UNJUDGED = 4 };

/* What a long wait was for. It is looked for on all CPUs, but not all the time. */
GLOBAL int judge_wait(uint32_t number, uint64_t from, uint64_t until, uint32_t left) {
    struct judgement judgement = {.from = from, .until = until};
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &number);
    int found = 0;
    if (!own)
        return 0;
    if (elastic_between(number, from, until) > SH_BPF_LONG_WAIT_NS)
        found |= BEHIND_ELASTIC_HERE;
    if (left == SH_BPF_IDLE)
        return found; /* it was this CPU that did not come sooner */
    if (until < own->next_judgement)
        return found | UNJUDGED;
    own->next_judgement = until + settings.pool_count * LOOK_SPACING_NS;
    bpf_loop(settings.pool_count, leave_out_idle, &judgement, 0);
    if ((int64_t)(judgement.until - judgement.from) <= SH_BPF_LONG_WAIT_NS)
        return found;
    bpf_loop(settings.pool_count, sum_elastic, &judgement, 0);
    return judgement.elastic > SH_BPF_LONG_WAIT_NS ? found | BEHIND_ELASTIC : found;
}

/* Since when a CPU has run elastic tasks between two moments, pauses included; `until`: it has
 * not. What the agent takes is no way of sharing's doing: it does so under each. */
GLOBAL uint64_t first_elastic(uint32_t number, uint64_t from, uint64_t until) {
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    uint64_t first = until;
    uint32_t later = 0;
    if (!cpu)
        return until;
    const uint64_t since = *(volatile uint64_t *)&cpu->elastic_since;
    if (since && since < first)
        first = since;
    for (int i = 0; i < SH_BPF_STINTS; i++) {
        const uint64_t end = *(volatile uint64_t *)&cpu->elastic[i].until;
        const uint64_t begin = *(volatile uint64_t *)&cpu->elastic[i].from;
        if (end > from && begin < first)
            first = begin;
        later += begin > from;
    }
    /* Those before are forgotten: there were many. */
    return first < from || later == SH_BPF_STINTS ? from : first;
}

/* Whether a task may use a CPU; `allowed` is where its mask of them is, 0: it may use all. */
static __always_inline bool may_use(uint64_t allowed, uint32_t number) {
    uint64_t word = 0;
    if (!allowed)
        return true;
    bpf_probe_read_kernel(&word, sizeof(word), (const void *)(allowed + number / 64 * 8));
    return word >> number % 64 & 1;
}

struct search {
    uint64_t from, first; /* until then no CPU has run an elastic task */
    uint64_t allowed;     /* of the task that waited */
};

static int search_cpu(uint32_t i, void *data) {
    struct search *search = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    const uint64_t first = first_elastic(number, search->from, search->first);
    if (first < search->first && may_use(search->allowed, number))
        search->first = first;
    return search->first <= search->from;
}

static int find_idle(uint32_t i, void *data) {
    struct search *search = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu)
        return 0;
    const bool idle = *(volatile uint32_t *)&cpu->runner == SH_BPF_IDLE ||
                      *(volatile uint64_t *)&cpu->idle_until > search->from;
    search->first = idle && may_use(search->allowed, number);
    return search->first != 0;
}

/* Whether a CPU that a task may use was idle while it waited for others on this one. */
GLOBAL int waits_for_nothing(uint32_t number, uint64_t from, uint64_t until, uint64_t allowed) {
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &number);
    struct search search = {.from = from, .allowed = allowed};
    if (!own || until < own->next_search)
        return 0;
    own->next_search = until + settings.pool_count * LOOK_SPACING_NS;
    bpf_loop(settings.pool_count, find_idle, &search, 0);
    return search.first != 0;
}

/* How long lending has held up a task that has waited for a CPU: since an elastic task had one, its
 * own or any that it may have. Where its own was idle it has waited for that alone. What is not
 * looked up counts as held up. */
GLOBAL uint64_t held_up(uint32_t number, uint64_t from, uint64_t until, uint32_t only_here,
                        uint64_t allowed) {
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &number);
    if (!own || from >= until)
        return 0;
    struct search search = {
        .from = from, .first = first_elastic(number, from, until), .allowed = allowed};
    if (!only_here && search.first > from && until - from > SH_BPF_NOTED_WAIT_NS) {
        if (until < own->next_search)
            return until - from;
        own->next_search = until + settings.pool_count * LOOK_SPACING_NS;
        bpf_loop(settings.pool_count, search_cpu, &search, 0);
    }
    return until - search.first;
}

static __always_inline void count_some_in(uint64_t *histogram, uint64_t ns, uint64_t count) {
    uint32_t bucket = (uint32_t)(ns >> SH_BPF_WAIT_SHIFT);
    if (unlikely(ns >> SH_BPF_WAIT_LOG2))
        bucket = SH_BPF_WAIT_LINEAR + octave_bucket(ns, SH_BPF_WAIT_LOG2, SH_BPF_HARM_OCTAVES);
    histogram[at_most(bucket, SH_BPF_HARM_BUCKETS - 1)] += count;
}

static __always_inline void count_in(uint64_t *histogram, uint64_t ns) {
    count_some_in(histogram, ns, 1);
}

static __always_inline uint32_t harm_place(uint32_t cpu, uint32_t runner) {
    return cpu * settings.primary_count + index_of(runner);
}

static __always_inline struct sh_bpf_harm *harm_at(uint32_t place) {
    return bpf_map_lookup_elem(&harms, &place);
}

static __always_inline struct sh_bpf_harm_side *side_of(struct sh_bpf_harm *harm,
                                                        uint64_t began_ns) {
    /* What was lent last ended then, or goes on: nothing was lent in all that has come since. */
    return (int64_t)began_ns < shared.control.lent_until_ns ||
                   (int64_t)began_ns < shared.control.minimum_until_ns
               ? &harm->sides[1]
               : &harm->sides[0];
}

static __always_inline struct sh_bpf_tracked_task *tracked(int32_t pid) {
    const uint32_t place = (uint32_t)pid & (SH_BPF_TRACKED_TASKS - 1);
    return bpf_map_lookup_elem(&tracked_tasks, &place);
}

static __always_inline void note_long_wait(struct sh_bpf_harm_counts *counts, int found) {
    counts->long_waits++;
    counts->behind_elastic += !!(found & BEHIND_ELASTIC);
    counts->behind_elastic_here += !!(found & BEHIND_ELASTIC_HERE);
    counts->unjudged += !!(found & UNJUDGED);
}

/* On this CPU a timer expires, or has done so (late_ns 0). */
static __always_inline void note_expiry(uint64_t late_ns) {
    const uint32_t cpu = bpf_get_smp_processor_id();
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (own)
        own->expiring_late_ns = late_ns;
}

/* Whom a running task of the same primary wakes goes on with what that has begun. An interrupt's
 * wake-up is taken for one by the task that it came to, unless a timer was why: whom that wakes has
 * been late since it expired. An idle CPU queues up whom others wake there once it has woken up
 * itself (`ttwu_queue_cond`), so this is when a task began to be late for that. */
static __always_inline void note_waker(const struct task_struct *woken) {
    const uint32_t cpu = bpf_get_smp_processor_id();
    const struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    struct sh_bpf_tracked_task *task = tracked(woken->pid);
    if (!own || !task || task->task != woken->pid)
        return;
    task->waking_ns = bpf_ktime_get_ns();
    task->late_ns = own->expiring_late_ns;
    task->waker = own->runner >= SH_BPF_PRIMARY && !task->late_ns ? own->runner : 0;
}

/* It left unseen, nobody knows whether to sleep; or another task has its number. */
static __always_inline void forget(int32_t pid) {
    struct sh_bpf_tracked_task *task = tracked(pid);
    if (task && task->task == pid)
        task->task = 0;
}

/* How late a task that wakes up was queued up at `queued_ns`: since the timer expired, or since
 * somebody woke it. No longer than it has slept: a timer may be set for the past. */
static __always_inline uint64_t late_of(const struct sh_bpf_tracked_task *task,
                                        uint64_t queued_ns) {
    const int64_t slept = (int64_t)(queued_ns - task->slept_ns);
    const int64_t answer = (int64_t)(queued_ns - task->waking_ns);
    const int64_t late = (int64_t)task->late_ns + (answer > 0 ? answer : 0);
    const int64_t most = slept > 0 ? slept : 0;
    return (uint64_t)(late < most ? late : most);
}

/* For how long a queue has been throttled in its life, since its group has used up its CPU time
 * (cpu.max) or one above it has, as of a moment of its clock. */
static __always_inline uint64_t throttled_by(const struct cfs_rq *queue, uint64_t clock) {
    if (!bpf_core_field_exists(queue->throttled_clock_self_time))
        return 0;
    const uint64_t since = queue->throttled_clock_self;
    const int64_t passed = since ? (int64_t)(clock - since) : 0;
    return queue->throttled_clock_self_time + (uint64_t)(passed > 0 ? passed : 0);
}

static __always_inline void note_queued(struct sh_bpf_tracked_task *task,
                                        const struct cfs_rq *queue, uint64_t clock) {
    task->queue = (uint64_t)queue;
    task->queued = clock;
    task->throttled_ns = throttled_by(queue, clock);
}

/* For how long of its wait a task's queue was throttled. */
static __always_inline uint64_t throttled_in(const struct sh_bpf_tracked_task *task,
                                             const struct cfs_rq *queue, uint64_t queued,
                                             uint64_t clock) {
    if (!shared.control.excuse_caps || task->queue != (uint64_t)queue || task->queued != queued)
        return 0;
    const int64_t throttled = (int64_t)(throttled_by(queue, clock) - task->throttled_ns);
    const int64_t most = (int64_t)(clock - queued);
    if (throttled <= 0 || most <= 0)
        return 0;
    return (uint64_t)(throttled < most ? throttled : most);
}

static __always_inline void note_woken(struct task_struct *woken, uint64_t clock) {
    struct sh_bpf_tracked_task *task = tracked(woken->pid);
    compare_clocks_at_wakeup(woken, clock);
    if (task && task->task == woken->pid)
        note_queued(task, woken->se.cfs_rq, clock);
}

static __always_inline uint64_t without_halts(uint64_t ns) {
    return ns < SH_BPF_LONG_WAIT_NS ? ns : SH_BPF_LONG_WAIT_NS;
}

static __always_inline void note_idle_wait(struct sh_bpf_harm *harm,
                                           struct sh_bpf_idle_waits *waits, uint64_t wait) {
    const uint32_t count = waits->count++;
    waits->ns[count & (SH_BPF_IDLE_WAITS - 1)] = (uint32_t)without_halts(wait);
    harm->idle_answers++;
    harm->idle_answer_ns += without_halts(wait);
}

/* What a task would have waited that met somebody on this CPU: an idle one wakes up, too, for a
 * task as for a timer, and the host may let it wait for that. */
static __always_inline uint64_t take_idle_wait(struct sh_bpf_idle_waits *waits) {
    const uint32_t known = waits->count < SH_BPF_IDLE_WAITS ? waits->count : SH_BPF_IDLE_WAITS;
    uint32_t next = waits->next;
    if (next >= known)
        next = 0;
    waits->next = next + 1;
    return known ? waits->ns[next & (SH_BPF_IDLE_WAITS - 1)] : 0;
}

/* Of a dispatch with nothing lent. */
static __always_inline void note_anyway(struct sh_bpf_anyway *anyway, bool waited) {
    if (anyway->dispatches >= ANYWAY_DISPATCHES) {
        anyway->dispatches /= 2;
        anyway->waited /= 2;
    }
    anyway->dispatches++;
    anyway->waited += waited;
}

/* Of one while something is lent, that may have waited for others of its kind: whether it is one of
 * those that do so anyway. */
static __always_inline bool is_excused(struct sh_bpf_anyway *anyway, bool waited) {
    if (anyway->credit < MOST_EXCUSED * anyway->dispatches)
        anyway->credit += anyway->waited;
    if (!waited || !anyway->dispatches || anyway->credit < anyway->dispatches)
        return false;
    anyway->credit -= anyway->dispatches;
    return true;
}

/* Who waits behind a task that began late begins late, too, by as much at most. */
static __always_inline uint64_t held_up_behind(struct sh_bpf_cpu *own, uint64_t held, uint64_t wait,
                                               uint32_t left) {
    const uint64_t late_by = own->late_by_ns < wait ? own->late_by_ns : wait;
    if (left >= SH_BPF_PRIMARY && held < late_by)
        held = late_by;
    own->late_by_ns = held;
    return held;
}

static __always_inline void note_waking(struct sh_bpf_tracked_task *task, uint64_t woke_ns) {
    const uint64_t before = task->woke_before_ns, mean = task->interval_ns;
    task->woke_ns = task->woke_before_ns = woke_ns;
    task->held_up_ns = 0;
    if (!before || woke_ns <= before)
        return;
    const uint64_t interval =
        woke_ns - before < LONGEST_INTERVAL_NS ? woke_ns - before : LONGEST_INTERVAL_NS;
    task->interval_ns =
        mean ? mean - (mean >> INTERVALS_LOG2) + (interval >> INTERVALS_LOG2) : interval;
}

/* A span that something was lent in has ended, of a task that wakes up so often. Not inlined, so
 * that it is verified once. */
GLOBAL int note_harmed(uint32_t place, uint64_t span, int64_t held_up_ns, uint64_t interval_ns) {
    struct sh_bpf_harm *harm = harm_at(place);
    if (!harm)
        return 0;
    const int64_t without = (int64_t)span - held_up_ns;
    const uint64_t unharmed = without > 0 ? (uint64_t)without : 0;
    count_in(harm->harmed, span);
    count_in(harm->unharmed, unharmed);
    if (likely(!interval_ns || held_up_ns < (int64_t)interval_ns))
        return 0;
    const uint64_t held_up = (uint64_t)held_up_ns;
    const uint64_t followers = held_up / interval_ns;
    const uint64_t steps = followers < FOLLOWER_STEPS ? followers : FOLLOWER_STEPS;
    const uint64_t each = followers / steps, step_ns = held_up / steps;
    for (uint32_t i = 0; i < FOLLOWER_STEPS; i++) {
        if (i >= steps)
            break;
        const uint64_t behind_ns = step_ns * i + step_ns / 2;
        count_some_in(harm->harmed, unharmed + behind_ns, each);
        count_some_in(harm->harmed_waits, behind_ns, each);
    }
    count_some_in(harm->unharmed, unharmed, each * steps);
    count_some_in(harm->unharmed_waits, 0, each * steps);
    return 0;
}

/* One of its waits has ended, in which it was held up for so long. */
GLOBAL int note_harmed_wait(uint32_t place, uint64_t wait, int64_t held_up_ns) {
    struct sh_bpf_harm *harm = harm_at(place);
    const int64_t without = (int64_t)wait - held_up_ns;
    if (!harm)
        return 0;
    count_in(harm->harmed_waits, wait);
    count_in(harm->unharmed_waits, without > 0 ? (uint64_t)without : 0);
    return 0;
}

/* A primary's task gets a CPU for which it queued up at `queued`. What it has waited on other CPUs
 * since it woke up is in its own account, waited_ns. */
static __always_inline void note_dispatch(struct sh_bpf_cpu *own, uint32_t runner,
                                          const struct task_struct *next,
                                          const struct cfs_rq *queue, uint64_t queued, uint32_t cpu,
                                          uint32_t left, uint64_t now) {
    const uint32_t place = harm_place(cpu, runner);
    struct sh_bpf_harm *harm = harm_at(place);
    const int32_t pid = next->pid;
    const uint32_t waited_ns = (uint32_t)next->sched_info.run_delay;
    struct sh_bpf_tracked_task *task = tracked(pid);
    if (!harm || !task)
        return;
    const uint64_t clock = now - own->offset_ns;
    uint64_t wait = clock - queued;
    if (unlikely((int64_t)wait < 0))
        wait = 0;
    bool wakes = true, timed = false;
    uint64_t late_ns = 0;
    if (likely(task->task == pid)) {
        const int32_t elsewhere = (int32_t)(waited_ns - task->waited_ns);
        if (unlikely(elsewhere > 0))
            wait += (uint32_t)elsewhere;
        wakes = !task->woke_ns;
        if (likely(wakes)) {
            timed = task->late_ns;
            late_ns = late_of(task, now - wait);
            harm->woken_by_own += task->waker == runner;
        }
        task->late_ns = task->waker = 0;
    } else {
        task->task = pid;
        task->waited_ns = waited_ns;
        task->woke_before_ns = task->interval_ns = task->late_ns = task->waker = 0;
    }
    if (likely(wakes))
        note_waking(task, now - wait - late_ns);
    struct sh_bpf_harm_side *side = side_of(harm, now - wait - late_ns);
    struct sh_bpf_idle_waits *idle_waits = &harm->idle_waits[timed];
    if (left == SH_BPF_IDLE && wakes)
        note_idle_wait(harm, idle_waits, wait + late_ns);
    const bool only_here = left == SH_BPF_IDLE || next->nr_cpus_allowed == 1;
    /* What its own group's cap takes is no lending's doing. What comes after that may be. */
    uint64_t from = clock - wait, allowed = 0;
    if (unlikely(wait > SH_BPF_NOTED_WAIT_NS)) {
        from += throttled_in(task, queue, queued, clock);
        if (shared.control.mind_affinity)
            allowed = (uint64_t)BPF_CORE_READ(next, cpus_ptr);
    }
    const bool noted = clock - from > SH_BPF_NOTED_WAIT_NS && !only_here;
    if (side == &harm->sides[1]) {
        uint64_t held = held_up(cpu, from, clock, only_here, allowed);
        if (is_excused(&harm->anyway, held && noted && left != SH_BPF_ELASTIC))
            held = 0;
        held = held_up_behind(own, held, clock - from, left);
        int64_t longer_ns = 0;
        if (held)
            longer_ns = (int64_t)(held + without_halts(late_ns)) -
                        (wakes ? (int64_t)take_idle_wait(idle_waits) : 0);
        task->held_up_ns += longer_ns;
        note_harmed_wait(place, wait + without_halts(late_ns), longer_ns);
    } else {
        own->late_by_ns = 0;
        note_anyway(&harm->anyway, noted && waits_for_nothing(cpu, from, clock, allowed));
    }
    count_in(side->waits, wait);
    side->counts.wait_ns += wait;
    if (unlikely(own->agent.until > queued))
        side->counts.agent_ns += overlap(own->agent.from, own->agent.until, queued, clock);
    if (unlikely(wait > SH_BPF_LONG_WAIT_NS))
        note_long_wait(&side->counts, judge_wait(cpu, from, clock, left));
}

/* A primary's task leaves its CPU. If nobody saw it come, at `came`, its account says how long it
 * had waited. */
static __always_inline void note_leaving(uint32_t place, const struct task_struct *prev,
                                         bool sleeps, uint64_t came, uint64_t clock, uint64_t now) {
    const int32_t pid = prev->pid;
    const uint32_t waited_ns = (uint32_t)prev->sched_info.run_delay;
    struct sh_bpf_harm *harm = harm_at(place);
    struct sh_bpf_tracked_task *task = tracked(pid);
    if (!harm || !task)
        return;
    if (!sleeps)
        note_queued(task, prev->se.cfs_rq, clock);
    const uint32_t wait = waited_ns - task->waited_ns;
    uint64_t woke_ns = task->woke_ns;
    task->waited_ns = waited_ns;
    if (unlikely(task->task != pid)) {
        task->task = pid;
        task->slept_ns = now;
        task->woke_ns = task->woke_before_ns = task->interval_ns = task->late_ns = task->waker = 0;
        harm->lost += sleeps;
        return;
    }
    if (unlikely(!woke_ns)) {
        task->woke_ns = woke_ns = came - wait;
        task->held_up_ns = 0;
        struct sh_bpf_harm_side *unseen = side_of(harm, woke_ns);
        count_in(unseen->waits, wait);
        unseen->counts.wait_ns += wait;
    }
    if (!sleeps)
        return;
    task->woke_ns = 0;
    task->slept_ns = now;
    const uint64_t span = (int64_t)(now - woke_ns) > 0 ? now - woke_ns : 0;
    struct sh_bpf_harm_side *side = side_of(harm, woke_ns);
    count_in(side->wakes_to_sleeps, span);
    if (side == &harm->sides[1])
        note_harmed(place, span, task->held_up_ns, task->interval_ns);
    side->counts.wake_to_sleep_ns += span;
}

static __always_inline void note_harm(struct sh_bpf_cpu *own, uint32_t cpu,
                                      struct task_struct *prev, struct task_struct *next,
                                      const struct cfs_rq *queue, uint32_t left, uint32_t is,
                                      uint64_t clock) {
    const uint64_t queued = next->sched_info.last_queued;
    const uint64_t now = time_of_switch(own, queued, clock);
    if (left >= SH_BPF_PRIMARY)
        note_leaving(harm_place(cpu, left), prev, gone(prev),
                     prev->sched_info.last_arrival + own->offset_ns, clock, now);
    if (is >= SH_BPF_PRIMARY && queued)
        note_dispatch(own, is, next, queue, queued, cpu, left, now);
}

#endif
