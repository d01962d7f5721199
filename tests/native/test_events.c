/* The event-driven loop in its thread, told of changes and plans from others. */
#define _GNU_SOURCE
#include "actuators/fake_actuator.h"
#include "check.h"
#include "loop/loop.h"
#include "sensors/fake_events.h"
#include "threads.h"

#include <unistd.h>

enum { CORES = 8, ROUNDS = 300 };

struct rig {
    struct sh_loop loop;
    struct sh_fake_events sensor;
    struct sh_fake_actuator actuator;
};

static uint32_t harvested(struct rig *rig) {
    return atomic_load(&rig->loop.harvested);
}

static void test_alarms_plans_and_windows_cross_threads(void) {
    const struct sh_loop_config config = {
        .window_ns = 1000000,
        .poll_ns = 50000,
        .plan_ttl_ns = 60000000000, /* a busy machine must not decide this test */
        .stale_ns = 60000000000,
        .total = CORES,
        .max_harvest = CORES,
        .keep_idle = 1,
        .exact = true,
        .event_driven = true,
    };
    struct rig *rig = calloc(1, sizeof(*rig));
    struct sh_summary window;
    uint32_t exhausted = 0;
    CHECK(rig);
    CHECK_EQ(sh_loop_init(&rig->loop, &config), 0);
    CHECK_EQ(sh_fake_events_init(&rig->sensor, sh_monotonic_ns(), &rig->loop.sensor), 0);
    sh_fake_actuator_init(&rig->actuator, &rig->loop.actuator);
    sh_clock_monotonic(&rig->loop.clock, SH_PACING_SLEEP);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        /* A plan for the newest window, then a burst that exhausts it. */
        const struct sh_plan plan = {1000000 + round, 2, 3, 0, false, 0, false};
        sh_fake_events_set(&rig->sensor, sh_monotonic_ns(), 0, 0);
        sh_loop_post(&rig->loop, &plan);
        AWAIT(harvested(rig) == CORES - 2);
        sh_fake_events_set(&rig->sensor, sh_monotonic_ns(), 2 + round % 4, 0);
        /* Fewer still if the window had seen the last burst too. */
        AWAIT(harvested(rig) <= CORES - (3 + round % 4));
        while (sh_loop_take(&rig->loop, &window))
            exhausted += window.flags & SH_WINDOW_EXHAUSTED;
    }
    sh_loop_stop(&rig->loop);
    while (sh_loop_take(&rig->loop, &window))
        exhausted += window.flags & SH_WINDOW_EXHAUSTED;
    CHECK_EQ(exhausted, ROUNDS);
    CHECK_EQ(atomic_load(&rig->loop.harvested), 0);
    sh_loop_destroy(&rig->loop);
    sh_fake_events_destroy(&rig->sensor);
    free(rig);
}

/* One look a window but for alarms: whatever comes back before its end was rung for. */
static void test_a_waiting_task_rings_where_the_primary_may_use_all_that_it_has(void) {
    const struct sh_loop_config config = {
        .window_ns = 3600000000000,
        .poll_ns = 50000,
        .plan_ttl_ns = 7200000000000,
        .stale_ns = 7200000000000,
        .total = CORES,
        .max_harvest = CORES,
        .keep_idle = 1,
        .exact = true,
        .event_driven = true,
    };
    const struct sh_plan tight = {1000000, 2, 3, 0, true, 4000000, false};
    struct rig *rig = calloc(1, sizeof(*rig));
    CHECK(rig);
    CHECK_EQ(sh_loop_init(&rig->loop, &config), 0);
    CHECK_EQ(sh_fake_events_init(&rig->sensor, sh_monotonic_ns(), &rig->loop.sensor), 0);
    sh_fake_actuator_init(&rig->actuator, &rig->loop.actuator);
    sh_clock_monotonic(&rig->loop.clock, SH_PACING_SLEEP);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    sh_loop_post(&rig->loop, &tight);
    AWAIT(harvested(rig) == CORES - 2);
    sh_fake_events_set(&rig->sensor, sh_monotonic_ns(), 2, 2); /* nobody waits */
    usleep(2000);
    CHECK_EQ(harvested(rig), CORES - 2);
    sh_fake_events_set(&rig->sensor, sh_monotonic_ns(), 2, 4);
    AWAIT(harvested(rig) == CORES - 4);
    sh_fake_events_set(&rig->sensor, sh_monotonic_ns(), 0, 0);
    AWAIT(harvested(rig) == CORES - 2);
    sh_loop_stop(&rig->loop);
    sh_loop_destroy(&rig->loop);
    sh_fake_events_destroy(&rig->sensor);
    free(rig);
}

int main(void) {
    RUN(test_alarms_plans_and_windows_cross_threads);
    RUN(test_a_waiting_task_rings_where_the_primary_may_use_all_that_it_has);
    return 0;
}
