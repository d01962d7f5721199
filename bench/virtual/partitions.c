/* What a write costs that moves a CPU of an empty group, as a member and as a cpuset partition.
 *
 * The init of a guest with cgroup v2 (partitions.py). Its machine counts instructions as time, so
 * the figures are work, not microseconds of a processor; how often the scheduling domains were
 * built anew is exact. One JSON object a kind to the second serial line. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WRITES = 120 };

static const char GROUP[] = "/cgroup/batch";
static const char *const KINDS[] = {"member", "root", "isolated"};

static long now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int put(const char *directory, const char *name, const char *value) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    const int fd = open(path, O_WRONLY | O_TRUNC);
    const int failed = fd < 0 || write(fd, value, strlen(value)) < 0;
    if (failed)
        perror(path);
    close(fd);
    return failed;
}

static void attach(const char *type, const char *directory) {
    mkdir(directory, 0755);
    if (mount(type, directory, type, 0, NULL))
        perror(directory);
}

static int longer(const void *a, const void *b) {
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* How often the domains of CPUs were built since the trace was emptied. */
static int builds(void) {
    char line[512];
    int count = 0;
    FILE *trace = fopen("/trace/trace", "r");
    while (trace && fgets(line, sizeof(line), trace))
        count += line[0] != '#' && strstr(line, ": build_sched_domains") != NULL;
    if (trace)
        fclose(trace);
    return count;
}

static void measure(const char *kind, FILE *answer) {
    static long took_ns[WRITES];
    if (put(GROUP, "cpuset.cpus.partition", kind))
        return;
    put("/trace", "trace", "");
    for (int i = 0; i < WRITES; i++) {
        const long began_ns = now_ns();
        if (put(GROUP, "cpuset.cpus", i % 2 ? "2-3" : "3"))
            return;
        took_ns[i] = now_ns() - began_ns;
        usleep(10000);
    }
    qsort(took_ns, WRITES, sizeof(took_ns[0]), longer);
    fprintf(answer,
            "{\"kind\": \"%s\", \"writes\": %d, \"median_us\": %.1f, \"domains_built\": %d}\n",
            kind, WRITES, took_ns[WRITES / 2] / 1e3, builds());
    fflush(answer);
}

int main(void) {
    attach("devtmpfs", "/dev");
    attach("proc", "/proc");
    attach("tracefs", "/trace");
    attach("cgroup2", "/cgroup");
    const int console = open("/dev/ttyS0", O_WRONLY);
    dup2(console, 2);
    FILE *answer = fopen("/dev/ttyS1", "w");
    put("/trace", "set_ftrace_filter", "build_sched_domains");
    put("/trace", "current_tracer", "function");
    put("/cgroup", "cgroup.subtree_control", "+cpuset");
    mkdir(GROUP, 0755);
    put(GROUP, "cpuset.cpus", "2-3");
    for (size_t i = 0; answer && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        measure(KINDS[i], answer);
    reboot(RB_POWER_OFF);
    return 1;
}
