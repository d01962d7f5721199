/* Plans that keep a buffer at every poll, and those that wait for quiet before they lend more. */
#include "loop_rig.h"

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

static struct sh_actuator settles;
static int briefly;

static int assign_briefly(void *ctx, uint32_t harvested) {
    briefly++;
    return settles.assign(ctx, harvested);
}

/* What a patient plan takes back is taken for a moment; what stays so, or another plan wants so, is
 * settled by an assignment of its own. */
static void test_a_group_is_frozen_only_once_its_cores_stay_away(void) {
    struct rig *rig = make(usual());
    settles = rig->loop.actuator;
    rig->loop.actuator.assign_briefly = assign_briefly;
    poll_busy(rig, 0);
    post_patient(rig, 0, 1, 0);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, 1);
    briefly = 0;
    poll_busy(rig, 7);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(briefly, 1);
    const uint64_t before = rig->actuator.count;
    const int64_t until_ns = rig->now_ns + 10000000;
    while (rig->now_ns + POLL_NS < until_ns)
        poll_busy(rig, 7);
    CHECK_EQ(rig->actuator.count, before);
    poll_busy(rig, 7);
    CHECK_EQ(rig->actuator.count, before + 1);
    for (int i = 0; i < 300; i++)
        poll_busy(rig, 7);
    CHECK_EQ(rig->actuator.count, before + 1); /* once */
    poll_busy(rig, 0);
    poll_busy(rig, 7);
    post(rig, 1, 8, 8); /* no plan that follows demand */
    const uint64_t taken = rig->actuator.count;
    poll_busy(rig, 7);
    CHECK_EQ(rig->actuator.count, taken + 1);
    CHECK_EQ(last_assigned(rig), 0);
    CHECK_EQ(briefly, 3);
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

int main(void) {
    RUN(test_a_plan_travels_whole);
    RUN(test_a_buffer_beyond_all_cores_is_as_good_as_all);
    RUN(test_a_buffer_is_kept_at_every_poll_and_breaks_no_window);
    RUN(test_a_patient_buffer_grows_at_once_and_shrinks_after_a_quiet_time);
    RUN(test_a_patient_buffer_leaves_the_fewest_cores);
    RUN(test_a_group_is_frozen_only_once_its_cores_stay_away);
    RUN(test_a_patient_plan_that_expires_gives_everything_back);
    RUN(test_a_quiet_time_travels_as_a_root_and_is_never_shorter);
    RUN(test_keep_idle_is_the_least_buffer);
    return 0;
}
