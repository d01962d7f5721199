#define _GNU_SOURCE
#include "sensors/perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SHORTEST_RECORD = 24 };

static size_t mapped_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE) + SH_PERF_RING_BYTES;
}

int sh_perf_ring_open(struct sh_perf_ring *ring, int cpu) {
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = (uint64_t)SH_PERF_SAMPLE_NS,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .context_switch = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .watermark = 1, /* nobody waits for the descriptor: as few wake-ups as can be */
        .wakeup_watermark = SH_PERF_RING_BYTES,
    };
    ring->page = NULL;
    ring->fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (ring->fd < 0)
        return -errno;
    void *memory = mmap(NULL, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (memory == MAP_FAILED) {
        const int err = -errno;
        close(ring->fd);
        return err;
    }
    const int fd = ring->fd;
    sh_perf_ring_over(ring, memory, mapped_bytes() - SH_PERF_RING_BYTES, SH_PERF_RING_BYTES);
    ring->fd = fd;
    return 0;
}

void sh_perf_ring_close(struct sh_perf_ring *ring) {
    if (ring->page && ring->fd >= 0) {
        munmap(ring->page, mapped_bytes());
        close(ring->fd);
    }
    ring->page = NULL;
}

void sh_perf_ring_over(struct sh_perf_ring *ring, void *memory, uint64_t page_bytes,
                       uint64_t bytes) {
    *ring = (struct sh_perf_ring){
        .fd = -1,
        .page = memory,
        .words = (const uint64_t *)((const char *)memory + page_bytes),
        .bytes = bytes,
    };
}

bool sh_perf_ring_look(struct sh_perf_ring *ring) {
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    return ring->head - ring->tail > ring->bytes - SH_PERF_LONGEST_RECORD;
}

static uint64_t word_at(const struct sh_perf_ring *ring, uint64_t at) {
    return ring->words[(at & (ring->bytes - 1)) / sizeof(uint64_t)];
}

struct pair {
    int32_t pid, tid;
};

static struct pair pair_at(const struct sh_perf_ring *ring, uint64_t at) {
    const uint64_t word = word_at(ring, at);
    struct pair pair;
    memcpy(&pair, &word, sizeof(pair));
    return pair;
}

/* Whatever a record holds, it ends with who wrote it and when. */
bool sh_perf_ring_next(struct sh_perf_ring *ring, struct sh_perf_record *record) {
    const uint64_t at = ring->tail;
    struct perf_event_header header;
    struct pair one, other = {0};
    if (at == ring->head)
        return false;
    const uint64_t word = word_at(ring, at);
    memcpy(&header, &word, sizeof(header));
    if (header.size < SHORTEST_RECORD || header.size > ring->head - at) {
        /* Not what the kernel promises: nothing behind it can be read. */
        ring->tail = ring->head;
        *record = (struct sh_perf_record){.kind = SH_PERF_LOST};
        return true;
    }
    ring->tail = at + header.size;
    *record = (struct sh_perf_record){.kind = SH_PERF_OTHER};
    one = pair_at(ring, ring->tail - 16);
    record->time_ns = (int64_t)word_at(ring, ring->tail - 8);
    if (header.type == PERF_RECORD_SWITCH_CPU_WIDE) {
        record->kind = header.misc & PERF_RECORD_MISC_SWITCH_OUT ? SH_PERF_OUT : SH_PERF_IN;
        record->runnable = header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        other = pair_at(ring, at + 8);
    } else if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) {
        /* pid, parent's pid, tid, parent's tid */
        const struct pair pids = pair_at(ring, at + 8), tids = pair_at(ring, at + 16);
        record->kind = header.type == PERF_RECORD_FORK ? SH_PERF_FORK : SH_PERF_EXIT;
        one = (struct pair){pids.pid, tids.pid};
        other = (struct pair){pids.tid, tids.tid};
    } else if (header.type == PERF_RECORD_SAMPLE) {
        record->kind = SH_PERF_SAMPLE;
    } else if (header.type == PERF_RECORD_LOST) {
        record->kind = SH_PERF_LOST;
    }
    record->pid = one.pid;
    record->tid = one.tid;
    record->other_pid = other.pid;
    record->other_tid = other.tid;
    return true;
}

void sh_perf_ring_release(struct sh_perf_ring *ring) {
    /* The kernel must not overwrite what is still being read. */
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
