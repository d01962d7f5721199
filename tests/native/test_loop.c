/* The loop's rules (csrc/loop/loop.h): windows, plans and the reaction when the buffer runs out. */
#include <errno.h>

#include "loop_rig.h"

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

static int read_more_demand(void *ctx, int64_t now_ns, struct sh_reading *out) {
    (void)ctx, (void)now_ns;
    *out = (struct sh_reading){.busy = 1, .demand = 4};
    return 0;
}

static void test_demand_reaches_the_window(void) {
    struct rig *rig = holding(usual(), 3, 8);
    rig->loop.sensor = (struct sh_sensor){.read = read_more_demand};
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(take(rig).demand_max, 4);
    drop(rig);
}

struct told {
    uint32_t times, harvested, elastic_min;
    int32_t first;
};

static void note_lent(void *ctx, int64_t now_ns, const struct sh_lendable *lendable,
                      uint32_t harvested) {
    struct told *told = ctx;
    (void)now_ns;
    *told = (struct told){told->times + 1, harvested, lendable->elastic_min, lendable->cpus[0]};
}

static void test_the_sensor_is_told_what_is_lent_whenever_that_changes(void) {
    struct rig *rig = make(usual());
    const int32_t cpus[] = {7, 6, 5, 4, 3, 2, 1, 0};
    struct told told = {0};
    rig->loop.sensor = (struct sh_sensor){
        .read = read_more_demand, .ctx = &told, .on_lent = note_lent, .wake_fd = -1};
    rig->loop.lendable = (struct sh_lendable){cpus, 8, 0};
    poll_busy(rig, 0);
    CHECK_EQ(told.times, 1); /* before the first reading nothing is */
    CHECK_EQ(told.harvested, 0);
    post(rig, 0, 3, 8);
    poll_busy(rig, 0);
    CHECK_EQ(told.times, 2);
    CHECK_EQ(told.harvested, 5);
    CHECK_EQ(told.first, 7);
    poll_busy(rig, 0);
    CHECK_EQ(told.times, 2);
    rig->actuator.fail_at = rig->actuator.count;
    rig->actuator.fail_with = EBUSY;
    post(rig, 1, 8, 8);
    CHECK_EQ(try_poll(rig, 0), -EBUSY);
    CHECK_EQ(told.times, 3); /* by what the halt gave back, not by what was refused */
    CHECK_EQ(told.harvested, 0);
    drop(rig);
}

static void test_with_other_limits_and_another_actuator_windows_go_on(void) {
    struct rig *rig = holding(usual(), 3, 8);
    static struct sh_fake_actuator other;
    struct sh_actuator seam;
    const struct sh_limits limits = {.max_harvest = 2, .max_shared = 2, .keep_idle = 1};
    sh_fake_actuator_init(&other, &seam);
    const uint64_t polls = rig->loop.counters.polls;
    CHECK_EQ(sh_loop_change(&rig->loop, &seam, NULL, &limits), 0);
    CHECK_EQ(try_poll(rig, 1), 0);
    CHECK_EQ(rig->loop.counters.polls, polls + 1);
    CHECK_EQ(rig->loop.primary_cores, 8); /* until a plan comes */
    CHECK_EQ(other.levels[0], 0);
    post(rig, rig->loop.seq, 1, 8);
    CHECK_EQ(try_poll(rig, 1), 0);
    CHECK_EQ(rig->loop.harvested, 2);
    CHECK_EQ(other.levels[other.count - 1], 2);
    drop(rig);
}

static void test_with_another_sensor_the_window_begins_again_and_counters_go_on(void) {
    struct rig *rig = holding(usual(), 3, 8);
    static struct sh_fake_actuator other;
    struct sh_actuator actuator;
    struct sh_sensor sensor;
    struct sh_fake_sensor fake = {.script = (const int32_t[]){2}, .script_length = 1};
    const struct sh_limits limits = {.max_harvest = 8, .max_shared = 8, .keep_idle = 1};
    sh_fake_actuator_init(&other, &actuator);
    sh_fake_sensor_init(&fake, &sensor);
    poll_busy(rig, 1);
    const uint64_t polls = rig->loop.counters.polls, lent_ns = rig->loop.counters.harvested_core_ns;
    const uint32_t seq = rig->loop.seq;
    CHECK_EQ(sh_loop_change(&rig->loop, &actuator, &sensor, &limits), 0);
    rig->now_ns += 1000 * POLL_NS; /* while that took long: nothing was lent, and nobody looked */
    CHECK_EQ(try_poll(rig, 7), 0);
    CHECK_EQ(rig->loop.counters.polls, polls + 1);
    CHECK_EQ(rig->loop.counters.harvested_core_ns, lent_ns);
    CHECK_EQ(rig->loop.counters.stale_windows, 0);
    for (int i = 0; i < WINDOW_POLLS; i++)
        CHECK_EQ(try_poll(rig, 7), 0);
    const struct sh_summary summary = take(rig);
    CHECK_EQ(summary.seq, seq);
    CHECK_EQ(summary.end_ns - summary.start_ns, WINDOW_POLLS * POLL_NS);
    CHECK_EQ(summary.busy_max, 2); /* as the new one has it */
    CHECK_EQ(summary.features.min, 2);
    CHECK(nothing_waits(rig));
    drop(rig);
}

static void test_a_sensor_that_can_do_less_than_the_loop_is_built_on_is_refused(void) {
    struct sh_loop_config config = usual();
    config.exact = true;
    struct rig *rig = make(config);
    const struct sh_limits limits = {.max_harvest = 8, .max_shared = 8, .keep_idle = 1};
    const struct sh_sensor polled = {.wake_fd = -1}; /* it sees no changes */
    CHECK_EQ(sh_loop_change(&rig->loop, &rig->loop.actuator, &polled, &limits), -EINVAL);
    rig->loop.config.exact = false;
    rig->loop.config.event_driven = true;
    CHECK_EQ(sh_loop_change(&rig->loop, &rig->loop.actuator, &polled, &limits), -EINVAL);
    CHECK(rig->loop.sensor.read != NULL);
    drop(rig);
}

static void test_a_loop_that_runs_is_not_changed(void) {
    struct rig *rig = make(usual());
    const struct sh_limits limits = {.max_harvest = 2, .max_shared = 2, .keep_idle = 1};
    const struct sh_limits no_idle = {.max_harvest = 2, .max_shared = 2};
    rig->loop.started = true;
    CHECK_EQ(sh_loop_change(&rig->loop, &rig->loop.actuator, NULL, &limits), -EINVAL);
    rig->loop.started = false;
    CHECK_EQ(sh_loop_change(&rig->loop, &rig->loop.actuator, NULL, &no_idle), -EINVAL);
    CHECK_EQ(rig->loop.config.max_harvest, 8);
    drop(rig);
}

static void test_a_change_leaves_no_cpu_marked_that_is_not_lendable_any_more(void) {
    struct rig *rig = make(usual());
    const int32_t cpus[] = {7, 6, 5, 4, 3, 2, 1, 0};
    const struct sh_limits limits = {.max_harvest = 1, .max_shared = 1, .keep_idle = 1};
    struct told told = {0};
    rig->loop.sensor = (struct sh_sensor){
        .read = read_more_demand, .ctx = &told, .on_lent = note_lent, .wake_fd = -1};
    rig->loop.lendable = (struct sh_lendable){cpus, 8, 2};
    poll_busy(rig, 0);
    CHECK_EQ(told.elastic_min, 2);
    CHECK_EQ(sh_loop_change(&rig->loop, &rig->loop.actuator, NULL, &limits), 0);
    CHECK_EQ(told.times, 2);
    CHECK_EQ(told.elastic_min, 0);
    CHECK_EQ(told.harvested, 0);
    rig->loop.lendable = (struct sh_lendable){&cpus[1], 7, 2};
    poll_busy(rig, 0);
    CHECK_EQ(told.elastic_min, 2);
    CHECK_EQ(told.first, 6);
    drop(rig);
}

int main(void) {
    RUN(test_with_other_limits_and_another_actuator_windows_go_on);
    RUN(test_with_another_sensor_the_window_begins_again_and_counters_go_on);
    RUN(test_a_sensor_that_can_do_less_than_the_loop_is_built_on_is_refused);
    RUN(test_a_loop_that_runs_is_not_changed);
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
    RUN(test_late_polls_are_counted_with_those_they_missed);
    RUN(test_core_time_is_what_was_held_since_the_poll_before);
    RUN(test_demand_reaches_the_window);
    RUN(test_the_sensor_is_told_what_is_lent_whenever_that_changes);
    RUN(test_a_change_leaves_no_cpu_marked_that_is_not_lendable_any_more);
    return 0;
}
