#define _GNU_SOURCE
#include "lab/demo_server.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#define CALIBRATION_TRIES 20
#define CALIBRATION_STEPS 1000000
#define FIRST_PART 3 /* a machine half as fast does not take too long */
#define NEGLIGIBLE_PART 100
#define NS_PER_S 1000000000
#define NS_PER_MS 1000000

static int64_t clock_ns(clockid_t clock) {
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t deadline_ns) {
    const struct timespec deadline = {
        .tv_sec = deadline_ns / NS_PER_S,
        .tv_nsec = deadline_ns % NS_PER_S,
    };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL) == EINTR)
        ;
}

/* An amount of work, not of time: being kept off the CPU must lengthen the request. */
static void work_steps(int64_t steps) {
    uint64_t state = 0x9e3779b97f4a7c15u;

    for (int64_t i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        __asm__ volatile("" : "+r"(state)); /* the compiler must not drop the chain */
    }
}

/* Work that takes so much CPU time, on a machine whose speed changes: the first part at the speed
 * it had, the others at the speed that was seen. */
static void work_ns(int64_t cpu_ns, int64_t steps_per_ms) {
    const int64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int64_t steps = cpu_ns / FIRST_PART * steps_per_ms / NS_PER_MS, done = 0;

    for (;;) {
        work_steps(steps);
        done += steps;
        const int64_t spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
        const int64_t left_ns = cpu_ns - spent_ns;
        if (spent_ns <= 0 || left_ns <= cpu_ns / NEGLIGIBLE_PART)
            return;
        steps = (int64_t)((double)done * (double)left_ns / (double)spent_ns);
    }
}

int64_t sh_server_calibrate(void) {
    int64_t best_ns = INT64_MAX;

    for (int i = 0; i < CALIBRATION_TRIES; i++) {
        const int64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        work_steps(CALIBRATION_STEPS);
        const int64_t elapsed_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
        if (elapsed_ns < best_ns)
            best_ns = elapsed_ns;
    }
    return (int64_t)CALIBRATION_STEPS * NS_PER_MS / best_ns;
}

static void *worker(void *argument) {
    struct sh_server *server = argument;

    pthread_mutex_lock(&server->lock);
    for (;;) {
        while (server->taken == server->arrived && !server->stopping)
            pthread_cond_wait(&server->arrival, &server->lock);
        if (server->stopping)
            break;
        const struct sh_server_slice *slice = server->slice;
        const int64_t start_ns = server->start_ns;
        const size_t i = server->taken++;
        pthread_mutex_unlock(&server->lock);

        if (slice->steps_per_ms > 0)
            work_ns(slice->work[i], slice->steps_per_ms);
        else
            work_steps(slice->work[i]);
        slice->latency_ns[i] = clock_ns(CLOCK_MONOTONIC) - start_ns - slice->arrival_ns[i];

        pthread_mutex_lock(&server->lock);
        if (++server->completed == slice->count)
            pthread_cond_signal(&server->drained);
    }
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

int sh_server_start(struct sh_server *server, int workers) {
    if (workers < 1 || workers > SH_SERVER_MAX_WORKERS)
        return -EINVAL;
    *server = (struct sh_server){.workers = 0};
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->arrival, NULL);
    pthread_cond_init(&server->drained, NULL);
    for (; server->workers < workers; server->workers++) {
        const int error = pthread_create(&server->threads[server->workers], NULL, worker, server);
        if (error) {
            sh_server_stop(server);
            return -error;
        }
    }
    return 0;
}

void sh_server_serve(struct sh_server *server, const struct sh_server_slice *slice) {
    /* The default slack of 50 us would be part of every latency. */
    prctl(PR_SET_TIMERSLACK, 1UL);

    const int64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&server->lock);
    server->slice = slice;
    server->start_ns = start_ns;
    server->arrived = server->taken = server->completed = 0;
    pthread_mutex_unlock(&server->lock);

    for (size_t sent = 0; sent < slice->count;) {
        sleep_until(start_ns + slice->arrival_ns[sent]);
        const int64_t now_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
        size_t due = sent + 1;
        while (due < slice->count && slice->arrival_ns[due] <= now_ns)
            due++;

        pthread_mutex_lock(&server->lock);
        server->arrived = due;
        for (size_t i = sent; i < due && i < sent + (size_t)server->workers; i++)
            pthread_cond_signal(&server->arrival);
        pthread_mutex_unlock(&server->lock);
        sent = due;
    }

    pthread_mutex_lock(&server->lock);
    while (server->completed < slice->count)
        pthread_cond_wait(&server->drained, &server->lock);
    pthread_mutex_unlock(&server->lock);
}

void sh_server_stop(struct sh_server *server) {
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_broadcast(&server->arrival);
    pthread_mutex_unlock(&server->lock);
    while (server->workers > 0)
        pthread_join(server->threads[--server->workers], NULL);
    pthread_cond_destroy(&server->drained);
    pthread_cond_destroy(&server->arrival);
    pthread_mutex_destroy(&server->lock);
}
