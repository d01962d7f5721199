/* Threads with a known state, and waiting for what another thread or the kernel does. */
#ifndef SH_TEST_THREADS_H
#define SH_TEST_THREADS_H

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* Waits until the condition holds; a test that waits for ever is ended by its caller. */
#define AWAIT(condition)                                                                           \
    while (!(condition))                                                                           \
    usleep(200)

struct worker {
    pthread_t thread;
    int cpu; /* where it stays; -1: anywhere */
    bool spins;
    int32_t tid;
    sem_t ready, release;
    atomic_bool stop;
};

static inline void *worker_main(void *argument) {
    struct worker *worker = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (worker->cpu >= 0) {
        CPU_SET(worker->cpu, &set);
        CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    }
    worker->tid = (int32_t)syscall(SYS_gettid);
    sem_post(&worker->ready);
    while (worker->spins && !atomic_load_explicit(&worker->stop, memory_order_relaxed))
        ;
    while (sem_wait(&worker->release) != 0)
        ;
    return NULL;
}

/* 'R', 'S', ... or 0 when the kernel has forgotten the task. */
static inline char task_state(int32_t tid) {
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const size_t got = fread(line, 1, sizeof(line) - 1, file);
    fclose(file);
    line[got] = '\0';
    const char *bracket = strrchr(line, ')');
    return bracket ? bracket[2] : 0;
}

/* Returns once the thread spins or sleeps, as asked. */
static inline void worker_start(struct worker *worker, bool spins, int cpu) {
    worker->spins = spins;
    worker->cpu = cpu;
    atomic_store(&worker->stop, false);
    CHECK_EQ(sem_init(&worker->ready, 0, 0), 0);
    CHECK_EQ(sem_init(&worker->release, 0, 0), 0);
    CHECK_EQ(pthread_create(&worker->thread, NULL, worker_main, worker), 0);
    while (sem_wait(&worker->ready) != 0)
        ;
    AWAIT(task_state(worker->tid) == (spins ? 'R' : 'S'));
}

/* Returns once the kernel has forgotten the thread: pthread_join(3) returns a little before. */
static inline void worker_stop(struct worker *worker) {
    atomic_store(&worker->stop, true);
    sem_post(&worker->release);
    pthread_join(worker->thread, NULL);
    AWAIT(task_state(worker->tid) == 0);
}

/* A child process that sleeps, and dies with its parent. Not while there are other threads. */
static inline pid_t fork_sleeper(void) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    AWAIT(task_state(child) == 'S');
    return child;
}

static inline void end_child(pid_t child) {
    kill(child, SIGKILL);
    CHECK_EQ(waitpid(child, NULL, 0), child);
}

/* A CPU this process may use. */
static inline int some_cpu(void) {
    cpu_set_t set;
    CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    abort();
}

/* An empty file without a name. */
static inline int scratch_file(void) {
    char path[] = "/tmp/sh-test-XXXXXX";
    const int fd = mkstemp(path);
    CHECK(fd >= 0);
    unlink(path);
    return fd;
}

static inline void fill(int fd, const char *text) {
    CHECK_EQ(ftruncate(fd, 0), 0);
    CHECK_EQ(pwrite(fd, text, strlen(text), 0), strlen(text));
}

#endif
