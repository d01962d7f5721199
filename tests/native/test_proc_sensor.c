/* The /proc sensor on this process's own threads: who is counted, and for whom. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "sensors/proc_sensor.h"
#include "threads.h"

#define LONG_NS INT64_C(3600000000000)

static struct sh_proc_sensor proc;
static struct sh_sensor sensor;
static int64_t now_ns;

/* Sources are files that list tasks as a group's does, one for each primary. */
static void make(const int *files, const uint32_t *allocations, uint32_t count) {
    memset(&proc, 0, sizeof(proc));
    for (uint32_t i = 0; i < count; i++) {
        proc.sources.source[i] = (struct sh_task_source){.fd = files[i], .primary = i};
        proc.sources.allocations[i] = allocations[i];
    }
    proc.sources.count = proc.sources.primary_count = count;
    proc.rescan_ns = 1000000000;
    now_ns = LONG_NS;
    sh_proc_sensor_init(&proc, &sensor);
}

static struct sh_reading poll_again(void) {
    struct sh_reading reading = {99, 99};
    CHECK_EQ(sensor.read(sensor.ctx, ++now_ns, &reading), 0);
    return reading;
}

/* Later than any pause between two listings. */
static struct sh_reading poll_after_a_listing(void) {
    now_ns += LONG_NS;
    return poll_again();
}

static void list_tasks(int fd, const int32_t *tids, int count) {
    char text[256] = "";
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "%d\n", tids[i]);
    fill(fd, text);
}

static void test_runnable_tasks_are_demand_and_their_cpus_are_busy(void) {
    static struct worker spinners[2], sleeper;
    const int file = scratch_file(), cpu = some_cpu();
    const uint32_t allocation = 8;
    for (int i = 0; i < 2; i++)
        worker_start(&spinners[i], true, cpu); /* two on one CPU: one runs, one waits */
    worker_start(&sleeper, false, -1);
    list_tasks(file, (int32_t[]){spinners[0].tid, spinners[1].tid, sleeper.tid}, 3);
    make(&file, &allocation, 1);
    for (int i = 0; i < 100; i++) {
        const struct sh_reading reading = poll_again();
        CHECK_EQ(reading.demand, 2);
        CHECK_EQ(reading.busy, 1);
    }
    CHECK_EQ(proc.tasks_seen, 3);
    CHECK_EQ(proc.stamp[cpu], proc.poll);
    sh_proc_sensor_close(&proc);
    for (int i = 0; i < 2; i++)
        worker_stop(&spinners[i]);
    worker_stop(&sleeper);
    close(file);
}

static void test_a_primary_counts_for_no_more_than_its_allocation(void) {
    static struct worker spinners[3];
    const int files[] = {scratch_file(), scratch_file()};
    const uint32_t allocations[] = {1, 2};
    for (int i = 0; i < 3; i++)
        worker_start(&spinners[i], true, -1);
    list_tasks(files[0], (int32_t[]){spinners[0].tid, spinners[1].tid}, 2);
    list_tasks(files[1], (int32_t[]){spinners[2].tid}, 1);
    make(files, allocations, 2);
    struct sh_reading reading = poll_again();
    CHECK_EQ(reading.demand, 2); /* min(2, 1) + min(1, 2) */
    CHECK(reading.busy >= 1 && reading.busy <= 2);
    proc.sources.allocations[0] = proc.sources.allocations[1] = 0;
    reading = poll_again();
    CHECK_EQ(reading.demand, 0);
    CHECK_EQ(reading.busy, 0);
    sh_proc_sensor_close(&proc);
    for (int i = 0; i < 3; i++)
        worker_stop(&spinners[i]);
    close(files[0]);
    close(files[1]);
}

static void test_a_cpu_counts_once_for_two_primaries(void) {
    static struct worker spinners[2];
    const int files[] = {scratch_file(), scratch_file()}, cpu = some_cpu();
    const uint32_t allocations[] = {4, 4};
    for (int i = 0; i < 2; i++) {
        worker_start(&spinners[i], true, cpu);
        list_tasks(files[i], &spinners[i].tid, 1);
    }
    make(files, allocations, 2);
    const struct sh_reading reading = poll_again();
    CHECK_EQ(reading.busy, 1);
    CHECK_EQ(reading.demand, 2);
    sh_proc_sensor_close(&proc);
    for (int i = 0; i < 2; i++) {
        worker_stop(&spinners[i]);
        close(files[i]);
    }
}

static void test_tasks_come_and_go_with_the_next_listing(void) {
    static struct worker first, second;
    const int file = scratch_file();
    const uint32_t allocation = 8;
    worker_start(&first, true, -1);
    worker_start(&second, true, -1);
    list_tasks(file, &first.tid, 1);
    make(&file, &allocation, 1);
    CHECK_EQ(poll_again().demand, 1);
    list_tasks(file, (int32_t[]){first.tid, second.tid}, 2);
    CHECK_EQ(poll_again().demand, 1);
    CHECK_EQ(poll_after_a_listing().demand, 2);
    list_tasks(file, &second.tid, 1);
    CHECK_EQ(poll_again().demand, 2);
    CHECK_EQ(poll_after_a_listing().demand, 1);
    CHECK_EQ(proc.tasks_seen, 1);
    CHECK_EQ(proc.tasks[0].tid, second.tid);
    fill(file, "");
    CHECK_EQ(poll_after_a_listing().demand, 0);
    CHECK_EQ(proc.tasks_seen, 0);
    sh_proc_sensor_close(&proc);
    worker_stop(&first);
    worker_stop(&second);
    close(file);
}

static void test_a_task_that_moves_is_counted_for_its_new_primary(void) {
    static struct worker spinner;
    const int files[] = {scratch_file(), scratch_file()};
    const uint32_t allocations[] = {0, 1};
    worker_start(&spinner, true, -1);
    list_tasks(files[0], &spinner.tid, 1);
    make(files, allocations, 2);
    CHECK_EQ(poll_again().demand, 0);
    fill(files[0], "");
    list_tasks(files[1], &spinner.tid, 1);
    CHECK_EQ(poll_after_a_listing().demand, 1);
    /* Moved while the groups were listed: both name it, it stays one task. */
    list_tasks(files[0], &spinner.tid, 1);
    CHECK_EQ(poll_after_a_listing().demand, 1);
    CHECK_EQ(proc.tasks_seen, 1);
    sh_proc_sensor_close(&proc);
    CHECK_EQ(proc.task_count, 0);
    poll_after_a_listing(); /* both are new at once */
    CHECK_EQ(proc.tasks_seen, 1);
    sh_proc_sensor_close(&proc);
    worker_stop(&spinner);
    close(files[0]);
    close(files[1]);
}

static void test_a_task_that_dies_is_no_longer_counted(void) {
    static struct worker dying, living;
    const int file = scratch_file();
    const uint32_t allocation = 8;
    worker_start(&dying, true, -1);
    worker_start(&living, true, -1);
    list_tasks(file, (int32_t[]){dying.tid, living.tid}, 2);
    make(&file, &allocation, 1);
    CHECK_EQ(poll_again().demand, 2);
    worker_stop(&dying);
    CHECK_EQ(poll_again().demand, 1);
    CHECK_EQ(poll_again().demand, 1);
    CHECK_EQ(poll_after_a_listing().demand, 1); /* the file still names it, as a race would */
    CHECK_EQ(proc.tasks_seen, 1);
    sh_proc_sensor_close(&proc);
    worker_stop(&living);
    close(file);
}

static void test_a_number_given_out_again_is_a_new_task(void) {
    static struct worker spinner;
    const int file = scratch_file();
    const uint32_t allocation = 8;
    worker_start(&spinner, true, -1);
    list_tasks(file, &spinner.tid, 1);
    make(&file, &allocation, 1);
    CHECK_EQ(poll_again().demand, 1);
    /* As if the task behind the descriptor had died and another got its number. */
    close(proc.tasks[0].fd);
    proc.tasks[0].fd = -1;
    CHECK_EQ(poll_again().demand, 0);
    CHECK_EQ(poll_after_a_listing().demand, 1);
    CHECK_EQ(proc.task_count, 1);
    sh_proc_sensor_close(&proc);
    worker_stop(&spinner);
    close(file);
}

static void test_a_process_directory_is_a_source_that_may_vanish(void) {
    struct sh_reading reading;
    char path[64];
    const pid_t child = fork_sleeper();
    snprintf(path, sizeof(path), "/proc/%d/task", child);
    const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const uint32_t allocation = 8;
    make(&directory, &allocation, 1);
    proc.sources.source[0].directory = true;
    AWAIT(poll_again().demand == 0); /* ThreadSanitizer adds a thread of its own, which may run */
    CHECK(proc.tasks_seen >= 1);
    CHECK_EQ(proc.tasks[0].tid, child);
    end_child(child);
    now_ns += LONG_NS;
    CHECK_EQ(sensor.read(sensor.ctx, now_ns, &reading), -ESRCH);
    sh_proc_sensor_close(&proc);
    close(directory);
}

static void test_a_source_that_fails_leaves_no_descriptor_open(void) {
    static struct worker sleeper;
    const int files[] = {scratch_file(), -1};
    const uint32_t allocations[] = {1, 1};
    struct sh_reading reading;
    worker_start(&sleeper, false, -1);
    list_tasks(files[0], &sleeper.tid, 1);
    make(files, allocations, 2);
    const int unused = dup(0);
    close(unused);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(sensor.read(sensor.ctx, now_ns += LONG_NS, &reading), -EBADF);
    const int next = dup(0);
    CHECK_EQ(next, unused);
    close(next);
    worker_stop(&sleeper);
    close(files[0]);
}

static void test_closing_gives_every_descriptor_back(void) {
    static struct worker sleepers[4];
    const int file = scratch_file(), unused = dup(0);
    const uint32_t allocation = 8;
    int32_t tids[4];
    close(unused);
    for (int i = 0; i < 4; i++) {
        worker_start(&sleepers[i], false, -1);
        tids[i] = sleepers[i].tid;
    }
    make(&file, &allocation, 1);
    for (int round = 0; round < 3; round++) {
        list_tasks(file, tids, 4);
        poll_after_a_listing();
        list_tasks(file, tids + 2, 2);
        poll_after_a_listing();
        CHECK_EQ(proc.tasks_seen, 2);
    }
    sh_proc_sensor_close(&proc);
    const int next = dup(0);
    CHECK_EQ(next, unused);
    close(next);
    for (int i = 0; i < 4; i++)
        worker_stop(&sleepers[i]);
    close(file);
}

int main(void) {
    RUN(test_a_process_directory_is_a_source_that_may_vanish); /* forks: before there are threads */
    RUN(test_runnable_tasks_are_demand_and_their_cpus_are_busy);
    RUN(test_a_primary_counts_for_no_more_than_its_allocation);
    RUN(test_a_cpu_counts_once_for_two_primaries);
    RUN(test_tasks_come_and_go_with_the_next_listing);
    RUN(test_a_task_that_moves_is_counted_for_its_new_primary);
    RUN(test_a_task_that_dies_is_no_longer_counted);
    RUN(test_a_number_given_out_again_is_a_new_task);
    RUN(test_a_source_that_fails_leaves_no_descriptor_open);
    RUN(test_closing_gives_every_descriptor_back);
    return 0;
}
