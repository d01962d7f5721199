/* Which threads are nudged onto the CPUs a group has gained. */
#define _GNU_SOURCE
#include "actuators/nudge.h"

#include <dirent.h>

#include "threads.h"

enum { WORKERS = 3 };

static struct worker workers[WORKERS];
static struct sh_nudge nudge;
static char own_cpus[4096]; /* as the kernel spells them */

static void read_own_cpus(void) {
    char line[4096];
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof(line), status))
        sscanf(line, "Cpus_allowed_list: %4095s", own_cpus);
    fclose(status);
}

static void list_workers(int count) {
    char text[256] = "";
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "%d\n", workers[i].tid);
    fill(nudge.tasks_fd, text);
}

static void begin(int count) {
    nudge = (struct sh_nudge){.tasks_fd = scratch_file()};
    for (int i = 0; i < count; i++)
        worker_start(&workers[i], true, -1);
    list_workers(count);
}

static void end(int first, int count) {
    for (int i = first; i < count; i++)
        worker_stop(&workers[i]);
    close(nudge.tasks_fd);
    sh_nudge_close(&nudge);
    CHECK_EQ(nudge.kept_count, 0);
}

static int open_files(void) {
    int count = 0;
    DIR *fds = opendir("/proc/self/fd");
    while (readdir(fds))
        count++;
    closedir(fds);
    return count;
}

static void test_every_cpu_gets_a_thread_of_its_own(void) {
    const int32_t cpus[] = {some_cpu(), -1, some_cpu(), some_cpu(), some_cpu()};
    begin(WORKERS);
    for (int turn = 1; turn <= 2; turn++) {
        sh_nudge(&nudge, cpus, 5, own_cpus);
        CHECK_EQ(nudge.nudges, turn * WORKERS); /* and the fourth CPU none */
        CHECK_EQ(nudge.kept_count, WORKERS);
        for (int i = 0; i < WORKERS; i++)
            for (int j = 0; j < i; j++)
                CHECK(nudge.kept[i].tid != nudge.kept[j].tid);
    }
    end(0, WORKERS);
}

static void test_a_thread_that_still_computes_is_found_without_the_list(void) {
    const int32_t cpu = some_cpu();
    begin(1);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    fill(nudge.tasks_fd, "");
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 2);
    end(0, 1);
}

static void test_one_that_has_ended_is_forgotten_and_another_is_listed(void) {
    const int32_t cpu = some_cpu();
    begin(2);
    list_workers(1);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    worker_stop(&workers[0]);
    list_workers(2);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 2);
    CHECK_EQ(nudge.kept_count, 1);
    CHECK_EQ(nudge.kept[0].tid, workers[1].tid);
    end(1, 2);
}

static void test_one_that_has_been_pinned_since_is_left_alone(void) {
    const int32_t cpu = some_cpu();
    cpu_set_t one, now;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    CHECK_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
    if (CPU_COUNT(&now) == 1)
        return; /* pinned is what everything is */
    begin(1);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(sched_setaffinity(workers[0].tid, sizeof(one), &one), 0);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 1);
    CHECK_EQ(sched_getaffinity(workers[0].tid, sizeof(now), &now), 0);
    CHECK_EQ(CPU_COUNT(&now), 1);
    end(0, 1);
}

/* Somebody who pins the next thread that this process has pinned, right afterwards. */
static const cpu_set_t *somebody_sets;

int sched_setaffinity(pid_t tid, size_t size, const cpu_set_t *cpus) {
    const long result = syscall(SYS_sched_setaffinity, tid, size, cpus);
    const cpu_set_t *theirs = somebody_sets;
    somebody_sets = NULL;
    if (theirs)
        CHECK_EQ(syscall(SYS_sched_setaffinity, tid, sizeof(*theirs), theirs), 0);
    if (result == 0)
        return 0;
    return -1;
}

static void test_what_somebody_sets_while_a_thread_is_moved_stays(void) {
    cpu_set_t own, theirs, now;
    const int32_t cpu = some_cpu();
    CHECK_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
    if (CPU_COUNT(&own) == 1)
        return;
    CPU_ZERO(&theirs);
    for (int other = 0; CPU_COUNT(&theirs) == 0; other++)
        if (other != cpu && CPU_ISSET(other, &own))
            CPU_SET(other, &theirs);
    begin(1);
    somebody_sets = &theirs;
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK(!somebody_sets);
    CHECK_EQ(sched_getaffinity(workers[0].tid, sizeof(now), &now), 0);
    CHECK(CPU_EQUAL(&now, &theirs));
    end(0, 1);
}

static void test_a_refused_move_widens_nothing(void) {
    const int32_t nowhere = 8191; /* no such CPU */
    begin(1);
    sh_nudge(&nudge, &nowhere, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 0);
    end(0, 1);
}

static void test_threads_that_do_not_want_a_cpu_cost_no_descriptor(void) {
    const int32_t cpu = some_cpu();
    static struct worker sleeper;
    begin(0);
    worker_start(&sleeper, false, -1);
    workers[0].tid = sleeper.tid;
    list_workers(1);
    const int before = open_files();
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(open_files(), before);
    CHECK_EQ(nudge.nudges, 0);
    worker_stop(&sleeper);
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(open_files(), before);
    end(0, 0);
}

static void test_the_pinned_thread_can_be_found_and_is_released(void) {
    static _Atomic int32_t pinned;
    const int32_t cpu = some_cpu();
    cpu_set_t now, own;
    begin(1);
    nudge.pinned_tid = &pinned;
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 1);
    CHECK_EQ(pinned, 0);
    CHECK_EQ(sched_getaffinity(workers[0].tid, sizeof(now), &now), 0);
    CHECK_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
    CPU_AND(&now, &now, &own);
    CHECK(CPU_EQUAL(&now, &own));
    end(0, 1);
}

static void test_without_a_list_nobody_is_nudged(void) {
    const int32_t cpu = some_cpu();
    nudge = (struct sh_nudge){.tasks_fd = -1};
    sh_nudge(&nudge, &cpu, 1, own_cpus);
    CHECK_EQ(nudge.nudges, 0);
}

int main(void) {
    read_own_cpus();
    RUN(test_every_cpu_gets_a_thread_of_its_own);
    RUN(test_a_thread_that_still_computes_is_found_without_the_list);
    RUN(test_one_that_has_ended_is_forgotten_and_another_is_listed);
    RUN(test_one_that_has_been_pinned_since_is_left_alone);
    RUN(test_what_somebody_sets_while_a_thread_is_moved_stays);
    RUN(test_a_refused_move_widens_nothing);
    RUN(test_threads_that_do_not_want_a_cpu_cost_no_descriptor);
    RUN(test_the_pinned_thread_can_be_found_and_is_released);
    RUN(test_without_a_list_nobody_is_nudged);
    return 0;
}
