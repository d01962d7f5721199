/* Primary tasks by /proc/PID/task/TID/stat: state R and the CPU the task is on or queued for.
 *
 * Busy is the number of distinct CPUs with a runnable primary task, demand the number of runnable
 * tasks (R says "running or waiting"). One pread per task and poll, about 0.8 us each: portable,
 * right to within one poll, and dear for primaries with many threads. Tasks born later are found by
 * listing the groups again every few milliseconds.
 */
#ifndef SH_PROC_SENSOR_H
#define SH_PROC_SENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/sensor.h"
#include "sensors/task_list.h"

enum { SH_PROC_MAX_TASKS = 8192, SH_PROC_MAX_CPUS = 4096 };

struct sh_proc_task {
    int32_t tid;
    int fd; /* of its stat file */
    uint32_t primary;
    uint32_t seen; /* the listing that last named it */
};

struct sh_proc_sensor {
    struct sh_task_sources sources;
    int64_t rescan_ns; /* shortest time between two listings */

    struct sh_proc_task tasks[SH_PROC_MAX_TASKS]; /* sorted by tid */
    struct sh_proc_task fresh[SH_PROC_MAX_TASKS];
    uint32_t task_count;
    uint32_t listing;
    int64_t next_rescan_ns;
    uint64_t stamp[SH_PROC_MAX_CPUS]; /* poll in which the CPU was last seen busy */
    uint64_t poll;
    _Atomic uint32_t tasks_seen; /* for the control plane */
};

/* The caller has zeroed *proc and filled sources and rescan_ns, and keeps the source
 * descriptors open; the task descriptors are the sensor's and closed by sh_proc_sensor_close(). */
void sh_proc_sensor_init(struct sh_proc_sensor *proc, struct sh_sensor *sensor);
void sh_proc_sensor_close(struct sh_proc_sensor *proc);

#endif
