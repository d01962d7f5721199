/* The idle counters of /proc/stat, kept for comparison.
 *
 * They tick in units of 10 ms (USER_HZ): a CPU whose counter has not moved for longer than that is
 * called busy, and a CPU busy for less is never seen. They also count every task of the host, not
 * the primary's alone, on the cores the elastic group does not hold.
 */
#ifndef SH_STAT_SENSOR_H
#define SH_STAT_SENSOR_H

#include <stdint.h>

#include "sensors/sensor.h"

enum { SH_STAT_MAX_CPUS = 4096, SH_STAT_BYTES = 1 << 19 };

struct sh_stat_sensor {
    int fd; /* /proc/stat, kept open by the caller */
    uint32_t pool[SH_STAT_MAX_CPUS];
    uint32_t core_count;
    uint32_t allocation; /* cores all primaries together may count for */

    bool lent[SH_STAT_MAX_CPUS]; /* left out */
    uint64_t idle_ticks[SH_STAT_MAX_CPUS];
    int64_t moved_ns[SH_STAT_MAX_CPUS]; /* when the counter was last seen to move */
    char buffer[SH_STAT_BYTES];
};

void sh_stat_sensor_init(struct sh_stat_sensor *stat, struct sh_sensor *sensor);

#endif
