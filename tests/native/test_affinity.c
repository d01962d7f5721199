/* Affinity of another process's threads: a child that sleeps in several of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "actuators/affinity.h"
#include "threads.h"

enum { THREADS = 3, LEVELS = 2 };

static struct sh_affinity affinity;
static struct sh_actuator actuator;
static struct sh_affinity_mask masks[LEVELS]; /* one CPU; all this process may use */

struct child {
    pid_t pid;
    int32_t tids[THREADS]; /* the first is the process itself */
    int more; /* a byte written to it starts another thread, whose number is in `extra` */
    int extra;
};

static void *sleep_for_ever(void *argument) {
    const int out = *(const int *)argument;
    const int32_t tid = (int32_t)syscall(SYS_gettid);
    CHECK_EQ(write(out, &tid, sizeof(tid)), sizeof(tid));
    for (;;)
        pause();
}

static void child_main(int in, int out) {
    pthread_t thread;
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 1; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread, NULL, sleep_for_ever, &out), 0);
    while (read(in, &byte, 1) == 1)
        CHECK_EQ(pthread_create(&thread, NULL, sleep_for_ever, &out), 0);
    _exit(0);
}

static struct child start_child(void) {
    struct child child;
    int in[2], out[2];
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    child.pid = fork();
    CHECK(child.pid >= 0);
    if (child.pid == 0) {
        close(in[1]);
        child_main(in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    child.more = in[1];
    child.extra = out[0];
    child.tids[0] = child.pid;
    for (int i = 1; i < THREADS; i++)
        CHECK_EQ(read(child.extra, &child.tids[i], sizeof(child.tids[i])), sizeof(int32_t));
    return child;
}

static void stop_child(struct child *child) {
    end_child(child->pid);
    close(child->more);
    close(child->extra);
}

static int open_tasks(pid_t pid) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", pid);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void make(const struct child *children, uint32_t count) {
    const int cpu = some_cpu();
    memset(&affinity, 0, sizeof(affinity));
    memset(masks, 0, sizeof(masks));
    masks[0].bits[cpu / 64] = 1UL << (cpu % 64);
    CHECK_EQ(sched_getaffinity(0, sizeof(masks[1]), (cpu_set_t *)&masks[1]), 0);
    for (uint32_t i = 0; i < count; i++)
        affinity.task_dirs[i] = open_tasks(children[i].pid);
    affinity.process_count = count;
    affinity.masks = masks;
    affinity.levels = LEVELS;
    sh_affinity_init(&affinity, &actuator);
}

static void drop(void) {
    for (uint32_t i = 0; i < affinity.process_count; i++)
        close(affinity.task_dirs[i]);
}

static bool runs_at(int32_t tid, int level) {
    struct sh_affinity_mask now;
    memset(&now, 0, sizeof(now));
    CHECK_EQ(sched_getaffinity(tid, sizeof(now), (cpu_set_t *)&now), 0);
    return memcmp(&now, &masks[level], sizeof(now)) == 0;
}

static int assign(uint32_t level) {
    return actuator.assign(actuator.ctx, level);
}

static void test_a_pinned_thread_keeps_as_much_of_its_pin_as_there_is(void) {
    struct child child = start_child();
    struct sh_affinity_pin pins[3] = {{.tid = 1}, {.tid = child.pid}, {.tid = child.pid + 1}};
    make(&child, 1);
    pins[1].mask = masks[0];
    affinity.pins = pins;
    affinity.pin_count = 3;
    CHECK_EQ(assign(1), 0);
    CHECK(runs_at(child.pid, 0));
    memset(&pins[1].mask, 0, sizeof(pins[1].mask)); /* none of its CPUs is among these */
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(assign(1), 0);
    CHECK(runs_at(child.pid, 1));
    drop();
    stop_child(&child);
}

static void test_every_thread_of_every_process_gets_the_mask(void) {
    struct child children[2] = {start_child(), start_child()};
    make(children, 2);
    for (int round = 0; round < 2; round++)
        for (int level = 0; level < LEVELS; level++) {
            CHECK_EQ(assign((uint32_t)level), 0);
            for (int i = 0; i < 2 * THREADS; i++)
                CHECK(runs_at(children[i / THREADS].tids[i % THREADS], level));
        }
    CHECK_EQ(assign(LEVELS + 5), 0); /* beyond the last: the last */
    CHECK(runs_at(children[0].pid, LEVELS - 1));
    drop();
    stop_child(&children[0]);
    stop_child(&children[1]);
}

static void test_a_level_in_force_is_not_written_again(void) {
    struct child child = start_child();
    make(&child, 1);
    CHECK_EQ(assign(0), 0);
    const uint64_t writes = affinity.writes;
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(affinity.writes, writes);
    affinity.current = -1; /* unknown: looked at again, and found in order */
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(affinity.writes, writes);
    drop();
    stop_child(&child);
}

static void test_a_thread_born_later_is_moved_with_the_others(void) {
    struct child child = start_child();
    int32_t born;
    make(&child, 1);
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(write(child.more, "+", 1), 1);
    CHECK_EQ(read(child.extra, &born, sizeof(born)), sizeof(born));
    CHECK(runs_at(born, 0)); /* it inherits */
    CHECK_EQ(assign(1), 0);
    CHECK(runs_at(born, 1));
    drop();
    stop_child(&child);
}

static void test_the_living_are_moved_when_one_process_has_gone(void) {
    struct child children[2] = {start_child(), start_child()};
    make(children, 2);
    CHECK_EQ(assign(1), 0);
    stop_child(&children[0]);
    CHECK_EQ(assign(0), 0);
    CHECK(runs_at(children[1].pid, 0));
    stop_child(&children[1]);
    CHECK_EQ(assign(1), -ESRCH);
    CHECK_EQ(affinity.current, -1);
    drop();
}

static void test_a_mask_without_a_cpu_is_refused(void) {
    struct child child = start_child();
    make(&child, 1);
    CHECK_EQ(assign(1), 0);
    memset(&masks[0], 0, sizeof(masks[0]));
    CHECK_EQ(assign(0), -EINVAL);
    CHECK_EQ(affinity.current, -1);
    CHECK(runs_at(child.pid, 1));
    CHECK_EQ(assign(1), 0);
    drop();
    stop_child(&child);
}

static void
test_a_thread_that_was_given_other_cpus_meanwhile_is_noted_and_moved_all_the_same(void) {
    struct child child = start_child();
    make(&child, 1);
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(affinity.stray_count, 0);        /* what it had before the first move is its own */
    struct sh_affinity_mask found = masks[1]; /* all but the one it was given */
    for (size_t i = 0; i < sizeof(found.bits) / sizeof(found.bits[0]); i++)
        found.bits[i] &= ~masks[0].bits[i];
    if (sched_setaffinity(child.tids[1], sizeof(found), (cpu_set_t *)&found) != 0) {
        drop(); /* there is one CPU */
        stop_child(&child);
        return;
    }
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(affinity.stray_count, 1);
    CHECK_EQ(affinity.strays[0].tid, child.tids[1]);
    CHECK(memcmp(&affinity.strays[0].found, &found, sizeof(found)) == 0);
    CHECK(memcmp(&affinity.strays[0].given, &masks[0], sizeof(found)) == 0);
    CHECK_EQ(assign(0), 0);
    CHECK(runs_at(child.tids[1], 0));
    CHECK_EQ(affinity.stray_count, 1);
    drop();
    stop_child(&child);
}

static void test_a_process_that_is_followed_gets_the_mask_in_force_and_those_after_it(void) {
    struct child children[2] = {start_child(), start_child()};
    make(children, 1);
    CHECK_EQ(assign(0), 0);
    CHECK(!runs_at(children[1].tids[1], 0));
    CHECK_EQ(sh_affinity_follow(&affinity, 1, open_tasks(children[1].pid)), 0);
    for (int level = 0; level < LEVELS; level++) {
        CHECK_EQ(assign((uint32_t)level), 0);
        for (int i = 0; i < THREADS; i++)
            CHECK(runs_at(children[1].tids[i], level));
    }
    drop();
    stop_child(&children[0]);
    stop_child(&children[1]);
}

static void test_the_slot_of_a_process_that_has_ended_is_used_again(void) {
    struct child children[3] = {start_child(), start_child(), start_child()};
    make(children, 1);
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(sh_affinity_follow(&affinity, 1, open_tasks(children[1].pid)), 0);
    const int descriptor = affinity.task_dirs[1];
    const int ended = open_tasks(children[1].pid);
    stop_child(&children[1]);
    CHECK_EQ(sh_affinity_follow(&affinity, 1, open_tasks(children[2].pid)), 0);
    CHECK_EQ(affinity.task_dirs[1], descriptor);
    CHECK_EQ(affinity.process_count, 2);
    CHECK(runs_at(children[2].pid, 0));
    CHECK_EQ(assign(1), 0);
    CHECK(runs_at(children[2].pid, 1));
    CHECK_EQ(sh_affinity_follow(&affinity, 2, ended), -ESRCH);
    CHECK_EQ(sh_affinity_follow(&affinity, 5, open_tasks(children[0].pid)), -EINVAL);
    CHECK_EQ(sh_affinity_follow(&affinity, 0, open_tasks(children[0].pid)), -EINVAL);
    CHECK_EQ(assign(0), 0);
    drop();
    stop_child(&children[0]);
    stop_child(&children[2]);
}

enum { FOLLOWERS = 12 };
static atomic_bool enough;

static void *assign_on_and_on(void *argument) {
    (void)argument;
    for (uint32_t level = 0; !atomic_load(&enough); level = !level) {
        CHECK_EQ(assign(level), 0);
        usleep(500); /* whoever follows needs a moment between two, as any loop leaves */
    }
    return NULL;
}

static void test_nobody_is_passed_by_when_an_assignment_is_under_way(void) {
    struct child children[FOLLOWERS + 1];
    pthread_t loop;
    for (int i = 0; i <= FOLLOWERS; i++)
        children[i] = start_child();
    make(children, 1);
    atomic_store(&enough, false);
    CHECK_EQ(pthread_create(&loop, NULL, assign_on_and_on, NULL), 0);
    for (uint32_t i = 1; i <= FOLLOWERS; i++)
        CHECK_EQ(sh_affinity_follow(&affinity, i, open_tasks(children[i].pid)), 0);
    atomic_store(&enough, true);
    CHECK_EQ(pthread_join(loop, NULL), 0);
    for (int i = 0; i <= FOLLOWERS; i++)
        CHECK(runs_at(children[i].pid, (int)affinity.current));
    drop();
    for (int i = 0; i <= FOLLOWERS; i++)
        stop_child(&children[i]);
}

/* A group's list of tasks. */
static int list_of(const int32_t *tids, int count) {
    char text[256];
    int used = 0;
    const int fd = memfd_create("tasks", MFD_CLOEXEC);
    CHECK(fd >= 0);
    for (int i = 0; i < count; i++)
        used += sprintf(text + used, "%d\n", tids[i]);
    CHECK_EQ(write(fd, text, (size_t)used), used);
    return fd;
}

static void test_the_threads_of_groups_get_the_mask_and_newcomers_when_looked_for(void) {
    struct child children[2] = {start_child(), start_child()};
    static const int32_t NOBODY[LEVELS] = {-1, -1};
    make(children, 0);
    affinity.task_files[0] = list_of(children[0].tids, THREADS);
    affinity.task_files[1] = list_of(children[1].tids, THREADS - 1);
    affinity.group_count = 2;
    affinity.added_cpu = NOBODY;
    CHECK_EQ(assign(0), 0);
    for (int i = 0; i < 2 * THREADS - 1; i++)
        CHECK(runs_at(children[i / THREADS].tids[i % THREADS], 0));
    CHECK(runs_at(children[1].tids[THREADS - 1], LEVELS - 1));
    close(affinity.task_files[1]);
    affinity.task_files[1] = list_of(children[1].tids, THREADS);
    CHECK_EQ(assign(0), 0); /* in force already: nobody is looked at */
    CHECK(runs_at(children[1].tids[THREADS - 1], LEVELS - 1));
    CHECK_EQ(sh_affinity_refresh(&affinity), 0);
    CHECK(runs_at(children[1].tids[THREADS - 1], 0));
    CHECK_EQ(assign(LEVELS - 1), 0);
    CHECK(runs_at(children[0].pid, LEVELS - 1));
    close(affinity.task_files[0]);
    close(affinity.task_files[1]);
    stop_child(&children[0]);
    stop_child(&children[1]);
}

static void test_a_group_may_be_empty_and_its_list_must_be_readable(void) {
    make(NULL, 0);
    affinity.task_files[0] = list_of(NULL, 0);
    affinity.group_count = 1;
    CHECK_EQ(assign(0), 0);
    close(affinity.task_files[0]);
    CHECK(assign(1) < 0);
}

static void test_a_thread_that_a_failed_move_may_leave_on_one_cpu_is_told(void) {
    static _Atomic int32_t pinned;
    const int32_t busy = fork();
    CHECK(busy >= 0);
    if (busy == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    make(NULL, 0);
    const int32_t added[LEVELS] = {-1, some_cpu()};
    affinity.task_files[0] = list_of(&busy, 1);
    affinity.task_files[1] = list_of(NULL, 0);
    affinity.group_count = 2;
    affinity.added_cpu = added;
    affinity.pinned_tid = &pinned;
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(pinned, 0);
    close(affinity.task_files[1]);
    CHECK(assign(1) < 0);
    CHECK_EQ(pinned, busy);
    affinity.group_count = 1;
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(pinned, 0);
    CHECK(runs_at(busy, 1));
    close(affinity.task_files[0]);
    end_child(busy);
}

int main(void) {
    RUN(test_a_thread_that_a_failed_move_may_leave_on_one_cpu_is_told);
    RUN(test_a_process_that_is_followed_gets_the_mask_in_force_and_those_after_it);
    RUN(test_the_slot_of_a_process_that_has_ended_is_used_again);
    RUN(test_nobody_is_passed_by_when_an_assignment_is_under_way);
    RUN(test_a_pinned_thread_keeps_as_much_of_its_pin_as_there_is);
    RUN(test_every_thread_of_every_process_gets_the_mask);
    RUN(test_a_level_in_force_is_not_written_again);
    RUN(test_a_thread_born_later_is_moved_with_the_others);
    RUN(test_the_living_are_moved_when_one_process_has_gone);
    RUN(test_a_thread_that_was_given_other_cpus_meanwhile_is_noted_and_moved_all_the_same);
    RUN(test_a_mask_without_a_cpu_is_refused);
    RUN(test_the_threads_of_groups_get_the_mask_and_newcomers_when_looked_for);
    RUN(test_a_group_may_be_empty_and_its_list_must_be_readable);
    return 0;
}
