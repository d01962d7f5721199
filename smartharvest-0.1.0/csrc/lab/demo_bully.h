/*
 * CPUBully (section 5.1 of the SmartHarvest paper): threads that sum integers and count how often.
 *
 * The counters and the pause switch live in memory shared with the measuring process, so that
 * neither reading nor pausing depends on the bully getting a CPU.
 */
#ifndef SH_DEMO_BULLY_H
#define SH_DEMO_BULLY_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SH_BULLY_MAX_THREADS 1024
#define SH_BULLY_SUMS_PER_UNIT 1000000

enum sh_bully_state {
    SH_BULLY_PAUSED = 0, /* zeroed memory is a paused bully */
    SH_BULLY_RUNNING = 1,
    SH_BULLY_STOPPED = 2,
};

/* One cache line each: counting must not make the threads wait for one another. */
struct sh_bully_counter {
    _Alignas(64) _Atomic uint64_t units;
};

struct sh_bully_block {
    _Alignas(64) _Atomic uint32_t state; /* a futex between processes */
    struct sh_bully_counter counters[];
};

struct sh_bully {
    struct sh_bully_block *block;
    int threads;
    struct sh_bully_thread {
        pthread_t thread;
        struct sh_bully_block *block;
        struct sh_bully_counter *counter;
    } thread[SH_BULLY_MAX_THREADS];
};

/* Bytes of the shared memory of `threads` threads; zeroed and aligned to 64 by the caller. */
size_t sh_bully_block_size(int threads);

/*
 * Starts `threads` threads (1..SH_BULLY_MAX_THREADS) that count in `block` while it says RUNNING
 * and sleep while it says PAUSED. Returns 0, -EINVAL, or what pthread_create refused with (nothing
 * is left running then).
 */
int sh_bully_start(struct sh_bully *bully, struct sh_bully_block *block, int threads);

/* Ends the threads: at once if they sleep, else within one unit of CPU time each. */
void sh_bully_stop(struct sh_bully *bully);

/* Switches the bully of `block`, from this or another process. */
void sh_bully_switch(struct sh_bully_block *block, enum sh_bully_state state);

/* Units of work all threads together have done so far. */
uint64_t sh_bully_units(const struct sh_bully_block *block, int threads);

#endif
