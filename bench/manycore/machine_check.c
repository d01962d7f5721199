/* The first and only process of a guest that is checked before it is believed.
 *
 * Each line to the second serial port is a JSON object; {"dilate": true} and false ask for slow
 * time and for full speed, and the host answers with a line. Times are guest ns or us. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 64, MAX_SAMPLES = 100000, CHUNK = 500, TABLE = 256, SPEED_ROUNDS = 120 };
#define NS_PER_S 1000000000LL
#define NS_PER_MS 1000000LL
#define NS_PER_US 1000LL
#define SLEEP_NS (200 * NS_PER_US)

static int cpus, port;
static int32_t samples[MAX_SAMPLES];

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void sleep_until(int64_t ns) {
    const struct timespec due = {ns / NS_PER_S, ns % NS_PER_S};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char line[2048];
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(line, sizeof(line) - 1, format, values);
    va_end(values);
    line[length] = '\n';
    if (write(port, line, (size_t)length + 1) < 0)
        return;
}

static void await_answer(void) {
    char byte = 0;
    while (byte != '\n' && read(port, &byte, 1) == 1)
        ;
}

static void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void text_of(const char *path, char *text, size_t size) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, size - 1);
    close(fd);
    text[length < 0 ? 0 : length] = 0;
    text[strcspn(text, "\n")] = 0;
}

/* Spinners: turns a second, each pinned. */

struct spinner {
    pthread_t thread;
    int cpu;
    int64_t begins_ns, ends_ns;
    double rate;
};

/* Arithmetic, memory and branches. */
static void spin_chunk(uint64_t table[TABLE]) {
    uint64_t value = table[0];
    for (int i = 0; i < CHUNK; i++) {
        value = value * 6364136223846793005u + 1;
        uint64_t *entry = &table[value >> 56];
        if (*entry & 1)
            *entry += value;
        else
            *entry ^= (uint64_t)i;
    }
    table[0] = value;
}

static void *spin(void *argument) {
    struct spinner *spinner = argument;
    int64_t turns = 0, began_ns, now;
    uint64_t table[TABLE] = {1};
    pin(spinner->cpu);
    sleep_until(spinner->begins_ns);
    began_ns = now_ns();
    do {
        spin_chunk(table);
        turns++;
        now = now_ns();
    } while (now < spinner->ends_ns);
    spinner->rate = (double)turns / (double)(now - began_ns) * NS_PER_S;
    return NULL;
}

static struct spinner spinners[MAX_CPUS];

static void spin_begin(int first, int count, int64_t length_ns) {
    const int64_t begins_ns = now_ns() + 2 * NS_PER_MS;
    for (int i = 0; i < count; i++) {
        spinners[i] = (struct spinner){
            .cpu = (first + i) % cpus, .begins_ns = begins_ns, .ends_ns = begins_ns + length_ns};
        pthread_create(&spinners[i].thread, NULL, spin, &spinners[i]);
    }
}

static void spin_end(int count) {
    for (int i = 0; i < count; i++)
        pthread_join(spinners[i].thread, NULL);
}

/* As many CPUs busy at a time, until each has been, over and over: what the host suffers meanwhile
 * (another guest of its own host, say) is to be the same for all. */
static void speeds(void) {
    static const char *const names[] = {"1", "half", "all"};
    const int counts[] = {1, cpus / 2, cpus}, lengths_ms[] = {3, 5, 8};
    static double rates[3][MAX_CPUS];
    for (int round = 0; round < SPEED_ROUNDS; round++) {
        if (round % 10 == 0)
            say("{\"round\": %d}", round); /* it lives */
        for (int kind = 0; kind < 3; kind++)
            for (int first = 0; first < cpus; first += counts[kind]) {
                const int left = cpus - first, now = counts[kind] < left ? counts[kind] : left;
                spin_begin(first, now, lengths_ms[kind] * NS_PER_MS);
                spin_end(now);
                for (int i = 0; i < now; i++)
                    rates[kind][first + i] += spinners[i].rate / SPEED_ROUNDS;
            }
    }
    for (int kind = 0; kind < 3; kind++) {
        char text[MAX_CPUS * 16];
        int length = 0;
        for (int i = 0; i < cpus; i++)
            length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%.0f",
                               i ? ", " : "", rates[kind][i]);
        say("{\"speeds\": \"%s\", \"busy\": %d, \"rates\": [%s]}", names[kind], counts[kind], text);
    }
}

static int ascending(const void *left, const void *right) {
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

static void say_samples(const char *what, const char *beside, int count) {
    qsort(samples, (size_t)count, sizeof(*samples), ascending);
    if (count)
        say("{\"%s\": \"%s\", \"samples\": %d, \"p50\": %.1f, \"p90\": %.1f, \"p99\": %.1f, "
            "\"max\": %.1f}",
            what, beside, count, samples[count / 2] / 1e3, samples[count * 9 / 10] / 1e3,
            samples[count * 99 / 100] / 1e3, samples[count - 1] / 1e3);
}

/* How late a sleeper runs on an idle CPU, while the first `busy` others spin. */
static void wakes(const char *beside, int busy, int64_t length_ns) {
    int count = 0;
    const int tries = 4;
    for (int i = 0; i < tries; i++) {
        const int own = i * cpus / tries;
        spin_begin(own + 1, busy, length_ns / tries + 10 * NS_PER_MS);
        pin(own);
        sleep_until(now_ns() + 10 * NS_PER_MS);
        const int64_t ends_ns = now_ns() + length_ns / tries;
        for (int64_t due_ns = now_ns(); due_ns < ends_ns && count < MAX_SAMPLES;) {
            due_ns = now_ns() + SLEEP_NS;
            sleep_until(due_ns);
            samples[count++] = (int32_t)(now_ns() - due_ns);
        }
        spin_end(busy);
    }
    say_samples("wake_us", beside, count);
}

/* Two threads on two CPUs wake each other: there and back. */

static _Atomic int32_t turn;

static void hand_over(int32_t to) {
    atomic_store(&turn, to);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool await_turn(int32_t own) {
    int32_t found;
    while ((found = atomic_load(&turn)) != own && found >= 0)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, found, NULL, NULL, 0);
    return found == own;
}

static void *answer(void *argument) {
    pin(*(const int *)argument);
    while (await_turn(1))
        hand_over(0);
    return NULL;
}

static void pings(int64_t length_ns) {
    pthread_t other;
    int far = cpus / 2, count = 0;
    pin(0);
    turn = 0;
    pthread_create(&other, NULL, answer, &far);
    const int64_t ends_ns = now_ns() + length_ns;
    for (int64_t began_ns; (began_ns = now_ns()) < ends_ns && count < MAX_SAMPLES;) {
        hand_over(1);
        await_turn(0);
        samples[count++] = (int32_t)(now_ns() - began_ns);
    }
    hand_over(-1);
    pthread_join(other, NULL);
    say_samples("ping_us", "idle", count);
}

static double steal_s(void) {
    char line[256];
    unsigned long long ticks[8] = {0};
    text_of("/proc/stat", line, sizeof(line));
    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
           &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7]);
    return (double)ticks[7] / (double)sysconf(_SC_CLK_TCK);
}

static void describe(void) {
    struct utsname name;
    struct timespec resolution;
    char clock[64], preempt[128] = "", slice[64] = "";
    uname(&name);
    mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
    text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource", clock,
            sizeof(clock));
    text_of("/sys/kernel/debug/sched/preempt", preempt, sizeof(preempt));
    text_of("/sys/kernel/debug/sched/base_slice_ns", slice, sizeof(slice));
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution); /* a tick */
    say("{\"kernel\": \"%s\", \"cpus\": %d, \"clock\": \"%s\", \"preempt\": \"%s\", \"hz\": %lld, "
        "\"base_slice_ns\": \"%s\", \"boot_s\": %.2f}",
        name.release, cpus, clock, preempt, NS_PER_S / resolution.tv_nsec, slice,
        (double)now_ns() / NS_PER_S);
}

/* Several times: the host may be slow to look at its own clock. */
static void say_clock(void) {
    pin(0);
    for (int i = 0; i < 20; i++) {
        say("{\"clock_ns\": %lld}", (long long)now_ns());
        sleep_until(now_ns() + 3 * NS_PER_MS);
    }
}

int main(void) {
    mkdir("/dev", 0755);
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("none", "/dev", "devtmpfs", 0, NULL);
    mount("none", "/proc", "proc", 0, NULL);
    mount("none", "/sys", "sysfs", 0, NULL);
    port = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);
    cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (cpus > MAX_CPUS)
        cpus = MAX_CPUS;
    prctl(PR_SET_TIMERSLACK, 1UL);
    describe();
    say("{\"dilate\": true}");
    await_answer();
    say_clock();
    speeds();
    wakes("idle", 0, 200 * NS_PER_MS);
    wakes("busy", cpus - 1, 800 * NS_PER_MS);
    pings(150 * NS_PER_MS);
    say_clock();
    say("{\"dilate\": false}");
    await_answer();
    say("{\"steal_s\": %.2f, \"complete\": true}", steal_s());
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}
