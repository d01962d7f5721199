#define _GNU_SOURCE
#include "lab/demo_bully.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t sum_unit(uint64_t sum) {
    for (uint64_t i = 0; i < SH_BULLY_SUMS_PER_UNIT; i++) {
        sum += i;
        __asm__ volatile("" : "+r"(sum)); /* the compiler must not know the result */
    }
    return sum;
}

static void *bully_thread(void *argument) {
    const struct sh_bully_thread *self = argument;
    uint64_t sum = 0;

    for (;;) {
        switch (atomic_load_explicit(&self->block->state, memory_order_relaxed)) {
        case SH_BULLY_RUNNING:
            sum = sum_unit(sum);
            atomic_fetch_add_explicit(&self->counter->units, 1, memory_order_relaxed);
            break;
        case SH_BULLY_PAUSED:
            syscall(SYS_futex, &self->block->state, FUTEX_WAIT, SH_BULLY_PAUSED, NULL, NULL, 0);
            break;
        default:
            return NULL;
        }
    }
}

size_t sh_bully_block_size(int threads) {
    return sizeof(struct sh_bully_block) + (size_t)threads * sizeof(struct sh_bully_counter);
}

int sh_bully_start(struct sh_bully *bully, struct sh_bully_block *block, int threads) {
    if (threads < 1 || threads > SH_BULLY_MAX_THREADS)
        return -EINVAL;
    bully->block = block;
    for (bully->threads = 0; bully->threads < threads; bully->threads++) {
        struct sh_bully_thread *self = &bully->thread[bully->threads];
        self->block = block;
        self->counter = &block->counters[bully->threads];
        const int error = pthread_create(&self->thread, NULL, bully_thread, self);
        if (error) {
            sh_bully_stop(bully);
            return -error;
        }
    }
    return 0;
}

void sh_bully_stop(struct sh_bully *bully) {
    sh_bully_switch(bully->block, SH_BULLY_STOPPED);
    while (bully->threads > 0)
        pthread_join(bully->thread[--bully->threads].thread, NULL);
}

void sh_bully_switch(struct sh_bully_block *block, enum sh_bully_state state) {
    atomic_store(&block->state, state);
    syscall(SYS_futex, &block->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint64_t sh_bully_units(const struct sh_bully_block *block, int threads) {
    uint64_t units = 0;

    for (int i = 0; i < threads; i++)
        units += atomic_load_explicit(&block->counters[i].units, memory_order_relaxed);
    return units;
}
