/* The in-kernel sensor on real processes: who is counted, who waits, and what happens when the
 * program, a group or the counts go astray. Without the right to load BPF programs it tests nothing
 * and says so. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/stat.h>

#include "crowd.h"
#include "loop/clock.h"
#include "sensors/bpf_sensor.h"

/* --- a sensor for crowds ---------------------------------------------------------------------- */

enum { ALL = SH_BPF_WAITS | SH_BPF_LEVELS | SH_BPF_DEMAND | SH_BPF_RUNS };

static struct sh_bpf_sensor bpf;
static struct sh_sensor sensor;
static struct sh_bpf_config config;

static int try_open(void) {
    const char *reason;
    const int err = sh_bpf_sensor_open(&bpf, &config, &sensor, &reason);
    if (err)
        fprintf(stderr, "  %s: %s\n", reason, strerror(-err));
    return err;
}

/* One primary, counted for at most `allocation` cores. */
static void configure(pid_t pid, uint32_t allocation, uint32_t parts) {
    config = (struct sh_bpf_config){.primary_count = 1, .parts = parts, .target_count = 1};
    config.allocations[0] = allocation;
    config.targets[0] = (struct sh_bpf_target){(uint64_t)pid, SH_BPF_PROCESS, SH_BPF_PRIMARY};
}

static void watch(const struct crowd *crowd, uint32_t allocation, uint32_t parts) {
    configure(crowd->pid, allocation, parts);
    CHECK_EQ(try_open(), 0);
}

static void add_target(pid_t pid, uint32_t runner) {
    config.targets[config.target_count++] =
        (struct sh_bpf_target){(uint64_t)pid, SH_BPF_PROCESS, runner};
}

static struct sh_reading look(void) {
    struct sh_reading reading = {99, 99};
    CHECK_EQ(sensor.read(sensor.ctx, sh_monotonic_ns(), &reading), 0);
    return reading;
}

/* CPU 0 is the only one to lend. */
static void lend(uint32_t harvested) {
    const int32_t cpus[] = {0};
    const struct sh_lendable lendable = {cpus, 1, 0};
    sensor.on_lent(sensor.ctx, sh_monotonic_ns(), &lendable, harvested);
    CHECK_EQ(bpf.shared->lent[0], harvested);
}

static struct sh_bpf_drift resync(void) {
    struct sh_bpf_drift drift;
    CHECK_EQ(sh_bpf_sensor_resync(&bpf, &drift), 0);
    return drift;
}

/* --- counting --------------------------------------------------------------------------------- */

static const uint32_t counting_parts[] = {ALL, SH_BPF_WAITS, SH_BPF_LEVELS | SH_BPF_DEMAND, 0};

static void test_what_ran_before_the_start_is_counted(void) {
    struct crowd crowd = crowd_start(2, spare_cpu(), SPIN, NULL);
    for (int i = 0; i < 4; i++) {
        watch(&crowd, 8, counting_parts[i]);
        for (int again = 0; again < 100; again++) {
            struct sh_reading reading;
            AWAIT((reading = look()).busy == 1); /* somebody else may have the CPU for a while */
            CHECK_EQ(reading.demand, counting_parts[i] & SH_BPF_DEMAND ? 2 : 1);
        }
        sh_bpf_sensor_close(&bpf);
    }
    crowd_end(&crowd);
}

static void test_what_starts_and_stops_later_is_counted(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), SLEEP, NULL);
    watch(&crowd, 8, ALL);
    for (int i = 0; i < 5; i++) {
        crowd.orders->doing = SPIN;
        AWAIT(look().demand == 3 && look().busy == 1);
        crowd.orders->doing = SLEEP;
        AWAIT(look().demand == 0 && look().busy == 0);
    }
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

static void test_no_primary_counts_for_more_than_its_allocation(void) {
    const int cpu = spare_cpu();
    struct crowd one = crowd_start(4, cpu, SPIN, NULL), other = crowd_start(3, cpu, SPIN, NULL);
    configure(one.pid, 2, ALL);
    config.primary_count = 2;
    config.allocations[1] = 8;
    add_target(other.pid, SH_BPF_PRIMARY + 1);
    CHECK_EQ(try_open(), 0);
    AWAIT(look().demand == 2 + 3);
    crowd_end(&one);
    AWAIT(look().demand == 3);
    config.allocations[1] = 0;
    sh_bpf_sensor_close(&bpf);
    CHECK_EQ(try_open(), 0);
    CHECK_EQ(look().demand, 0);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&other);
}

static void test_a_thousand_short_lived_tasks_leave_nothing_behind(void) {
    struct crowd crowd = crowd_start(2, -1, SLEEP, NULL);
    watch(&crowd, 8, ALL);
    const int64_t before = account_of(&crowd).dispatches;
    crowd.orders->doing = BREED;
    AWAIT(account_of(&crowd).dispatches - before > 2000);
    crowd.orders->doing = SLEEP;
    resync();
    AWAIT(look().demand == 0 && look().busy == 0);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- levels ----------------------------------------------------------------------------------- */

enum { LEVELS = 6 };

struct times {
    uint64_t busy[LEVELS], wanting[LEVELS];
};

static struct times times(void) {
    struct times times;
    CHECK_EQ(sh_bpf_sensor_levels(&bpf, LEVELS, times.busy, times.wanting), 0);
    return times;
}

static int64_t weighted(const uint64_t *before, const uint64_t *after, bool weigh) {
    int64_t sum = 0;
    for (int i = 0; i < LEVELS; i++)
        sum += (int64_t)(after[i] - before[i]) * (weigh ? i : 1);
    return sum;
}

/* Whoever has stolen the processor from this machine meanwhile spoils an attempt. */
static void test_times_are_those_of_the_scheduler(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), WAVE, NULL);
    const struct timespec span = {.tv_nsec = 250000000};
    bool busy = false, wanting = false, whole = false;
    watch(&crowd, 8, ALL);
    const long long stolen = stolen_ticks();
    for (int i = 0; !(busy && wanting && whole) && try_again(i, stolen); i++) {
        const struct account a = account_of(&crowd);
        const int64_t a_ns = sh_monotonic_ns();
        const struct times before = times();
        const int64_t b_ns = sh_monotonic_ns();
        const struct account b = account_of(&crowd);
        nanosleep(&span, NULL);
        const struct account c = account_of(&crowd);
        const int64_t c_ns = sh_monotonic_ns();
        const struct times after = times();
        const int64_t d_ns = sh_monotonic_ns();
        const struct account d = account_of(&crowd);
        whole |= within(weighted(before.busy, after.busy, false), c_ns - b_ns, d_ns - a_ns, 0.001);
        busy |= within(weighted(before.busy, after.busy, true), c.ran_ns - b.ran_ns,
                       d.ran_ns - a.ran_ns, 0.01);
        wanting |= within(weighted(before.wanting, after.wanting, true),
                          c.ran_ns - b.ran_ns + c.waited_ns - b.waited_ns,
                          d.ran_ns - a.ran_ns + d.waited_ns - a.waited_ns, 0.02);
    }
    CHECK(whole);
    CHECK(busy);
    CHECK(wanting);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

static void test_a_window_is_weighed_by_time(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), SPIN, NULL);
    static struct sh_window window;
    const struct timespec span = {.tv_nsec = 30000000};
    watch(&crowd, 2, ALL);
    sh_window_reset(&window, sh_monotonic_ns());
    CHECK_EQ(sensor.collect(sensor.ctx, sh_monotonic_ns(), &window), 0);
    CHECK_EQ(window.total, 0);
    for (int i = 0; i < 2; i++) {
        const int64_t start_ns = sh_monotonic_ns();
        sh_window_reset(&window, start_ns);
        const int64_t ran_ns = account_of(&crowd).ran_ns;
        nanosleep(&span, NULL);
        AWAIT(account_of(&crowd).ran_ns > ran_ns); /* somebody else may have the CPU for a while */
        CHECK_EQ(sensor.collect(sensor.ctx, sh_monotonic_ns(), &window), 0);
        CHECK(window.total >= 29000000);
        CHECK_EQ(window.total, window.weight[0] + window.weight[1]);
        CHECK(window.weight[1] > 0);
        CHECK_EQ(window.busy_max, 1);
        CHECK_EQ(window.demand_max, 2); /* of the three no more than its allocation */
    }
    sh_bpf_sensor_close(&bpf);
    watch(&crowd, 2, SH_BPF_WAITS);
    CHECK(sensor.collect == NULL && sensor.arm == NULL && sensor.wake_fd == -1);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- waits ------------------------------------------------------------------------------------ */

static struct sh_bpf_waits waits_so_far(void) {
    struct sh_bpf_waits waits;
    sh_bpf_sensor_waits(&bpf, &waits);
    return waits;
}

static void test_waits_are_those_of_the_scheduler(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), WAVE, NULL);
    const struct timespec span = {.tv_nsec = 250000000};
    bool total = false, count = false;
    watch(&crowd, 8, SH_BPF_WAITS);
    const long long stolen = stolen_ticks();
    for (int i = 0; !(total && count) && try_again(i, stolen); i++) {
        const struct account a = account_of(&crowd);
        const struct sh_bpf_waits before = waits_so_far();
        const struct account b = account_of(&crowd);
        nanosleep(&span, NULL);
        const struct account c = account_of(&crowd);
        struct sh_bpf_waits waits = waits_so_far();
        const struct account d = account_of(&crowd);
        sh_bpf_waits_since(&waits, &before);
        uint64_t in_histogram = 0;
        for (int bucket = 0; bucket < SH_BPF_WAIT_BUCKETS; bucket++)
            in_histogram += waits.histogram[bucket];
        CHECK(in_histogram + 4 >= waits.counts.waits && in_histogram <= waits.counts.waits + 4);
        CHECK(sh_bpf_waits_quantile(&waits, 0.5) <= sh_bpf_waits_quantile(&waits, 0.99));
        total |= within((int64_t)waits.counts.total_ns, c.waited_ns - b.waited_ns,
                        d.waited_ns - a.waited_ns, 0.05);
        count |= within((int64_t)waits.counts.waits, c.dispatches - b.dispatches,
                        d.dispatches - a.dispatches, 0.05);
    }
    CHECK(total);
    CHECK(count);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- run times -------------------------------------------------------------------------------- */

static struct sh_bpf_runs runs_so_far(void) {
    struct sh_bpf_runs runs;
    sh_bpf_sensor_runs(&bpf, &runs);
    return runs;
}

static struct sh_bpf_runs runs_since(const struct sh_bpf_runs *before, uint64_t count) {
    struct sh_bpf_runs runs;
    do {
        usleep(200);
        runs = runs_so_far();
        sh_bpf_runs_since(&runs, before);
    } while (runs.counts.runs < count);
    return runs;
}

/* Three threads that compute for 200 us and then sleep, beside a fourth that never sleeps: they are
 * preempted, and their runs are whole all the same. */
static void test_a_run_lasts_from_waking_up_to_sleeping_however_often_it_is_preempted(void) {
    const int cpu = spare_cpu();
    struct crowd crowd = crowd_start(3, cpu, WAVE, NULL), noise = crowd_start(1, cpu, SPIN, NULL);
    bool whole = false;
    watch(&crowd, 8, ALL);
    const long long stolen = stolen_ticks();
    for (int i = 0; !whole && try_again(i, stolen); i++) {
        const struct account a = account_of(&crowd);
        const struct sh_bpf_runs before = runs_so_far();
        const struct account b = account_of(&crowd);
        struct sh_bpf_runs runs = runs_since(&before, 500);
        const struct account c = account_of(&crowd);
        runs = runs_so_far();
        sh_bpf_runs_since(&runs, &before);
        const struct account d = account_of(&crowd);
        /* Of each thread one run may have begun before, another may not have ended. */
        whole = within((int64_t)runs.counts.total_ns, c.ran_ns - b.ran_ns - 3 * 220000,
                       d.ran_ns - a.ran_ns + 3 * 220000, 0.01);
        for (int tenth = 1; tenth < 9; tenth++) {
            const uint64_t run_ns = sh_bpf_runs_quantile(&runs, tenth / 10.0);
            whole = whole && run_ns > 195000 && run_ns < 240000;
        }
    }
    CHECK(whole);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
    crowd_end(&noise);
}

static void test_the_quantile_of_run_times_is_within_a_bucket(void) {
    static struct sh_bpf_runs runs;
    CHECK_EQ(sh_bpf_runs_quantile(&runs, 0.99), 0);
    runs.histogram[0] = 1;
    CHECK_EQ(sh_bpf_runs_quantile(&runs, 0.5), 256);
    runs.histogram[0] = 0;
    for (uint32_t i = 1; i < SH_BPF_RUN_BUCKETS; i++) {
        runs.histogram[i] = 1;
        const uint64_t low = (16 + (i - 1) % 16) * (UINT64_C(512) << (i - 1) / 16) / 16;
        const uint64_t middle = sh_bpf_runs_quantile(&runs, 0.5);
        CHECK(middle >= low && middle <= low + low / 16);
        runs.histogram[i] = 0;
    }
}

static void test_only_waits_that_began_while_something_was_lent_are_blamed(void) {
    const int cpu = spare_cpu();
    struct crowd primary = crowd_start(2, cpu, WAVE, NULL), batch = crowd_start(1, cpu, SPIN, NULL);
    configure(primary.pid, 8, SH_BPF_WAITS);
    add_target(batch.pid, SH_BPF_ELASTIC);
    config.wait_threshold_ns = 0; /* every wait is a long one */
    CHECK_EQ(try_open(), 0);
    AWAIT(waits_so_far().counts.longer_after_elastic >= 20);
    CHECK_EQ(waits_so_far().counts.longer_while_lent, 0);
    CHECK_EQ(waits_so_far().counts.longer_blamed, 0);
    lend(1);
    AWAIT(waits_so_far().counts.longer_blamed >= 20);
    lend(0);
    batch.orders->doing = SLEEP;
    const uint64_t longer = waits_so_far().counts.longer;
    AWAIT(waits_so_far().counts.longer >= longer + 100); /* whoever waited then has been served */
    const struct sh_bpf_wait_counts before = waits_so_far().counts;
    AWAIT(waits_so_far().counts.longer >= before.longer + 100);
    CHECK_EQ(waits_so_far().counts.longer_while_lent, before.longer_while_lent);
    CHECK(before.longer_blamed <= before.longer_while_lent);
    CHECK(before.longer_while_lent < before.longer);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&primary);
    crowd_end(&batch);
}

/* Of two that have queued up behind the batch the second gets the CPU from the first. */
static void test_a_wait_behind_the_batch_is_blamed_whoever_leaves_last(void) {
    const int cpu = spare_cpu();
    struct crowd primary = crowd_start(6, cpu, WAVE, NULL), batch = crowd_start(1, cpu, SPIN, NULL);
    configure(primary.pid, 8, SH_BPF_WAITS);
    add_target(batch.pid, SH_BPF_ELASTIC);
    config.wait_threshold_ns = 2500000; /* more than one slice of the batch and less than six */
    CHECK_EQ(try_open(), 0);
    lend(1);
    AWAIT(waits_so_far().counts.longer_blamed > waits_so_far().counts.longer_after_elastic);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&primary);
    crowd_end(&batch);
}

static void test_waits_behind_the_primarys_own_are_not_blamed(void) {
    struct crowd primary = crowd_start(3, spare_cpu(), SPIN, NULL);
    watch(&primary, 8, SH_BPF_WAITS);
    lend(1);
    bpf.shared->control.wait_threshold_ns = 1500000;
    const struct sh_bpf_wait_counts before = waits_so_far().counts;
    /* Somebody else of this machine may have the CPU for so long, too: that is blamed. */
    AWAIT(waits_so_far().counts.longer - waits_so_far().counts.longer_blamed >=
          before.longer - before.longer_blamed + 50);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&primary);
}

static void test_waits_still_going_on_are_seen(void) {
    struct crowd crowd = crowd_start(3, spare_cpu(), SPIN, NULL);
    struct sh_bpf_pending pending;
    watch(&crowd, 8, SH_BPF_WAITS);
    /* Of three on one CPU two wait, but for the moment in which they are changed. */
    do
        CHECK_EQ(sh_bpf_sensor_pending(&bpf, &pending), 0);
    while (pending.waits != 2 || pending.longer != 2);
    CHECK_EQ(pending.primary_tasks, 3);
    CHECK(pending.tasks > 3);
    CHECK(pending.longest_ns > 0);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- the wake-up ------------------------------------------------------------------------------ */

static bool woken(int timeout_ms) {
    struct pollfd fd = {.fd = sensor.wake_fd, .events = POLLIN};
    return poll(&fd, 1, timeout_ms) == 1;
}

static void test_the_reader_is_woken_once_when_enough_cores_are_busy(void) {
    struct crowd crowd = crowd_start(1, spare_cpu(), SLEEP, NULL);
    watch(&crowd, 8, SH_BPF_LEVELS);
    CHECK(!woken(5));
    sensor.arm(sensor.ctx, 2, false);
    crowd.orders->doing = SPIN;
    CHECK(!woken(5));
    crowd.orders->doing = SLEEP;
    for (int i = 0; i < 3; i++) {
        AWAIT(look().busy == 0);
        sensor.arm(sensor.ctx, 1, false);
        crowd.orders->doing = SPIN;
        CHECK(woken(10000));
        sensor.drain(sensor.ctx);
        crowd.orders->doing = WAVE;
        CHECK(!woken(5)); /* until it is armed again */
        crowd.orders->doing = SLEEP;
    }
    sensor.arm(sensor.ctx, SH_SENSOR_DISARM, false);
    crowd.orders->doing = WAVE;
    CHECK(!woken(5));
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

static void test_the_reader_is_woken_for_a_task_that_waits_where_it_asks_for_those(void) {
    struct crowd crowd = crowd_start(2, spare_cpu(), SLEEP, NULL); /* both on one CPU */
    watch(&crowd, 8, ALL);
    for (int i = 0; i < 3; i++) {
        AWAIT(look().demand == 0);
        sensor.arm(sensor.ctx, 2, false);
        crowd.orders->doing = SPIN;
        AWAIT(look().demand == 2);
        CHECK(!woken(5)); /* one of them runs */
        crowd.orders->doing = SLEEP;
        AWAIT(look().demand == 0);
        sensor.arm(sensor.ctx, 2, true);
        crowd.orders->doing = SPIN;
        CHECK(woken(10000));
        sensor.drain(sensor.ctx);
        CHECK(!woken(5)); /* until it is armed again */
        crowd.orders->doing = SLEEP;
    }
    AWAIT(look().demand == 0);
    sensor.arm(sensor.ctx, 3, true);
    crowd.orders->doing = SPIN;
    AWAIT(look().demand == 2);
    CHECK(!woken(5));
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- faults ----------------------------------------------------------------------------------- */

static void test_a_detached_program_is_noticed(void) {
    struct crowd crowd = crowd_start(1, spare_cpu(), SPIN, NULL);
    struct sh_reading reading;
    watch(&crowd, 8, ALL);
    CHECK_EQ(sh_bpf_sensor_alive(&bpf), 0);
    close(bpf.links[0]);
    bpf.links[0] = -1;
    AWAIT(sensor.read(sensor.ctx, sh_monotonic_ns(), &reading) == -ENOLINK);
    CHECK_EQ(sh_bpf_sensor_alive(&bpf), -ENOLINK);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

static void test_counts_gone_astray_are_put_right(void) {
    struct crowd crowd = crowd_start(2, spare_cpu(), SPIN, NULL);
    struct sh_bpf_drift drift;
    watch(&crowd, 8, ALL);
    __atomic_fetch_add(&bpf.shared->levels.word, 3 + (5 << SH_BPF_BUSY_BITS), __ATOMIC_SEQ_CST);
    AWAIT((drift = resync(), drift.busy == -3 || look().busy == 1));
    AWAIT((resync(), look().demand == 2));
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
}

/* --- groups ----------------------------------------------------------------------------------- */

struct place {
    const char *mount;
    uint32_t hierarchy;
};

static uint64_t make_group(const char *path) {
    struct stat status;
    rmdir(path);
    if (mkdir(path, 0755) || stat(path, &status))
        return 0;
    return status.st_ino;
}

static void remove_group(const char *path) {
    AWAIT(rmdir(path) == 0 || errno == ENOENT);
}

static void configure_group(uint64_t id, const struct place *place) {
    config = (struct sh_bpf_config){.primary_count = 1, .parts = ALL, .target_count = 1};
    config.allocations[0] = 8;
    config.targets[0] = (struct sh_bpf_target){id, place->hierarchy, SH_BPF_PRIMARY};
    CHECK_EQ(try_open(), 0);
}

static void check_groups_of(const struct place *place) {
    char group[128], inner[160];
    const int cpu = spare_cpu();
    snprintf(group, sizeof(group), "%s/smartharvest-test-bpf-%d", place->mount, getpid());
    snprintf(inner, sizeof(inner), "%s/inner", group);
    uint64_t id = make_group(group);
    if (!id)
        return;
    CHECK(make_group(inner) != 0);
    struct crowd outside = crowd_start(1, cpu, SPIN, NULL);
    struct crowd inside = crowd_start(2, cpu, SPIN, inner);
    configure_group(id, place);
    AWAIT(look().busy == 1 && look().demand == 2);
    crowd_end(&inside);
    AWAIT(look().busy == 0 && look().demand == 0);
    remove_group(inner);
    remove_group(group);

    /* Made again it is another group, in spite of its name. */
    const uint64_t again = make_group(group);
    CHECK(again != 0 && again != id);
    inside = crowd_start(2, cpu, SPIN, group);
    CHECK_EQ(look().demand, 0);
    sh_bpf_sensor_close(&bpf);
    configure_group(again, place);
    AWAIT(look().busy == 1 && look().demand == 2);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&inside);
    crowd_end(&outside);
    remove_group(group);
}

static void test_tasks_are_matched_by_group_in_every_hierarchy(void) {
    static const struct place places[] = {
        {"/sys/fs/cgroup", SH_BPF_V2},           {"/sys/fs/cgroup/unified", SH_BPF_V2},
        {"/sys/fs/cgroup/cpu", SH_BPF_V1_CPU},   {"/sys/fs/cgroup/freezer", SH_BPF_V1_FREEZER},
        {"/sys/fs/cgroup/pids", SH_BPF_V1_PIDS},
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char marker[64];
        snprintf(marker, sizeof(marker), "%s/cgroup.procs", places[i].mount);
        if (access(marker, W_OK) == 0)
            check_groups_of(&places[i]);
    }
}

/* --- refusals --------------------------------------------------------------------------------- */

static void test_what_makes_no_sense_is_refused(void) {
    configure(1, 1, ALL);
    config.targets[0].runner = SH_BPF_PRIMARY + 1;
    CHECK_EQ(try_open(), -EINVAL);
    configure(1, 1, ALL);
    config.primary_count = 0;
    CHECK_EQ(try_open(), -EINVAL);
    configure(1, 1, SH_BPF_DEMAND);
    CHECK_EQ(try_open(), -EINVAL);
    configure(1, 1, ALL);
    for (uint32_t i = 0; i < 3; i++) {
        add_target(1, SH_BPF_PRIMARY);
        config.targets[i].hierarchy = SH_BPF_V2 + i;
    }
    CHECK_EQ(try_open(), -EINVAL);
}

static void test_no_change_that_is_added_borrows_from_another_field(void) {
    for (int32_t busy_by = -1; busy_by <= 1; busy_by++)
        for (int32_t wanting_by = -1; wanting_by <= 1; wanting_by++) {
            const uint64_t time = UINT64_C(5) << (SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS);
            const uint64_t word = time + sh_bpf_gains(busy_by, wanting_by);
            CHECK_EQ(word & ((1U << SH_BPF_BUSY_BITS) - 1), busy_by == 1);
            CHECK_EQ(word >> SH_BPF_BUSY_BITS & ((1U << SH_BPF_WANTING_BITS) - 1), wanting_by == 1);
            CHECK_EQ(word >> (SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS), 5);
        }
}

int main(void) {
    RUN(test_no_change_that_is_added_borrows_from_another_field);
    configure(getpid(), 1, ALL);
    const int err = try_open();
    if (err == -EPERM || err == -EACCES || err == -ENOTSUP || err == -ENOSYS)
        return 0;
    CHECK_EQ(err, 0);
    sh_bpf_sensor_close(&bpf);
    RUN(test_what_makes_no_sense_is_refused);
    RUN(test_what_ran_before_the_start_is_counted);
    RUN(test_what_starts_and_stops_later_is_counted);
    RUN(test_no_primary_counts_for_more_than_its_allocation);
    RUN(test_a_thousand_short_lived_tasks_leave_nothing_behind);
    RUN(test_times_are_those_of_the_scheduler);
    RUN(test_a_window_is_weighed_by_time);
    RUN(test_waits_are_those_of_the_scheduler);
    RUN(test_a_run_lasts_from_waking_up_to_sleeping_however_often_it_is_preempted);
    RUN(test_the_quantile_of_run_times_is_within_a_bucket);
    RUN(test_only_waits_that_began_while_something_was_lent_are_blamed);
    RUN(test_a_wait_behind_the_batch_is_blamed_whoever_leaves_last);
    RUN(test_waits_behind_the_primarys_own_are_not_blamed);
    RUN(test_waits_still_going_on_are_seen);
    RUN(test_the_reader_is_woken_once_when_enough_cores_are_busy);
    RUN(test_the_reader_is_woken_for_a_task_that_waits_where_it_asks_for_those);
    RUN(test_a_detached_program_is_noticed);
    RUN(test_counts_gone_astray_are_put_right);
    RUN(test_tasks_are_matched_by_group_in_every_hierarchy);
    return 0;
}
