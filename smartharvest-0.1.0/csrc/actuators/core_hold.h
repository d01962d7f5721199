/* Real-time threads that hold a core for the moment in which it changes hands.
 *
 * To move a thread that runs, the writer of a cpuset has to wake the core's stopper and wait for
 * it, once for each: as soon as one is moved, the next of the group gets the core. A queued thread
 * it moves by itself. So a real-time thread of ours is woken on the core first: from then on no
 * elastic task runs there, however many there are, and all are queued. When a core is lent, the
 * same wakes the core up while the set is still being written. */
#ifndef SH_CORE_HOLD_H
#define SH_CORE_HOLD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SH_CORE_HOLD_MAX_CPUS = 1024 };

struct sh_core_hold_thread {
    _Alignas(64) _Atomic uint32_t held; /* a futex: 1 while the core is to be held */
    uint32_t cpu;
    bool started;
    pthread_t thread;
    struct sh_core_hold *core_hold;
};

struct sh_core_hold {
    struct sh_core_hold_thread *threads; /* the caller's, one for each CPU in threads[].cpu */
    uint32_t count;
    /* >= 1, and below the writer's: on the writer's own core it is not to be waited for. */
    int fifo_priority;
    _Atomic bool stop;
    _Atomic uint32_t failed; /* threads that are not real-time ones and so never hold */
};

/* Starts the threads. 0 or -errno, and then none runs. */
int sh_core_hold_start(struct sh_core_hold *core_hold);
void sh_core_hold_stop(struct sh_core_hold *core_hold);

/* From soon after hold() to release(), but for no longer than a fraction of a millisecond. */
void sh_core_hold_hold(struct sh_core_hold *core_hold, int32_t cpu);
void sh_core_hold_release(struct sh_core_hold *core_hold, int32_t cpu);

#endif
