/* Lists of thread ids, read without allocation from descriptors that stay open. */
#ifndef SH_TASK_LIST_H
#define SH_TASK_LIST_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*sh_task_visitor)(void *ctx, int32_t tid);

/* A cgroup's `tasks` or `cgroup.threads`. 0 or -errno (-ENODEV: the group is gone). */
int sh_list_task_file(int fd, sh_task_visitor visit, void *ctx);

/* Whether it runs or waits for a CPU. */
bool sh_task_is_runnable(int32_t tid);

/* A /proc/PID/task directory. 0 or -errno (-ESRCH: the process is gone). */
int sh_list_task_directory(int fd, sh_task_visitor visit, void *ctx);

#endif
