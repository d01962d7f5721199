/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the in-kernel sensor and user space share: the layout of the mapped memory. */
#ifndef SH_SENSOR_STATE_H
#define SH_SENSOR_STATE_H

#include <stdint.h>

enum {
    SH_BPF_MAX_CPUS = 4096,
    SH_BPF_MAX_PRIMARIES = 64,
    SH_BPF_MAX_TARGETS = 80,
    SH_BPF_MAX_LEVEL = 1024, /* busy cores and tasks wanting one are told apart up to here */
    SH_BPF_KNOWN_GROUPS = 1024,
    SH_BPF_LENDINGS = 4,
    SH_BPF_IDLE_WAITS = 128, /* a power of two */
    SH_BPF_STINTS = 8,
    SH_BPF_NO_WAKE = -1,
    SH_BPF_WAKE_FOR_WAITING = 1 << 30,
};

/* Who runs on a CPU; primary i is SH_BPF_PRIMARY + i. */
enum { SH_BPF_UNKNOWN, SH_BPF_IDLE, SH_BPF_OTHER, SH_BPF_ELASTIC, SH_BPF_PRIMARY };

/* Where a target is looked up. */
enum sh_bpf_hierarchy {
    SH_BPF_PROCESS, /* no group: by process id */
    SH_BPF_V2,
    SH_BPF_V1_CPUSET,
    SH_BPF_V1_CPU,
    SH_BPF_V1_CPUACCT,
    SH_BPF_V1_FREEZER,
    SH_BPF_V1_MEMORY,
    SH_BPF_V1_PIDS,
};

/* Parts of the program; those left out are cut away when it is loaded. */
enum {
    SH_BPF_WAITS = 1,  /* dispatch waits */
    SH_BPF_LEVELS = 2, /* time at each number of busy cores, and the wake-up */
    SH_BPF_DEMAND = 4, /* waiting tasks counted as they wake; needs SH_BPF_LEVELS */
    SH_BPF_RUNS = 8,   /* run times */
    SH_BPF_HARM = 16,  /* what lending costs each primary; needs SH_BPF_DEMAND */
};

/* Waits: steps of 512 ns up to 131 us, from there 16 steps an octave up to 2^37 ns. */
enum {
    SH_BPF_WAIT_SHIFT = 9,
    SH_BPF_WAIT_LINEAR = 256,
    SH_BPF_WAIT_LOG2 = 17, /* of the first octave */
    SH_BPF_WAIT_OCTAVES = 20,
    SH_BPF_WAIT_BUCKETS = SH_BPF_WAIT_LINEAR + SH_BPF_WAIT_OCTAVES * 16,
};

/* Run times: CPU time of a task from its waking up to its next sleep or its end, however often it
 * was preempted in between. What is shorter than 512 ns shares the first bucket; then 16 steps an
 * octave, each 4.4 % wider than the one before. */
enum {
    SH_BPF_RUN_LOG2 = 9,
    SH_BPF_RUN_OCTAVES = 28,
    SH_BPF_RUN_BUCKETS = 1 + SH_BPF_RUN_OCTAVES * 16,
    SH_BPF_PREEMPTED_RUNS = 4096,
};

/* Harm: waits and times from waking up to the next sleep, in buckets as those of waits up to 2^33
 * ns. Tasks find their wake-up by number; of two that meet in one place the older loses it. */
enum {
    SH_BPF_HARM_OCTAVES = 16,
    SH_BPF_HARM_BUCKETS = SH_BPF_WAIT_LINEAR + SH_BPF_HARM_OCTAVES * 16,
    SH_BPF_TRACKED_TASKS = 16384,
    SH_BPF_LONG_WAIT_NS = 200000,
    SH_BPF_NOTED_WAIT_NS = 20000, /* for a longer one others' CPUs are looked at */
};

struct sh_bpf_run_counts {
    uint64_t runs;
    uint64_t total_ns;
};

/* The beginning of a run that was preempted; the task's number finds it, and tells it from those of
 * others. Of two tasks that meet in one place the older loses its beginning. */
struct sh_bpf_preempted_run {
    int32_t task;
    uint32_t ran_ns; /* so far; 4.3 s and more are that */
};

struct sh_bpf_tracked_task {
    int32_t task;
    uint32_t waited_ns; /* of its life when it last left a CPU, modulo 2^32 */
    uint64_t woke_ns;   /* CLOCK_MONOTONIC; 0: it sleeps */
    int64_t held_up_ns; /* of its waits since then, by lending */
    uint64_t woke_before_ns;
    uint64_t interval_ns;  /* from one wake-up to the next, lately; 0: not known */
    uint64_t late_ns;      /* a timer woke it so long after its time; 0: none did, or it runs */
    uint64_t slept_ns;     /* when it last went to sleep, */
    uint64_t waking_ns;    /* and when somebody began to wake it */
    uint64_t queue;        /* where it was seen to queue up, */
    uint64_t queued;       /* and when, by the scheduler's clock */
    uint64_t throttled_ns; /* for how long that queue had been throttled by then */
    uint32_t waker;        /* the runner whose task has woken it; 0: none has, or it runs */
};

/* Counts only grow; what happened in a period is the difference of two copies. */
struct sh_bpf_wait_counts {
    uint64_t waits;
    uint64_t total_ns;
    uint64_t longer;               /* than the threshold. These are told apart further: */
    uint64_t longer_while_lent;    /* began while something was lent */
    uint64_t longer_after_elastic; /* ended when an elastic task left the CPU */
    uint64_t longer_throttled;     /* the task's group was throttled meanwhile */
    uint64_t longer_blamed; /* began while lent, not throttled, and long because of others' */
                            /* stints: without them it were none, or they alone are longer */
};

struct sh_bpf_harm_counts {
    uint64_t wait_ns;
    uint64_t wake_to_sleep_ns;
    uint64_t agent_ns; /* of the waits: a thread of the agent had the CPU meanwhile */
    uint64_t
        long_waits; /* longer than SH_BPF_LONG_WAIT_NS. Of these, in which elastic tasks used */
    uint64_t behind_elastic;      /* as much and no CPU of the pool was idle from then on, */
    uint64_t behind_elastic_here; /* as much on the task's own CPU, */
    uint64_t unjudged; /* and those of which only the latter is known: too many at once */
};

/* Dispatches that nothing was lent in, or something was. */
struct sh_bpf_harm_side {
    struct sh_bpf_harm_counts counts;
    uint64_t waits[SH_BPF_HARM_BUCKETS];
    uint64_t wakes_to_sleeps[SH_BPF_HARM_BUCKETS];
};

/* Of dispatches with nothing lent, lately: those that waited for others though a CPU was idle. As
 * many would while something is lent. */
struct sh_bpf_anyway {
    uint64_t dispatches, waited;
    uint64_t credit; /* what may be excused, in dispatches * waits */
};

/* How long tasks have waited for a CPU that was idle, the last ones in turns, and which of them
 * stands for a task that met somebody there. What is longer than SH_BPF_LONG_WAIT_NS was the host's
 * and is taken for so long. */
struct sh_bpf_idle_waits {
    uint32_t ns[SH_BPF_IDLE_WAITS];
    uint32_t count, next;
};

/* Of one primary on one CPU; only that CPU writes. */
struct sh_bpf_harm {
    struct sh_bpf_harm_side sides[2]; /* nothing lent, something lent */
    /* Of the latter: its wakes_to_sleeps, and what they would be without what lending held them up
     * for. Who is held up for longer than it mostly sleeps holds up what it would have woken up for
     * meanwhile: that is in both, as so many more spans. */
    uint64_t harmed[SH_BPF_HARM_BUCKETS], unharmed[SH_BPF_HARM_BUCKETS];
    /* The same of its waits; a timer's lateness is in both. */
    uint64_t harmed_waits[SH_BPF_HARM_BUCKETS], unharmed_waits[SH_BPF_HARM_BUCKETS];
    uint64_t lost; /* tasks that went to sleep and whose wake-up is not known */
    uint64_t idle_answers, idle_answer_ns; /* waits for this CPU while it was idle, and their sum */
    uint64_t woken_by_own;                 /* wake-ups by a running task of the same primary */
    struct sh_bpf_idle_waits idle_waits[2]; /* of tasks that others woke, and timers */
    struct sh_bpf_anyway anyway;
} __attribute__((aligned(64)));

/* When tasks that are no primary's had the CPU, one after the other, by the scheduler's clock. */
struct sh_bpf_stint {
    uint64_t from, until; /* until 0: it goes on */
};

/* One CPU's own; only that CPU writes. */
struct sh_bpf_cpu {
    uint64_t switches;
    uint32_t runner; /* who runs, by this CPU's own record, */
    int32_t task;    /* and which task */
    /* Harm, by this CPU's scheduler's clock: what every switch reads. */
    int64_t offset_ns;         /* CLOCK_MONOTONIC - that clock, */
    uint64_t offset_at;        /* and when it was seen; 0: never */
    uint64_t elastic_since;    /* 0: no elastic task runs */
    struct sh_bpf_stint agent; /* the last of a thread of the agent */
    uint64_t expiring_late_ns; /* a timer expires now, so long after its time; 0: none does */
    struct sh_bpf_wait_counts waits;
    uint64_t throttled_queue; /* the run queue whose throttled time was seen last, */
    uint64_t throttled_ns;    /* what it was */
    uint64_t throttled_until; /* and when it was seen to have grown */
    uint64_t missed;          /* switches that left a task nobody had seen come */
    uint64_t stint_count;     /* the last is stints[stint_count % SH_BPF_STINTS] */
    struct sh_bpf_stint stints[SH_BPF_STINTS];
    uint64_t displacements; /* switches to an elastic task that left others waiting for this CPU */
    uint64_t primary_since; /* the scheduler's clock when a primary task came; 0: none runs */
    uint64_t primary_ns, primary_lent_ns; /* primary tasks ran here, and of that while lent */
    struct sh_bpf_run_counts runs;
    uint64_t histogram[SH_BPF_WAIT_BUCKETS]; /* of waits */
    uint64_t run_histogram[SH_BPF_RUN_BUCKETS];
    /* Harm, what is seldom read. */
    uint64_t idle_until;     /* when it was last idle */
    uint64_t late_by_ns;     /* lending held up the task here, or who was before it, by so much */
    uint64_t elastic_stints; /* the last is elastic[elastic_stints % SH_BPF_STINTS] */
    struct sh_bpf_stint elastic[SH_BPF_STINTS];
    uint64_t next_judgement; /* before that no wait is judged by what other CPUs did, */
    uint64_t next_search;    /* nor is it looked up since when one was not to be had */
} __attribute__((aligned(64)));

struct sh_bpf_target {
    uint64_t id; /* of the cgroup, or the process */
    uint32_t hierarchy;
    uint32_t runner; /* what its tasks count as */
};

struct sh_bpf_lending {
    int64_t from_ns, until_ns; /* CLOCK_MONOTONIC */
};

/* User space writes and every switch reads, but for wake_at: the program takes it down. */
struct sh_bpf_control {
    /* Busy cores that wake the reader, once, or with SH_BPF_WAKE_FOR_WAITING those that are wanted;
     * SH_BPF_NO_WAKE: never. */
    int32_t wake_at;
    uint32_t target_count;
    uint32_t walking;     /* a walk is under way */
    uint32_t rescue;      /* tell of displacements; the elastic group is under cpu.idle */
    uint32_t excuse_caps; /* what primaries wait because of their caps is no harm */
    /* What runs on CPUs that a primary's task may not use is no harm to it. */
    uint32_t mind_affinity;
    uint64_t wait_threshold_ns;
    int64_t clock_offset_ns; /* CLOCK_MONOTONIC - the scheduler's clock; the program writes it */
    struct sh_bpf_lending lendings[SH_BPF_LENDINGS];
    int64_t lent_until_ns; /* CLOCK_MONOTONIC; INT64_MAX while something is lent */
    /* The same of what the elastic group has with nothing lent, where that counts as harm, too. */
    int64_t minimum_until_ns;
    struct sh_bpf_target targets[SH_BPF_MAX_TARGETS];
} __attribute__((aligned(64)));

/* The word: busy | wanting | time from the low end. Time is the scheduler's clock in units of 16
 * ns; it wraps after 18 minutes, so resynchronising touches the word. */
enum {
    SH_BPF_BUSY_BITS = 12,
    SH_BPF_WANTING_BITS = 16,
    SH_BPF_TIME_BITS = 36,
    SH_BPF_TIME_SHIFT = 4,
};

/* What may be added to the word, whatever it is meanwhile, for changes of the two counts: only what
 * they gain. A count that a drift has brought to nothing would borrow from the one above it, and
 * too much is the safe side until user space resynchronises. */
static inline uint64_t sh_bpf_gains(int32_t busy_by, int32_t wanting_by) {
    return (uint64_t)(busy_by > 0 ? busy_by : 0) +
           ((uint64_t)(wanting_by > 0 ? wanting_by : 0) << SH_BPF_BUSY_BITS);
}

/* Every CPU writes these when the primary's use changes. */
struct sh_bpf_levels {
    uint64_t word;
    uint64_t padding[7];
    int32_t running[SH_BPF_MAX_PRIMARIES]; /* of several primaries each, before its cap */
    int32_t wanting[SH_BPF_MAX_PRIMARIES];
    uint64_t busy_time[SH_BPF_MAX_LEVEL + 1]; /* units of 16 ns with so many busy cores */
    uint64_t wanting_time[SH_BPF_MAX_LEVEL + 1];
} __attribute__((aligned(64)));

/* What one walk over all tasks, in the order of their numbers, found. */
struct sh_bpf_walk {
    int32_t position; /* the number it has come to */
    int32_t padding[15];
    /* Tasks that wanted a CPU when it came by, and the changes since then among those it had
     * already met: the sum is the truth at its end. */
    int32_t wanting[SH_BPF_MAX_PRIMARIES];
    uint64_t tasks, primary_tasks;
    uint64_t pending, pending_longer, pending_throttled, pending_blamed, pending_longest_ns;
    uint64_t pending_blamed_longest_ns;
    uint64_t offsets[SH_BPF_MAX_CPUS]; /* of each CPU's variables, where queues are among them */
} __attribute__((aligned(64)));

/* What one look at every run queue found. */
struct sh_bpf_look {
    uint32_t cpus;
    uint32_t differing; /* CPUs whose record was wrong */
};

/* For the clocks' difference: the least of the period that goes on. A write may get lost. */
struct sh_bpf_clocks {
    uint64_t period;
    int64_t least_ns;
} __attribute__((aligned(64)));

/* Everything that is not one CPU's own. */
struct sh_bpf_shared {
    struct sh_bpf_control control;
    struct sh_bpf_levels levels;
    struct sh_bpf_clocks clocks;
    uint8_t runners[SH_BPF_MAX_CPUS] __attribute__((aligned(64))); /* who runs on each CPU */
    uint8_t lent[SH_BPF_MAX_CPUS];                                 /* user space writes: 1 or 0 */
    uint16_t pool[SH_BPF_MAX_CPUS]; /* CPUs whose idleness would help a task that waits */
    /* Groups met before: serial number:56 | runner:8. Serial numbers are never reused and a group
     * never gets another parent, so an entry stays true. */
    uint64_t known_groups[SH_BPF_KNOWN_GROUPS];
    struct sh_bpf_preempted_run preempted_runs[SH_BPF_PREEMPTED_RUNS];
    struct sh_bpf_walk walk;
    struct sh_bpf_look look;
};

/* Set before loading and constant from then on. */
struct sh_bpf_settings {
    uint32_t parts;
    uint32_t hierarchies[2]; /* where groups are looked up, in this order; 0: nowhere */
    uint32_t processes;      /* are some targets processes? */
    uint32_t primary_count;
    uint32_t cpu_count;
    uint32_t allocations[SH_BPF_MAX_PRIMARIES];
    int32_t agent; /* the process whose threads are the agent's; 0: none */
    uint32_t pool_count;
};

#endif
