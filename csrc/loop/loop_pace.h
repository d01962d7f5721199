/* How the loop's thread is scheduled, where it runs, and when it polls again. */
#ifndef SH_LOOP_PACE_H
#define SH_LOOP_PACE_H

#include "loop/loop.h"

/* Of the calling thread: SCHED_FIFO if the loop asks for it and may have it. */
enum sh_scheduling sh_loop_schedule_self(const struct sh_loop *loop);

/* The slice of the calling thread, 0.1 to 100 ms, or 0 for the kernel's own; without effect on a
 * real-time one and before Linux 6.12. Policy and niceness stay. 0 or -errno. */
int sh_ask_for_slice(uint64_t slice_ns);

/* On SH_MAX_CPU_WORDS words of CPUs; none of them: anywhere. */
void sh_loop_place_self(const uint64_t *cpus);

/* The grid is absolute: a late poll never shifts the ones after it. A poll that took long, for a
 * primary with many threads, is followed by as long a rest: a real-time thread must not take a
 * whole CPU. What was due meanwhile is missed. */
int64_t sh_loop_next_poll(struct sh_loop *loop, int64_t deadline_ns, int64_t began_ns);

#endif
