/* The loop's rules (csrc/loop.h), poll by poll in virtual time. */
#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"
#include "fake_actuator.h"
#include "fake_sensor.h"
#include "loop.h"

enum { POLL_NS = 50000, WINDOW_POLLS = 10, SEQ_LAST = 0xffffff };

struct rig {
    struct sh_loop loop;
    struct sh_fake_sensor sensor;
    struct sh_fake_actuator actuator;
    int32_t busy; /* what the sensor says; negative: its error */
    int64_t now_ns;
};

static struct sh_loop_config usual(void) {
    return (struct sh_loop_config){
        .window_ns = WINDOW_POLLS * POLL_NS,
        .poll_ns = POLL_NS,
        .plan_ttl_ns = 100 * WINDOW_POLLS * POLL_NS,
        .stale_ns = 20 * POLL_NS,
        .total = 8,
        .max_harvest = 8,
        .keep_idle = 1,
    };
}

static struct rig *make(struct sh_loop_config config) {
    struct rig *rig = calloc(1, sizeof(*rig));
    CHECK(rig);
    CHECK_EQ(sh_loop_init(&rig->loop, &config), 0);
    rig->sensor.script = &rig->busy;
    rig->sensor.script_length = 1;
    sh_fake_sensor_init(&rig->sensor, &rig->loop.sensor);
    sh_fake_actuator_init(&rig->actuator, &rig->loop.actuator);
    rig->now_ns = 1000000000;
    return rig;
}

static void drop(struct rig *rig) {
    sh_loop_destroy(&rig->loop);
    free(rig);
}

static uint32_t last_assigned(const struct rig *rig) {
    return rig->actuator.levels[(rig->actuator.count - 1) % SH_FAKE_ACTUATOR_KEPT];
}

/* One punctual poll that finds `busy` cores busy. */
static int try_poll(struct rig *rig, int32_t busy) {
    rig->busy = busy;
    rig->now_ns += rig->loop.config.poll_ns;
    return sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns);
}

static void poll_busy(struct rig *rig, int32_t busy) {
    CHECK_EQ(try_poll(rig, busy), 0);
    /* Rules 1 and 2, and the actuator was told what the loop believes. */
    const struct sh_loop *loop = &rig->loop;
    const uint32_t total = loop->config.total;
    CHECK_EQ(loop->primary_cores + loop->harvested, total);
    CHECK_EQ(last_assigned(rig), loop->harvested);
    CHECK(loop->primary_cores == total || loop->primary_cores >= (uint32_t)busy + 1);
}

static void post(struct rig *rig, uint32_t seq, uint32_t primary_cores, uint32_t safe_cores) {
    const struct sh_plan plan = {
        .seq = seq, .primary_cores = primary_cores, .safe_cores = safe_cores};
    sh_loop_post(&rig->loop, &plan);
}

static void post_buffer(struct rig *rig, uint32_t seq, uint32_t buffer) {
    const uint32_t total = rig->loop.config.total;
    const struct sh_plan plan = {
        .seq = seq, .primary_cores = total, .safe_cores = total, .buffer = buffer};
    sh_loop_post(&rig->loop, &plan);
}

static struct sh_summary take(struct rig *rig) {
    struct sh_summary summary;
    CHECK(sh_loop_take(&rig->loop, &summary));
    return summary;
}

static bool nothing_waits(struct rig *rig) {
    struct sh_summary summary;
    return !sh_loop_take(&rig->loop, &summary);
}

/* A rig in its first window that holds `primary_cores` by a plan. */
static struct rig *holding(struct sh_loop_config config, uint32_t primary_cores, uint32_t safe) {
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post(rig, 0, primary_cores, safe);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, primary_cores);
    return rig;
}

static void test_settings_out_of_range_are_refused(void) {
    static struct sh_loop loop;
    struct sh_loop_config wrong[9];
    for (int i = 0; i < 9; i++)
        wrong[i] = usual();
    wrong[0].poll_ns = 0;
    wrong[1].window_ns = wrong[1].poll_ns - 1;
    wrong[2].total = 0;
    wrong[3].total = SH_MAX_CORES + 1;
    wrong[4].keep_idle = 0;
    wrong[5].plan_ttl_ns = 0;
    wrong[6].stale_ns = 0;
    wrong[7].poll_ns = -1;
    wrong[8].stale_ns = -1;
    for (int i = 0; i < 9; i++)
        CHECK_EQ(sh_loop_init(&loop, &wrong[i]), -EINVAL);
}

static void test_before_any_plan_the_primary_keeps_everything(void) {
    struct rig *rig = make(usual());
    for (int i = 0; i < 50; i++)
        poll_busy(rig, i % 9);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(rig->actuator.count, 1); /* the first poll makes the host what the loop believes */
    CHECK_EQ(rig->loop.counters.short_safeguards, 0);
    drop(rig);
}

static void test_windows_meet_without_gap_and_hold_every_poll(void) {
    struct rig *rig = make(usual());
    struct sh_summary before = {0};
    for (int i = 0; i < 5 * WINDOW_POLLS + 1; i++)
        poll_busy(rig, i % 4);
    for (uint32_t seq = 1; seq <= 5; seq++) {
        const struct sh_summary now = take(rig);
        CHECK_EQ(now.seq, seq);
        CHECK_EQ(now.polls, seq == 1 ? WINDOW_POLLS + 1 : WINDOW_POLLS);
        CHECK_EQ(now.end_ns - now.start_ns, WINDOW_POLLS * POLL_NS);
        CHECK_EQ(now.flags, 0);
        CHECK_EQ(now.busy_max, 3);
        CHECK_EQ(now.features.max, 3);
        CHECK_EQ(now.primary_cores, 8);
        if (seq > 1)
            CHECK_EQ(now.start_ns, before.end_ns);
        before = now;
    }
    CHECK(nothing_waits(rig));
    CHECK_EQ(rig->loop.counters.windows, 5);
    drop(rig);
}

static void test_a_plan_lends_what_it_leaves(void) {
    struct rig *rig = holding(usual(), 3, 8);
    CHECK_EQ(rig->loop.harvested, 5);
    CHECK_EQ(last_assigned(rig), 5);
    poll_busy(rig, 1);
    CHECK_EQ(rig->actuator.count, 2); /* assigned only when something changes */
    drop(rig);
}

static void test_a_plan_never_goes_below_busy_and_keep_idle(void) {
    struct sh_loop_config config = usual();
    config.keep_idle = 3;
    struct rig *rig = make(config);
    poll_busy(rig, 2);
    post(rig, 0, 0, 8);
    poll_busy(rig, 2);
    CHECK_EQ(rig->loop.primary_cores, 5);
    poll_busy(rig, 4); /* not exhausted: 4 < 5 */
    CHECK_EQ(rig->loop.primary_cores, 7);
    poll_busy(rig, 6);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(rig->loop.counters.short_safeguards, 0);
    drop(rig);
}

static void test_a_window_tells_what_was_held_before_its_last_poll(void) {
    struct rig *rig = holding(usual(), 3, 8);
    while (rig->loop.window.polls < WINDOW_POLLS)
        poll_busy(rig, 0);
    post(rig, 0, 5, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 5);
    CHECK_EQ(take(rig).primary_cores, 3);
    drop(rig);
}

static void test_a_raised_floor_stays_until_the_next_plan(void) {
    struct rig *rig = holding(usual(), 2, 8);
    poll_busy(rig, 1);
    CHECK_EQ(rig->loop.primary_cores, 2);
    post(rig, 0, 1, 8);
    poll_busy(rig, 1);
    CHECK_EQ(rig->loop.primary_cores, 2);
    for (int i = 0; i < 2 * WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 2);
    post(rig, 1, 1, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 1);
    drop(rig);
}

static void test_never_more_is_lent_than_max_harvest(void) {
    struct sh_loop_config config = usual();
    config.max_harvest = 2;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post(rig, 0, 0, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.harvested, 2);
    post_buffer(rig, 1, 1);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.harvested, 2);
    drop(rig);
}

static void test_nothing_is_lent_with_a_max_harvest_of_zero(void) {
    struct sh_loop_config config = usual();
    config.max_harvest = 0;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post(rig, 0, 0, 0);
    for (int i = 0; i < 20; i++)
        poll_busy(rig, i % 9);
    CHECK_EQ(rig->actuator.count, 1);
    CHECK_EQ(rig->loop.counters.short_safeguards, 0);
    drop(rig);
}

static void test_exhaustion_breaks_the_window_and_gives_the_safe_cores(void) {
    struct rig *rig = holding(usual(), 3, 6);
    poll_busy(rig, 3);
    CHECK_EQ(rig->loop.primary_cores, 6);
    CHECK_EQ(rig->loop.counters.short_safeguards, 1);
    const struct sh_summary broken = take(rig);
    CHECK_EQ(broken.flags, SH_WINDOW_EXHAUSTED);
    CHECK_EQ(broken.primary_cores, 3); /* before the reaction */
    CHECK_EQ(broken.busy_max, 3);
    CHECK_EQ(broken.busy_last, 3);
    CHECK_EQ(broken.polls, 3);
    CHECK_EQ(broken.end_ns, rig->now_ns);
    poll_busy(rig, 0); /* the reaction stands until it is answered */
    CHECK_EQ(rig->loop.primary_cores, 6);
    CHECK_EQ(rig->loop.window.start_ns, broken.end_ns);
    CHECK_EQ(rig->loop.window.polls, 1);
    drop(rig);
}

static void test_the_reaction_is_at_least_busy_and_keep_idle(void) {
    struct sh_loop_config config = usual();
    config.keep_idle = 2;
    struct rig *rig = holding(config, 3, 0);
    poll_busy(rig, 4);
    CHECK_EQ(rig->loop.primary_cores, 6);
    drop(rig);
}

static void test_the_reaction_is_at_least_one_core_more(void) {
    struct rig *rig = holding(usual(), 3, 0);
    poll_busy(rig, 3);
    CHECK_EQ(rig->loop.primary_cores, 4);
    drop(rig);
}

static void test_the_reaction_never_exceeds_the_total(void) {
    struct rig *rig = holding(usual(), 7, 8);
    poll_busy(rig, 1000000);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(take(rig).flags, SH_WINDOW_EXHAUSTED);
    drop(rig);
}

static void test_a_busy_pool_of_which_nothing_is_lent_is_not_exhausted(void) {
    struct rig *rig = holding(usual(), 8, 8);
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 9);
    CHECK_EQ(rig->loop.counters.short_safeguards, 0);
    CHECK_EQ(take(rig).flags, 0);
    drop(rig);
}

static void test_a_plan_older_than_the_broken_window_is_ignored(void) {
    struct rig *rig = make(usual());
    for (int i = 0; i <= WINDOW_POLLS; i++)
        poll_busy(rig, 0); /* window 1 */
    post(rig, 1, 2, 5);
    poll_busy(rig, 0);
    poll_busy(rig, 2); /* window 2 breaks */
    CHECK_EQ(rig->loop.primary_cores, 5);
    post(rig, 1, 1, 1); /* was under way meanwhile */
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 5);
    drop(rig);
}

static void test_the_answer_to_a_broken_window_does_not_undo_the_reaction(void) {
    struct rig *rig = holding(usual(), 2, 5);
    poll_busy(rig, 2); /* window 1 breaks */
    post(rig, 1, 3, 7);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 5);
    CHECK_EQ(rig->loop.plan.safe_cores, 7); /* but it is taken up */
    post(rig, 2, 3, 7);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 3);
    drop(rig);
}

static void test_the_answer_to_a_broken_window_may_give_more(void) {
    struct rig *rig = holding(usual(), 2, 4);
    poll_busy(rig, 2);
    post(rig, 1, 7, 8);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 7);
    drop(rig);
}

static void test_sequence_numbers_wrap_in_plans(void) {
    for (uint32_t seq = SEQ_LAST - 1; seq <= SEQ_LAST + 3; seq++) {
        struct rig *rig = holding(usual(), 2, 5);
        rig->loop.seq = seq;
        poll_busy(rig, 2); /* window seq breaks */
        post(rig, seq - 1, 1, 5);
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 5);
        post(rig, seq, 1, 5);
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 5);
        post(rig, seq + 1, 1, 5);
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 1);
        drop(rig);
    }
}

static void test_a_broken_window_of_long_ago_does_not_shut_out_plans(void) {
    struct rig *rig = holding(usual(), 2, 5);
    poll_busy(rig, 2);
    post(rig, 1, 5, 5);
    poll_busy(rig, 0);
    post(rig, 2 + SEQ_LAST / 2, 3, 5); /* half the numbers later: by number alone it looks older */
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 3);
    drop(rig);
}

static void test_the_window_counter_wraps_without_a_second_beginning(void) {
    struct rig *rig = holding(usual(), 3, 8);
    rig->loop.seq = UINT32_MAX;
    for (int i = 0; i < 3 * WINDOW_POLLS; i++)
        poll_busy(rig, 1); /* checks that the actuator agrees */
    CHECK_EQ(rig->loop.primary_cores, 3);
    drop(rig);
}

static void test_a_plan_travels_whole(void) {
    struct sh_loop_config config = usual();
    config.total = config.max_harvest = SH_MAX_CORES;
    struct rig *rig = holding(config, SH_MAX_CORES - 1, SH_MAX_CORES);
    const struct sh_plan plans[] = {
        {SEQ_LAST, SH_MAX_CORES, SH_MAX_CORES, (1 << 11) - 2, false, 0, false},
        {0, 0, 0, 0, false, 0, false},
        {1, SH_MAX_CORES, 0, 0, false, 0, false},
        {2, 0, SH_MAX_CORES, 0, false, 0, false},
        {3, 0, 0, (1 << 11) - 2, true, 15876000, false},
        {0x5a5a5a, 0x155, 0x2aa, 0x555, true, 0, false},
        {0x2bcdef, 7, 8, 0, false, 0, true},
    };
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        sh_loop_post(&rig->loop, &plans[i]);
        rig->now_ns += POLL_NS;
        rig->busy = 0;
        CHECK_EQ(sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns), 0);
        CHECK_EQ(rig->loop.plan.seq, plans[i].seq);
        CHECK_EQ(rig->loop.plan.safe_cores, plans[i].safe_cores);
        CHECK_EQ(rig->loop.plan.buffer, plans[i].buffer);
        CHECK_EQ(rig->loop.plan.patient, plans[i].patient);
        CHECK_EQ(rig->loop.plan.shared, plans[i].shared);
        if (plans[i].patient)
            CHECK_EQ(rig->loop.plan.quiet_ns, plans[i].quiet_ns);
        if (plans[i].primary_cores) /* else raised to busy + 1 */
            CHECK_EQ(rig->loop.plan.primary_cores, plans[i].primary_cores);
    }
    drop(rig);
}

static void test_a_buffer_beyond_all_cores_is_as_good_as_all(void) {
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    post_buffer(rig, 0, 1 << 11);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(rig->loop.plan.buffer, (1 << 11) - 2);
    drop(rig);
}

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

static void test_a_buffer_is_kept_at_every_poll_and_breaks_no_window(void) {
    const int32_t busy[] = {0, 1, 2, 5, 1, 0, 8, 0};
    const uint32_t held[] = {2, 3, 4, 7, 3, 2, 8, 2};
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    post_buffer(rig, 0, 2);
    for (int i = 0; i < 8; i++) {
        poll_busy(rig, busy[i]);
        CHECK_EQ(rig->loop.primary_cores, held[i]);
    }
    CHECK_EQ(rig->loop.counters.short_safeguards, 2); /* 5 of 4 and 8 of 2 */
    poll_busy(rig, 0);
    CHECK(nothing_waits(rig));
    poll_busy(rig, 0);
    const struct sh_summary whole = take(rig);
    CHECK_EQ(whole.flags, 0);
    CHECK_EQ(whole.polls, WINDOW_POLLS + 1);
    drop(rig);
}

static void post_patient(struct rig *rig, uint32_t least, uint32_t buffer, int64_t quiet_ns) {
    const struct sh_plan plan = {0, least, 8, buffer, true, quiet_ns, false};
    sh_loop_post(&rig->loop, &plan);
}

static void test_a_patient_buffer_grows_at_once_and_shrinks_after_a_quiet_time(void) {
    const int32_t busy[] = {0, 0, 0, 0, 3, 1, 2, 1, 1, 1, 1, 1, 6, 1};
    /* After three quiet polls: what was wanted at most meanwhile. */
    const uint32_t held[] = {8, 8, 8, 1, 4, 4, 4, 3, 3, 3, 2, 2, 7, 7};
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    post_patient(rig, 0, 1, 144000);
    for (int i = 0; i < 14; i++) {
        poll_busy(rig, busy[i]);
        CHECK_EQ(rig->loop.primary_cores, held[i]);
    }
    drop(rig);
}

static void test_a_patient_buffer_leaves_the_fewest_cores(void) {
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    post_patient(rig, 5, 1, 0);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 5);
    poll_busy(rig, 6);
    CHECK_EQ(rig->loop.primary_cores, 7);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 5);
    CHECK_EQ(rig->loop.counters.short_safeguards, 1);
    drop(rig);
}

static void test_a_patient_plan_that_expires_gives_everything_back(void) {
    struct sh_loop_config config = usual();
    config.plan_ttl_ns = 3 * POLL_NS;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post_patient(rig, 0, 1, 0);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 1);
    for (int i = 0; i < 4; i++)
        poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    drop(rig);
}

static void test_a_quiet_time_travels_as_a_root_and_is_never_shorter(void) {
    const int64_t asked_ns[] = {0, 1, 250000, 4000000, 1000000000};
    const int64_t got_ns[] = {0, 1000, 256000, 4096000, 15876000};
    struct rig *rig = make(usual());
    for (int i = 0; i < 5; i++) {
        post_patient(rig, 0, 1, asked_ns[i]);
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.plan.quiet_ns, got_ns[i]);
        CHECK(rig->loop.plan.patient);
    }
    post_buffer(rig, 0, 1);
    poll_busy(rig, 0);
    CHECK(!rig->loop.plan.patient);
    drop(rig);
}

static void test_keep_idle_is_the_least_buffer(void) {
    struct sh_loop_config config = usual();
    config.keep_idle = 3;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post_buffer(rig, 0, 1);
    poll_busy(rig, 2);
    CHECK_EQ(rig->loop.primary_cores, 5);
    drop(rig);
}

static void test_late_polls_are_counted_with_those_they_missed(void) {
    struct rig *rig = make(usual());
    rig->busy = 0;
    rig->now_ns += POLL_NS;
    CHECK_EQ(sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns + POLL_NS - 1), 0);
    CHECK_EQ(rig->loop.counters.late_polls, 0);
    CHECK_EQ(sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns + 3 * POLL_NS + 1), 0);
    CHECK_EQ(rig->loop.counters.late_polls, 1);
    CHECK_EQ(rig->loop.counters.missed_polls, 3);
    CHECK_EQ(rig->loop.lateness.total, 2);
    CHECK_EQ(rig->loop.lateness.max_ns, 3 * POLL_NS + 1);
    drop(rig);
}

static void test_core_time_is_what_was_held_since_the_poll_before(void) {
    struct rig *rig = holding(usual(), 3, 8); /* 5 lent from here on */
    poll_busy(rig, 2);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.counters.polls, 4);
    CHECK_EQ(rig->loop.counters.polled_ns, 3 * POLL_NS);
    CHECK_EQ(rig->loop.counters.harvested_core_ns, 2 * 5 * POLL_NS);
    CHECK_EQ(rig->loop.counters.busy_core_ns, 2 * POLL_NS);
    CHECK_EQ(rig->loop.counters.assignments, 1);
    drop(rig);
}

static int read_more_demand(void *ctx, int64_t now_ns, uint32_t harvested, struct sh_reading *out) {
    uint32_t *told = ctx;
    (void)now_ns;
    *told = harvested;
    *out = (struct sh_reading){.busy = 1, .demand = 4};
    return 0;
}

static void test_the_sensor_is_told_what_is_lent_and_demand_reaches_the_window(void) {
    struct rig *rig = holding(usual(), 3, 8);
    uint32_t told = 0;
    rig->loop.sensor = (struct sh_sensor){.read = read_more_demand, .ctx = &told};
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(told, 5);
    CHECK_EQ(take(rig).demand_max, 4);
    drop(rig);
}

static void test_waiting_tells_whether_a_window_is_there(void) {
    struct rig *rig = make(usual());
    poll_busy(rig, 0);
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 0);
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 1);
    take(rig);
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 0);
    drop(rig);
}

static void test_a_window_that_needs_no_answer_wakes_nobody_until_half_the_ring_is_full(void) {
    struct rig *rig = make(usual());
    sh_loop_hurry(&rig->loop, false);
    while (rig->loop.counters.windows <= SH_RING_WINDOWS / 2) {
        CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 0);
        poll_busy(rig, 0);
    }
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 1);
    CHECK_EQ(rig->loop.counters.dropped_windows, 0);
    sh_loop_hurry(&rig->loop, true);
    while (!nothing_waits(rig))
        ;
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 1);
    drop(rig);
}

static void test_waiting_ends_for_another_descriptor_too(void) {
    struct rig *rig = make(usual());
    const int other = eventfd(1, EFD_CLOEXEC);
    CHECK(other >= 0);
    CHECK_EQ(sh_loop_wait(&rig->loop, 1000, other), 1);
    close(other);
    drop(rig);
}

static bool plan_wakes(struct rig *rig, const struct sh_plan *plan) {
    uint64_t drained;
    sh_loop_post(&rig->loop, plan);
    return read(rig->loop.plan_fd, &drained, sizeof(drained)) > 0;
}

static void test_a_plan_wakes_the_thread_only_if_it_changes_anything(void) {
    struct sh_loop_config config = usual();
    config.event_driven = true; /* otherwise the next poll is near */
    config.max_harvest = 4;
    struct rig *rig = make(config);
    struct sh_plan plan = {.seq = 0, .primary_cores = 3, .safe_cores = 5};
    poll_busy(rig, 0);
    CHECK(plan_wakes(rig, &plan));
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 4); /* by the limit */
    plan.seq = 1;
    CHECK(!plan_wakes(rig, &plan));
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.plan.seq, 1);
    plan.safe_cores = 6;
    CHECK(plan_wakes(rig, &plan));
    poll_busy(rig, 4); /* exhausted: all cores but one come back */
    CHECK(rig->loop.primary_cores > 4);
    plan.seq = 2;
    CHECK(plan_wakes(rig, &plan)); /* the same, but cores have moved since */
    plan.shared = true;
    CHECK(plan_wakes(rig, &plan));
    CHECK(!plan_wakes(rig, &plan));
    drop(rig);
}

static void test_a_repeated_plan_lasts_from_the_beginning_of_its_window(void) {
    struct sh_loop_config config = usual();
    config.plan_ttl_ns = 2 * WINDOW_POLLS * POLL_NS;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post(rig, 0, 3, 5);
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    const int64_t began_ns = rig->loop.window.start_ns;
    poll_busy(rig, 0);
    post(rig, 1, 3, 5);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.plan_adopted_ns, began_ns);
    while (rig->now_ns < began_ns + config.plan_ttl_ns) {
        poll_busy(rig, 0);
        CHECK_EQ(rig->loop.primary_cores, 3);
    }
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    drop(rig);
}

/* What two loops that were driven alike must share: all but descriptors and seams. */
static void check_alike(const struct rig *a, const struct rig *b) {
    const struct sh_counters *x = &a->loop.counters, *y = &b->loop.counters;
    CHECK(memcmp(&a->loop.window, &b->loop.window, sizeof(a->loop.window)) == 0);
    CHECK(memcmp(x, y, sizeof(*x)) == 0);
    CHECK(memcmp(&a->loop.lateness, &b->loop.lateness, sizeof(a->loop.lateness)) == 0);
    CHECK(memcmp(a->loop.ring, b->loop.ring, sizeof(a->loop.ring)) == 0);
    CHECK(memcmp(&a->loop.plan, &b->loop.plan, sizeof(a->loop.plan)) == 0);
    CHECK_EQ(a->loop.quiet_since_ns, b->loop.quiet_since_ns);
    CHECK_EQ(a->loop.quiet_most, b->loop.quiet_most);
    CHECK_EQ(a->loop.seq, b->loop.seq);
    CHECK_EQ(a->loop.primary_cores, b->loop.primary_cores);
    CHECK_EQ(a->loop.last_poll_ns, b->loop.last_poll_ns);
    CHECK_EQ(a->actuator.count, b->actuator.count);
}

/* Polls until until_ns that all find `busy`: one by one, or repeated as far as that goes. */
static uint64_t poll_on(struct rig *rig, int32_t busy, int64_t until_ns, bool repeating) {
    const struct sh_reading reading = {(uint32_t)busy, (uint32_t)busy};
    uint64_t repeated = 0;
    CHECK_EQ(try_poll(rig, busy), 0);
    while (rig->now_ns + POLL_NS < until_ns) {
        const uint64_t made = repeating ? sh_loop_repeat(&rig->loop, until_ns, &reading) : 0;
        rig->now_ns += (int64_t)made * POLL_NS;
        repeated += made;
        if (made == 0)
            CHECK_EQ(try_poll(rig, busy), 0);
    }
    return repeated;
}

static void test_repeated_polls_are_those_polls(void) {
    uint64_t repeated = 0;
    srand(7);
    for (int round = 0; round < 200; round++) {
        struct sh_loop_config config = usual();
        config.keep_idle = 1 + (uint32_t)rand() % 3;
        config.max_harvest = (uint32_t)rand() % 9;
        config.plan_ttl_ns = (1 + rand() % 40) * POLL_NS;
        struct rig *plain = make(config), *quick = make(config);
        for (int change = 0; change < 40; change++) {
            const int32_t busy = rand() % 10;
            const int64_t until_ns = plain->now_ns + rand() % (30 * POLL_NS);
            const uint32_t seq = rand() % 3 ? plain->loop.seq : 1 + (uint32_t)rand() % 5;
            const struct sh_plan plan = {
                .seq = seq,
                .primary_cores = (uint32_t)rand() % 9,
                .safe_cores = (uint32_t)rand() % 9,
                .buffer = rand() % 2 ? 0 : (uint32_t)rand() % 4,
                .patient = rand() % 2,
                .quiet_ns = rand() % (20 * POLL_NS),
            };
            if (rand() % 2) {
                sh_loop_post(&plain->loop, &plan);
                sh_loop_post(&quick->loop, &plan);
            }
            poll_on(plain, busy, until_ns, false);
            repeated += poll_on(quick, busy, until_ns, true);
            check_alike(plain, quick);
        }
        drop(plain);
        drop(quick);
    }
    CHECK(repeated > 10000); /* not everything was made one by one */
}

int main(void) {
    RUN(test_settings_out_of_range_are_refused);
    RUN(test_before_any_plan_the_primary_keeps_everything);
    RUN(test_windows_meet_without_gap_and_hold_every_poll);
    RUN(test_a_plan_lends_what_it_leaves);
    RUN(test_a_plan_never_goes_below_busy_and_keep_idle);
    RUN(test_a_window_tells_what_was_held_before_its_last_poll);
    RUN(test_a_raised_floor_stays_until_the_next_plan);
    RUN(test_never_more_is_lent_than_max_harvest);
    RUN(test_nothing_is_lent_with_a_max_harvest_of_zero);
    RUN(test_exhaustion_breaks_the_window_and_gives_the_safe_cores);
    RUN(test_the_reaction_is_at_least_busy_and_keep_idle);
    RUN(test_the_reaction_is_at_least_one_core_more);
    RUN(test_the_reaction_never_exceeds_the_total);
    RUN(test_a_busy_pool_of_which_nothing_is_lent_is_not_exhausted);
    RUN(test_a_plan_older_than_the_broken_window_is_ignored);
    RUN(test_the_answer_to_a_broken_window_does_not_undo_the_reaction);
    RUN(test_the_answer_to_a_broken_window_may_give_more);
    RUN(test_sequence_numbers_wrap_in_plans);
    RUN(test_a_broken_window_of_long_ago_does_not_shut_out_plans);
    RUN(test_the_window_counter_wraps_without_a_second_beginning);
    RUN(test_a_plan_travels_whole);
    RUN(test_a_buffer_beyond_all_cores_is_as_good_as_all);
    RUN(test_without_a_new_plan_everything_comes_back);
    RUN(test_a_gap_without_polls_voids_the_window);
    RUN(test_a_sensor_that_fails_halts_the_loop_and_gives_everything_back);
    RUN(test_an_actuator_that_fails_halts_the_loop_and_gives_everything_back);
    RUN(test_an_actuator_that_fails_at_once_halts_the_first_poll);
    RUN(test_an_actuator_that_fails_after_a_gap_halts_the_loop);
    RUN(test_a_halted_loop_stays_halted);
    RUN(test_a_full_ring_drops_windows_but_keeps_room_for_the_halt);
    RUN(test_the_ring_goes_round);
    RUN(test_a_buffer_is_kept_at_every_poll_and_breaks_no_window);
    RUN(test_a_patient_buffer_grows_at_once_and_shrinks_after_a_quiet_time);
    RUN(test_a_patient_buffer_leaves_the_fewest_cores);
    RUN(test_a_patient_plan_that_expires_gives_everything_back);
    RUN(test_a_quiet_time_travels_as_a_root_and_is_never_shorter);
    RUN(test_keep_idle_is_the_least_buffer);
    RUN(test_late_polls_are_counted_with_those_they_missed);
    RUN(test_core_time_is_what_was_held_since_the_poll_before);
    RUN(test_the_sensor_is_told_what_is_lent_and_demand_reaches_the_window);
    RUN(test_waiting_tells_whether_a_window_is_there);
    RUN(test_a_window_that_needs_no_answer_wakes_nobody_until_half_the_ring_is_full);
    RUN(test_waiting_ends_for_another_descriptor_too);
    RUN(test_a_plan_wakes_the_thread_only_if_it_changes_anything);
    RUN(test_a_repeated_plan_lasts_from_the_beginning_of_its_window);
    RUN(test_repeated_polls_are_those_polls);
    return 0;
}
