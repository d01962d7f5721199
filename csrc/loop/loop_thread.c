/* The loop's thread: one step after the other, and what it sleeps on in between. */
#define _GNU_SOURCE
#include "loop/loop_thread.h"

#include "loop/loop_pace.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void note_cpu_time(struct sh_loop *loop) {
    struct timespec t;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
        atomic_store_explicit(&loop->cpu_ns, (int64_t)t.tv_sec * 1000000000 + t.tv_nsec,
                              memory_order_relaxed);
}

/* Waits for the buffer to run out, a revocation, a plan, a stop, or the end of the window. 0 or
 * -errno. */
static int wait_for_event(struct sh_loop *loop, int64_t deadline_ns) {
    struct sh_sensor *sensor = &loop->sensor;
    const struct sh_clock *clock = &loop->clock;
    /* What has been revoked stays readable. */
    const int revoked_fd = sh_loop_is_revoked(loop) ? -1 : loop->revocation.fd;
    const int fds[] = {loop->plan_fd, sensor->wake_fd, revoked_fd};
    const uint32_t level = sh_loop_alarm_level(loop);
    const bool waits = sh_loop_alarm_waits(loop);
    uint64_t drained;

    if (level != loop->armed || waits != loop->armed_waits) {
        sensor->arm(sensor->ctx, level, waits);
        loop->armed = level;
        loop->armed_waits = waits;
        /* What was so before the arming does not wake. */
        if (level != SH_SENSOR_DISARM && sh_loop_rings(loop, level, clock->now_ns(clock->ctx)))
            return 0;
    }
    int err = clock->wait_until(clock->ctx, deadline_ns, fds, 3);
    const bool has_plan = read(loop->plan_fd, &drained, sizeof(drained)) > 0;
    if (err == 0 && !has_plan && clock->now_ns(clock->ctx) < deadline_ns) {
        sensor->drain(sensor->ctx);
        loop->armed = SH_SENSOR_DISARM; /* an alarm rings once */
        atomic_fetch_add_explicit(&loop->counters.wake_ups, 1, memory_order_relaxed);
    }
    return err;
}

/* A loop that rests is not silent before it is due. */
static void beat(struct sh_loop *loop, int64_t now_ns, int64_t next_ns) {
    const int64_t due_ns = next_ns - loop->config.window_ns;
    if (loop->beat)
        atomic_store_explicit(loop->beat, due_ns > now_ns ? due_ns : now_ns, memory_order_relaxed);
}

static void *run(void *arg) {
    struct sh_loop *loop = arg;
    const struct sh_clock *clock = &loop->clock;
    uint32_t noted_seq = 0;
    int err = 0;

    prctl(PR_SET_NAME, "sh-loop");
    prctl(PR_SET_TIMERSLACK, 1UL); /* the default slack of 50 us is a whole poll */
    atomic_store(&loop->tid, (int32_t)syscall(SYS_gettid));
    const enum sh_scheduling scheduling = sh_loop_schedule_self(loop);
    sh_loop_place_self(scheduling == SH_SCHEDULING_FIFO ? loop->realtime_cpus : loop->cpus);
    atomic_store(&loop->scheduling, scheduling);

    if (loop->most_cpu_percent)
        loop->cpu_at_rest_ns = clock->cpu_ns(clock->ctx);
    int64_t deadline_ns = clock->now_ns(clock->ctx);
    while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
        const int64_t now_ns = clock->now_ns(clock->ctx);
        if ((err = sh_loop_step(loop, deadline_ns, now_ns)))
            break;
        if (loop->seq != noted_seq) {
            noted_seq = loop->seq;
            note_cpu_time(loop);
        }
        if (loop->config.event_driven) {
            deadline_ns = sh_loop_next_look(loop);
            beat(loop, now_ns, deadline_ns);
            err = wait_for_event(loop, deadline_ns);
        } else {
            deadline_ns = sh_loop_next_poll(loop, deadline_ns, now_ns);
            beat(loop, now_ns, deadline_ns);
            err = clock->sleep_until(clock->ctx, deadline_ns);
        }
        if (err && err != -EINTR) {
            sh_loop_clock_failed(loop, now_ns, err);
            break;
        }
    }
    if (!err || err == -EINTR)
        sh_loop_end(loop);
    note_cpu_time(loop);
    return NULL;
}

void sh_loop_wake(struct sh_loop *loop) {
    const uint64_t one = 1;
    if (loop->config.event_driven) {
        ssize_t written = write(loop->plan_fd, &one, sizeof(one));
        (void)written;
    }
}

int sh_loop_start(struct sh_loop *loop) {
    sigset_t all, old;
    int err;
    if (loop->started)
        return -EALREADY;
    atomic_store(&loop->stop, false);
    /* Signals are the control plane's: the loop's sleep must not be cut short by them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    err = pthread_create(&loop->thread, NULL, run, loop);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    loop->started = err == 0;
    return -err;
}

void sh_loop_stop(struct sh_loop *loop) {
    if (!loop->started)
        return;
    atomic_store(&loop->stop, true);
    sh_loop_wake(loop);
    pthread_join(loop->thread, NULL);
    loop->started = false;
}
