/* Loading BPF programs without libbpf. A packed loader program creates the maps and loads the
 * programs from inside the kernel, which knows its own structures' layout. */
#ifndef SH_BPF_LOADER_H
#define SH_BPF_LOADER_H

#include <stddef.h>
#include <stdint.h>

/* What the loader program reads and fills. The layout is that of bpftool's light skeletons: the
 * context first, then every map, then every program. */
struct sh_loader_context {
    uint32_t size; /* of the whole */
    uint32_t flags;
    uint32_t log_level;
    uint32_t log_size;
    uint64_t log;
};

struct sh_loader_map {
    int fd;
    uint32_t max_entries; /* 0: as compiled */
    uint64_t contents
        __attribute__((aligned(8))); /* address of the first contents; 0: as compiled */
};

struct sh_loader_program {
    int fd;
};

/* 0, or -errno with the step that failed in *step. */
int sh_loader_run(struct sh_loader_context *context, const uint64_t *data, uint32_t data_bytes,
                  const uint64_t *code, uint32_t code_bytes, const char **step);

/* Attaches a program to the tracepoint it was compiled for: a link, or -errno. */
int sh_loader_attach(int program);

/* Makes an iterator of a program for one: its link, from which sh_loader_iterate() reads. */
int sh_loader_attach_iterator(int program);

/* Runs it over everything: 0 or -errno. */
int sh_loader_iterate(int link);

/* Puts a value into an array map: 0 or -errno. */
int sh_loader_set(int map, uint32_t key, uint32_t value);

/* Runs a program of type syscall now: 0 or -errno. */
int sh_loader_call(int program);

#endif
