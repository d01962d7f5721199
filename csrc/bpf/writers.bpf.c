// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Who else writes the files of the groups we manage. Looked at only once something is not as we
 * have left it, so a record is made and nobody is woken.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "writers_state.h"

char program_license[] SEC("license") = "GPL";

struct sh_writers_shared shared;

/* Kernel structures as in kernel_types.h, with what only this program reads. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct task_struct___of_writer {
    struct task_struct___of_writer *real_parent;
    int tgid;
    char comm[16];
};

struct kernfs_node___of_writer {
    struct kernfs_node___of_writer *__parent; /* since 6.15 */
    const char *name;
};

struct kernfs_node___before_6_15 {
    struct kernfs_node___of_writer *parent;
};

struct kernfs_open_file {
    struct kernfs_node___of_writer *kn;
};

#pragma clang attribute pop

static __always_inline int32_t current_process(void) {
    return (int32_t)(bpf_get_current_pid_tgid() >> 32);
}

/* A global function, so that the verifier looks at its loop once. */
__attribute__((noinline)) int is_managed(uint64_t group) {
    for (uint32_t i = 0; i < SH_WRITERS_GROUPS; i++) {
        if (i >= shared.group_count)
            break;
        if (shared.groups[i] == group)
            return 1;
    }
    return 0;
}

SEC("fentry/cgroup_file_write")
int BPF_PROG(on_write, struct kernfs_open_file *open_file) {
    struct kernfs_node___of_writer *file, *directory;
    if (current_process() == shared.own_pid)
        return 0;
    file = BPF_CORE_READ(open_file, kn);
    if (bpf_core_field_exists(file->__parent))
        directory = BPF_CORE_READ(file, __parent);
    else
        directory = BPF_CORE_READ((struct kernfs_node___before_6_15 *)file, parent);
    const uint64_t group = BPF_CORE_READ((struct kernfs_node *)directory, id);
    if (!is_managed(group))
        return 0;
    const uint64_t number = __sync_fetch_and_add(&shared.count, 1) + 1;
    struct sh_writer *record = &shared.records[number & (SH_WRITERS_RING - 1)];
    struct task_struct___of_writer *task = (void *)bpf_get_current_task_btf();
    struct task_struct___of_writer *parent = BPF_CORE_READ(task, real_parent);
    *(volatile uint64_t *)&record->number = 0;
    record->at_ns = (int64_t)bpf_ktime_get_ns();
    record->group = group;
    record->pid = current_process();
    record->parent = BPF_CORE_READ(parent, tgid);
    bpf_get_current_comm(record->name, sizeof(record->name));
    BPF_CORE_READ_STR_INTO(&record->parent_name, parent, comm);
    bpf_probe_read_kernel_str(record->file, sizeof(record->file), BPF_CORE_READ(file, name));
    *(volatile uint64_t *)&record->number = number;
    return 0;
}
