/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What all parts of the in-kernel sensor share. */
#ifndef SH_SENSOR_MEMORY_BPF_H
#define SH_SENSOR_MEMORY_BPF_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sensor_state.h"

const volatile struct sh_bpf_settings settings;
struct sh_bpf_shared shared;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as there are, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_cpu);
} cpus SEC(".maps");

/* A function that the verifier looks at once, rather than on every path that leads to it. It
 * takes numbers and returns one. */
#define GLOBAL __attribute__((noinline))

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Written so that the verifier of Linux 6.1 sees the bound: a compiler compares one register and
 * uses another, whose connection is lost in a copy of 32 bits. */
static __always_inline uint64_t at_most(uint64_t value, uint64_t most) {
    asm volatile("if %0 <= %1 goto +1\n"
                 "%0 = %1\n"
                 : "+r"(value)
                 : "r"(most));
    return value;
}

#endif
