/* The loop in a thread of its own, with the control plane in others. */
#define _GNU_SOURCE
#include <errno.h>

#include "actuators/fake_actuator.h"
#include "check.h"
#include "loop/loop.h"
#include "sensors/fake_sensor.h"
#include "threads.h"

enum { CORES = 8, PLANS = 40 };

struct rig {
    struct sh_loop loop;
    struct sh_fake_sensor sensor;
    struct sh_fake_actuator actuator;
    _Atomic uint8_t cores[CORES];
};

static struct rig *make(enum sh_pacing pacing) {
    const struct sh_loop_config config = {
        .window_ns = 2000000,
        .poll_ns = 200000,
        .plan_ttl_ns = 60000000000, /* a busy machine must not decide these tests */
        .stale_ns = 60000000000,
        .total = CORES,
        .max_harvest = CORES,
        .keep_idle = 1,
    };
    struct rig *rig = calloc(1, sizeof(*rig));
    CHECK(rig);
    CHECK_EQ(sh_loop_init(&rig->loop, &config), 0);
    rig->sensor.cores = rig->cores;
    rig->sensor.core_count = CORES;
    sh_fake_sensor_init(&rig->sensor, &rig->loop.sensor);
    sh_fake_actuator_init(&rig->actuator, &rig->loop.actuator);
    sh_clock_monotonic(&rig->loop.clock, pacing);
    return rig;
}

static void drop(struct rig *rig) {
    sh_loop_destroy(&rig->loop);
    free(rig);
}

static void set_busy(struct rig *rig, int busy) {
    for (int i = 0; i < CORES; i++)
        atomic_store(&rig->cores[i], i < busy);
}

static struct sh_summary await_window(struct rig *rig) {
    struct sh_summary summary;
    while (!sh_loop_take(&rig->loop, &summary))
        CHECK(sh_loop_wait(&rig->loop, 1000, -1) >= 0);
    return summary;
}

static void post(struct rig *rig, uint32_t seq, uint32_t primary_cores) {
    const struct sh_plan plan = {seq, primary_cores, CORES, 0, false, 0, false};
    sh_loop_post(&rig->loop, &plan);
}

static uint32_t last_assigned(const struct rig *rig) {
    return rig->actuator.levels[(rig->actuator.count - 1) % SH_FAKE_ACTUATOR_KEPT];
}

static void test_a_plan_takes_effect_and_stopping_gives_everything_back(void) {
    const enum sh_pacing pacings[] = {SH_PACING_SLEEP, SH_PACING_SPIN};
    for (int i = 0; i < 2; i++) {
        struct rig *rig = make(pacings[i]);
        CHECK_EQ(sh_loop_start(&rig->loop), 0);
        post(rig, await_window(rig).seq, 3);
        AWAIT(atomic_load(&rig->loop.harvested) == 5);
        sh_loop_stop(&rig->loop);
        CHECK_EQ(atomic_load(&rig->loop.harvested), 0);
        CHECK_EQ(last_assigned(rig), 0);
        CHECK_EQ(rig->loop.halt, SH_HALT_NONE);
        CHECK(atomic_load(&rig->loop.tid) != (int32_t)syscall(SYS_gettid));
        CHECK(atomic_load(&rig->loop.scheduling) >= 0);
        CHECK(atomic_load(&rig->loop.cpu_ns) > 0);
        drop(rig);
    }
}

static void test_the_loop_reacts_alone_while_nobody_listens(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    post(rig, 0, 2);
    AWAIT(atomic_load(&rig->loop.harvested) == 6);
    set_busy(rig, CORES);
    AWAIT(atomic_load(&rig->loop.harvested) == 0);
    CHECK(atomic_load(&rig->loop.counters.short_safeguards) >= 1);
    drop(rig); /* destroying stops */
}

struct planner {
    struct rig *rig;
    atomic_bool done;
    uint32_t taken;
};

static void *answer_every_window(void *argument) {
    struct planner *planner = argument;
    for (; planner->taken < PLANS; planner->taken++) {
        const struct sh_summary window = await_window(planner->rig);
        CHECK(window.polls > 0);
        CHECK(window.busy_max <= CORES);
        post(planner->rig, window.seq, window.seq % (CORES + 1));
    }
    atomic_store(&planner->done, true);
    return NULL;
}

static void test_planner_sensed_cores_and_loop_run_side_by_side(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    struct planner planner = {.rig = rig};
    pthread_t thread;
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    CHECK_EQ(pthread_create(&thread, NULL, answer_every_window, &planner), 0);
    for (int busy = 0; !atomic_load(&planner.done); busy = (busy + 3) % (CORES + 1)) {
        set_busy(rig, busy);
        CHECK(atomic_load(&rig->loop.harvested) <= CORES);
        CHECK(atomic_load(&rig->loop.counters.polls) <= rig->loop.lateness.total);
        sh_histogram_quantile(&rig->loop.lateness, 0.99);
        usleep(300);
    }
    pthread_join(thread, NULL);
    CHECK_EQ(planner.taken, PLANS);
    sh_loop_stop(&rig->loop);
    CHECK_EQ(last_assigned(rig), 0);
    drop(rig);
}

static void test_a_loop_starts_once_and_again_after_a_stop(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    sh_loop_stop(&rig->loop); /* harmless */
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    CHECK_EQ(sh_loop_start(&rig->loop), -EALREADY);
    const uint32_t seq = await_window(rig).seq;
    sh_loop_stop(&rig->loop);
    sh_loop_stop(&rig->loop);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    AWAIT(await_window(rig).seq > seq + 1);
    drop(rig);
}

static int fail_to_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    (void)ctx, (void)now_ns, (void)reading;
    return -ENODEV;
}

static void test_a_halt_ends_the_thread_and_wakes_the_listener(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    rig->loop.sensor.read = fail_to_read;
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    CHECK_EQ(await_window(rig).flags, SH_WINDOW_HALTED);
    CHECK_EQ(atomic_load(&rig->loop.halt), SH_HALT_SENSOR);
    CHECK_EQ(atomic_load(&rig->loop.error), ENODEV);
    sh_loop_stop(&rig->loop);
    drop(rig);
}

static int sleeps; /* of the loop's thread, read when it has ended */

static int interrupted_then_broken(void *ctx, int64_t deadline_ns) {
    (void)ctx, (void)deadline_ns;
    return ++sleeps < 10 ? -EINTR : -EINVAL;
}

static void test_only_a_broken_clock_halts_not_an_interrupted_sleep(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    rig->loop.clock.sleep_until = interrupted_then_broken;
    post(rig, 0, 2);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    AWAIT(atomic_load(&rig->loop.halt) != SH_HALT_NONE);
    sh_loop_stop(&rig->loop);
    CHECK_EQ(sleeps, 10);
    CHECK_EQ(atomic_load(&rig->loop.halt), SH_HALT_CLOCK);
    CHECK_EQ(atomic_load(&rig->loop.error), EINVAL);
    CHECK_EQ(rig->actuator.levels[1], 6); /* it had lent */
    CHECK_EQ(last_assigned(rig), 0);
    drop(rig);
}

/* A time in which nothing but reading the sensor takes any. */
static struct virtual_time {
    int64_t now_ns, cpu_ns, read_ns;
    uint32_t reads_left;
    struct sh_loop *loop;
} vtime;

static int64_t virtual_now(void *ctx) {
    (void)ctx;
    return vtime.now_ns;
}

static int64_t virtual_cpu(void *ctx) {
    (void)ctx;
    return vtime.cpu_ns;
}

static int virtual_sleep(void *ctx, int64_t deadline_ns) {
    (void)ctx;
    if (vtime.now_ns < deadline_ns)
        vtime.now_ns = deadline_ns;
    return 0;
}

static int read_slowly(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    (void)ctx, (void)now_ns;
    *reading = (struct sh_reading){0, 0};
    vtime.now_ns += vtime.read_ns;
    vtime.cpu_ns += vtime.read_ns;
    if (--vtime.reads_left == 0)
        atomic_store(&vtime.loop->stop, true);
    return 0;
}

/* How many per cent of a CPU a thousand polls take. */
static int64_t share_of(int64_t read_ns, uint32_t most_percent, int64_t most_rest_ns) {
    struct rig *rig = make(SH_PACING_SLEEP);
    vtime = (struct virtual_time){
        .now_ns = 1000000000, .read_ns = read_ns, .reads_left = 1000, .loop = &rig->loop};
    const int64_t began_ns = vtime.now_ns;
    rig->loop.sensor.read = read_slowly;
    rig->loop.clock.now_ns = virtual_now;
    rig->loop.clock.cpu_ns = virtual_cpu;
    rig->loop.clock.sleep_until = virtual_sleep;
    rig->loop.most_cpu_percent = most_percent;
    rig->loop.most_rest_ns = most_rest_ns;
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    AWAIT(atomic_load(&rig->loop.stop));
    pthread_join(rig->loop.thread, NULL);
    rig->loop.started = false;
    drop(rig);
    return 100 * vtime.cpu_ns / (vtime.now_ns - began_ns);
}

static void test_a_loop_that_polls_takes_no_more_of_a_cpu_than_it_may(void) {
    CHECK_EQ(share_of(100000, 0, 0), 50);
    CHECK(share_of(100000, 10, 5000000) <= 10);
    CHECK(share_of(100000, 10, 5000000) >= 8);
    CHECK_EQ(share_of(2000, 10, 5000000), 1); /* a poll in 200 us is far from it */
}

static void test_it_rests_no_longer_than_it_may(void) {
    const int64_t share = share_of(1000000, 10, 4000000);
    CHECK(share >= 19 && share <= 20);
    CHECK(share_of(1000000, 10, 100000) == 50); /* but as long as the poll took */
}

static void test_a_refusal_while_stopping_is_a_halt(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    rig->actuator.fail_with = EBUSY;
    rig->actuator.fail_at = 2; /* the first poll, the plan, the stop */
    post(rig, 0, 2);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    AWAIT(atomic_load(&rig->loop.harvested) == 6);
    sh_loop_stop(&rig->loop);
    CHECK_EQ(rig->loop.halt, SH_HALT_ACTUATOR);
    CHECK_EQ(rig->loop.error, EBUSY);
    CHECK_EQ(last_assigned(rig), 0);
    drop(rig);
}

static void test_the_loop_runs_where_it_is_told(void) {
    struct rig *rig = make(SH_PACING_SLEEP);
    const int cpu = some_cpu();
    cpu_set_t set;
    rig->loop.cpus[cpu / 64] = UINT64_C(1) << (cpu % 64);
    CHECK_EQ(sh_loop_start(&rig->loop), 0);
    await_window(rig);
    CHECK_EQ(sched_getaffinity(atomic_load(&rig->loop.tid), sizeof(set), &set), 0);
    CHECK_EQ(CPU_COUNT(&set), 1);
    CHECK(CPU_ISSET(cpu, &set));
    drop(rig);
}

int main(void) {
    RUN(test_a_plan_takes_effect_and_stopping_gives_everything_back);
    RUN(test_the_loop_reacts_alone_while_nobody_listens);
    RUN(test_planner_sensed_cores_and_loop_run_side_by_side);
    RUN(test_a_loop_starts_once_and_again_after_a_stop);
    RUN(test_a_halt_ends_the_thread_and_wakes_the_listener);
    RUN(test_only_a_broken_clock_halts_not_an_interrupted_sleep);
    RUN(test_a_refusal_while_stopping_is_a_halt);
    RUN(test_a_loop_that_polls_takes_no_more_of_a_cpu_than_it_may);
    RUN(test_it_rests_no_longer_than_it_may);
    RUN(test_the_loop_runs_where_it_is_told);
    return 0;
}
