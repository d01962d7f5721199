/* Primary tasks by the kernel's records of every context switch, without a program in the kernel.
 *
 * Each CPU has a ring of records in mapped memory (perf_ring.h), which reading the sensor takes in
 * without a system call. Busy is exact. Demand is a lower bound: a task that was preempted is seen
 * to wait, one that woke up and has not had a CPU yet is not. Tasks are matched by their numbers:
 * births and ends are in the records, and lists of the groups' tasks, read by another thread, add
 * those that were moved into a group. Until such a list is taken up (100 ms or so) they are unseen.
 *
 * Where a ring was full, records are missing. From there to the next record of that CPU and the
 * next list of tasks the sensor says that all the primaries may use is used, so that nothing stays
 * lent on a guess.
 *
 * Two threads may use it at once: the loop's calls what struct sh_sensor holds, the control plane's
 * calls sh_perf_sensor_list().
 */
#ifndef SH_PERF_SENSOR_H
#define SH_PERF_SENSOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/perf_ring.h"
#include "sensors/sensor.h"
#include "sensors/task_list.h"
#include "sensors/task_table.h"

enum {
    SH_PERF_MAX_CPUS = 4096,
    SH_PERF_CPULIST_BYTES = 4096,
};

struct sh_perf_cpu {
    struct sh_perf_ring ring;
    int32_t number;
    struct sh_perf_record next; /* read from the ring, not yet taken in */
    int32_t tid;                /* who runs, as the records say; 0: nobody */
    int64_t last_ns;            /* of its last record */
    uint64_t doubted;           /* the last drain before records were missed; 0: none were */
};

struct sh_perf_listed {
    int32_t tid;
    uint32_t primary;
};

/* Since the start; for the control plane. */
struct sh_perf_counts {
    _Atomic uint64_t records;
    _Atomic uint64_t overruns;    /* times that records were missing */
    _Atomic uint64_t corrections; /* samples that found somebody else on the CPU: the drift */
    _Atomic uint64_t tasks;       /* known now */
};

struct sh_perf_sensor {
    /* The caller's, before the opening. */
    struct sh_task_sources sources;
    int64_t list_ns; /* shortest time between two lists */

    /* The loop's. */
    struct sh_perf_cpu cpus[SH_PERF_MAX_CPUS];
    uint32_t cpu_count;
    struct sh_task_table tasks;
    uint32_t running[SH_MAX_TASK_SOURCES], waiting[SH_MAX_TASK_SOURCES]; /* of each primary */
    bool processes_apart[SH_MAX_TASK_SOURCES]; /* of a primary that is one process */
    uint32_t busy, demand, most;               /* of all primaries, capped; the caps' sum */
    uint64_t drains;
    int64_t record_ns; /* of the record being taken in */
    uint32_t doubts;   /* CPUs in doubt */
    uint8_t wanted_listing;
    bool list_wanted; /* births may have been missed: until that listing is merged */
    int64_t next_check_ns;
    uint32_t order[SH_PERF_MAX_CPUS]; /* a heap of the CPUs by the time of their next records */
    /* Time at each level since the last collection. */
    int64_t booked_ns;
    uint64_t spent_ns[SH_MAX_CORES + 1], demand_core_ns;
    uint32_t demand_max;
    bool collecting;

    /* From the control plane to the loop. */
    struct sh_perf_listed listed[SH_TASK_TABLE_MAX];
    uint32_t listed_count;
    _Atomic uint8_t listing; /* the one under way, or the last */
    _Atomic bool list_ready;
    _Atomic int failure; /* -errno: the loop's next reading fails with it */
    int64_t next_list_ns;
    int online_fd; /* the system's list of online CPUs */
    char online[SH_PERF_CPULIST_BYTES];

    struct sh_perf_counts counts;
};

/* The caller has zeroed *perf, filled sources and list_ns, and keeps the source
 * descriptors open. Opens a ring on every online CPU, lists the tasks and waits, some 20 ms, until
 * each CPU has said who runs. 0, or -errno with a few words in *reason. */
int sh_perf_sensor_open(struct sh_perf_sensor *perf, struct sh_sensor *sensor, const char **reason);
void sh_perf_sensor_close(struct sh_perf_sensor *perf);

/* The same over rings that are there already, without waiting: perf->cpus[i].ring, cpu_count and
 * online_fd are filled too. For tests. */
int sh_perf_sensor_init(struct sh_perf_sensor *perf, int64_t now_ns, struct sh_sensor *sensor);

/* Lists the primaries' tasks, if it is time to, and hands the list to the loop. To be called often:
 * what was moved into a group since is seen from then on. What fails (-ENODEV: a group is gone;
 * -EOVERFLOW: too many tasks; -ESTALE: other CPUs are online than at the opening) fails the loop's
 * next reading. */
void sh_perf_sensor_list(struct sh_perf_sensor *perf, int64_t now_ns);

#endif
