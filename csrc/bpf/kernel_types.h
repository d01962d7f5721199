/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The few kernel structures the sensor reads, with the fields it reads and no others. The kernel
 * puts the real offsets in when it loads the program (CO-RE), so neither order nor size matters
 * here. Names are those of kernel 6.18; an older spelling has a ___flavour. */
#ifndef SH_KERNEL_TYPES_H
#define SH_KERNEL_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/* What bpf_helpers.h expects to find. */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int8_t __s8;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

/* From include/uapi/linux/bpf.h. */
enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_FORCE_WAKEUP = 1 << 1 };
enum { CLOCK_MONOTONIC = 1 };
#define BPF_F_CURRENT_CPU 0xffffffffULL

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum cgroup_subsys_id {
    cpuset_cgrp_id,
    cpu_cgrp_id,
    cpuacct_cgrp_id,
    memory_cgrp_id,
    freezer_cgrp_id,
    pids_cgrp_id,
};

struct kernfs_node {
    uint64_t id;
};

struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent;
    uint64_t serial_nr;
};

struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node *kn;
};

struct css_set {
    struct cgroup_subsys_state *subsys[1];
    struct cgroup *dfl_cgrp;
};

struct cfs_rq {
    struct rq *rq;
    struct task_group *tg;
    unsigned int h_nr_runnable;    /* since 6.14 */
    unsigned int h_nr_idle;        /* since 6.14 */
    uint64_t throttled_clock_self; /* since 6.6: since when it has been throttled; 0: it is not */
    uint64_t throttled_clock_self_time; /* since 6.6 */
    uint64_t throttled_clock_pelt_time;
    int throttle_count;
};

struct cfs_rq___before_6_14 {
    unsigned int h_nr_running;      /* h_nr_runnable has come to later 6.12, too */
    unsigned int idle_h_nr_running; /* but h_nr_idle has not */
    unsigned int h_nr_delayed;      /* since 6.12 */
};

struct rq {
    struct task_struct *curr;
    uint64_t clock;
    int cpu;
    struct cfs_rq cfs;
};

struct task_group {
    struct cfs_rq **cfs_rq; /* an array, in kernels without se a per-CPU variable */
};

struct task_group___with_arrays {
    struct sched_entity **se;
};

struct sched_entity {
    uint64_t sum_exec_runtime;
    uint64_t prev_sum_exec_runtime; /* at the last dispatch; of the fair class only */
    unsigned char sched_delayed;    /* since 6.12: asleep, but still queued */
    struct cfs_rq *cfs_rq;
};

struct sched_info {
    unsigned long long run_delay;
    unsigned long long last_arrival;
    unsigned long long last_queued;
};

struct task_struct {
    unsigned int on_rq; /* an int, in later kernels a byte: unsigned, it is read as wide as it is */
    int prio;
    int pid;
    int tgid;
    int nr_cpus_allowed;
    const struct cpumask *cpus_ptr;
    struct sched_entity se;
    struct sched_info sched_info;
    struct css_set *cgroups;
};

struct timerqueue_node {
    int64_t expires;
};

struct hrtimer_clock_base {
    int clockid;
};

struct hrtimer {
    struct timerqueue_node node; /* since 7.1 a timerqueue_linked_node */
    struct hrtimer_clock_base *base;
};

struct bpf_iter__task {
    struct task_struct *task;
};

#pragma clang attribute pop

#endif
