/* What QEMU's library and the bench share: a file of one `struct page`, which
 * bench/manycore/dilation.py lays out the same way. */
#ifndef MANYCORE_PAGE_H
#define MANYCORE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

enum { MAX_VCPUS = 64 };

/* Dilated time is `guest_ns` at the host's `host_ns`; it runs `before` times slower (in
 * thousandths) until then and `after` times slower from then on. */
struct rate {
    int64_t host_ns, guest_ns, before, after;
};

struct page {
    /* The newest rate is rates[generation & 1]; the writer fills in the other and counts up. */
    _Atomic uint64_t generation;
    struct rate rates[2];
    /* Until when virtual CPUs are to be paced (CLOCK_MONOTONIC; 0: they are not), how (valid while
     * they are), and how many host CPUs do. */
    _Atomic int32_t wanted_until_s;
    int32_t slot_us, share;
    int32_t vcpu_count, vcpus[MAX_VCPUS];
    _Atomic int32_t pacing;
    _Atomic int32_t failed; /* an errno */
};

/* Starts the threads that pace, which sleep until it is wanted. */
void pace_start(struct page *page);

/* Has QEMU drop translations of code that another virtual CPU has written meanwhile. */
void translation_start(void);

#endif
