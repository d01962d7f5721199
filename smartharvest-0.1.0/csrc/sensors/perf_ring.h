/* The perf records of one CPU: who was switched to and from it, what was born and died on it, and
 * fifty times a second who runs there. The kernel writes them into mapped memory; reading them
 * takes no system call (perf_event_open(2)). Times are CLOCK_MONOTONIC.
 */
#ifndef SH_PERF_RING_H
#define SH_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    SH_PERF_RING_BYTES = 256 * 1024, /* of data, for each CPU: 4,096 switches */
    SH_PERF_LONGEST_RECORD = 64,     /* no record asked for is longer, bytes */
};
static const int64_t SH_PERF_SAMPLE_NS = 20000000;

enum sh_perf_kind {
    SH_PERF_IN,     /* tid has come; other_tid was there */
    SH_PERF_OUT,    /* tid leaves; other_tid comes. Idle tasks neither come nor leave. */
    SH_PERF_SAMPLE, /* tid runs */
    SH_PERF_FORK,   /* tid was born of other_tid */
    SH_PERF_EXIT,   /* tid is about to end */
    SH_PERF_LOST,   /* records before this one were not written: the ring was full */
    SH_PERF_OTHER,
};

struct sh_perf_record {
    enum sh_perf_kind kind;
    bool runnable;                          /* of SH_PERF_OUT: it did not go to sleep */
    int32_t pid, tid, other_pid, other_tid; /* 0: idle; -1: has ended */
    int64_t time_ns;
};

struct sh_perf_ring {
    int fd;
    struct perf_event_mmap_page *page; /* NULL: not open */
    const uint64_t *words;
    uint64_t bytes; /* a power of two */
    uint64_t head, tail;
};

/* 0 or -errno: -EACCES or -EPERM without CAP_PERFMON (kernel.perf_event_paranoid), -ENODEV for a
 * CPU that is offline. */
int sh_perf_ring_open(struct sh_perf_ring *ring, int cpu);
void sh_perf_ring_close(struct sh_perf_ring *ring);

/* A ring in made memory: a page for the kernel's header, then `bytes` of data. */
void sh_perf_ring_over(struct sh_perf_ring *ring, void *memory, uint64_t page_bytes,
                       uint64_t bytes);

/* Looks once how far the kernel has written. true if it may have found no room. */
bool sh_perf_ring_look(struct sh_perf_ring *ring);

/* The next record of those looked at; false if there is none. */
bool sh_perf_ring_next(struct sh_perf_ring *ring, struct sh_perf_record *record);

/* Gives what has been read back to the kernel. */
void sh_perf_ring_release(struct sh_perf_ring *ring);

#endif
