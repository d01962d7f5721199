/* How long the loop sleeps where nobody asks for windows and no look can move a core. */
#include "loop_rig.h"

enum { WINDOW_NS = WINDOW_POLLS * POLL_NS, REST_NS = 8 * WINDOW_NS };

/* Sleeps until the loop's next look and makes it. How long that was. */
static int64_t look(struct rig *rig) {
    const int64_t began_ns = rig->now_ns;
    rig->now_ns = sh_loop_next_look(&rig->loop);
    CHECK_EQ(sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns), 0);
    return rig->now_ns - began_ns;
}

/* In its first window, with a plan that shares all cores but `kept`. */
static struct rig *sharing(uint32_t kept) {
    struct sh_loop_config config = usual();
    config.event_driven = true;
    config.max_shared = config.total;
    config.stale_ns = 2 * WINDOW_NS;
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    const struct sh_plan plan = {.primary_cores = kept, .safe_cores = 8, .shared = true};
    sh_loop_post(&rig->loop, &plan);
    CHECK_EQ(try_poll(rig, 0), 0);
    look(rig);
    CHECK(!nothing_waits(rig));
    return rig;
}

static void test_a_loop_that_shares_rests_while_it_may(void) {
    struct rig *rig = sharing(0);
    CHECK_EQ(look(rig), WINDOW_NS);
    CHECK_EQ(take(rig).flags, 0);
    sh_loop_rest(&rig->loop, REST_NS);
    look(rig); /* the one that was due anyway */
    take(rig);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(look(rig), REST_NS);
        const struct sh_summary window = take(rig);
        CHECK_EQ(window.flags, SH_WINDOW_RESTED);
        CHECK_EQ(window.end_ns - window.start_ns, REST_NS);
        CHECK_EQ(rig->loop.primary_cores, 0);
    }
    CHECK_EQ(rig->loop.counters.stale_windows, 0);
    sh_loop_rest(&rig->loop, 0);
    look(rig);
    CHECK_EQ(look(rig), WINDOW_NS);
    drop(rig);
}

static void test_a_loop_that_lends_nothing_by_plan_rests(void) {
    struct rig *rig = sharing(0);
    sh_loop_rest(&rig->loop, REST_NS);
    post(rig, 1, 8, 8);
    look(rig);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(look(rig), REST_NS);
    drop(rig);
}

static void test_what_follows_demand_or_can_be_exhausted_gets_no_rest(void) {
    const struct sh_plan restless[] = {
        {.primary_cores = 3, .safe_cores = 5},
        {.primary_cores = 8, .safe_cores = 8, .buffer = 2},
        {.primary_cores = 0, .safe_cores = 8, .patient = true, .quiet_ns = 500000},
    };
    for (size_t i = 0; i < sizeof(restless) / sizeof(*restless); i++) {
        struct rig *rig = sharing(0);
        sh_loop_rest(&rig->loop, REST_NS);
        sh_loop_post(&rig->loop, &restless[i]);
        look(rig);
        CHECK(look(rig) <= WINDOW_NS);
        drop(rig);
    }
}

static void test_a_rest_ends_with_the_permit_of_what_is_lent(void) {
    struct rig *rig = sharing(0);
    sh_loop_rest(&rig->loop, 1000 * WINDOW_NS);
    const int64_t ends_ns = rig->loop.plan_adopted_ns + rig->loop.config.plan_ttl_ns;
    look(rig);
    look(rig);
    CHECK_EQ(rig->now_ns, ends_ns + 1);
    CHECK_EQ(rig->loop.primary_cores, 8);
    drop(rig);

    rig = sharing(0);
    sh_loop_rest(&rig->loop, 1000 * WINDOW_NS);
    const int64_t permit_ns = rig->loop.plan_adopted_ns + 3 * rig->loop.config.plan_ttl_ns;
    sh_loop_permit(&rig->loop, permit_ns);
    look(rig);
    CHECK_EQ(rig->loop.primary_cores, 0);
    look(rig);
    CHECK_EQ(rig->now_ns, permit_ns);
    CHECK_EQ(rig->loop.primary_cores, 8);
    drop(rig);
}

static void test_who_oversleeps_has_rested_too_long(void) {
    struct rig *rig = sharing(0);
    sh_loop_rest(&rig->loop, REST_NS);
    look(rig);
    const int64_t due_ns = sh_loop_next_look(&rig->loop);
    rig->now_ns = due_ns + rig->loop.config.stale_ns;
    CHECK_EQ(sh_loop_step(&rig->loop, due_ns, rig->now_ns), 0);
    CHECK_EQ(rig->loop.counters.stale_windows, 1);
    CHECK_EQ(rig->loop.primary_cores, 8);
    drop(rig);
}

static void test_a_plan_ends_a_rest(void) {
    struct rig *rig = sharing(0);
    sh_loop_rest(&rig->loop, REST_NS);
    look(rig);
    take(rig);
    post(rig, 2, 8, 8); /* wakes the thread */
    rig->now_ns += 3 * WINDOW_NS;
    CHECK_EQ(sh_loop_step(&rig->loop, sh_loop_next_look(&rig->loop), rig->now_ns), 0);
    CHECK_EQ(rig->loop.primary_cores, 8);
    CHECK_EQ(take(rig).flags, SH_WINDOW_RESTED);
    CHECK_EQ(rig->loop.counters.stale_windows, 0);
    drop(rig);
}

int main(void) {
    RUN(test_a_loop_that_shares_rests_while_it_may);
    RUN(test_a_loop_that_lends_nothing_by_plan_rests);
    RUN(test_what_follows_demand_or_can_be_exhausted_gets_no_rest);
    RUN(test_a_rest_ends_with_the_permit_of_what_is_lent);
    RUN(test_who_oversleeps_has_rested_too_long);
    RUN(test_a_plan_ends_a_rest);
    return 0;
}
