/* Doubt gives cores back: expired plans, gaps, failing seams, a ring nobody reads. */
#include <errno.h>

#include "loop_rig.h"

static void test_without_a_new_plan_everything_comes_back(void) {
    struct sh_loop_config config = usual();
    config.plan_ttl_ns = 3 * POLL_NS;
    struct rig *rig = holding(config, 2, 8);
    for (int i = 0; i < 3; i++) {
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 2);
    }
    for (int i = 0; i < 5; i++) {
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 8);
    }
    CHECK_EQ(rig->loop.counters.plans_expired, 1);
    post(rig, 1, 2, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 2);
    drop(rig);
}

static void test_a_permit_keeps_the_plan_in_force_until_it_ends_or_is_withdrawn(void) {
    for (int withdrawn = 0; withdrawn <= 1; withdrawn++) {
        struct sh_loop_config config = usual();
        config.plan_ttl_ns = 3 * POLL_NS;
        struct rig *rig = holding(config, 2, 8);
        sh_loop_permit(&rig->loop, rig->now_ns + 20 * POLL_NS);
        for (int i = 1; i < 20; i++) {
            if (withdrawn && i == 10)
                sh_loop_permit(&rig->loop, 0);
            poll_busy(rig, 0);
            CHECK_EQ(rig->loop.primary_cores, withdrawn && i >= 10 ? 8 : 2);
        }
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 8);
        CHECK_EQ(rig->loop.counters.plans_expired, 1);
        drop(rig);
    }
}

static void test_a_gap_without_polls_voids_the_window(void) {
    struct rig *rig = holding(usual(), 2, 8);
    rig->now_ns += rig->loop.config.stale_ns; /* and one poll more */
    poll_busy(rig, 1);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(rig->loop.counters.stale_windows, 1);
    const struct sh_summary stale = take(rig);
    CHECK_EQ(stale.flags, SH_WINDOW_STALE);
    CHECK_EQ(stale.primary_cores, 2);
    post(rig, 0, 2, 8); /* decided before the gap */
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    post(rig, stale.seq + 1, 2, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 2);
    drop(rig);
}

static void test_a_sensor_that_fails_halts_the_loop_and_gives_everything_back(void) {
    struct rig *rig = holding(usual(), 2, 8);
    CHECK_EQ(try_poll(rig, -EIO), -EIO);
    CHECK_EQ(last_assigned(rig), 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(rig->loop.harvested, 0);
    CHECK_EQ(rig->loop.halt, SH_HALT_SENSOR);
    CHECK_EQ(rig->loop.error, EIO);
    const struct sh_summary last = take(rig);
    CHECK_EQ(last.flags, SH_WINDOW_HALTED);
    CHECK_EQ(last.primary_cores, 2);
    CHECK_EQ(last.polls, 2); /* the failed poll saw nothing */
    drop(rig);
}

static void test_an_actuator_that_fails_halts_the_loop_and_gives_everything_back(void) {
    for (int exhausted = 0; exhausted <= 1; exhausted++) {
        struct rig *rig = holding(usual(), 4, 8);
        rig->actuator.fail_with = EBUSY;
        rig->actuator.fail_at = (int64_t)rig->actuator.count;
        post(rig, 1, 2, 8);
        CHECK_EQ(try_poll(rig, exhausted ? 4 : 0), -EBUSY);
        CHECK_EQ(last_assigned(rig), 0);
        CHECK_EQ(rig->loop.primary_cores, 8);
        CHECK_EQ(rig->loop.halt, SH_HALT_ACTUATOR);
        CHECK_EQ(rig->loop.error, EBUSY);
        CHECK_EQ(take(rig).flags, SH_WINDOW_HALTED);
        drop(rig);
    }
}

static void test_an_actuator_that_fails_at_once_halts_the_first_poll(void) {
    struct rig *rig = make(usual());
    rig->actuator.fail_with = EACCES;
    rig->actuator.fail_at = 0;
    CHECK_EQ(try_poll(rig, 0), -EACCES);
    CHECK_EQ(rig->loop.halt, SH_HALT_ACTUATOR);
    CHECK_EQ(rig->actuator.count, 2); /* once more, since nobody knows what is in force */
    CHECK_EQ(rig->loop.counters.polls, 0);
    drop(rig);
}

static void test_an_actuator_that_fails_after_a_gap_halts_the_loop(void) {
    struct rig *rig = holding(usual(), 4, 8);
    rig->actuator.fail_with = EBUSY;
    rig->actuator.fail_at = (int64_t)rig->actuator.count;
    rig->now_ns += rig->loop.config.stale_ns;
    CHECK_EQ(try_poll(rig, 0), -EBUSY);
    CHECK_EQ(rig->loop.halt, SH_HALT_ACTUATOR);
    CHECK_EQ(last_assigned(rig), 0);
    drop(rig);
}

static void test_a_halted_loop_stays_halted(void) {
    struct rig *rig = holding(usual(), 2, 8);
    CHECK_EQ(try_poll(rig, -EIO), -EIO);
    take(rig);
    const uint64_t assigned = rig->actuator.count;
    post(rig, 1, 2, 8);
    for (int i = 0; i < 2 * WINDOW_POLLS; i++)
        CHECK_EQ(try_poll(rig, 0), -EIO);
    CHECK_EQ(rig->actuator.count, assigned);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK(nothing_waits(rig));
    drop(rig);
}

static void test_a_full_ring_drops_windows_but_keeps_room_for_the_halt(void) {
    enum { WINDOWS = 2 * SH_RING_WINDOWS, KEPT = SH_RING_WINDOWS - 1 };
    struct rig *rig = make(usual());
    for (int i = 0; i <= WINDOWS * WINDOW_POLLS; i++)
        poll_busy(rig, 1);
    CHECK_EQ(rig->loop.counters.windows, WINDOWS);
    CHECK_EQ(rig->loop.counters.dropped_windows, WINDOWS - KEPT);
    CHECK_EQ(try_poll(rig, -EIO), -EIO);
    for (uint32_t seq = 1; seq <= KEPT; seq++)
        CHECK_EQ(take(rig).seq, seq); /* the oldest stay: a reader may be at them */
    const struct sh_summary last = take(rig);
    CHECK_EQ(last.flags, SH_WINDOW_HALTED);
    CHECK_EQ(last.seq, WINDOWS + 1);
    CHECK(nothing_waits(rig));
    drop(rig);
}

static void test_what_is_revoked_comes_back_and_stays_back_until_it_is_not(void) {
    for (int shared = 0; shared <= 1; shared++) {
        struct sh_loop_config config = usual();
        config.max_shared = config.total;
        struct rig *rig = make(config);
        _Atomic uint32_t revoked = 0;
        rig->loop.revocation.revoked = &revoked;
        const struct sh_plan plan = {.primary_cores = 2, .safe_cores = 4, .shared = shared};
        poll_busy(rig, 0);
        sh_loop_post(&rig->loop, &plan);
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 2);
        revoked = 1;
        const struct sh_reading idle = {0, 0};
        CHECK_EQ(sh_loop_repeat(&rig->loop, rig->now_ns + 5 * POLL_NS, &idle), 0);
        poll_busy(rig, 7); /* exhausted as well, where nothing is shared */
        CHECK_EQ(rig->loop.primary_cores, 8);
        CHECK_EQ(rig->loop.counters.short_safeguards, 0);
        sh_loop_post(&rig->loop, &(struct sh_plan){.seq = 1, .primary_cores = 3, .safe_cores = 4});
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 8);
        revoked = 0;
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 3);
        drop(rig);
    }
}

static void test_the_ring_goes_round(void) {
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    for (uint32_t seq = 1; seq <= 3 * SH_RING_WINDOWS; seq++) {
        for (int i = 0; i < WINDOW_POLLS; i++)
            poll_busy(rig, (int32_t)(seq % 5));
        const struct sh_summary summary = take(rig);
        CHECK_EQ(summary.seq, seq);
        CHECK_EQ(summary.busy_last, seq % 5);
    }
    CHECK_EQ(rig->loop.counters.dropped_windows, 0);
    drop(rig);
}

int main(void) {
    RUN(test_without_a_new_plan_everything_comes_back);
    RUN(test_a_permit_keeps_the_plan_in_force_until_it_ends_or_is_withdrawn);
    RUN(test_a_gap_without_polls_voids_the_window);
    RUN(test_a_sensor_that_fails_halts_the_loop_and_gives_everything_back);
    RUN(test_an_actuator_that_fails_halts_the_loop_and_gives_everything_back);
    RUN(test_an_actuator_that_fails_at_once_halts_the_first_poll);
    RUN(test_an_actuator_that_fails_after_a_gap_halts_the_loop);
    RUN(test_a_halted_loop_stays_halted);
    RUN(test_a_full_ring_drops_windows_but_keeps_room_for_the_halt);
    RUN(test_what_is_revoked_comes_back_and_stays_back_until_it_is_not);
    RUN(test_the_ring_goes_round);
    return 0;
}
