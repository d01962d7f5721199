/* Between the loop (loop.c) and the thread that drives it (loop_thread.c). */
#ifndef SH_LOOP_THREAD_H
#define SH_LOOP_THREAD_H

#include "loop/loop.h"

/* The loop's side: */

/* Does the sensor fail, or find so many busy (or waiting) cores? What was so before an alarm was
 * armed does not ring it. */
bool sh_loop_rings(struct sh_loop *loop, uint32_t level, int64_t now_ns);

/* Has what lending rests on ended? */
static inline bool sh_loop_is_revoked(const struct sh_loop *loop) {
    const _Atomic uint32_t *revoked = loop->revocation.revoked;
    return revoked && atomic_load_explicit(revoked, memory_order_relaxed);
}

/* Halts it: its thread cannot wait. */
void sh_loop_clock_failed(struct sh_loop *loop, int64_t now_ns, int err);

/* Stopped, not halted: gives everything back, since the last plan must not outlive the loop. */
void sh_loop_end(struct sh_loop *loop);

/* The thread's side: ends its sleep for a plan or a stop. A polling loop sees both by itself. */
void sh_loop_wake(struct sh_loop *loop);

#endif
