/* Makes time pass more slowly for QEMU: a library to preload.
 *
 *   SMARTHARVEST_DILATION=PAGE LD_PRELOAD=dilate.so qemu-system-x86_64 ...
 *
 * PAGE is a file of one `struct page`, which says how many times slower. It may change while QEMU
 * runs: a change is announced ahead of its moment, so that the clock never steps. All clocks and
 * timeouts that QEMU uses are interposed. The guest's time stamp counter is QEMU's cpu_get_ticks(),
 * which reads the host's by an instruction: it is replaced by a jump to one that counts dilated
 * nanoseconds (a guest's counter then runs at 1 GHz), and needs none of the lock which the original
 * takes. */
#define _GNU_SOURCE
#include "page.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
enum { LEAST_OBJECT = 1 << 14, MOST_OBJECT = 1 << 20, OBJECT_ALIGNMENT = 1 << 12 };
#define UNIT 1000LL                      /* a dilation of 1 */
#define LONGEST_WAIT_NS (50 * NS_PER_MS) /* of the host: the dilation may have changed by then */

static struct page *page;
static int64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
static int (*host_clock)(clockid_t, struct timespec *);
static int (*host_ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static int (*host_epoll_wait)(int, struct epoll_event *, int, int);
static int (*host_select)(int, fd_set *, fd_set *, fd_set *, struct timeval *);
static int (*host_cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*host_sleep)(const struct timespec *, struct timespec *);

static int64_t to_ns(const struct timespec *time) {
    return time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec to_timespec(int64_t ns) {
    return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

static int64_t host_ns(void) {
    struct timespec now;
    host_clock(CLOCK_MONOTONIC, &now);
    return to_ns(&now);
}

static struct rate rate_now(void) {
    for (;;) {
        const uint64_t generation = atomic_load_explicit(&page->generation, memory_order_acquire);
        const struct rate found = page->rates[generation & 1];
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&page->generation, memory_order_relaxed) == generation)
            return found;
    }
}

static int64_t guest_ns(void) {
    const struct rate rate = rate_now();
    const int64_t since = host_ns() - rate.host_ns;
    return rate.guest_ns + since * UNIT / (since < 0 ? rate.before : rate.after);
}

/* What a wait of so much dilated time takes of the host's. */
static int64_t stretched(int64_t ns) {
    const struct rate rate = rate_now();
    const int64_t factor = host_ns() < rate.host_ns ? rate.before : rate.after;
    return ns > INT64_MAX / factor ? INT64_MAX : ns * factor / UNIT;
}

static int64_t ticks(void) {
    return guest_ns();
}

/* Overwrites the beginning of a function of QEMU by a jump. */
static bool replace(const char *name, int64_t (*by)(void)) {
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char jump[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0}; /* mov rax; jmp rax */
    unsigned char *function = dlsym(RTLD_DEFAULT, name);
    if (!function)
        return false; /* not QEMU, but something that starts it */
    const uintptr_t from = (uintptr_t)function & ~(page_bytes - 1);
    const size_t length = (uintptr_t)function + sizeof(jump) - from;
    memcpy(jump + 2, &by, sizeof(by));
    if (mprotect((void *)from, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        fprintf(stderr, "dilate: %s: %s\n", name, strerror(errno));
        _exit(1);
    }
    memcpy(function, jump, sizeof(jump));
    mprotect((void *)from, length, PROT_READ | PROT_EXEC);
    return true;
}

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "dilate: no %s\n", name);
        _exit(1);
    }
    return found;
}

static void begin(void) {
    struct timespec wall, now;
    if (host_clock)
        return;
    const char *path = getenv("SMARTHARVEST_DILATION");
    *(void **)&host_ppoll = next("ppoll");
    *(void **)&host_epoll_wait = next("epoll_wait");
    *(void **)&host_select = next("select");
    /* Without its version the linker may find one of another layout. */
    *(void **)&host_cond_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    *(void **)&host_sleep = next("nanosleep");
    int (*clock)(clockid_t, struct timespec *);
    *(void **)&clock = next("clock_gettime");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = fd < 0
                       ? MAP_FAILED
                       : mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        fprintf(stderr, "dilate: SMARTHARVEST_DILATION names no page\n");
        _exit(1);
    }
    close(fd);
    page = mapped;
    host_clock = clock;
    host_clock(CLOCK_REALTIME, &wall);
    host_clock(CLOCK_MONOTONIC, &now);
    wall_offset_ns = to_ns(&wall) - to_ns(&now);
}

__attribute__((constructor)) static void load(void) {
    begin();
    if (replace("cpu_get_ticks", ticks)) {
        translation_start();
        pace_start(page);
    }
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    begin();
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *time = to_timespec(guest_ns() + wall_offset_ns);
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
        *time = to_timespec(guest_ns());
        return 0;
    default:
        return host_clock(clock, time);
    }
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    begin();
    const int64_t ns = guest_ns() + wall_offset_ns;
    *time = (struct timeval){ns / NS_PER_S, ns % NS_PER_S / 1000};
    return 0;
}

/* QEMU keeps a virtual CPU's registers in one of its objects. Where in a page that lies must not
 * depend on the virtual CPU: speeds differed by a tenth. */
extern void *__libc_memalign(size_t, size_t), *__libc_malloc(size_t);

void *malloc(size_t bytes) {
    const bool object = bytes >= LEAST_OBJECT && bytes < MOST_OBJECT;
    return object ? __libc_memalign(OBJECT_ALIGNMENT, bytes) : __libc_malloc(bytes);
}

/* A wait may end early: QEMU then reads the clock and waits again. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    begin();
    if (!timeout)
        return host_ppoll(fds, count, NULL, mask);
    const int64_t wait_ns = stretched(to_ns(timeout));
    const struct timespec wait = to_timespec(wait_ns < LONGEST_WAIT_NS ? wait_ns : LONGEST_WAIT_NS);
    return host_ppoll(fds, count, &wait, mask);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms) {
    const struct timespec timeout = to_timespec(timeout_ms * NS_PER_MS);
    return ppoll(fds, count, timeout_ms < 0 ? NULL : &timeout, NULL);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms) {
    begin();
    if (timeout_ms > 0) {
        const int64_t wait_ns = stretched(timeout_ms * NS_PER_MS);
        timeout_ms = (int)((wait_ns < LONGEST_WAIT_NS ? wait_ns : LONGEST_WAIT_NS) / NS_PER_MS);
    }
    return host_epoll_wait(epoll, events, most, timeout_ms);
}

int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict bad,
           struct timeval *restrict timeout) {
    begin();
    if (!timeout)
        return host_select(count, in, out, bad, NULL);
    const int64_t wait_ns = stretched(timeout->tv_sec * NS_PER_S + timeout->tv_usec * 1000);
    struct timeval wait = {wait_ns / NS_PER_S, wait_ns % NS_PER_S / 1000};
    return host_select(count, in, out, bad, &wait);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
    struct timespec wall;
    begin();
    const int64_t left_ns = to_ns(until) - wall_offset_ns - guest_ns();
    host_clock(CLOCK_REALTIME, &wall);
    const struct timespec ends = to_timespec(to_ns(&wall) + stretched(left_ns > 0 ? left_ns : 0));
    return host_cond_timedwait(condition, mutex, &ends);
}

int nanosleep(const struct timespec *asked, struct timespec *left) {
    begin();
    const struct timespec wait = to_timespec(stretched(to_ns(asked)));
    return host_sleep(&wait, left);
}
