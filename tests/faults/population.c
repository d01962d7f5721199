/* population THREADS RATE PINS: a family that lives while others are struck.
 *
 * The keeper, which belongs to no group and to no target, starts the root, says its process id and
 * passes a line on that lets it begin. The root has THREADS sleeping threads and, with PINS, two
 * children that are pinned for good, and RATE times a second it starts a thread, a child, a daemon
 * or a child that pins itself. Those live for up to LONGEST_MS. A daemon has lost its parent: the
 * keeper, as init elsewhere, is its new one. What has pinned itself is called pinCPU, what never
 * forks leaf. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LONGEST_MS = 400, STACK = 32768, KINDS = 4, NAME = 16, LONGEST_S = 3 };

static uint64_t state;

static uint32_t rolled(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static void sleep_ms(uint32_t ms) {
    struct timespec left = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

/* The name comes first: whoever looks in between sees it free and named as pinned. */
static void pin(int cpu) {
    char name[NAME];
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    snprintf(name, sizeof name, "pin%d", cpu);
    prctl(PR_SET_NAME, name);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        prctl(PR_SET_NAME, "leaf");
}

static int some_cpu(void) {
    return (int)rolled((uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void *wait_for_ever(void *nothing) {
    for (;;)
        pause();
    return nothing;
}

static void *wait_a_moment(void *ms) {
    sleep_ms((uint32_t)(uintptr_t)ms);
    return NULL;
}

static int start_thread(void *(*work)(void *), uint32_t ms) {
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    const int failed = pthread_create(&thread, &attributes, work, (void *)(uintptr_t)ms);
    pthread_attr_destroy(&attributes);
    return failed;
}

static void live_as_child(uint32_t ms, int pins) {
    alarm(LONGEST_S);
    prctl(PR_SET_NAME, "leaf"); /* it has no children, so whoever pins it pins nobody else */
    if (pins)
        pin(some_cpu());
    sleep_ms(ms);
    _exit(0);
}

static void live_as_daemon(uint32_t ms) {
    setsid();
    if (fork() == 0) {
        alarm(LONGEST_S);
        sleep_ms(ms / 2);
        if (fork() == 0) /* its own child stays behind it */
            live_as_child(ms, 0);
        sleep_ms(ms / 2);
    }
    _exit(0);
}

static void start_somebody(int pins) {
    const uint32_t ms = 1 + rolled(LONGEST_MS), kind = rolled(KINDS);
    if (kind == 0) {
        start_thread(wait_a_moment, ms);
    } else if (fork() == 0) {
        if (kind == 1)
            live_as_daemon(ms);
        live_as_child(ms, pins && kind == 2);
    }
}

/* Two children that are pinned before anybody looks. */
static void start_pinned(void) {
    for (int i = 0; i < 2; i++) {
        int told[2];
        char byte = 0;
        if (pipe(told) != 0)
            _exit(1);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pin(i == 0 ? 0 : (int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
            if (write(told[1], &byte, 1) == 1)
                wait_for_ever(NULL);
            _exit(1);
        }
        if (read(told[0], &byte, 1) != 1)
            _exit(1);
        close(told[0]);
        close(told[1]);
    }
}

static void live_as_root(long threads, long rate, int pins) {
    char line[8];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "free");
    if (fgets(line, sizeof line, stdin) == NULL)
        _exit(0);
    if (pins)
        start_pinned();
    while (threads-- > 0)
        start_thread(wait_for_ever, 0);
    puts("complete");
    fflush(stdout);
    for (;;) {
        sleep_ms(1 + rolled((uint32_t)(rate > 0 ? 2000 / rate : 1000)));
        if (rate > 0)
            start_somebody(pins);
    }
}

static long number(int count, char **arguments, int which) {
    return count > which ? atol(arguments[which]) : 0;
}

int main(int count, char **arguments) {
    struct sigaction unawaited = {.sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &unawaited, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    state = (uint64_t)getpid() * 2654435761u;
    const pid_t root = fork();
    if (root == 0)
        live_as_root(number(count, arguments, 1), number(count, arguments, 2),
                     number(count, arguments, 3) != 0);
    printf("%d\n", root);
    fflush(stdout);
    fclose(stdout);
    for (;;)
        pause();
}
