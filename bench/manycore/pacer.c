/* Gives each virtual CPU exactly its share of the host, whether it uses it or not.
 *
 *   pacer SLOT_US SHARE_PERCENT MAIN_TID VCPU_TID...
 *
 * Virtual CPU i is pinned to host CPU i modulo their number. Time there is cut into frames: a slot
 * of SLOT_US for each of its virtual CPUs in turn. After some frames comes a rest for the host's
 * other work, so that the slots are SHARE_PERCENT of the whole. In its slot a thread is SCHED_FIFO, outside of it
 * SCHED_IDLE; what it leaves of its slot is burnt, and so is its part of the rest: an idle virtual
 * CPU makes no other faster. MAIN_TID (QEMU's timers and devices) goes before all of them.
 *
 * Prints "ready". Ends with its standard input and puts every thread back to SCHED_OTHER and its
 * CPUs. Nothing of the host is changed but these threads, which die with QEMU. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 64, PACER = 50, MAIN = 20, CHOSEN = 10, BURNER = 5, FRAMES = 10 };
#define NS_PER_S 1000000000LL
#define NS_PER_US 1000LL

struct lane {
    int cpu;
    int count; /* of its virtual CPUs */
    pid_t vcpus[MAX_CPUS];
    pid_t burner;
    pthread_t threads[2];
};

static struct lane lanes[MAX_CPUS];
static int lane_count, slots; /* as many slots a frame for every host CPU: all shares are equal */
static int64_t slot_ns, share;
static pid_t main_tid;
static atomic_bool stopping;
static pthread_barrier_t started;
static cpu_set_t allowed;

static void die(const char *what) {
    fprintf(stderr, "pacer: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int set(pid_t tid, int policy, int priority) {
    const struct sched_param parameter = {.sched_priority = priority};
    return sched_setscheduler(tid, policy, &parameter);
}

static void pin(pid_t tid, int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(tid, sizeof(one), &one) != 0)
        die("sched_setaffinity");
}

/* Always wants to run; ends with the process. */
static void *burn(void *argument) {
    struct lane *lane = argument;
    lane->burner = gettid();
    pin(0, lane->cpu);
    pthread_barrier_wait(&started);
    for (uint64_t turns = 1;; turns = turns * 6364136223846793005u + 1)
        __asm__ volatile("" : "+r"(turns));
    return NULL;
}

static void sleep_until(int64_t ns) {
    const struct timespec due = {ns / NS_PER_S, ns % NS_PER_S};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR)
        ;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *pace(void *argument) {
    struct lane *lane = argument;
    const int64_t cycle_ns = FRAMES * slots * slot_ns * 100 / share;
    pin(0, lane->cpu);
    if (set(0, SCHED_FIFO, PACER) != 0)
        die("SCHED_FIFO");
    pthread_barrier_wait(&started);
    for (int64_t cycle = now_ns(); !atomic_load(&stopping); cycle += cycle_ns) {
        sleep_until(cycle);
        set(lane->burner, SCHED_FIFO, BURNER);
        int64_t ends = now_ns(); /* a kernel without preemption comes late: that shortens the rest */
        if (ends > cycle + cycle_ns) /* the host stood still */
            cycle = ends;
        for (int turn = 0; turn < FRAMES * slots; turn++) {
            const int slot = (turn + turn / slots) % slots; /* the first and the last one suffer */
            const pid_t chosen = slot < lane->count ? lane->vcpus[slot] : 0;
            if (chosen)
                set(chosen, SCHED_FIFO, CHOSEN);
            sleep_until(ends += slot_ns);
            if (chosen)
                set(chosen, SCHED_IDLE, 0);
        }
        set(lane->burner, SCHED_OTHER, 0);
    }
    return NULL;
}

static void put_back(pid_t tid) {
    set(tid, SCHED_OTHER, 0);
    sched_setaffinity(tid, sizeof(allowed), &allowed);
}

int main(int argc, char **argv) {
    char line[16];
    if (argc < 5 || argc - 4 > MAX_CPUS) {
        fprintf(stderr, "pacer SLOT_US SHARE_PERCENT MAIN_TID VCPU_TID...\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1UL);
    slot_ns = atoll(argv[1]) * NS_PER_US;
    share = atoll(argv[2]);
    main_tid = atoi(argv[3]);
    if (slot_ns <= 0 || share < 1 || share > 94) { /* 95 is all that the kernel lets a FIFO have */
        errno = EINVAL;
        die("SLOT_US or SHARE_PERCENT");
    }
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        die("sched_getaffinity");
    for (int cpu = 0; cpu < CPU_SETSIZE && lane_count < MAX_CPUS; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            lanes[lane_count++].cpu = cpu;
    for (int i = 4; i < argc; i++) {
        struct lane *lane = &lanes[(i - 4) % lane_count];
        lane->vcpus[lane->count++] = atoi(argv[i]);
    }
    if (lane_count > argc - 4)
        lane_count = argc - 4;
    slots = lanes[0].count;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        die("mlockall");
    if (set(main_tid, SCHED_FIFO, MAIN) != 0)
        die("SCHED_FIFO");
    for (int i = 0; i < lane_count; i++)
        for (int slot = 0; slot < lanes[i].count; slot++) {
            pin(lanes[i].vcpus[slot], lanes[i].cpu);
            set(lanes[i].vcpus[slot], SCHED_IDLE, 0);
        }
    pthread_barrier_init(&started, NULL, 2 * (unsigned)lane_count + 1);
    for (int i = 0; i < lane_count; i++)
        if (pthread_create(&lanes[i].threads[0], NULL, burn, &lanes[i]) != 0 ||
            pthread_create(&lanes[i].threads[1], NULL, pace, &lanes[i]) != 0)
            die("pthread_create");
    pthread_barrier_wait(&started);
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin))
        ;
    atomic_store(&stopping, true);
    for (int i = 0; i < lane_count; i++)
        pthread_join(lanes[i].threads[1], NULL);
    for (int i = 0; i < lane_count; i++)
        for (int slot = 0; slot < lanes[i].count; slot++)
            put_back(lanes[i].vcpus[slot]);
    put_back(main_tid);
    return 0;
}
