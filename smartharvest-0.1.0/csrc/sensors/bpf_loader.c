#define _GNU_SOURCE
#include "sensors/bpf_loader.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Commands and attributes of bpf(2), as far as they are needed: the system's own header may be
 * older than the kernel. The kernel takes what is missing at the end as zero. */
enum command {
    MAP_CREATE = 0,
    MAP_UPDATE_ELEM = 2,
    PROG_LOAD = 5,
    PROG_RUN = 10,
    RAW_TRACEPOINT_OPEN = 17,
    LINK_CREATE = 28,
    ITER_CREATE = 33,
};
enum { MAP_TYPE_ARRAY = 2, PROG_TYPE_SYSCALL = 31, PROG_SLEEPABLE = 1 << 4, TRACE_ITER = 28 };

struct map_create {
    uint32_t type, key_size, value_size, max_entries;
};

struct map_update {
    uint32_t fd;
    uint64_t key __attribute__((aligned(8))), value, flags;
};

struct prog_load {
    uint32_t type, instruction_count;
    uint64_t instructions, license;
    uint32_t log_level, log_size;
    uint64_t log;
    uint32_t kernel_version, flags;
    char name[16];
    uint32_t interface, expected_attach_type, btf_fd, function_record_size;
    uint64_t functions;
    uint32_t function_count, line_record_size;
    uint64_t lines;
    uint32_t line_count, attach_btf_id, attach_fd, relocation_count;
    uint64_t fds;
};

struct prog_run {
    uint32_t fd, result, data_size_in, data_size_out;
    uint64_t data_in, data_out;
    uint32_t repeat, duration, context_size_in, context_size_out;
    uint64_t context_in, context_out;
};

struct raw_tracepoint_open {
    uint64_t name;
    uint32_t fd, padding;
};

struct link_create {
    uint32_t program, target, attach_type, flags;
};

struct iter_create {
    uint32_t link, flags;
};

static uint64_t address(const void *pointer) {
    return (uint64_t)(uintptr_t)pointer;
}

static int call(enum command command, void *attributes, size_t size) {
    int result = (int)syscall(SYS_bpf, command, attributes, size);
    return result < 0 ? -errno : result;
}

int sh_loader_run(struct sh_loader_context *context, const uint64_t *data, uint32_t data_bytes,
                  const uint64_t *code, uint32_t code_bytes, const char **step) {
    const uint32_t key = 0;
    struct map_create create = {MAP_TYPE_ARRAY, sizeof(key), data_bytes, 1};
    int err, program = -1, map;

    *step = "creating a BPF map (needs CAP_BPF)";
    map = call(MAP_CREATE, &create, sizeof(create));
    if (map < 0)
        return map;
    struct map_update update = {.fd = (uint32_t)map, .key = address(&key), .value = address(data)};
    err = call(MAP_UPDATE_ELEM, &update, sizeof(update));
    if (!err) {
        *step = "loading a BPF program (needs CAP_BPF and CAP_PERFMON)";
        struct prog_load load = {
            .type = PROG_TYPE_SYSCALL,
            .instruction_count = code_bytes / 8,
            .instructions = address(code),
            .license = address("GPL"),
            .log_level = context->log_level,
            .log_size = context->log_size,
            .log = context->log,
            .flags = PROG_SLEEPABLE,
            .name = "sh_loader",
            .fds = address(&map),
        };
        program = err = call(PROG_LOAD, &load, sizeof(load));
    }
    if (err >= 0) {
        *step = "loading the sensor's programs";
        struct prog_run run = {.fd = (uint32_t)program,
                               .context_size_in = context->size,
                               .context_in = address(context)};
        err = call(PROG_RUN, &run, sizeof(run));
        if (err >= 0)
            err = (int)run.result < 0 ? (int)run.result : 0;
    }
    close(map);
    if (program >= 0)
        close(program);
    return err;
}

int sh_loader_attach(int program) {
    struct raw_tracepoint_open open = {.fd = (uint32_t)program};
    return call(RAW_TRACEPOINT_OPEN, &open, sizeof(open));
}

int sh_loader_attach_iterator(int program) {
    struct link_create create = {.program = (uint32_t)program, .attach_type = TRACE_ITER};
    return call(LINK_CREATE, &create, sizeof(create));
}

int sh_loader_iterate(int link) {
    struct iter_create create = {.link = (uint32_t)link};
    char nothing[64];
    ssize_t got;
    int fd = call(ITER_CREATE, &create, sizeof(create));
    if (fd < 0)
        return fd;
    /* The program writes no text: a read goes on until the iteration is over, or is asked to come
     * again after a million objects. */
    do {
        got = read(fd, nothing, sizeof(nothing));
    } while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
    const int err = got < 0 ? -errno : 0;
    close(fd);
    return err;
}

int sh_loader_call(int program) {
    struct prog_run run = {.fd = (uint32_t)program};
    const int err = call(PROG_RUN, &run, sizeof(run));
    return err < 0 ? err : (int)run.result;
}

int sh_loader_set(int map, uint32_t key, uint32_t value) {
    struct map_update update = {
        .fd = (uint32_t)map, .key = address(&key), .value = address(&value)};
    return call(MAP_UPDATE_ELEM, &update, sizeof(update));
}
