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

enum { LIST_BYTES = 16384, STAT_BYTES = 1024, START_TIME_FIELD = 22 };

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

/* The fields of proc_pid_stat(5) after the name, ") S ...", from a file below `directory`; NULL if
 * it is gone. */
static const char *stat_after_name(int directory, const char *path, char line[STAT_BYTES]) {
    const int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    const ssize_t got = read(fd, line, STAT_BYTES - 1);
    close(fd);
    if (got <= 0)
        return NULL;
    line[got] = '\0';
    return strrchr(line, ')');
}

bool sh_task_is_runnable(int32_t tid) {
    char path[64], line[STAT_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    const char *p = stat_after_name(AT_FDCWD, path, line);
    return p && p[1] == ' ' && p[2] == 'R';
}

static int64_t start_time_of(const char *after_name) {
    const char *p = after_name;
    char *end;
    for (int field = 2; p && field < START_TIME_FIELD; field++)
        p = strchr(p + 1, ' ');
    if (!p)
        return -1;
    const long long ticks = strtoll(p + 1, &end, 10);
    return end > p + 1 && ticks >= 0 ? ticks : -1;
}

void sh_task_start_times(const int32_t *tids, uint32_t count, int64_t *start_times) {
    char path[64], line[STAT_BYTES];
    int process = -1; /* /proc/PID/task of the last one, where a file is found sooner */
    for (uint32_t i = 0; i < count; i++) {
        const char *after_name = NULL;
        snprintf(path, sizeof(path), "%d/stat", tids[i]);
        if (process >= 0)
            after_name = stat_after_name(process, path, line);
        if (!after_name) {
            char directory[32];
            if (process >= 0)
                close(process);
            snprintf(directory, sizeof(directory), "/proc/%d/task", tids[i]);
            process = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
            if (process >= 0)
                after_name = stat_after_name(process, path, line);
        }
        start_times[i] = after_name ? start_time_of(after_name) : -1;
    }
    if (process >= 0)
        close(process);
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
