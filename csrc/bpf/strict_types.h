/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The few kernel structures that strict.bpf.c reads. The kernel puts the real offsets in when it
 * loads the program (CO-RE). Names are those of kernel 7.3. */
#ifndef SH_STRICT_TYPES_H
#define SH_STRICT_TYPES_H

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

enum { BPF_MAP_TYPE_HASH = 1, BPF_MAP_TYPE_RINGBUF = 27 };
enum { BPF_NOEXIST = 1, BPF_RB_FORCE_WAKEUP = 2 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
    uint64_t id;
};

struct cgroup {
    int level; /* 0: the root */
    struct kernfs_node *kn;
};

struct cgroup_subsys_state {
    struct cgroup *cgroup;
};

struct scx_task_group {
    uint32_t weight;
};

struct task_group {
    struct cgroup_subsys_state css;
    struct scx_task_group scx; /* of kernels with EXT_GROUP_SCHED */
};

struct thread_info {
    uint32_t cpu;
};

struct cpumask {
    unsigned long bits[1];
};

struct sched_entity {
    uint64_t sum_exec_runtime;
};

struct sched_ext_entity {
    uint32_t flags;
    uint32_t weight;
    uint64_t slice;
    uint64_t dsq_vtime;
};

struct task_struct {
    struct thread_info thread_info;
    unsigned int flags;
    int pid;
    unsigned short migration_disabled;
    const struct cpumask *cpus_ptr;
    struct sched_entity se;
    struct sched_ext_entity scx;
    struct task_group *sched_task_group;
};

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
    enum scx_exit_kind kind;
    int64_t exit_code;
    const char *reason;
    char *msg;
};

#pragma clang attribute pop

/* From include/linux/sched/ext.h and kernel/sched/ext.c; the numbers are its interface. */
enum { SCX_TASK_QUEUED = 1 };
enum { SCX_KICK_IDLE = 1, SCX_KICK_PREEMPT = 2 };
enum { PF_EXITING = 4 };
#define SCX_ENQ_WAKEUP 1ULL
#define SCX_DSQ_LOCAL_ON (3ULL << 62)

#endif
