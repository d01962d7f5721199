/* Lists of the primaries' thread ids, read without allocation from descriptors that stay open. */
#ifndef SH_TASK_LIST_H
#define SH_TASK_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { SH_MAX_TASK_SOURCES = 256 };

/* Where one primary's tasks are listed; several sources may belong to one primary. */
struct sh_task_source {
    int fd;           /* a v1 `tasks` or v2 `cgroup.threads` file, or a /proc/PID/task directory */
    bool directory;   /* the latter */
    uint32_t primary; /* index into allocations */
};

struct sh_task_sources {
    struct sh_task_source source[SH_MAX_TASK_SOURCES];
    uint32_t count;
    uint32_t allocations[SH_MAX_TASK_SOURCES]; /* cores each primary may count for */
    uint32_t primary_count;
};

typedef void (*sh_task_visitor)(void *ctx, int32_t tid);

/* 0 or -errno, as of the two below. */
int sh_list_task_source(const struct sh_task_source *source, sh_task_visitor visit, void *ctx);

/* A cgroup's `tasks` or `cgroup.threads`. 0 or -errno (-ENODEV: the group is gone). */
int sh_list_task_file(int fd, sh_task_visitor visit, void *ctx);

/* Whether it runs or waits for a CPU. */
bool sh_task_is_runnable(int32_t tid);

/* When each thread of `tids` started, in clock ticks since boot; -1 for one that is gone. Threads
 * of one process that follow each other take less. */
void sh_task_start_times(const int32_t *tids, uint32_t count, int64_t *start_times);

/* A /proc/PID/task directory. 0 or -errno (-ESRCH: the process is gone). */
int sh_list_task_directory(int fd, sh_task_visitor visit, void *ctx);

#endif
