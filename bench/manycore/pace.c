/* Gives each virtual CPU exactly its share of the host, whether it uses it or not.
 *
 * Virtual CPU i is pinned to host CPU i modulo their number. Time there is cut into frames: a slot
 * for each of its virtual CPUs in turn. After some frames comes a rest for the host's other work,
 * so that the slots are `share` per cent of the whole. In its slot a thread is SCHED_FIFO, outside
 * of it SCHED_IDLE; what it leaves of its slot is burnt, and so is the rest as far as nobody wants
 * it: an idle virtual CPU makes no other faster. QEMU's first thread (timers, devices) goes before
 * them all.
 *
 * Host CPUs differ in speed by a fifth and more, for seconds, where others use the other halves of
 * their cores. So every virtual CPU moves on to the next host CPU after CYCLES cycles.
 *
 * All this is threads of QEMU itself: they end with it and leave nothing behind, and to change
 * between them empties no translation buffer, as a change of processes does. */
#define _GNU_SOURCE
#include "page.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_LANES = 64,
    PACER = 50,
    MAIN = 20,
    CHOSEN = 10,
    BURNER = 5,
    FRAMES = 10,
    CYCLES = 4,
    BURNT_BITS = 16
};
#define NS_PER_S 1000000000LL
#define NS_PER_US 1000LL
#define LOOK_NS (10 * 1000 * NS_PER_US) /* how often it is looked for whether pacing is wanted */

struct lane {
    int number, cpu;
    pid_t burner;
    uint64_t *burnt; /* as much as a virtual CPU leaves of the others' in the caches */
    pthread_t threads[2];
};

static struct page *page;
static struct lane lanes[MAX_LANES];
static int lane_count;
static pthread_barrier_t started, met;
static int64_t met_ns; /* when the lanes began these cycles; 0: pacing ends */
static cpu_set_t allowed;

static int set(pid_t tid, int policy, int priority) {
    const struct sched_param parameter = {.sched_priority = priority};
    return sched_setscheduler(tid, policy, &parameter);
}

static void pin(pid_t tid, int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(tid, sizeof(one), &one);
}

/* By system calls: the library's functions are dilated. */
static void sleep_until(int64_t ns) {
    const struct timespec due = {ns / NS_PER_S, ns % NS_PER_S};
    while (syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        ;
}

static int64_t now_ns(void) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Only for as long as a harness that lives says again and again. */
static bool wanted(void) {
    const int32_t until_s = atomic_load_explicit(&page->wanted_until_s, memory_order_acquire);
    return until_s != 0 && now_ns() / NS_PER_S < until_s;
}

static void *burn(void *argument) {
    struct lane *lane = argument;
    uint64_t turns = 1;
    lane->burner = gettid();
    pin(0, lane->cpu);
    pthread_barrier_wait(&started);
    for (;;) {
        if (!wanted())
            sleep_until(now_ns() + LOOK_NS);
        for (int i = 0; i < 1000; i++) {
            turns = turns * 6364136223846793005u + 1;
            lane->burnt[turns >> (64 - BURNT_BITS)] += turns;
        }
    }
    return NULL;
}

/* The virtual CPUs of a lane while all have moved on `moved` times. */
static int each(const struct lane *lane, int64_t moved, pid_t own[MAX_VCPUS]) {
    int count = 0;
    for (int i = 0; i < page->vcpu_count; i++)
        if ((i + moved) % lane_count == lane->number)
            own[count++] = page->vcpus[i];
    return count;
}

/* Waits until no lane has a virtual CPU in its slot; all begin at once, or none does. */
static int64_t meet(void) {
    if (pthread_barrier_wait(&met) == PTHREAD_BARRIER_SERIAL_THREAD)
        met_ns = wanted() ? now_ns() : 0;
    pthread_barrier_wait(&met);
    return met_ns;
}

static void run_cycle(struct lane *lane, const pid_t own[], int count, int slots, int64_t ends) {
    const int64_t slot_ns = page->slot_us * NS_PER_US;
    set(lane->burner, SCHED_FIFO, BURNER);
    for (int turn = 0; turn < FRAMES * slots; turn++) {
        const int slot = (turn + turn / slots) % slots; /* the first and the last one suffer */
        if (slot < count)
            set(own[slot], SCHED_FIFO, CHOSEN);
        sleep_until(ends += slot_ns);
        if (slot < count)
            set(own[slot], SCHED_IDLE, 0);
    }
    set(lane->burner, SCHED_OTHER, 0);
}

static void pace_lane(struct lane *lane) {
    pid_t own[MAX_VCPUS];
    const int slots = (page->vcpu_count + lane_count - 1) / lane_count;
    const int64_t cycle_ns = FRAMES * slots * page->slot_us * NS_PER_US * 100 / page->share;
    int count = 0;
    int64_t cycle;
    atomic_fetch_add(&page->pacing, 1);
    for (int64_t moved = 0; (cycle = meet()) != 0; moved++) {
        count = each(lane, moved, own);
        for (int i = 0; i < count; i++) {
            set(own[i], SCHED_IDLE, 0);
            pin(own[i], lane->cpu);
        }
        for (int n = 0; n < CYCLES; n++, cycle += cycle_ns) {
            sleep_until(cycle);
            /* A kernel without preemption comes late: that shortens the rest. */
            const int64_t now = now_ns();
            if (now > cycle + cycle_ns) /* the host stood still */
                cycle = now;
            run_cycle(lane, own, count, slots, now);
        }
        sleep_until(cycle);
    }
    for (int i = 0; i < count; i++) {
        set(own[i], SCHED_OTHER, 0);
        sched_setaffinity(own[i], sizeof(allowed), &allowed);
    }
}

static void *pace(void *argument) {
    struct lane *lane = argument;
    const pid_t first = getpid(); /* QEMU's main loop */
    pin(0, lane->cpu);
    pthread_barrier_wait(&started);
    for (;;) {
        while (!wanted())
            sleep_until(now_ns() + LOOK_NS);
        if (set(0, SCHED_FIFO, PACER) != 0 || set(first, SCHED_FIFO, MAIN) != 0) {
            atomic_store(&page->failed, errno);
            sleep_until(now_ns() + LOOK_NS);
            continue;
        }
        pace_lane(lane);
        set(0, SCHED_OTHER, 0);
        if (atomic_fetch_sub(&page->pacing, 1) == 1)
            set(first, SCHED_OTHER, 0);
    }
    return NULL;
}

void pace_start(struct page *shared) {
    sigset_t all, before;
    page = shared;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE && lane_count < MAX_LANES; cpu++)
        if (CPU_ISSET(cpu, &allowed)) {
            lanes[lane_count].number = lane_count;
            lanes[lane_count].burnt = calloc((size_t)1 << BURNT_BITS, sizeof(uint64_t));
            lanes[lane_count++].cpu = cpu;
        }
    sigfillset(&all); /* QEMU's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_barrier_init(&started, NULL, 2 * (unsigned)lane_count);
    pthread_barrier_init(&met, NULL, (unsigned)lane_count);
    for (int i = 0; i < lane_count; i++)
        if (pthread_create(&lanes[i].threads[0], NULL, burn, &lanes[i]) != 0 ||
            pthread_create(&lanes[i].threads[1], NULL, pace, &lanes[i]) != 0)
            atomic_store(&page->failed, EAGAIN);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
