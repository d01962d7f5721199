#define _GNU_SOURCE
#include "actuators/rescue.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CPUS = 4096,
    RING_PAGES = 2, /* the header and one page of records, none of which is read */
    /* At 1/341 of its pace the tasks that wait may be a tick ahead of the idle group. */
    FIRST_MOMENT_NS = 15000,
    LONGEST_MOMENT_NS = 960000, /* a batch that is picked all the time is not to be paid for so */
    QUIET_NS = 300000,          /* called again this soon, the moment was too short */
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static size_t ring_bytes(void) {
    return RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static void drain(struct sh_rescue_thread *self) {
    struct perf_event_mmap_page *page = self->page;
    __atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
                     __ATOMIC_RELEASE);
}

static void schedule_self(const struct sh_rescue *rescue, uint32_t cpu) {
    const struct sched_param fifo = {.sched_priority = rescue->fifo_priority};
    unsigned long set[MAX_CPUS / (8 * sizeof(unsigned long))] = {0};
    set[cpu / (8 * sizeof(long))] |= 1UL << cpu % (8 * sizeof(long));
    prctl(PR_SET_NAME, "sh-rescue");
    sched_setaffinity(0, sizeof(set), (const cpu_set_t *)set);
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (rescue->fifo_priority > 0)
        sched_setscheduler(0, SCHED_FIFO, &fifo);
}

int64_t sh_rescue_moment_ns(int64_t before_ns, int64_t quiet_ns) {
    if (quiet_ns > QUIET_NS)
        return 0; /* to have woken may be enough, and to wake once more costs who runs by then */
    if (before_ns == 0)
        return FIRST_MOMENT_NS;
    return before_ns < LONGEST_MOMENT_NS ? 2 * before_ns : before_ns;
}

static void *run(void *arg) {
    struct sh_rescue_thread *self = arg;
    struct sh_rescue *rescue = self->rescue;
    struct pollfd fds[] = {{.fd = self->event_fd, .events = POLLIN},
                           {.fd = rescue->stop_fd, .events = POLLIN}};
    int64_t moment_ns = 0, last_ns = 0;

    schedule_self(rescue, self->cpu);
    while (!atomic_load_explicit(&rescue->stop, memory_order_relaxed)) {
        if (poll(fds, 2, -1) < 0 || fds[0].revents == 0)
            continue;
        if (!(fds[0].revents &
              POLLIN)) /* the CPU has gone offline; never spin as a real-time one */
            break;
        drain(self);
        const int64_t told_ns = now_ns();
        moment_ns = sh_rescue_moment_ns(moment_ns, told_ns - last_ns);
        if (moment_ns) {
            const struct timespec moment = {.tv_nsec = moment_ns};
            clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
        }
        last_ns = now_ns();
        atomic_fetch_add_explicit(&rescue->rescues, 1, memory_order_relaxed);
    }
    return NULL;
}

static int listen(struct sh_rescue_thread *thread) {
    const struct sh_displacements *displacements = &thread->rescue->displacements;
    struct perf_event_attr attributes = {.size = sizeof(attributes),
                                         .type = PERF_TYPE_SOFTWARE,
                                         .config = PERF_COUNT_SW_BPF_OUTPUT,
                                         .sample_type = PERF_SAMPLE_RAW,
                                         .wakeup_events = 1};
    thread->event_fd = (int)syscall(SYS_perf_event_open, &attributes, -1, (int)thread->cpu, -1,
                                    PERF_FLAG_FD_CLOEXEC);
    if (thread->event_fd < 0)
        return -errno;
    thread->page =
        mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, thread->event_fd, 0);
    if (thread->page == MAP_FAILED) {
        thread->page = NULL;
        return -errno;
    }
    drain(thread); /* the page is there before the first call */
    if (ioctl(thread->event_fd, PERF_EVENT_IOC_ENABLE, 0))
        return -errno;
    return displacements->signal(displacements->ctx, thread->cpu, thread->event_fd);
}

int sh_rescue_start(struct sh_rescue *rescue) {
    sigset_t all, old;
    int err = 0;
    if (!rescue->displacements.signal)
        return -ENOTSUP;
    atomic_store(&rescue->stop, false);
    rescue->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (rescue->stop_fd < 0)
        return -errno;
    for (uint32_t i = 0; i < rescue->count; i++) {
        struct sh_rescue_thread *thread = &rescue->threads[i];
        *thread = (struct sh_rescue_thread){.rescue = rescue, .cpu = thread->cpu, .event_fd = -1};
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (uint32_t i = 0; i < rescue->count && !err; i++) {
        struct sh_rescue_thread *thread = &rescue->threads[i];
        err = listen(thread);
        if (!err)
            err = -pthread_create(&thread->thread, NULL, run, thread);
        thread->started = !err;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err)
        sh_rescue_stop(rescue);
    else
        rescue->displacements.listen(rescue->displacements.ctx, true);
    return err;
}

void sh_rescue_stop(struct sh_rescue *rescue) {
    const uint64_t one = 1;
    if (rescue->stop_fd < 0)
        return;
    rescue->displacements.listen(rescue->displacements.ctx, false);
    atomic_store(&rescue->stop, true);
    ssize_t written = write(rescue->stop_fd, &one, sizeof(one));
    (void)written;
    for (uint32_t i = 0; i < rescue->count; i++) {
        struct sh_rescue_thread *thread = &rescue->threads[i];
        if (thread->started)
            pthread_join(thread->thread, NULL);
        if (thread->page)
            munmap(thread->page, ring_bytes());
        if (thread->event_fd >= 0)
            close(thread->event_fd);
        *thread = (struct sh_rescue_thread){.cpu = thread->cpu, .event_fd = -1};
    }
    close(rescue->stop_fd);
    rescue->stop_fd = -1;
}
