/* What the in-kernel sensor says lending costs, held against threads that keep a log themselves.
 * Without the right to load BPF programs it tests nothing and says so. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>

#include "crowd.h"
#include "loop/clock.h"
#include "sensors/bpf_sensor.h"

enum { ALL = SH_BPF_WAITS | SH_BPF_LEVELS | SH_BPF_DEMAND | SH_BPF_RUNS | SH_BPF_HARM };
enum { NOT_LENT, LENT };

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

static void configure(uint32_t primaries) {
    cpu_set_t set;
    config = (struct sh_bpf_config){.primary_count = primaries, .parts = ALL};
    CHECK_EQ(sched_getaffinity(1, sizeof(set), &set), 0);
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            config.pool[config.pool_count++] = cpu;
    for (uint32_t i = 0; i < primaries; i++)
        config.allocations[i] = 8;
}

static void add_target(pid_t pid, uint32_t runner) {
    config.targets[config.target_count++] =
        (struct sh_bpf_target){(uint64_t)pid, SH_BPF_PROCESS, runner};
}

static void watch(pid_t pid) {
    configure(1);
    add_target(pid, SH_BPF_PRIMARY);
    CHECK_EQ(try_open(), 0);
}

static void lend(uint32_t harvested) {
    const int32_t cpus[] = {0};
    const struct sh_lendable lendable = {cpus, 1, 0};
    sensor.on_lent(sensor.ctx, sh_monotonic_ns(), &lendable, harvested);
}

static struct sh_bpf_harm harm_of(uint32_t primary) {
    struct sh_bpf_harm harm;
    sh_bpf_sensor_harm(&bpf, primary, &harm);
    return harm;
}

static struct sh_bpf_harm_counts counted(int side) {
    return harm_of(0).sides[side].counts;
}

static uint64_t sum(const uint64_t *histogram) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++)
        sum += histogram[i];
    return sum;
}

static uint64_t dispatches(uint32_t primary, int side) {
    const struct sh_bpf_harm harm = harm_of(primary);
    return sum(harm.sides[side].waits);
}

static void check_what_the_agent_takes(int cpu);

/* --- against a log ---------------------------------------------------------------------------- */

/* What a thread has seen of itself: from each wake-up that was due to the next sleep, and how much
 * of that it ran. Written once a turn, so a copy is at most a turn behind. */
struct log {
    _Atomic int64_t turns, spans_ns, ran_ns;
};

enum { WORK_NS = 200000 };

struct logged {
    pid_t pid;
    struct log *logs;
    int threads;
    int64_t work_ns; /* a turn's, two sevenths of its time */
};

struct place {
    struct log *log;
    int cpu;
    int64_t work_ns;
};

static void *logged_thread(void *argument) {
    const struct place place = *(struct place *)argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(place.cpu, &set);
    CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    for (int64_t due_ns = sh_monotonic_ns();;) {
        due_ns += place.work_ns * 7 / 2;
        const int64_t now_ns = sh_monotonic_ns();
        if (due_ns < now_ns) { /* it would not sleep */
            due_ns = now_ns;
            continue;
        }
        const struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        const int64_t ran_ns = thread_ns();
        for (const int64_t end = ran_ns + place.work_ns; thread_ns() < end;)
            ;
        const int64_t span_ns = sh_monotonic_ns() - due_ns;
        place.log->spans_ns += span_ns;
        place.log->ran_ns += thread_ns() - ran_ns;
        place.log->turns++;
    }
    return NULL;
}

static struct logged logged_start(int threads, int cpu, int64_t work_ns) {
    struct logged logged = {.threads = threads, .work_ns = work_ns};
    logged.logs = mmap(NULL, sizeof(struct log[16]), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(logged.logs != MAP_FAILED);
    logged.pid = fork();
    CHECK(logged.pid >= 0);
    if (logged.pid == 0) {
        static struct place places[16];
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        prctl(PR_SET_TIMERSLACK, 1UL);
        for (int i = 0; i < threads; i++) {
            places[i] = (struct place){&logged.logs[i], cpu, work_ns};
            if (i)
                CHECK_EQ(pthread_create(&thread, NULL, logged_thread, &places[i]), 0);
        }
        logged_thread(&places[0]);
    }
    for (int i = 0; i < threads; i++)
        AWAIT(logged.logs[i].turns > 0);
    return logged;
}

static void logged_end(struct logged *logged) {
    end_child(logged->pid);
    munmap(logged->logs, sizeof(struct log[16]));
}

struct seen {
    int64_t turns, spans_ns, waits_ns;
};

static struct seen seen_by(const struct logged *logged) {
    struct seen seen = {0};
    for (int i = 0; i < logged->threads; i++) {
        const int64_t spans_ns = logged->logs[i].spans_ns, ran_ns = logged->logs[i].ran_ns;
        seen.turns += logged->logs[i].turns;
        seen.spans_ns += spans_ns;
        seen.waits_ns += spans_ns - ran_ns;
    }
    return seen;
}

static struct seen seen_since(struct seen later, struct seen earlier) {
    return (struct seen){later.turns - earlier.turns, later.spans_ns - earlier.spans_ns,
                         later.waits_ns - earlier.waits_ns};
}

struct agreement {
    bool turns, spans, waits;
};

/* Over some time, of what nothing was lent in. `unlogged_ns` of each span may be in no log. */
static struct agreement compare(const struct logged *logged, double tolerance,
                                int64_t unlogged_ns) {
    const int64_t watched_ns = 2000 * logged->work_ns;
    const struct timespec span = {watched_ns / 1000000000, watched_ns % 1000000000};
    const struct seen a = seen_by(logged);
    const struct sh_bpf_harm before = harm_of(0);
    const struct seen b = seen_by(logged);
    nanosleep(&span, NULL);
    const struct seen c = seen_by(logged);
    struct sh_bpf_harm harm = harm_of(0);
    const struct seen d = seen_by(logged);
    sh_bpf_harm_since(&harm, &before);
    const struct sh_bpf_harm_side *side = &harm.sides[NOT_LENT];
    const struct seen least = seen_since(c, b), most = seen_since(d, a);
    const int64_t turns = (int64_t)sum(side->wakes_to_sleeps);
    const int64_t spans_ns = (int64_t)side->counts.wake_to_sleep_ns;
    const int64_t waits_ns = (int64_t)side->counts.wait_ns;
    CHECK_EQ(sum(harm.sides[LENT].waits), 0);
    fprintf(stderr, "  turns %lld %lld spans %lld %lld waits %lld %lld\n", (long long)turns,
            (long long)least.turns, (long long)spans_ns / 1000, (long long)least.spans_ns / 1000,
            (long long)waits_ns / 1000, (long long)least.waits_ns / 1000);
    return (struct agreement){
        .turns = within(turns, least.turns, most.turns, 0.02),
        .spans = within(spans_ns, least.spans_ns, most.spans_ns + turns * unlogged_ns, tolerance),
        .waits = within(waits_ns, least.waits_ns, most.waits_ns, tolerance)};
}

/* Three threads on one CPU queue behind each other, and a fourth that never sleeps preempts them:
 * waking up and going to sleep are all that may differ, some 20 us of a turn on a slow host. */
static void test_waits_and_wakes_to_sleeps_are_those_that_threads_log(void) {
    const int cpu = spare_cpu();
    struct logged logged = logged_start(3, cpu, 3 * WORK_NS);
    struct crowd noise = crowd_start(1, cpu, SPIN, NULL);
    struct agreement seen = {0};
    watch(logged.pid);
    const long long stolen = stolen_ticks();
    for (int i = 0; !(seen.turns && seen.spans && seen.waits) && try_again(i, stolen); i++)
        seen = compare(&logged, 0.03, 0);
    CHECK(seen.turns);
    CHECK(seen.spans);
    CHECK(seen.waits);
    check_what_the_agent_takes(cpu);
    sh_bpf_sensor_close(&bpf);
    logged_end(&logged);
    crowd_end(&noise);
}

enum { GOING_TO_SLEEP_NS = 50000 }; /* at most, mostly */

/* A thread alone on its CPU waits for nobody, but that CPU has slept, too: a virtual one answers a
 * timer tens of microseconds late. */
static void test_a_span_begins_at_the_time_of_the_timer_that_wakes(void) {
    struct logged logged = logged_start(1, spare_cpu(), WORK_NS);
    struct agreement seen = {0};
    watch(logged.pid);
    const long long stolen = stolen_ticks();
    for (int i = 0; !(seen.turns && seen.spans) && try_again(i, stolen); i++)
        seen = compare(&logged, 0.005, GOING_TO_SLEEP_NS);
    CHECK(seen.turns);
    CHECK(seen.spans);
    sh_bpf_sensor_close(&bpf);
    logged_end(&logged);
}

/* --- the clock -------------------------------------------------------------------------------- */

/* By the scheduler's clock a task that preempts another has often not waited at all. */
static void test_what_a_preemption_takes_is_in_the_wait(void) {
    const int cpu = spare_cpu();
    struct logged logged = logged_start(1, cpu, WORK_NS);
    struct crowd batch = crowd_start(1, cpu, SPIN, NULL);
    struct sched_param none = {0};
    CHECK_EQ(sched_setscheduler(batch.pid, SCHED_IDLE, &none), 0);
    watch(logged.pid);
    AWAIT(dispatches(0, NOT_LENT) > 300);
    const struct sh_bpf_harm harm = harm_of(0);
    struct sh_bpf_waits waits;
    sh_bpf_sensor_waits(&bpf, &waits);
    const uint64_t ours = sh_bpf_harm_quantile(harm.sides[NOT_LENT].waits, 0.5);
    const uint64_t theirs = sh_bpf_waits_quantile(&waits, 0.5);
    fprintf(stderr, "  median wait %.1f us, by the scheduler's clock %.1f us\n",
            (double)ours / 1000, (double)theirs / 1000);
    CHECK(ours + 512 >= theirs);
    CHECK(harm.sides[NOT_LENT].counts.wait_ns >= waits.counts.total_ns * 0.9);
    sh_bpf_sensor_close(&bpf);
    logged_end(&logged);
    crowd_end(&batch);
}

/* A queued task that is taken to another CPU has waited on both. */
static void test_a_wait_on_two_queues_is_one(void) {
    const int cpu = spare_cpu(), mine = some_cpu();
    struct crowd crowd = crowd_start(1, cpu, SLEEP, NULL), noise = crowd_start(2, cpu, SPIN, NULL);
    struct sched_param none = {0};
    const struct timespec span = {.tv_nsec = 60000000};
    cpu_set_t set;
    if (cpu == mine)
        return;
    watch(crowd.pid);
    uint64_t longest = 0;
    for (int i = 0; i < 100 && longest < 50000000; i++) {
        CHECK_EQ(sched_setscheduler(crowd.pid, SCHED_IDLE, &none), 0);
        nanosleep(&span, NULL);
        CPU_ZERO(&set);
        CPU_SET(mine, &set);
        CHECK_EQ(sched_setaffinity(crowd.pid, sizeof(set), &set), 0);
        CHECK_EQ(sched_setscheduler(crowd.pid, SCHED_OTHER, &none), 0);
        const uint64_t so_far = dispatches(0, NOT_LENT);
        AWAIT(dispatches(0, NOT_LENT) > so_far);
        const struct sh_bpf_harm harm = harm_of(0);
        longest = sh_bpf_harm_quantile(harm.sides[NOT_LENT].waits, 1.0);
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        CHECK_EQ(sched_setaffinity(crowd.pid, sizeof(set), &set), 0);
    }
    CHECK(longest >= 50000000); /* some part of it in the slow queue is not enough */
    sh_bpf_sensor_close(&bpf);
    crowd_end(&crowd);
    crowd_end(&noise);
}

/* --- whose, and when -------------------------------------------------------------------------- */

/* Of two primaries the first sleeps and the second computes. */
static void test_each_primary_has_its_own_apart_for_what_something_was_lent_in(void) {
    const int cpu = spare_cpu();
    struct crowd one = crowd_start(2, cpu, SLEEP, NULL), other = crowd_start(1, cpu, WAVE, NULL);
    configure(2);
    add_target(one.pid, SH_BPF_PRIMARY);
    add_target(other.pid, SH_BPF_PRIMARY + 1);
    CHECK_EQ(try_open(), 0);
    CHECK(sh_bpf_sensor_tells_harm(&bpf));
    AWAIT(dispatches(0, NOT_LENT) >= 50 && dispatches(1, NOT_LENT) >= 50);
    crowd_end(&one);
    const uint64_t ones = dispatches(0, NOT_LENT);
    CHECK_EQ(dispatches(1, LENT), 0);
    lend(1);
    AWAIT(dispatches(1, LENT) >= 5); /* the one that was under way has ended */
    const uint64_t before = dispatches(1, NOT_LENT);
    AWAIT(harm_of(1).sides[LENT].counts.wake_to_sleep_ns > 50 * 200000);
    CHECK_EQ(dispatches(1, NOT_LENT), before);
    lend(0);
    AWAIT(dispatches(1, NOT_LENT) >= before + 5);
    const uint64_t lent = dispatches(1, LENT);
    AWAIT(dispatches(1, NOT_LENT) >= before + 50);
    CHECK_EQ(dispatches(1, LENT), lent);
    CHECK_EQ(dispatches(0, NOT_LENT), ones);
    CHECK_EQ(dispatches(0, LENT), 0);
    const struct sh_bpf_harm harm = harm_of(1);
    CHECK(sh_bpf_harm_quantile(harm.sides[LENT].wakes_to_sleeps, 0.5) > 190000);
    CHECK(harm.lost <= 1);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&other);
}

static bool nobody_was_held_up(void) {
    const struct sh_bpf_harm harm = harm_of(0);
    return sum(harm.harmed) && !memcmp(harm.harmed, harm.unharmed, sizeof(harm.harmed));
}

/* This process is the agent. No way of sharing is blamed for it. */
static void check_what_the_agent_takes(int cpu) {
    cpu_set_t set, before;
    CHECK_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    for (int side = NOT_LENT; side <= LENT; side++) {
        lend(side == LENT);
        CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
        while (counted(side).agent_ns < 1000000)
            ; /* it keeps the CPU busy */
        CHECK_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
        CHECK(counted(side).agent_ns <= counted(side).wait_ns);
    }
    AWAIT(nobody_was_held_up());
}

/* --- what a long wait was for ----------------------------------------------------------------- */

static void await_long_waits(uint64_t count) {
    const uint64_t before = counted(NOT_LENT).long_waits;
    AWAIT(counted(NOT_LENT).long_waits >= before + count);
}

static void move_to(pid_t pid, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK_EQ(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/* Two of the primary share a CPU and wait for each other; the batch is there, too, then on another
 * CPU, then nowhere. */
static void test_a_long_wait_is_held_against_elastic_tasks_where_they_ran(void) {
    const int cpu = spare_cpu(), mine = some_cpu();
    struct crowd primary = crowd_start(2, cpu, SPIN, NULL), batch = crowd_start(1, cpu, SPIN, NULL);
    configure(1);
    config.pool[0] = (uint32_t)cpu;
    config.pool[1] = (uint32_t)mine;
    config.pool_count = cpu == mine ? 1 : 2;
    add_target(primary.pid, SH_BPF_PRIMARY);
    add_target(batch.pid, SH_BPF_ELASTIC);
    CHECK_EQ(try_open(), 0);
    AWAIT(counted(NOT_LENT).behind_elastic_here >= 20);
    if (cpu != mine) {
        move_to(batch.pid, mine);
        await_long_waits(10); /* those that had begun before have ended */
        const struct sh_bpf_harm_counts before = counted(NOT_LENT);
        AWAIT(counted(NOT_LENT).behind_elastic >= before.behind_elastic + 20);
        CHECK_EQ(counted(NOT_LENT).behind_elastic_here, before.behind_elastic_here);
    }
    CHECK_EQ(kill(batch.pid, SIGSTOP), 0);
    AWAIT(task_state(batch.pid) == 'T');
    await_long_waits(10);
    const struct sh_bpf_harm_counts before = counted(NOT_LENT);
    await_long_waits(20);
    const struct sh_bpf_harm_counts after = counted(NOT_LENT);
    CHECK_EQ(after.behind_elastic, before.behind_elastic);
    CHECK_EQ(after.behind_elastic_here, before.behind_elastic_here);
    CHECK(after.behind_elastic <= after.long_waits);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&primary);
    crowd_end(&batch);
}

/* --- without what lending held them up for ---------------------------------------------------- */

/* Where no elastic task has had a CPU lending has held up nobody, however long they wait for each
 * other; where one computes next to them, that is what they wait for. */
static void test_of_each_span_it_is_known_how_long_it_were_without_lending(void) {
    const int cpu = spare_cpu();
    struct logged logged = logged_start(3, cpu, WORK_NS);
    struct crowd batch = crowd_start(1, cpu, SPIN, NULL);
    CHECK_EQ(kill(batch.pid, SIGSTOP), 0);
    AWAIT(task_state(batch.pid) == 'T');
    configure(1);
    add_target(logged.pid, SH_BPF_PRIMARY);
    add_target(batch.pid, SH_BPF_ELASTIC);
    CHECK_EQ(try_open(), 0);
    CHECK_EQ(sum(harm_of(0).unharmed), 0);
    lend(1);
    AWAIT(dispatches(0, LENT) >= 300);
    CHECK_EQ(kill(logged.pid, SIGSTOP), 0);
    AWAIT(task_state(logged.pid) == 'T');
    struct sh_bpf_harm harm = harm_of(0);
    CHECK(sum(harm.unharmed) >= 100);
    CHECK_EQ(memcmp(harm.unharmed, harm.sides[LENT].wakes_to_sleeps, sizeof(harm.unharmed)), 0);
    CHECK_EQ(memcmp(harm.unharmed, harm.harmed, sizeof(harm.unharmed)), 0);
    CHECK_EQ(memcmp(harm.unharmed_waits, harm.harmed_waits, sizeof(harm.unharmed_waits)), 0);
    CHECK(sum(harm.unharmed_waits) >= 100);
    CHECK_EQ(kill(batch.pid, SIGCONT), 0);
    CHECK_EQ(kill(logged.pid, SIGCONT), 0);
    const struct sh_bpf_harm before = harm;
    do {
        harm = harm_of(0);
        sh_bpf_harm_since(&harm, &before);
    } while (sum(harm.unharmed) < 100 ||
             sh_bpf_harm_quantile(harm.sides[LENT].wakes_to_sleeps, 0.9) <
                 2 * sh_bpf_harm_quantile(harm.unharmed, 0.9) ||
             sh_bpf_harm_quantile(harm.harmed_waits, 0.9) <
                 2 * sh_bpf_harm_quantile(harm.unharmed_waits, 0.9));
    sh_bpf_sensor_close(&bpf);
    logged_end(&logged);
    crowd_end(&batch);
}

/* What the batch does with nothing lent counts once it is asked for, and no longer than that. Who
 * is held up by it for longer than it mostly sleeps stands for those that had come meanwhile. */
static void test_with_nothing_lent_the_minimum_counts_if_it_is_asked_for(void) {
    const int cpu = spare_cpu();
    struct crowd primary = crowd_start(1, cpu, WAVE, NULL), batch = crowd_start(1, cpu, SPIN, NULL);
    configure(1);
    add_target(primary.pid, SH_BPF_PRIMARY);
    add_target(batch.pid, SH_BPF_ELASTIC);
    CHECK_EQ(try_open(), 0);
    AWAIT(dispatches(0, NOT_LENT) >= 50);
    CHECK_EQ(dispatches(0, LENT), 0);
    sh_bpf_sensor_count_minimum(&bpf, sh_monotonic_ns(), true);
    AWAIT(sum(harm_of(0).unharmed) >= 100);
    const struct sh_bpf_harm harm = harm_of(0);
    CHECK(sum(harm.harmed) >= sum(harm.sides[LENT].wakes_to_sleeps));
    sh_bpf_sensor_count_minimum(&bpf, sh_monotonic_ns(), false);
    const uint64_t before = dispatches(0, NOT_LENT);
    AWAIT(dispatches(0, NOT_LENT) >= before + 5); /* the one that was under way has ended */
    const uint64_t lent = dispatches(0, LENT);
    AWAIT(dispatches(0, NOT_LENT) >= before + 50);
    CHECK_EQ(dispatches(0, LENT), lent);
    sh_bpf_sensor_close(&bpf);
    crowd_end(&primary);
    crowd_end(&batch);
}

static bool write_to(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY);
    const bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return written;
}

/* A group that has 10 of every 50 ms on each kind of host; an empty path: there is none here. */
static void make_capped_group(char path[100]) {
    static const struct {
        const char *mount, *file, *cap;
    } kinds[] = {{"/sys/fs/cgroup/cpu", "cpu.cfs_period_us", "50000"},
                 {"/sys/fs/cgroup", "cpu.max", "10000 50000"}};
    char file[160];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(path, 100, "%s/smartharvest-test-cap-%d", kinds[i].mount, getpid());
        if (mkdir(path, 0755) != 0)
            continue;
        snprintf(file, sizeof(file), "%s/%s", path, kinds[i].file);
        if (write_to(file, kinds[i].cap)) {
            snprintf(file, sizeof(file), "%s/cpu.cfs_quota_us", path);
            CHECK(i > 0 || write_to(file, "10000"));
            return;
        }
        CHECK_EQ(rmdir(path), 0);
    }
    path[0] = 0;
}

enum { FROM_8_MS = SH_BPF_WAIT_LINEAR + (23 - SH_BPF_WAIT_LOG2) * 16 }; /* the bucket of 2^23 ns */

static uint64_t long_ones(const uint64_t *histogram) {
    uint64_t count = 0;
    for (uint32_t i = FROM_8_MS; i < SH_BPF_HARM_BUCKETS; i++)
        count += histogram[i];
    return count;
}

static void lift_cap(const char *group) {
    char file[160];
    snprintf(file, sizeof(file), "%s/cpu.max", group);
    if (write_to(file, "max"))
        return;
    snprintf(file, sizeof(file), "%s/cpu.cfs_quota_us", group);
    CHECK(write_to(file, "-1"));
}

/* Until a hundred spans in a row show it: what a stranger did before that is not counted. */
static void await_harm(void) {
    struct sh_bpf_harm before, harm;
    do {
        before = harm_of(0);
        do {
            harm = harm_of(0);
            sh_bpf_harm_since(&harm, &before);
        } while (sum(harm.unharmed) < 100);
    } while (sh_bpf_harm_quantile(harm.harmed, 0.9) < 2 * sh_bpf_harm_quantile(harm.unharmed, 0.9));
}

/* Until the sensor has seen so many long spans more, what it says of them. */
static struct sh_bpf_harm await_long_ones(uint64_t count) {
    const struct sh_bpf_harm before = harm_of(0);
    struct sh_bpf_harm harm;
    do {
        harm = harm_of(0);
        sh_bpf_harm_since(&harm, &before);
    } while (long_ones(harm.sides[LENT].wakes_to_sleeps) < count);
    fprintf(stderr, "  of %llu long spans %llu were so without lending\n",
            (unsigned long long)long_ones(harm.sides[LENT].wakes_to_sleeps),
            (unsigned long long)long_ones(harm.unharmed));
    return harm;
}

/* What a primary waits since its own group has used up its CPU time is nobody's harm, though the
 * batch has the CPU meanwhile, where the agent says that it may be excused. What it waits for the
 * batch otherwise is. */
static void test_what_the_primarys_own_cap_takes_is_not_held_against_lending(void) {
    char group[100], procs[120];
    const int cpu = spare_cpu();
    make_capped_group(group);
    if (!group[0]) {
        fprintf(stderr, "  no group here can have a cap\n");
        return;
    }
    struct logged logged = logged_start(2, cpu, WORK_NS);
    struct crowd batch = crowd_start(1, cpu, SPIN, NULL);
    struct sched_param none = {0};
    char pid[16];
    CHECK_EQ(sched_setscheduler(batch.pid, SCHED_IDLE, &none), 0);
    snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
    snprintf(pid, sizeof(pid), "%d", logged.pid);
    configure(1);
    add_target(logged.pid, SH_BPF_PRIMARY);
    add_target(batch.pid, SH_BPF_ELASTIC);
    CHECK_EQ(try_open(), 0);
    lend(1);
    CHECK(write_to(procs, pid));
    struct sh_bpf_harm harm = await_long_ones(20);
    /* Nobody has told the sensor to excuse caps. A stranger may have had the CPU for a while. */
    CHECK(2 * long_ones(harm.unharmed) <= long_ones(harm.harmed));
    sh_bpf_sensor_excuse_caps(&bpf, true);
    await_long_ones(2); /* those that had begun before */
    harm = await_long_ones(40);
    CHECK(long_ones(harm.unharmed) >= 20);
    CHECK_EQ(sched_setscheduler(batch.pid, SCHED_OTHER, &none), 0);
    lift_cap(group);
    await_harm();
    sh_bpf_sensor_close(&bpf);
    logged_end(&logged);
    crowd_end(&batch);
    AWAIT(rmdir(group) == 0);
}

/* Two threads that hand a token to each other, on one CPU. */
static int tokens[2][2];

static void *passing_thread(void *argument) {
    const int place = *(const int *)argument;
    char token;
    for (;;) {
        CHECK_EQ(read(tokens[place][0], &token, 1), 1);
        CHECK_EQ(write(tokens[!place][1], &token, 1), 1);
    }
    return NULL;
}

static pid_t passing_start(int cpu) {
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid)
        return pid;
    static const int places[] = {0, 1};
    pthread_t thread;
    cpu_set_t set;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    CHECK_EQ(pipe(tokens[0]) | pipe(tokens[1]), 0);
    CHECK_EQ(pthread_create(&thread, NULL, passing_thread, (void *)&places[1]), 0);
    CHECK_EQ(write(tokens[0][1], "", 1), 1);
    passing_thread((void *)&places[0]);
    return 0;
}

static void test_who_is_woken_by_a_task_of_its_own_primary_is_told_from_others(void) {
    const int cpu = spare_cpu();
    struct crowd sleeper = crowd_start(1, cpu, WAVE, NULL);
    const pid_t passing = passing_start(cpu);
    configure(2);
    add_target(passing, SH_BPF_PRIMARY);
    add_target(sleeper.pid, SH_BPF_PRIMARY + 1);
    CHECK_EQ(try_open(), 0);
    AWAIT(dispatches(0, NOT_LENT) >= 1000 && dispatches(1, NOT_LENT) >= 100);
    const struct sh_bpf_harm passed = harm_of(0), slept = harm_of(1);
    CHECK(passed.woken_by_own >= sum(passed.sides[NOT_LENT].wakes_to_sleeps) / 2);
    CHECK(slept.woken_by_own <= sum(slept.sides[NOT_LENT].wakes_to_sleeps) / 2);
    sh_bpf_sensor_close(&bpf);
    end_child(passing);
    crowd_end(&sleeper);
}

int main(void) {
    configure(1);
    config.parts = SH_BPF_HARM | SH_BPF_LEVELS;
    add_target(getpid(), SH_BPF_PRIMARY);
    CHECK_EQ(try_open(), -EINVAL);
    config.parts = SH_BPF_LEVELS;
    const int err = try_open();
    if (err == -EPERM || err == -EACCES || err == -ENOTSUP || err == -ENOSYS)
        return 0;
    CHECK_EQ(err, 0);
    CHECK(!sh_bpf_sensor_tells_harm(&bpf));
    CHECK_EQ(dispatches(0, NOT_LENT), 0);
    sh_bpf_sensor_close(&bpf);
    RUN(test_each_primary_has_its_own_apart_for_what_something_was_lent_in);
    RUN(test_waits_and_wakes_to_sleeps_are_those_that_threads_log);
    RUN(test_a_span_begins_at_the_time_of_the_timer_that_wakes);
    RUN(test_what_a_preemption_takes_is_in_the_wait);
    RUN(test_a_wait_on_two_queues_is_one);
    RUN(test_a_long_wait_is_held_against_elastic_tasks_where_they_ran);
    RUN(test_of_each_span_it_is_known_how_long_it_were_without_lending);
    RUN(test_who_is_woken_by_a_task_of_its_own_primary_is_told_from_others);
    RUN(test_with_nothing_lent_the_minimum_counts_if_it_is_asked_for);
    RUN(test_what_the_primarys_own_cap_takes_is_not_held_against_lending);
    return 0;
}
