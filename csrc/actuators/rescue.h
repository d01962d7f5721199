/* Gives a CPU back that EEVDF has handed to a cpu.idle group over tasks that want it.
 *
 * The kernel picks by eligibility and not by cpu.idle: a group that comes to a CPU comes without
 * debt, whatever ran there a moment longer is not eligible, and so at the next occasion the idle
 * group is picked and keeps the CPU until the tick, up to 4 ms at HZ=250 (pick_eevdf(),
 * place_entity(), kernel/sched/fair.c; docs/research/moving-cores.md has the traces). It pays 341
 * times what it runs (weight 3 of 1024): after some ten microseconds it would not be picked again,
 * if only somebody asked. Here somebody does: one real-time thread on each CPU, which the sensor
 * wakes when it sees this happen. If it is woken again soon, it sleeps for a moment and wakes once
 * more. Its waking is all it is for.
 */
#ifndef SH_RESCUE_H
#define SH_RESCUE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/sensor.h"

struct sh_rescue;

struct sh_rescue_thread {
    struct sh_rescue *rescue;
    pthread_t thread;
    uint32_t cpu;
    int event_fd; /* the perf event that the sensor signals */
    void *page;   /* its ring */
    bool started;
};

struct sh_rescue {
    struct sh_displacements displacements;
    struct sh_rescue_thread *threads; /* the caller's, one for each CPU */
    uint32_t count;
    int fifo_priority; /* 0: as an ordinary thread, which is woken in time less often */
    int stop_fd;
    _Atomic bool stop;
    _Atomic uint64_t rescues;
};

/* How long a thread sleeps before it wakes once more; 0: it does not. `quiet_ns` have passed since
 * its last turn, in which it slept for `before_ns`. */
int64_t sh_rescue_moment_ns(int64_t before_ns, int64_t quiet_ns);

/* Starts a thread on each of the CPUs in threads[].cpu. 0 or -errno, and then none runs. */
int sh_rescue_start(struct sh_rescue *rescue);
void sh_rescue_stop(struct sh_rescue *rescue);

#endif
