/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the scheduler of the `strict` mechanism and user space share: the layout of its memory.
 * smartharvest/host/sched_ext/state.py reads it by these offsets. */
#ifndef SH_STRICT_STATE_H
#define SH_STRICT_STATE_H

#include <stdint.h>

enum {
    SH_STRICT_MAX_CPUS = 512,
    SH_STRICT_WORDS = SH_STRICT_MAX_CPUS / 64,
    SH_STRICT_GROUPS = 64, /* told apart; further ones share the last */
    SH_STRICT_REASON = 128,
};

/* Slack: so many more CPUs than are kept idle, and a quarter of all at most, may be idle for so
 * long after one had to let go. */
enum { SH_STRICT_MOST_SLACK = 2, SH_STRICT_SLACK_NS = 2000000 };

/* User space writes. */
struct sh_strict_control {
    uint64_t slice_ns;       /* of a batch task */
    uint64_t keep_preempted; /* whether a preempted task may wait on its CPU */
};

struct sh_strict_counts {
    uint64_t dispatched;  /* batch tasks got a CPU */
    uint64_t ran_ns;      /* CPU time of batch tasks */
    uint64_t runnable;    /* batch tasks that run or wait now */
    uint64_t stayed;      /* preempted tasks that waited on their CPU */
    uint64_t called_back; /* ... and were called back from there */
    uint64_t let_go;      /* CPUs that were made to let go, since too few were idle */
    uint64_t left;        /* tasks that got another policy and so left the class */
};

/* The first is before any of its tasks has left the class. */
enum sh_strict_stage { SH_STRICT_IN_FORCE, SH_STRICT_ENDING, SH_STRICT_ENDED };

/* How the scheduler ended. */
struct sh_strict_end {
    uint32_t stage; /* enum sh_strict_stage; the loop's thread gives everything back if not 0 */
    uint32_t kind;  /* enum scx_exit_kind */
    int64_t code;
    char reason[SH_STRICT_REASON];
};

struct sh_strict_group {
    uint64_t id; /* of the cgroup; 0: free */
    uint64_t vtime, task_vtime;
    uint64_t ran_ns;
    uint64_t runnable; /* of its tasks */
    uint64_t weight;   /* 100: of any other */
};

struct sh_strict_cpu {
    uint64_t since;                 /* sum_exec_runtime of the batch task when it came */
    uint64_t place, paid;           /* the group whose task runs, and its weighted slice */
    uint64_t next_place, next_paid; /* the same of the task that comes next */
    uint64_t preempted_ns; /* when somebody else saw that one waits to go on here; 0: nobody */
    /* User space writes. */
    uint64_t slack;                 /* how many more than `spare` may be idle for a moment */
    uint64_t spare;                 /* how many of those near are kept idle for who wakes next */
    uint64_t near[SH_STRICT_WORDS]; /* CPUs with the same last-level cache, this one included */
};

struct sh_strict_state {
    struct sh_strict_control control;
    struct sh_strict_end end;
    struct sh_strict_counts counts;
    uint64_t vtime;                      /* of the group that got a CPU last */
    uint64_t let_go_ns;                  /* when a CPU was last made to let go */
    uint64_t batch[SH_STRICT_WORDS];     /* CPUs that run a batch task */
    uint64_t leaving[SH_STRICT_WORDS];   /* CPUs that were made to let go and have not yet */
    uint64_t preempted[SH_STRICT_WORDS]; /* CPUs with a batch task that waits to go on there */
    struct sh_strict_group groups[SH_STRICT_GROUPS];
    struct sh_strict_cpu cpus[SH_STRICT_MAX_CPUS];
} __attribute__((aligned(64)));

#endif
