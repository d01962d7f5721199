/* Watchers of standstills: what they note is read while they run, and they end when told. */
#define _GNU_SOURCE
#include "lab/standstill.h"

#include <errno.h>
#include <stdlib.h>

#include "check.h"
#include "threads.h"

static void test_every_late_wake_up_is_noted_in_its_order(void) {
    struct sh_standstill_watcher *watchers = calloc(1, sizeof(*watchers));
    struct sh_standstill_watch watch = {
        .period_ns = 100000, .least_late_ns = -1, .count = 1, .watchers = watchers};
    CHECK(watchers);
    const int err = sh_standstill_start(&watch);
    if (err == -EPERM) { /* not root */
        free(watchers);
        return;
    }
    CHECK_EQ(err, 0);
    AWAIT(sh_standstill_gap_count(watchers) == SH_STANDSTILL_GAPS);
    sh_standstill_stop(&watch);
    for (uint32_t i = 0; i < SH_STANDSTILL_GAPS; i++) {
        const struct sh_standstill_gap *gap = &watchers->gaps[i];
        CHECK(gap->until_ns - gap->from_ns >= watch.period_ns);
        CHECK(i == 0 || gap->from_ns == gap[-1].until_ns);
    }
    free(watchers);
}

static void test_a_cpu_that_is_not_there_leaves_nothing_running(void) {
    struct sh_standstill_watcher *watchers = calloc(2, sizeof(*watchers));
    struct sh_standstill_watch watch = {
        .period_ns = 100000, .least_late_ns = -1, .count = 2, .watchers = watchers};
    CHECK(watchers);
    watchers[1].cpu = 1000000;
    const int err = sh_standstill_start(&watch);
    CHECK(err == -EINVAL || err == -EPERM);
    free(watchers);
}

int main(void) {
    RUN(test_every_late_wake_up_is_noted_in_its_order);
    RUN(test_a_cpu_that_is_not_there_leaves_nothing_running);
    return 0;
}
