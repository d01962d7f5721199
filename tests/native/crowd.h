/* A process whose threads do as they are told, and the scheduler's own account of them. */
#ifndef SH_TEST_CROWD_H
#define SH_TEST_CROWD_H

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

#include "threads.h"

enum doing { SLEEP, SPIN, WAVE, BREED };

struct crowd {
    pid_t pid;
    struct orders {
        _Atomic int doing, ready;
        int threads, cpu;
    } *orders;
};

static inline int64_t thread_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void *nothing(void *unused) {
    return unused;
}

static inline void *crowd_thread(void *argument) {
    struct orders *orders = argument;
    const struct timespec pause = {.tv_nsec = 300000};
    pthread_t child;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(orders->cpu, &set);
    if (orders->cpu >= 0)
        CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    orders->ready++;
    for (;;) {
        switch (orders->doing) {
        case WAVE:
            for (const int64_t end = thread_ns() + 200000; thread_ns() < end;)
                ;
            /* fall through */
        case SLEEP:
            nanosleep(&pause, NULL);
            break;
        case BREED:
            CHECK_EQ(pthread_create(&child, NULL, nothing, NULL), 0);
            pthread_join(child, NULL);
        }
    }
    return NULL;
}

static inline struct crowd crowd_start(int threads, int cpu, enum doing doing, const char *group) {
    struct crowd crowd;
    pthread_t thread;
    crowd.orders = mmap(NULL, sizeof(*crowd.orders), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(crowd.orders != MAP_FAILED);
    *crowd.orders = (struct orders){.doing = doing, .threads = threads, .cpu = cpu};
    crowd.pid = fork();
    CHECK(crowd.pid >= 0);
    if (crowd.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_TIMERSLACK, 1UL);
        if (group) {
            char path[256];
            snprintf(path, sizeof(path), "%s/cgroup.procs", group);
            const int fd = open(path, O_WRONLY);
            CHECK_EQ(write(fd, "0", 1), 1);
            close(fd);
        }
        for (int i = 1; i < threads; i++)
            CHECK_EQ(pthread_create(&thread, NULL, crowd_thread, crowd.orders), 0);
        crowd_thread(crowd.orders);
    }
    AWAIT(crowd.orders->ready == threads);
    return crowd;
}

static inline void crowd_end(struct crowd *crowd) {
    end_child(crowd->pid);
    munmap(crowd->orders, sizeof(*crowd->orders));
}

/* Time on the CPU, time waiting for it and times dispatched, by the scheduler's own account. */
struct account {
    int64_t ran_ns, waited_ns, dispatches;
};

static inline struct account account_of(const struct crowd *crowd) {
    struct account sum = {0};
    char path[300];
    snprintf(path, sizeof(path), "/proc/%d/task", crowd->pid);
    DIR *directory = opendir(path);
    CHECK(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory));) {
        long long ran, waited, dispatches;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", crowd->pid, entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue; /* it has died since it was listed */
        const int fields = fscanf(file, "%lld %lld %lld", &ran, &waited, &dispatches);
        fclose(file);
        if (fields != 3)
            continue;
        sum.ran_ns += ran;
        sum.waited_ns += waited;
        sum.dispatches += dispatches;
    }
    closedir(directory);
    return sum;
}

/* A CPU that this thread then leaves alone, if there is another one. */
static int spare_cpu(void) {
    static int spare = -1;
    const int mine = some_cpu();
    cpu_set_t set, only;
    if (spare >= 0)
        return spare;
    CPU_ZERO(&only);
    CPU_SET(mine, &only);
    CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int cpu = mine + 1; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set)) {
            CHECK_EQ(sched_setaffinity(0, sizeof(only), &only), 0);
            return spare = cpu;
        }
    return spare = mine;
}

/* What the hypervisor has withheld from all CPUs so far, in ticks. Tasks are not charged with it.
 */
static inline long long stolen_ticks(void) {
    long long stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    CHECK(file != NULL);
    const int fields = fscanf(file, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &stolen);
    fclose(file);
    return fields == 1 ? stolen : 0;
}

/* Eight attempts are enough unless the hypervisor spoils them, which it does for seconds. */
static inline bool try_again(int attempts, long long stolen_before) {
    return attempts < 8 || (attempts < 120 && stolen_ticks() > stolen_before);
}

/* Two readings of the scheduler's account stand around each of the sensor's. */
static inline bool within(int64_t value, int64_t least, int64_t most, double share) {
    return (double)value >= (double)least * (1 - share) &&
           (double)value <= (double)most * (1 + share);
}

#endif
