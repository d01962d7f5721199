#define _GNU_SOURCE
#include "sensors/task_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { LIST_BYTES = 16384 };

static int read_task_file(int fd, sh_task_visitor visit, void *ctx) {
    char buffer[LIST_BYTES];
    int32_t tid = 0;
    for (;;) {
        ssize_t got = read(fd, buffer, sizeof(buffer));
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        for (ssize_t i = 0; i < got; i++) {
            if (buffer[i] >= '0' && buffer[i] <= '9') {
                tid = tid < INT32_MAX / 10 ? tid * 10 + (buffer[i] - '0') : INT32_MAX;
            } else if (tid) {
                visit(ctx, tid);
                tid = 0;
            }
        }
    }
    if (tid)
        visit(ctx, tid);
    return 0;
}

int sh_list_task_file(int fd, sh_task_visitor visit, void *ctx) {
    char path[32];
    /* A v1 `tasks` that stays open shows the list of its first reading for as long as it is read
     * more than once a second (cgroup_pidlist_start() in kernel/cgroup/cgroup-v1.c). */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int fresh = open(path, O_RDONLY | O_CLOEXEC);
    if (fresh < 0)
        return errno == ENOENT ? -EBADF : -errno;
    const int err = read_task_file(fresh, visit, ctx);
    close(fresh);
    return err;
}

bool sh_task_is_runnable(int32_t tid) {
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = read(fd, line, sizeof(line));
    close(fd);
    const char *p = got > 0 ? memrchr(line, ')', (size_t)got) : NULL;
    return p && p + 2 < line + got && p[2] == 'R';
}

struct directory_entry { /* struct linux_dirent64 of getdents64(2) */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

int sh_list_task_directory(int fd, sh_task_visitor visit, void *ctx) {
    _Alignas(8) char buffer[LIST_BYTES];
    bool any = false;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        /* getdents64 itself: readdir(3) needs a DIR, which opendir(3) allocates. */
        long got = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
        if (got < 0)
            return errno == ENOENT ? -ESRCH : -errno;
        if (got == 0)
            break;
        for (long at = 0; at < got;) {
            const struct directory_entry *entry = (const void *)(buffer + at);
            int32_t tid = atoi(entry->name);
            if (tid > 0) {
                visit(ctx, tid);
                any = true;
            }
            at += entry->length;
        }
    }
    return any ? 0 : -ESRCH;
}

int sh_list_task_source(const struct sh_task_source *source, sh_task_visitor visit, void *ctx) {
    return source->directory ? sh_list_task_directory(source->fd, visit, ctx)
                             : sh_list_task_file(source->fd, visit, ctx);
}
