/* One affinity for all threads of a process or group: what the guardian gives when it takes the
 * cores back. No allocation; some 2 us a thread. */
#ifndef SH_CONFINE_H
#define SH_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "actuators/affinity.h"

/* Lists the threads in `fd`, a /proc/PID/task directory or a group's `tasks` or `cgroup.threads`,
 * `passes` times, or until nobody is met who has another affinity. Adds to `changed` how often one
 * was set. Threads that have ended, or may not have these CPUs, stay as they are. 0 or -errno. */
int sh_confine(int fd, bool directory, const struct sh_affinity_mask *mask, uint32_t passes,
               uint64_t *changed);

#endif
