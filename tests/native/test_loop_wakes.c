/* Who is woken and when, and polls that are repeated instead of made. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "loop/plan_word.h"
#include "loop_rig.h"

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

static void test_a_broken_window_wakes_even_where_others_need_no_answer(void) {
    struct rig *rig = holding(usual(), 2, 8);
    sh_loop_hurry(&rig->loop, false);
    for (int i = 0; i < WINDOW_POLLS; i++)
        poll_busy(rig, 0);
    CHECK_EQ(rig->loop.counters.windows, 1);
    CHECK_EQ(sh_loop_wait(&rig->loop, 0, -1), 0);
    rig->now_ns += rig->loop.config.stale_ns;
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

static void test_only_tight_plans_ring_for_who_waits_and_sets_that_seldom_change_for_nobody(void) {
    struct sh_loop_config config = usual();
    config.event_driven = true;
    struct rig *rig = make(config);
    struct sh_plan plan = {.primary_cores = 3, .safe_cores = 5, .buffer = 1};
    sh_loop_post(&rig->loop, &plan);
    poll_busy(rig, 1);
    CHECK_EQ(sh_loop_alarm_level(&rig->loop), 2);
    CHECK(!sh_loop_alarm_waits(&rig->loop));
    plan.buffer = 0;
    plan.patient = true;
    plan.quiet_ns = 4000000;
    sh_loop_post(&rig->loop, &plan);
    poll_busy(rig, 1);
    CHECK_EQ(sh_loop_alarm_level(&rig->loop), 4);
    CHECK(sh_loop_alarm_waits(&rig->loop));
    plan.quiet_ns = 16000000;
    sh_loop_post(&rig->loop, &plan);
    poll_busy(rig, 1);
    CHECK_EQ(sh_loop_alarm_level(&rig->loop), SH_SENSOR_DISARM);
    plan.primary_cores = 0; /* no set: it follows demand */
    sh_loop_post(&rig->loop, &plan);
    poll_busy(rig, 1);
    CHECK(sh_loop_alarm_level(&rig->loop) < SH_SENSOR_DISARM);
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
    CHECK_EQ(sh_plan_pack(&a->loop.plan), sh_plan_pack(&b->loop.plan)); /* without the padding */
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
    RUN(test_waiting_tells_whether_a_window_is_there);
    RUN(test_a_window_that_needs_no_answer_wakes_nobody_until_half_the_ring_is_full);
    RUN(test_a_broken_window_wakes_even_where_others_need_no_answer);
    RUN(test_waiting_ends_for_another_descriptor_too);
    RUN(test_a_plan_wakes_the_thread_only_if_it_changes_anything);
    RUN(test_a_repeated_plan_lasts_from_the_beginning_of_its_window);
    RUN(test_only_tight_plans_ring_for_who_waits_and_sets_that_seldom_change_for_nobody);
    RUN(test_repeated_polls_are_those_polls);
    return 0;
}
