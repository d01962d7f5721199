/* The child of a probe: it is gone afterwards, however far it came. */
#define _GNU_SOURCE
#include "sensors/wake_probe.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"

static int64_t in_seconds(int64_t seconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return ((int64_t)t.tv_sec + seconds) * 1000000000 + t.tv_nsec;
}

static struct sh_wake_probe probe_here(void) {
    return (struct sh_wake_probe){.cpu = sched_getcpu(),
                                  .waker_cpu = -1,
                                  .group_fd = -1,
                                  .idle_policy = true,
                                  .wakes = 4,
                                  .interval_ns = 1000000,
                                  .until_ns = in_seconds(1)};
}

/* On a full machine the child may take its time. */
static int start(struct sh_wake_probe *probe) {
    int err;
    do {
        probe->until_ns = in_seconds(1);
        err = sh_wake_probe_start(probe);
    } while (err == -EBUSY);
    return err;
}

/* None, or one that is on its way out. */
static void check_no_child(void) {
    int status;
    while (waitpid(-1, &status, 0) > 0)
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK_EQ(errno, ECHILD);
}

static void test_the_child_is_gone_once_it_is_stopped(void) {
    struct sh_wake_probe probe = probe_here();
    CHECK_EQ(start(&probe), 0);
    CHECK(probe.child > 0);
    CHECK_EQ(sh_wake_probe_run(&probe), 0);
    sh_wake_probe_stop(&probe);
    CHECK_EQ(probe.child, 0);
    check_no_child();
    sh_wake_probe_stop(&probe);
}

static void test_one_that_never_ran_is_gone_too(void) {
    struct sh_wake_probe probe = probe_here();
    CHECK_EQ(start(&probe), 0);
    sh_wake_probe_stop(&probe);
    check_no_child();
    CHECK_EQ(sh_wake_probe_run(&probe), -ESRCH);
}

static void test_a_cpu_that_is_not_there_leaves_no_child(void) {
    struct sh_wake_probe probe = probe_here();
    probe.cpu = 1000000;
    CHECK(sh_wake_probe_start(&probe) < 0);
    CHECK_EQ(probe.child, 0);
    check_no_child();
}

static void test_more_wakes_than_there_is_room_for_are_refused(void) {
    struct sh_wake_probe probe = probe_here();
    probe.wakes = SH_WAKE_PROBE_MOST_WAKES + 1;
    CHECK_EQ(sh_wake_probe_start(&probe), -EINVAL);
    check_no_child();
}

int main(void) {
    test_the_child_is_gone_once_it_is_stopped();
    test_one_that_never_ran_is_gone_too();
    test_a_cpu_that_is_not_there_leaves_no_child();
    test_more_wakes_than_there_is_room_for_are_refused();
    return 0;
}
