/* The perf sensor on the kernel's own records. Without the right to open events it tests nothing
 * and says so. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>

#include "crowd.h"
#include "loop/clock.h"
#include "sensors/perf_sensor.h"

static struct sh_perf_sensor *perf;
static struct sh_sensor sensor;
static struct sh_window window;

static int try_open(const char *path, bool directory, uint32_t allocation) {
    const char *reason;
    memset(perf, 0, sizeof(*perf));
    perf->sources.source[0].fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(perf->sources.source[0].fd >= 0);
    perf->sources.source[0].directory = directory;
    perf->sources.count = perf->sources.primary_count = 1;
    perf->sources.allocations[0] = allocation;
    const int err = sh_perf_sensor_open(perf, &sensor, &reason);
    if (err)
        fprintf(stderr, "  %s: %s\n", reason, strerror(-err));
    return err;
}

static void watch_process(pid_t pid, uint32_t allocation) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    CHECK_EQ(try_open(path, true, allocation), 0);
}

static void end_watch(void) {
    sh_perf_sensor_close(perf);
    close(perf->sources.source[0].fd);
}

static struct sh_reading look(void) {
    struct sh_reading reading = {99, 99};
    CHECK_EQ(sensor.read(sensor.ctx, sh_monotonic_ns(), &reading), 0);
    return reading;
}

static void test_what_ran_before_the_start_is_counted(void) {
    struct crowd crowd = crowd_start(2, spare_cpu(), SPIN, NULL);
    watch_process(crowd.pid, 8);
    AWAIT(look().busy == 1);
    AWAIT(look().demand == 2); /* known to wait once it has been preempted */
    end_watch();
    crowd_end(&crowd);
}

static void test_what_starts_and_stops_later_is_counted(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), SLEEP, NULL);
    watch_process(crowd.pid, 2);
    for (int i = 0; i < 5; i++) {
        crowd.orders->doing = SPIN;
        AWAIT(look().demand == 2 && look().busy == 1);
        crowd.orders->doing = SLEEP;
        AWAIT(look().demand == 0 && look().busy == 0);
    }
    end_watch();
    crowd_end(&crowd);
}

/* Whoever has stolen the processor from this machine meanwhile spoils an attempt. */
static void test_times_are_those_of_the_scheduler(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), WAVE, NULL);
    const struct timespec poll = {.tv_nsec = 1000000};
    bool busy = false, whole = false;
    watch_process(crowd.pid, 8);
    const long long stolen = stolen_ticks();
    for (int i = 0; !(busy && whole) && try_again(i, stolen); i++) {
        const struct account a = account_of(&crowd);
        const int64_t a_ns = sh_monotonic_ns();
        sh_window_reset(&window, a_ns);
        CHECK_EQ(sensor.collect(sensor.ctx, sh_monotonic_ns(), &window), 0);
        const int64_t b_ns = sh_monotonic_ns();
        const struct account b = account_of(&crowd);
        while (sh_monotonic_ns() < b_ns + 250000000) {
            nanosleep(&poll, NULL);
            look();
        }
        const struct account c = account_of(&crowd);
        const int64_t c_ns = sh_monotonic_ns();
        sh_window_reset(&window, a_ns);
        CHECK_EQ(sensor.collect(sensor.ctx, sh_monotonic_ns(), &window), 0);
        const int64_t d_ns = sh_monotonic_ns();
        const struct account d = account_of(&crowd);
        int64_t core_ns = 0;
        for (uint32_t cores = 1; cores <= window.busy_max; cores++)
            core_ns += (int64_t)(cores * window.weight[cores]);
        whole |= within((int64_t)window.total, c_ns - b_ns, d_ns - a_ns, 0.001);
        busy |= within(core_ns, c.ran_ns - b.ran_ns, d.ran_ns - a.ran_ns, 0.01);
    }
    CHECK(whole);
    CHECK(busy);
    CHECK_EQ(perf->counts.overruns, 0);
    CHECK_EQ(perf->counts.corrections, 0);
    end_watch();
    crowd_end(&crowd);
}

static void test_a_thousand_short_lived_tasks_leave_nothing_behind(void) {
    struct crowd crowd = crowd_start(2, -1, SLEEP, NULL);
    watch_process(crowd.pid, 8);
    const int64_t before = account_of(&crowd).dispatches;
    crowd.orders->doing = BREED;
    AWAIT((look(), account_of(&crowd).dispatches - before > 2000));
    crowd.orders->doing = SLEEP;
    AWAIT(look().demand == 0 && look().busy == 0);
    /* An end that was told before its birth, in another CPU's ring, goes with the next listing. */
    AWAIT((sh_perf_sensor_list(perf, sh_monotonic_ns()), look(), perf->counts.tasks == 2));
    end_watch();
    crowd_end(&crowd);
}

static void test_a_ring_nobody_reads_runs_over_and_is_right_again_afterwards(void) {
    const int cpu = spare_cpu();
    struct crowd crowd = crowd_start(2, cpu, SPIN, NULL), noise = crowd_start(4, cpu, SLEEP, NULL);
    watch_process(crowd.pid, 8);
    look();
    noise.orders->doing = BREED;
    for (uint64_t full = 0; !full;) { /* as the kernel writes and nobody reads */
        usleep(1000);
        for (uint32_t i = 0; i < perf->cpu_count; i++) {
            struct sh_perf_ring ring = perf->cpus[i].ring;
            full += sh_perf_ring_look(&ring);
        }
    }
    CHECK_EQ(look().busy, 8);
    noise.orders->doing = SLEEP;
    CHECK(perf->counts.overruns > 0);
    AWAIT((sh_perf_sensor_list(perf, sh_monotonic_ns()), look().busy == 1));
    end_watch();
    crowd_end(&crowd);
    crowd_end(&noise);
}

/* Any hierarchy serves: only the list of tasks counts. */
static bool group_path(char *path, size_t size) {
    static const char *mounts[] = {"/sys/fs/cgroup/freezer", "/sys/fs/cgroup"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, size, "%s/smartharvest-test-perf-%d", mounts[i], getpid());
        if (mkdir(path, 0755) == 0)
            return true;
    }
    return false;
}

static void test_a_task_is_counted_once_it_is_in_the_group_and_a_removed_group_fails(void) {
    char group[128], list[160], number[16];
    struct sh_reading reading;
    if (!group_path(group, sizeof(group)))
        return;
    snprintf(list, sizeof(list), "%s/tasks", group);
    if (access(list, R_OK))
        snprintf(list, sizeof(list), "%s/cgroup.threads", group);
    struct crowd crowd = crowd_start(2, spare_cpu(), SPIN, NULL);
    CHECK_EQ(try_open(list, false, 8), 0);
    AWAIT((usleep(1000), look().busy == 0));
    snprintf(number, sizeof(number), "%d", crowd.pid);
    char procs[160];
    snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
    const int fd = open(procs, O_WRONLY);
    CHECK_EQ(write(fd, number, strlen(number)), strlen(number));
    close(fd);
    AWAIT((sh_perf_sensor_list(perf, sh_monotonic_ns()), look().busy == 1 && look().demand == 2));
    crowd.orders->doing = BREED; /* whoever is born in a group belongs to it */
    AWAIT((look(), perf->counts.tasks > 2));
    crowd_end(&crowd);
    AWAIT((sh_perf_sensor_list(perf, sh_monotonic_ns()), look().busy == 0));
    CHECK_EQ(perf->counts.tasks, 0);
    AWAIT(rmdir(group) == 0);
    AWAIT((sh_perf_sensor_list(perf, sh_monotonic_ns()),
           sensor.read(sensor.ctx, sh_monotonic_ns(), &reading) == -ENODEV));
    end_watch();
}

int main(void) {
    perf = calloc(1, sizeof(*perf));
    const int err = try_open("/proc/self/task", true, 1);
    if (err == -EPERM || err == -EACCES || err == -ENOSYS) {
        free(perf);
        return 0;
    }
    CHECK_EQ(err, 0);
    end_watch();
    RUN(test_what_ran_before_the_start_is_counted);
    RUN(test_what_starts_and_stops_later_is_counted);
    RUN(test_times_are_those_of_the_scheduler);
    RUN(test_a_thousand_short_lived_tasks_leave_nothing_behind);
    RUN(test_a_ring_nobody_reads_runs_over_and_is_right_again_afterwards);
    RUN(test_a_task_is_counted_once_it_is_in_the_group_and_a_removed_group_fails);
    free(perf);
    return 0;
}
