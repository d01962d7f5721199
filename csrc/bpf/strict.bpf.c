// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* The scheduler of the `strict` mechanism: sched_ext in partial mode, for the batch alone.
 *
 * Whoever has the policy SCHED_EXT stands below every normal task: Linux takes it off the CPU as
 * soon as one wakes there. What this program adds is which batch task runs, and on how many CPUs:
 * to the fair class a CPU that runs a batch task is not idle, so it keeps some that are.
 *
 * Batch tasks are queued by group, each group in the order of its tasks' weighted run times; the
 * group with the least weighted run time is next.
 */
#include "strict_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "strict_state.h"

char program_license[] SEC("license") = "GPL";

struct sh_strict_state shared;

/* Of a cgroup -> its place among the groups. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, uint64_t);
    __type(value, uint32_t);
} places SEC(".maps");

/* Readable from when the scheduler ends. */
struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
} ends SEC(".maps");

extern int32_t scx_bpf_create_dsq(uint64_t dsq, int32_t node) __ksym;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *task, uint64_t dsq, uint64_t slice,
                                     uint64_t vtime, uint64_t flags) __ksym;
extern void scx_bpf_dsq_insert(struct task_struct *task, uint64_t dsq, uint64_t slice,
                               uint64_t flags) __ksym;
extern bool scx_bpf_dsq_move_to_local(uint64_t dsq) __ksym;
extern int32_t scx_bpf_dsq_nr_queued(uint64_t dsq) __ksym;
extern void scx_bpf_kick_cpu(int32_t cpu, uint64_t flags) __ksym;
extern int32_t scx_bpf_select_cpu_dfl(struct task_struct *task, int32_t last, uint64_t flags,
                                      bool *is_idle) __ksym;
extern int32_t scx_bpf_pick_idle_cpu(const struct cpumask *allowed, uint64_t flags) __ksym;
extern bool scx_bpf_task_set_slice(struct task_struct *task, uint64_t slice) __ksym;
extern bool scx_bpf_task_set_dsq_vtime(struct task_struct *task, uint64_t vtime) __ksym;
extern const struct cpumask *scx_bpf_get_idle_cpumask(void) __ksym;
extern void scx_bpf_put_idle_cpumask(const struct cpumask *idle) __ksym;
/* Newer kernels have it (7.3 does). Elsewhere the loader leaves the call out, and `keep_preempted`
 * is 0. */
extern void scx_bpf_dsq_reenq(uint64_t dsq, uint64_t flags) __ksym;

struct bpf_iter_num {
    uint64_t opaque;
};
extern int bpf_iter_num_new(struct bpf_iter_num *iterator, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *iterator) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *iterator) __ksym;

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
enum { CPU_MASK = SH_STRICT_MAX_CPUS - 1, GROUP_MASK = SH_STRICT_GROUPS - 1, DEFAULT_WEIGHT = 100 };
enum { WORD_MASK = SH_STRICT_WORDS - 1 };
enum { MOST_SLICES = 4 }; /* that a task is charged for a run */

static __always_inline bool is_before(uint64_t one, uint64_t other) {
    return (int64_t)(one - other) < 0;
}

static __always_inline void count(uint64_t *counter) {
    __sync_fetch_and_add(counter, 1);
}

static __always_inline bool test(const uint64_t *words, uint32_t cpu) {
    return *(const volatile uint64_t *)&words[(cpu & CPU_MASK) / 64] >> (cpu & 63) & 1;
}

static __always_inline void set(uint64_t *words, uint32_t cpu) {
    __sync_fetch_and_or(&words[(cpu & CPU_MASK) / 64], 1ULL << (cpu & 63));
}

/* Whether it was set. */
static __always_inline bool clear(uint64_t *words, uint32_t cpu) {
    const uint64_t bit = 1ULL << (cpu & 63);
    uint64_t *word = &words[(cpu & CPU_MASK) / 64];
    if (!(*(volatile uint64_t *)word & bit))
        return false;
    return __sync_fetch_and_and(word, ~bit) & bit;
}

/* --- groups ----------------------------------------------------------------------------------- */

static __always_inline uint64_t id_of(struct task_struct *task) {
    return task->sched_task_group->css.cgroup->kn->id;
}

static __always_inline uint32_t weight_of_group(struct task_struct *task) {
    uint32_t weight = 0;
    if (bpf_core_field_exists(struct task_group, scx))
        weight = task->sched_task_group->scx.weight;
    return weight ? weight : DEFAULT_WEIGHT;
}

static __always_inline uint32_t take_place(uint64_t id) {
    for (uint32_t i = 0; i < SH_STRICT_GROUPS - 1; i++) {
        struct sh_strict_group *group = &shared.groups[i];
        if (!group->id && !__sync_val_compare_and_swap(&group->id, 0, id)) {
            group->vtime = shared.vtime;
            group->weight = DEFAULT_WEIGHT;
            return i;
        }
    }
    return SH_STRICT_GROUPS - 1;
}

/* The group of a task that was in a queue. */
static __always_inline struct sh_strict_group *group_of(struct task_struct *task) {
    const uint64_t id = id_of(task);
    const uint32_t *known = bpf_map_lookup_elem(&places, &id);
    return &shared.groups[known ? *known & GROUP_MASK : SH_STRICT_GROUPS - 1];
}

/* The place of a task's group, which gets one if it has none. */
static __always_inline uint32_t place_of(struct task_struct *task) {
    const uint64_t id = id_of(task);
    const uint32_t *known = bpf_map_lookup_elem(&places, &id);
    if (likely(known))
        return *known & GROUP_MASK;
    uint32_t place = take_place(id) & GROUP_MASK;
    if (bpf_map_update_elem(&places, &id, &place, BPF_NOEXIST)) {
        /* Another CPU was faster, or the map is full. */
        if (place < SH_STRICT_GROUPS - 1)
            shared.groups[place].id = 0;
        known = bpf_map_lookup_elem(&places, &id);
        place = known ? *known & GROUP_MASK : SH_STRICT_GROUPS - 1;
    }
    return place;
}

/* What `ns` of CPU time count for a group. */
static __always_inline uint64_t weighted(const struct sh_strict_group *group, uint64_t ns) {
    return ns * DEFAULT_WEIGHT / (group->weight ? group->weight : DEFAULT_WEIGHT);
}

/* A CPU goes to a group, which pays a slice for it beforehand: else all CPUs that choose meanwhile
 * would choose it, too. */
static __always_inline void pay(uint32_t number, uint32_t place) {
    struct sh_strict_cpu *cpu = &shared.cpus[number & CPU_MASK];
    struct sh_strict_group *group = &shared.groups[place & GROUP_MASK];
    cpu->next_place = place;
    cpu->next_paid = weighted(group, shared.control.slice_ns);
    __sync_fetch_and_add(&group->vtime, cpu->next_paid);
}

/* For a task that did not come. */
static __always_inline void take_back_pay(uint32_t number) {
    struct sh_strict_cpu *cpu = &shared.cpus[number & CPU_MASK];
    if (!cpu->next_paid)
        return;
    __sync_fetch_and_sub(&shared.groups[cpu->next_place & GROUP_MASK].vtime, cpu->next_paid);
    cpu->next_paid = 0;
}

/* --- spare CPUs ------------------------------------------------------------------------------- */

/* A task that wakes goes to an idle CPU that shares its last-level cache, or else to where it ran,
 * behind whoever is there (select_idle_sibling()); nobody pulls it from there to a CPU that runs a
 * batch task, nor to one that such a task has just left. So of each cache some CPUs are kept idle,
 * no more than there are taken by others than the batch: where nobody is, nobody waits behind one.
 * As a CPU is taken, another lets go of its batch task; as some more go idle, it takes one.
 *
 * To the fair class a CPU is idle only if nobody waits in its queue (idle_cpu()), and a batch task
 * counts where it ran last, whatever group's queue it is in. So one that has to wait goes to a CPU
 * that is busy anyway. */

/* The number of the lowest bit that is set; without branches, of which the verifier would follow
 * every one. */
static __always_inline uint32_t lowest(uint64_t word) {
    uint64_t below = (word & -word) - 1;
    below -= below >> 1 & 0x5555555555555555ULL;
    below = (below & 0x3333333333333333ULL) + (below >> 2 & 0x3333333333333333ULL);
    below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return (uint32_t)(below * 0x0101010101010101ULL >> 56);
}

static __always_inline uint32_t highest(uint64_t word) {
    word |= word >> 1;
    word |= word >> 2;
    word |= word >> 4;
    word |= word >> 8;
    word |= word >> 16;
    word |= word >> 32;
    return lowest(word - (word >> 1));
}

static __always_inline uint32_t ones(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555ULL;
    word = (word & 0x3333333333333333ULL) + (word >> 2 & 0x3333333333333333ULL);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
    return (uint32_t)(word * 0x0101010101010101ULL >> 56);
}

static __always_inline uint64_t word_of(const struct cpumask *mask, uint32_t i) {
    uint64_t word = 0;
    bpf_probe_read_kernel(&word, sizeof(word), (const char *)mask + 8 * i);
    return word;
}

/* `cpu`'s bit, if it is in word `i`; without a branch. */
static __always_inline uint64_t bit_in(uint32_t i, uint32_t cpu) {
    return (uint64_t)(((i ^ cpu / 64) - 1) >> 31) << (cpu & 63);
}

static __always_inline uint32_t spare_of(uint32_t cpu) {
    return (uint32_t)*(volatile uint64_t *)&shared.cpus[cpu & CPU_MASK].spare;
}

/* How many of those near are idle before the batch takes one. It is more than `spare` where one was
 * made to let go a moment ago: if the batch took each CPU at once, it would be switched on and off
 * with each of the primary's tasks. */
static __always_inline uint32_t most_idle_of(uint32_t cpu, uint32_t spare) {
    const uint32_t slack = (uint32_t)shared.cpus[cpu & CPU_MASK].slack;
    if (!slack)
        return spare;
    /* Another CPU may write it meanwhile: it may be later than now. */
    const uint64_t until = *(volatile uint64_t *)&shared.let_go_ns + SH_STRICT_SLACK_NS;
    return is_before(until, bpf_ktime_get_ns()) ? spare : spare + slack;
}

struct seen_near {
    uint32_t idle;  /* or about to be */
    uint32_t taken; /* by others than the batch */
};

/* Of the CPUs near `cpu`, without it. */
static __always_inline struct seen_near look_near(uint32_t cpu) {
    const uint64_t *near = shared.cpus[cpu & CPU_MASK].near;
    const struct cpumask *mask = scx_bpf_get_idle_cpumask();
    struct bpf_iter_num numbers;
    struct seen_near seen = {};
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_WORDS);
    while ((number = bpf_iter_num_next(&numbers))) {
        const uint32_t i = (uint32_t)*number & WORD_MASK;
        const uint64_t others = near[i] & ~bit_in(i, cpu);
        const uint64_t word = word_of(mask, i) | *(volatile uint64_t *)&shared.leaving[i];
        seen.idle += ones(others & word);
        seen.taken += ones(others & ~word & ~*(volatile uint64_t *)&shared.batch[i]);
    }
    bpf_iter_num_destroy(&numbers);
    scx_bpf_put_idle_cpumask(mask);
    return seen;
}

/* How many more are idle than are to be, where `more` than are seen to be taken are. */
static __always_inline int32_t idle_beyond(const struct seen_near *seen, uint32_t more,
                                           uint32_t wanted) {
    const uint32_t taken = seen->taken + more;
    return (int32_t)seen->idle - (int32_t)(taken < wanted ? taken : wanted);
}

/* Where a task waits that has no CPU of `cpu`'s cache to run on: best where a batch task runs, else
 * where anybody does. SH_STRICT_MAX_CPUS: nowhere else. */
static __always_inline uint32_t waiting_place(struct task_struct *task, uint32_t cpu) {
    const uint64_t *near = shared.cpus[cpu & CPU_MASK].near;
    uint32_t best = SH_STRICT_MAX_CPUS, other = SH_STRICT_MAX_CPUS;
    /* Of the current task the kernel itself has disabled migration, once, to run this. */
    const bool is_current = bpf_get_current_task() == (uint64_t)task;
    if (BPF_CORE_READ(task, migration_disabled) > is_current)
        return best;
    const struct cpumask *allowed = BPF_CORE_READ(task, cpus_ptr);
    const struct cpumask *mask = scx_bpf_get_idle_cpumask();
    struct bpf_iter_num numbers;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_WORDS);
    while ((number = bpf_iter_num_next(&numbers))) {
        const uint32_t i = (uint32_t)*number & WORD_MASK;
        const uint64_t busy = near[i] & word_of(allowed, i) & ~word_of(mask, i) &
                              ~*(volatile uint64_t *)&shared.leaving[i] & ~bit_in(i, cpu);
        const uint64_t batch = busy & *(volatile uint64_t *)&shared.batch[i];
        if (batch)
            best = 64 * i + highest(batch);
        else if (busy)
            other = 64 * i + highest(busy);
    }
    bpf_iter_num_destroy(&numbers);
    scx_bpf_put_idle_cpumask(mask);
    return best < SH_STRICT_MAX_CPUS ? best : other;
}

/* One near `cpu` that runs a batch task lets go. */
static __always_inline void let_go_near(uint32_t cpu) {
    const uint64_t *near = shared.cpus[cpu & CPU_MASK].near;
    struct bpf_iter_num numbers;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_WORDS);
    while ((number = bpf_iter_num_next(&numbers))) {
        const uint32_t i = (uint32_t)*number & WORD_MASK;
        const uint64_t running = *(volatile uint64_t *)&shared.batch[i] & near[i] &
                                 ~*(volatile uint64_t *)&shared.leaving[i] & ~bit_in(i, cpu);
        if (!running)
            continue;
        const uint32_t found = (64 * i + lowest(running)) & CPU_MASK;
        set(shared.leaving, found);
        if (!test(shared.batch, found)) { /* it has, and would stay marked */
            clear(shared.leaving, found);
            continue;
        }
        count(&shared.counts.let_go);
        *(volatile uint64_t *)&shared.let_go_ns = bpf_ktime_get_ns();
        scx_bpf_kick_cpu((int32_t)found, SCX_KICK_PREEMPT);
        break;
    }
    bpf_iter_num_destroy(&numbers);
}

/* Whether batch tasks wait. */
static __always_inline bool some_wait(void) {
    struct bpf_iter_num numbers;
    uint64_t running = 0;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_WORDS);
    while ((number = bpf_iter_num_next(&numbers)))
        running += ones(*(volatile uint64_t *)&shared.batch[(uint32_t)*number & WORD_MASK]);
    bpf_iter_num_destroy(&numbers);
    return *(volatile uint64_t *)&shared.counts.runnable > running;
}

/* One near `cpu` that is idle looks for a batch task. */
static __always_inline void use_idle_near(uint32_t cpu) {
    const uint64_t *near = shared.cpus[cpu & CPU_MASK].near;
    const struct cpumask *mask = scx_bpf_get_idle_cpumask();
    struct bpf_iter_num numbers;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_WORDS);
    while ((number = bpf_iter_num_next(&numbers))) {
        const uint32_t i = (uint32_t)*number & WORD_MASK;
        const uint64_t idle = word_of(mask, i) & near[i] & ~bit_in(i, cpu);
        if (!idle)
            continue;
        scx_bpf_kick_cpu((int32_t)(64 * i + highest(idle)), SCX_KICK_IDLE);
        break;
    }
    bpf_iter_num_destroy(&numbers);
    scx_bpf_put_idle_cpumask(mask);
}

/* --- a batch task that was preempted ---------------------------------------------------------- */

/* It waits in the queue of its CPU, where it costs whoever has displaced it the least, and goes on
 * there. It is called back into its group's queue once another CPU is idle, or after a slice. */

/* A CPU that has one: the next after `cpu`; SH_STRICT_MAX_CPUS: none. */
static __always_inline uint32_t next_preempted(uint32_t cpu) {
    for (uint32_t i = 0; i < SH_STRICT_WORDS; i++) {
        const uint32_t at = (cpu / 64 + i) & (SH_STRICT_WORDS - 1);
        const uint64_t word = *(volatile uint64_t *)&shared.preempted[at];
        if (!word)
            continue;
        const uint64_t after = i ? word : word & ~((2ULL << (cpu & 63)) - 1);
        return (64 * at + lowest(after ? after : word)) & CPU_MASK;
    }
    return SH_STRICT_MAX_CPUS;
}

static __always_inline void call_back(uint32_t cpu, bool at_once) {
    const uint32_t other = next_preempted(cpu);
    if (other == SH_STRICT_MAX_CPUS)
        return;
    struct sh_strict_cpu *there = &shared.cpus[other & CPU_MASK];
    if (!at_once) {
        const uint64_t now = bpf_ktime_get_ns();
        if (!there->preempted_ns)
            there->preempted_ns = now;
        if (is_before(now, there->preempted_ns + shared.control.slice_ns))
            return;
    }
    if (!clear(shared.preempted, other))
        return;
    there->preempted_ns = 0;
    count(&shared.counts.called_back);
    scx_bpf_dsq_reenq(SCX_DSQ_LOCAL_ON | other, 0);
}

/* --- the scheduler ---------------------------------------------------------------------------- */

SEC("struct_ops/select_cpu")
int BPF_PROG(select_cpu, struct task_struct *task, int32_t last, uint64_t flags) {
    bool is_idle = false;
    return scx_bpf_select_cpu_dfl(task, last, flags, &is_idle);
}

SEC("struct_ops/enqueue")
int BPF_PROG(enqueue, struct task_struct *task, uint64_t flags) {
    const uint32_t place = place_of(task);
    struct sh_strict_group *group = &shared.groups[place & GROUP_MASK];
    const uint64_t slice = shared.control.slice_ns;
    group->weight = weight_of_group(task);
    uint64_t vtime = task->scx.dsq_vtime;
    if (is_before(vtime, group->task_vtime - slice))
        vtime = group->task_vtime - slice;
    const uint32_t cpu = task->thread_info.cpu & CPU_MASK;
    const uint32_t spare = spare_of(cpu);
    if (shared.control.keep_preempted && spare) {
        const struct seen_near seen = look_near(cpu);
        if (idle_beyond(&seen, 0, most_idle_of(cpu, spare)) <= 0) {
            const uint32_t at = waiting_place(task, cpu);
            if (at < SH_STRICT_MAX_CPUS) {
                scx_bpf_dsq_insert(task, SCX_DSQ_LOCAL_ON | at, slice, flags);
                set(shared.preempted, at);
                return 0;
            }
        }
    }
    scx_bpf_dsq_insert_vtime(task, place, slice, vtime, flags);
    if (!(flags & SCX_ENQ_WAKEUP)) { /* a CPU was chosen for who wakes */
        const int32_t idle = scx_bpf_pick_idle_cpu(task->cpus_ptr, 0);
        if (idle >= 0)
            scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
    }
    return 0;
}

/* The group that is next, of those not in `tried`; SH_STRICT_GROUPS: none. */
static __always_inline uint32_t next_group(uint64_t tried) {
    struct bpf_iter_num numbers;
    uint32_t best = SH_STRICT_GROUPS;
    uint64_t vtime = 0;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_GROUPS);
    while ((number = bpf_iter_num_next(&numbers))) {
        const uint32_t i = (uint32_t)*number & GROUP_MASK;
        const struct sh_strict_group *group = &shared.groups[i];
        if (!group->id || tried >> i & 1)
            continue;
        if (best < SH_STRICT_GROUPS && !is_before(group->vtime, vtime))
            continue;
        if (scx_bpf_dsq_nr_queued(i) <= 0)
            continue;
        best = i;
        vtime = group->vtime;
    }
    bpf_iter_num_destroy(&numbers);
    return best;
}

/* Takes a task of any group. */
static __always_inline bool take_any(void) {
    struct bpf_iter_num numbers;
    bool taken = false;
    const int *number;
    bpf_iter_num_new(&numbers, 0, SH_STRICT_GROUPS);
    while ((number = bpf_iter_num_next(&numbers))) {
        if (scx_bpf_dsq_move_to_local((uint64_t)*number)) {
            taken = true;
            break;
        }
    }
    bpf_iter_num_destroy(&numbers);
    return taken;
}

SEC("struct_ops/dispatch")
int BPF_PROG(dispatch, int32_t cpu, struct task_struct *last) {
    take_back_pay((uint32_t)cpu);
    const uint32_t spare = spare_of((uint32_t)cpu);
    if (spare) {
        const struct seen_near seen = look_near((uint32_t)cpu);
        if (idle_beyond(&seen, 0, last ? spare : most_idle_of((uint32_t)cpu, spare)) < 0)
            return 0;
    }
    clear(shared.leaving, (uint32_t)cpu);
    const uint32_t first = next_group(0);
    if (first < SH_STRICT_GROUPS) {
        const uint64_t vtime = shared.groups[first & GROUP_MASK].vtime;
        if (is_before(shared.vtime, vtime))
            shared.vtime = vtime;
        if (scx_bpf_dsq_move_to_local(first)) {
            pay((uint32_t)cpu, first);
            call_back((uint32_t)cpu, false);
            return 0;
        }
        /* None of its tasks may run here. */
        const uint32_t second = next_group(1ULL << first);
        if (second < SH_STRICT_GROUPS && scx_bpf_dsq_move_to_local(second)) {
            pay((uint32_t)cpu, second);
            return 0;
        }
        if (take_any())
            return 0;
    } else if (scx_bpf_dsq_move_to_local(SH_STRICT_GROUPS - 1)) {
        return 0; /* of a group beyond those told apart */
    }
    const bool goes_on = last && last->scx.flags & SCX_TASK_QUEUED;
    if (goes_on)
        scx_bpf_task_set_slice(last, shared.control.slice_ns);
    call_back((uint32_t)cpu, !goes_on);
    return 0;
}

SEC("struct_ops/running")
int BPF_PROG(running, struct task_struct *task) {
    const uint32_t number = task->thread_info.cpu & CPU_MASK; /* perhaps not this one */
    struct sh_strict_cpu *cpu = &shared.cpus[number];
    cpu->place = place_of(task);
    struct sh_strict_group *group = &shared.groups[cpu->place & GROUP_MASK];
    cpu->paid = cpu->next_place == cpu->place ? cpu->next_paid : 0;
    if (cpu->paid)
        cpu->next_paid = 0;
    cpu->since = task->se.sum_exec_runtime;
    if (is_before(group->task_vtime, task->scx.dsq_vtime))
        group->task_vtime = task->scx.dsq_vtime;
    count(&shared.counts.dispatched);
    set(shared.batch, number);
    if (clear(shared.preempted, number)) { /* it comes past `dispatch` */
        cpu->preempted_ns = 0;
        const uint32_t spare = spare_of(number);
        if (!spare)
            return 0;
        const struct seen_near seen = look_near(number);
        if (idle_beyond(&seen, 0, spare) < 0)
            scx_bpf_kick_cpu((int32_t)number, SCX_KICK_PREEMPT);
        else if (idle_beyond(&seen, 0, most_idle_of(number, spare)) > 0 && some_wait())
            use_idle_near(number); /* another has let go since this one was taken */
    }
    return 0;
}

/* Comes between a primary that wakes and its CPU: as short as can be. */
SEC("struct_ops/stopping")
int BPF_PROG(stopping, struct task_struct *task, bool runnable) {
    const uint32_t number = task->thread_info.cpu & CPU_MASK;
    struct sh_strict_cpu *cpu = &shared.cpus[number];
    struct sh_strict_group *group = &shared.groups[cpu->place & GROUP_MASK];
    const uint64_t ran = task->se.sum_exec_runtime - cpu->since;
    const uint32_t weight = task->scx.weight ? task->scx.weight : DEFAULT_WEIGHT;
    clear(shared.batch, number);
    clear(shared.leaving, number);
    __sync_fetch_and_add(&group->vtime, weighted(group, ran) - cpu->paid);
    cpu->paid = 0;
    __sync_fetch_and_add(&group->ran_ns, ran);
    __sync_fetch_and_add(&shared.counts.ran_ns, ran);
    /* Charged in full, a run that nobody ended in time (a long system call, a stolen CPU) would
     * keep its task waiting until each of the group's has run as long: the kernel's watchdog ends
     * the scheduler after 30 s. */
    const uint64_t most = MOST_SLICES * shared.control.slice_ns;
    const uint64_t charged = ran < most ? ran : most;
    scx_bpf_task_set_dsq_vtime(task, task->scx.dsq_vtime + charged * DEFAULT_WEIGHT / weight);
    /* With a rest of its slice it waits on this CPU, else in its group's queue. */
    if (!runnable || !task->scx.slice)
        return 0;
    const struct seen_near seen = look_near(number);
    const uint32_t spare = spare_of(number);
    if (idle_beyond(&seen, 1, spare) < 0)
        let_go_near(number);
    const int32_t beyond = idle_beyond(&seen, 1, most_idle_of(number, spare));
    if (shared.control.keep_preempted && beyond <= 0) { /* no CPU is free for it */
        set(shared.preempted, number);
        count(&shared.counts.stayed);
    } else {
        scx_bpf_task_set_slice(task, 0);
    }
    return 0;
}

SEC("struct_ops/enable")
int BPF_PROG(enable, struct task_struct *task) {
    const struct sh_strict_group *group = group_of(task);
    scx_bpf_task_set_dsq_vtime(task, group->task_vtime);
    return 0;
}

/* Of a task that ends, and of each where the scheduler does, too. */
SEC("struct_ops/disable")
int BPF_PROG(disable, struct task_struct *task) {
    if (!(task->flags & PF_EXITING) && !shared.end.stage)
        count(&shared.counts.left);
    return 0;
}

SEC("struct_ops/runnable")
int BPF_PROG(runnable, struct task_struct *task, uint64_t flags) {
    struct sh_strict_group *group = &shared.groups[place_of(task) & GROUP_MASK];
    /* A group that has slept may not save up for more than a slice. */
    const uint64_t least = shared.vtime - shared.control.slice_ns;
    if (!__sync_fetch_and_add(&group->runnable, 1) && is_before(group->vtime, least))
        group->vtime = least;
    count(&shared.counts.runnable);
    return 0;
}

SEC("struct_ops/quiescent")
int BPF_PROG(quiescent, struct task_struct *task, uint64_t flags) {
    struct sh_strict_group *group = group_of(task);
    if (group->runnable)
        __sync_fetch_and_sub(&group->runnable, 1);
    __sync_fetch_and_sub(&shared.counts.runnable, 1);
    return 0;
}

SEC("struct_ops/update_idle")
int BPF_PROG(update_idle, int32_t cpu, bool idle) {
    const uint32_t number = (uint32_t)cpu;
    const uint32_t spare = spare_of(number);
    if (!spare)
        return 0;
    const struct seen_near seen = look_near(number);
    if (!idle) {
        const bool by_batch = shared.cpus[number & CPU_MASK].next_paid;
        const int32_t beyond = idle_beyond(&seen, !by_batch, spare);
        if (beyond < 0)
            let_go_near(number);
        if (beyond < -1) /* one less is idle, and one more is to be */
            let_go_near(number);
        return 0;
    }
    const int32_t beyond = idle_beyond(&seen, 0, most_idle_of(number, spare));
    if (beyond < 0 || !some_wait())
        return 0;
    scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE); /* two went idle for the same reason */
    if (beyond > 0)
        use_idle_near(number); /* it is kept for one that is not taken any more */
    return 0;
}

/* Only so that the kernel does not end the scheduler when a CPU comes or goes. */
SEC("struct_ops/cpu_online")
int BPF_PROG(cpu_online, int32_t cpu) {
    return 0;
}

SEC("struct_ops/cpu_offline")
int BPF_PROG(cpu_offline, int32_t cpu) {
    return 0;
}

/* Once; wakes the loop's thread. */
static __always_inline void begin_to_end(void) {
    const uint32_t word = SH_STRICT_ENDING;
    if (shared.end.stage)
        return;
    shared.end.stage = word;
    bpf_ringbuf_output(&ends, (void *)&word, sizeof(word), BPF_RB_FORCE_WAKEUP);
}

/* Of the root cgroup only where the scheduler ends, before its tasks become the fair class's. */
SEC("struct_ops/cgroup_exit")
int BPF_PROG(cgroup_exit, struct cgroup *cgroup) {
    if (!BPF_CORE_READ(cgroup, level))
        begin_to_end();
    uint64_t id = BPF_CORE_READ(cgroup, kn, id);
    const uint32_t *place = bpf_map_lookup_elem(&places, &id);
    if (!place)
        return 0;
    if (*place < SH_STRICT_GROUPS - 1)
        shared.groups[*place & GROUP_MASK].id = 0;
    bpf_map_delete_elem(&places, &id);
    return 0;
}

SEC("struct_ops.s/init")
int BPF_PROG(init) {
    for (uint32_t i = 0; i < SH_STRICT_GROUPS; i++) {
        const int32_t err = scx_bpf_create_dsq(i, -1);
        if (err)
            return err;
    }
    return 0;
}

SEC("struct_ops/exit")
int BPF_PROG(on_exit, struct scx_exit_info *info) {
    shared.end.kind = BPF_CORE_READ(info, kind);
    shared.end.code = BPF_CORE_READ(info, exit_code);
    bpf_probe_read_kernel_str(shared.end.reason, sizeof(shared.end.reason),
                              BPF_CORE_READ(info, reason));
    begin_to_end();
    shared.end.stage = SH_STRICT_ENDED;
    return 0;
}
