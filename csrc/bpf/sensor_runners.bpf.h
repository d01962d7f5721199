/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Whose a task is. */
#ifndef SH_SENSOR_RUNNERS_BPF_H
#define SH_SENSOR_RUNNERS_BPF_H

#include "sensor_memory.bpf.h"

GLOBAL int runner_of_target(uint64_t id, uint32_t hierarchy) {
    for (uint32_t i = 0; i < SH_BPF_MAX_TARGETS; i++) {
        if (i >= shared.control.target_count)
            break;
        const struct sh_bpf_target *target = &shared.control.targets[i];
        if (target->id == id && target->hierarchy == hierarchy)
            return (int)target->runner;
    }
    return 0;
}

enum { MAX_DEPTH = 40 };

static __always_inline uint64_t *slot_of(uint64_t serial) {
    return &shared.known_groups[serial & (SH_BPF_KNOWN_GROUPS - 1)];
}

/* `css` is the address of a struct cgroup_subsys_state. */
GLOBAL int climb(uint64_t css, uint32_t hierarchy) {
    struct cgroup_subsys_state *at = (void *)css;
    const uint64_t serial = BPF_CORE_READ(at, serial_nr);
    int runner = 0;
    for (int depth = 0; depth < MAX_DEPTH && at && !runner; depth++) {
        runner = runner_of_target(BPF_CORE_READ(at, cgroup, kn, id), hierarchy);
        at = BPF_CORE_READ(at, parent);
    }
    if (!runner) /* what hides so deep may be anybody's, and harm is what must not be missed */
        runner = at ? SH_BPF_ELASTIC : SH_BPF_OTHER;
    *slot_of(serial) = serial << 8 | (uint32_t)runner;
    return runner;
}

static __always_inline uint32_t remembered(uint64_t serial) {
    const uint64_t word = *slot_of(serial);
    return likely(word >> 8 == serial) ? (uint32_t)(word & 0xff) : SH_BPF_UNKNOWN;
}

/* Where in css_set.subsys a controller stands depends on how the kernel was configured. */
static __always_inline uint64_t subsystem_offset(uint32_t hierarchy) {
    uint64_t index = 0;
    if (hierarchy == SH_BPF_V1_CPUSET)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpuset_cgrp_id);
    else if (hierarchy == SH_BPF_V1_CPU)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
    else if (hierarchy == SH_BPF_V1_CPUACCT)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpuacct_cgrp_id);
    else if (hierarchy == SH_BPF_V1_FREEZER)
        index = bpf_core_enum_value(enum cgroup_subsys_id, freezer_cgrp_id);
    else if (hierarchy == SH_BPF_V1_MEMORY)
        index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
    else
        index = bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id);
    return bpf_core_field_offset(struct css_set, subsys) + index * sizeof(void *);
}

static __always_inline uint64_t css_address(struct css_set *set, uint32_t hierarchy) {
    uint64_t css = 0;
    if (hierarchy == SH_BPF_V2)
        return (uint64_t)BPF_CORE_READ(set, dfl_cgrp) + bpf_core_field_offset(struct cgroup, self);
    bpf_probe_read_kernel(&css, sizeof(css), (void *)set + subsystem_offset(hierarchy));
    return css;
}

static __always_inline uint32_t runner_in(struct css_set *set, uint32_t hierarchy) {
    struct cgroup_subsys_state *css;
    if (hierarchy == SH_BPF_V2)
        css = &set->dfl_cgrp->self;
    else
        css = *(struct cgroup_subsys_state **)((void *)set + subsystem_offset(hierarchy));
    const uint32_t runner = remembered(css->serial_nr);
    return likely(runner) ? runner : (uint32_t)climb(css_address(set, hierarchy), hierarchy);
}

static __always_inline uint32_t runner_in_probing(struct css_set *set, uint32_t hierarchy) {
    const uint64_t css = css_address(set, hierarchy);
    const uint32_t runner = remembered(BPF_CORE_READ((struct cgroup_subsys_state *)css, serial_nr));
    return likely(runner) ? runner : (uint32_t)climb(css, hierarchy);
}

static __always_inline uint32_t runner_of(struct task_struct *task) {
    uint32_t runner = SH_BPF_OTHER;
    if (task->pid == 0)
        return SH_BPF_IDLE;
    if (settings.processes) {
        const int found = runner_of_target((uint32_t)task->tgid, SH_BPF_PROCESS);
        if (found)
            return (uint32_t)found;
    }
    if (settings.hierarchies[0])
        runner = runner_in(task->cgroups, settings.hierarchies[0]);
    if (settings.hierarchies[1] && runner == SH_BPF_OTHER)
        runner = runner_in(task->cgroups, settings.hierarchies[1]);
    return runner;
}

/* The same by a task's address: it may be gone at any moment. */
GLOBAL int runner_of_probing(uint64_t address) {
    struct task_struct *task = (void *)address;
    uint32_t runner = SH_BPF_OTHER;
    if (BPF_CORE_READ(task, pid) == 0)
        return SH_BPF_IDLE;
    if (settings.processes) {
        const int found = runner_of_target((uint32_t)BPF_CORE_READ(task, tgid), SH_BPF_PROCESS);
        if (found)
            return found;
    }
    struct css_set *set = BPF_CORE_READ(task, cgroups);
    if (settings.hierarchies[0])
        runner = runner_in_probing(set, settings.hierarchies[0]);
    if (settings.hierarchies[1] && runner == SH_BPF_OTHER)
        runner = runner_in_probing(set, settings.hierarchies[1]);
    return (int)runner;
}

static __always_inline uint32_t index_of(uint32_t runner) {
    return (runner - SH_BPF_PRIMARY) & (SH_BPF_MAX_PRIMARIES - 1);
}

static __always_inline struct rq *queue_of(struct task_struct *task) {
    return task->se.cfs_rq->rq; /* set for tasks of every class */
}

/* Has the task that leaves the CPU gone to sleep (or died), rather than been preempted? */
static __always_inline bool gone(struct task_struct *task) {
    if (task->on_rq == 0)
        return true;
    return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

#endif
