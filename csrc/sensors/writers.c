#define _GNU_SOURCE
#include "sensors/writers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/writers.loader.h"

#define LOAD(x) __atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define STORE(x, value) __atomic_store_n(&(x), (value), __ATOMIC_RELEASE)

static int load(struct sh_writers *writers, const char **reason) {
    struct writers_programs loaded = {.context.size = sizeof(loaded)};
    const int err = sh_loader_run(&loaded.context, writers_loader_data, writers_loader_data_bytes,
                                  writers_loader_code, writers_loader_code_bytes, reason);
    if (err)
        return err;
    writers->map = loaded.bss.fd;
    writers->program = loaded.on_write.fd;
    return 0;
}

int sh_writers_open(struct sh_writers *writers, const char **reason) {
    int err;
    *writers = (struct sh_writers){.map = -1, .program = -1, .link = -1};
    if (access("/sys/kernel/btf/vmlinux", R_OK)) {
        *reason = "the kernel has no BTF";
        return -ENOTSUP;
    }
    if ((err = load(writers, reason)))
        return err;
    *reason = "mapping the records";
    void *memory =
        mmap(NULL, sizeof(*writers->shared), PROT_READ | PROT_WRITE, MAP_SHARED, writers->map, 0);
    if (memory == MAP_FAILED) {
        err = -errno;
        goto fail;
    }
    writers->shared = memory;
    writers->shared->own_pid = (int32_t)getpid();
    *reason = "attaching to the kernel's function";
    writers->link = err = sh_loader_attach(writers->program);
    if (err < 0)
        goto fail;
    *reason = "";
    return 0;
fail:
    sh_writers_close(writers);
    return err;
}

static void close_one(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void sh_writers_close(struct sh_writers *writers) {
    close_one(&writers->link);
    close_one(&writers->program);
    if (writers->shared)
        munmap(writers->shared, sizeof(*writers->shared));
    writers->shared = NULL;
    close_one(&writers->map);
}

void sh_writers_watch(struct sh_writers *writers, const uint64_t *groups, uint32_t count) {
    struct sh_writers_shared *shared = writers->shared;
    if (count > SH_WRITERS_GROUPS)
        count = SH_WRITERS_GROUPS;
    STORE(shared->group_count, 0); /* none, while they change */
    memcpy(shared->groups, groups, count * sizeof(groups[0]));
    STORE(shared->group_count, count);
}

/* Word by word, each read before the next: the number read afterwards tells a torn copy. */
static void copy(struct sh_writer *to, const struct sh_writer *from) {
    typedef uint64_t __attribute__((may_alias)) word;
    word *target = (word *)to;
    const word *source = (const word *)from;
    for (size_t i = 0; i < sizeof(*to) / sizeof(word); i++)
        target[i] = LOAD(source[i]);
}

uint32_t sh_writers_read(const struct sh_writers *writers, struct sh_writer *records) {
    const struct sh_writers_shared *shared = writers->shared;
    const uint64_t newest = LOAD(shared->count);
    uint32_t found = 0;
    for (uint64_t i = 0; i < SH_WRITERS_RING && i < newest; i++) {
        const uint64_t number = newest - i;
        const struct sh_writer *record = &shared->records[number & (SH_WRITERS_RING - 1)];
        if (LOAD(record->number) != number)
            continue; /* overtaken, or not finished */
        copy(&records[found], record);
        if (LOAD(record->number) == number)
            found++;
    }
    return found;
}
