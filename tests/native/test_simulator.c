/* The simulated machine (csrc/lab/simulator/): what holds at every event, whatever it is told to
 * do. */
#include <errno.h>
#include <math.h>

#include "check.h"
#include "lab/simulator/agenda.h"
#include "lab/simulator/machine.h"
#include "lab/simulator/run.h"

enum { CORES = 7, PRIMARIES = 2 };

static const struct sh_sim_rate RATE = {INT64_MAX / 4, 9000};
static const double SHARES[] = {0, 0.5, 1};
static const int64_t DELAYS[] = {0, 100000, 2000000};

static struct sh_sim_traffic_config traffic(void) {
    return (struct sh_sim_traffic_config){
        .arrivals = SH_SIM_MMPP,
        .schedule = &RATE,
        .schedule_length = 1,
        .multiplier = 5,
        .on_ns = 3e6,
        .off_ns = 10e6,
        .batch_mean = 1.5,
        .service = SH_SIM_LOGNORMAL,
        .service_mean_ns = 110000,
        .sigma = 1,
        .fork_min = 1,
        .fork_max = 3,
    };
}

static struct sh_sim_machine_config settings(uint64_t seed) {
    const struct sh_sim_delay delay = {SHARES, DELAYS, 3};
    return (struct sh_sim_machine_config){
        .cores = CORES,
        .mechanism = {delay, delay, seed % 2},
        .queue_in_transit = seed % 3,
        .preempt_running = seed % 5 == 0,
        .cold_ns = seed % 4 * 1000,
        .dispatch_every_ns = 100000,
        .long_wait_ns = 50000,
        .seed = seed,
    };
}

static void check_books(const struct sh_sim_machine *machine) {
    uint32_t busy = 0, elastic = 0, lent = 0, returning = 0, queued = 0, free = 0;
    for (uint32_t i = 0; i < CORES; i++) {
        const struct sh_sim_core *core = &machine->cores[i];
        busy += core->busy;
        queued += core->queued;
        elastic += core->state == SH_SIM_LENT || core->state == SH_SIM_RETURNING;
        lent += core->state == SH_SIM_LENT || core->state == SH_SIM_LENDING;
        returning += core->state == SH_SIM_RETURNING;
        free += core->state == SH_SIM_PRIMARY && !core->busy;
        CHECK(!core->busy || core->state == SH_SIM_PRIMARY);
        CHECK(!core->queued || core->state == SH_SIM_RETURNING);
    }
    CHECK_EQ(machine->busy, busy);
    CHECK_EQ(machine->elastic, elastic);
    CHECK_EQ(machine->lent, lent);
    CHECK_EQ(machine->returning, returning);
    CHECK_EQ(machine->idle_count, free);
    CHECK_EQ(machine->demand, busy + queued + machine->ready);
    CHECK(machine->ready == 0 || machine->idle_count == 0); /* no core idles while a thread waits */
    uint64_t arrived = 0, completed = 0, waits = 0, waited_ns = 0;
    for (uint32_t i = 0; i < PRIMARIES; i++) {
        const struct sh_sim_primary *primary = &machine->primaries[i];
        CHECK(primary->active <= primary->cores);
        CHECK(primary->running <= primary->active);
        CHECK_EQ(primary->latencies.total, primary->completed);
        arrived += primary->arrived;
        completed += primary->completed;
        for (int lent = 0; lent < 2; lent++) {
            const struct sh_sim_harm_side *side = &primary->harm.sides[lent];
            waits += side->waits.total;
            waited_ns += side->waits.sum_ns;
            CHECK(side->behind_elastic <= side->long_waits);
            CHECK(side->behind_elastic_here <= side->long_waits);
        }
        CHECK_EQ(primary->harm.harmed_waits.total, primary->harm.sides[1].waits.total);
        CHECK_EQ(primary->harm.harmed_waits.sum_ns, primary->harm.sides[1].waits.sum_ns);
        CHECK_EQ(primary->harm.unharmed_waits.total, primary->harm.sides[1].waits.total);
        CHECK(primary->traffic.config.send_ns || !primary->harm.woken_by_own);
    }
    CHECK_EQ(waits, machine->waits.total);
    CHECK_EQ(waited_ns, machine->totals.wait_ns);
    CHECK_EQ(arrived, completed + machine->in_system);
}

static void test_the_books_balance_at_every_event(void) {
    struct sh_sim_traffic_config traffics[PRIMARIES] = {traffic(), traffic()};
    const uint32_t cores[PRIMARIES] = {4, 5};
    uint64_t stranded = 0, preempted = 0;
    srand(3);
    for (uint64_t seed = 0; seed < 30; seed++) {
        const struct sh_sim_machine_config config = settings(seed);
        struct sh_sim_machine machine;
        traffics[0].send_ns = seed % 2 ? 15000 : 0;
        CHECK_EQ(sh_sim_machine_init(&machine, &config, traffics, cores, PRIMARIES), 0);
        for (int event = 0; event < 20000; event++) {
            sh_sim_machine_step(&machine);
            CHECK_EQ(machine.error, 0);
            if (rand() % 8 == 0) {
                const uint32_t most = CORES - machine.busy;
                sh_sim_machine_assign(&machine,
                                      (uint32_t)rand() % (rand() % 4 ? most + 1 : CORES + 1));
            }
            check_books(&machine);
        }
        const struct sh_sim_totals *totals = &machine.totals;
        CHECK(machine.primaries[0].completed > 1000);
        CHECK(totals->busy_core_ns + totals->elastic_core_ns <= (uint64_t)machine.now_ns * CORES);
        CHECK(totals->demand_core_ns >= totals->busy_core_ns);
        stranded += totals->stranded;
        preempted += totals->preempted;
        sh_sim_machine_destroy(&machine);
    }
    CHECK(stranded > 0);
    CHECK(preempted > 0);
}

/* Everything is lent, and the batch yields when it likes: up to four milliseconds later. */
static void test_a_wait_for_a_batch_that_does_not_yield_is_held_against_it(void) {
    const uint32_t cores[] = {CORES};
    const struct sh_sim_traffic_config calm = traffic();
    struct sh_sim_machine_config config = settings(1);
    struct sh_sim_machine machine;
    config.sharing = (struct sh_sim_sharing){.shared = true, .stall_share = 1, .tick_ns = 4000000};
    CHECK_EQ(sh_sim_machine_init(&machine, &config, &calm, cores, 1), 0);
    sh_sim_machine_assign(&machine, CORES);
    for (int i = 0; i < 20000; i++)
        sh_sim_machine_step(&machine);
    const struct sh_sim_harm *harm = &machine.primaries[0].harm;
    CHECK_EQ(harm->sides[0].waits.total, 0);
    CHECK_EQ(harm->sides[0].wakes_to_sleeps.total, 0);
    const struct sh_sim_harm_side *lent = &harm->sides[1];
    CHECK(lent->behind_elastic_here > 1000);
    CHECK(lent->behind_elastic_here <= lent->behind_elastic); /* no core of the pool was idle */
    CHECK(lent->behind_elastic <= lent->long_waits);
    CHECK(lent->wakes_to_sleeps.sum_ns > lent->waits.sum_ns);
    CHECK_EQ(harm->unharmed.total, lent->wakes_to_sleeps.total);
    CHECK(lent->waits.sum_ns > 1000 * 200000);
    /* Without the batch nobody would have waited, but for those on a core now. */
    CHECK(harm->unharmed.sum_ns + lent->waits.sum_ns >= lent->wakes_to_sleeps.sum_ns);
    CHECK(harm->unharmed.sum_ns + lent->waits.sum_ns <=
          lent->wakes_to_sleeps.sum_ns + CORES * 4000000ull);
    CHECK_EQ(harm->harmed_waits.sum_ns, lent->waits.sum_ns);
    CHECK_EQ(harm->unharmed_waits.total, lent->waits.total);
    CHECK_EQ(harm->unharmed_waits.sum_ns, 0);
    sh_sim_machine_destroy(&machine);
}

/* All is lent, but the primaries' threads are more than the cores. */
static void test_a_wait_for_other_threads_alone_is_not_held_against_the_batch(void) {
    const uint32_t cores[] = {CORES, CORES};
    const struct sh_sim_traffic_config traffics[PRIMARIES] = {traffic(), traffic()};
    struct sh_sim_machine_config config = settings(1);
    struct sh_sim_machine machine;
    config.sharing = (struct sh_sim_sharing){.shared = true};
    CHECK_EQ(sh_sim_machine_init(&machine, &config, traffics, cores, PRIMARIES), 0);
    sh_sim_machine_assign(&machine, CORES);
    for (int i = 0; i < 20000; i++)
        sh_sim_machine_step(&machine);
    uint64_t waits_ns = 0;
    for (uint32_t i = 0; i < PRIMARIES; i++) {
        const struct sh_sim_harm *harm = &machine.primaries[i].harm;
        waits_ns += harm->sides[1].waits.sum_ns;
        CHECK_EQ(harm->unharmed.total, harm->sides[1].wakes_to_sleeps.total);
        CHECK_EQ(harm->unharmed.sum_ns, harm->sides[1].wakes_to_sleeps.sum_ns);
        CHECK_EQ(harm->unharmed_waits.sum_ns, harm->sides[1].waits.sum_ns);
    }
    CHECK(waits_ns > 0);
    sh_sim_machine_destroy(&machine);
}

/* The thread that sends wakes the others of its request before it ends. */
static void test_a_request_that_a_thread_sends_ends_with_those_that_it_wakes(void) {
    const uint32_t cores[] = {CORES};
    for (uint32_t threads = 1; threads <= 3; threads++) {
        const struct sh_sim_machine_config config = settings(threads);
        struct sh_sim_traffic_config sent = traffic();
        struct sh_sim_machine machine;
        sent.send_ns = 15000;
        sent.service_mean_ns = 100000;
        sent.service = SH_SIM_DETERMINISTIC;
        sent.fork_min = sent.fork_max = threads;
        CHECK_EQ(sh_sim_machine_init(&machine, &config, &sent, cores, 1), 0);
        for (int event = 0; event < 20000; event++)
            sh_sim_machine_step(&machine);
        CHECK_EQ(machine.error, 0);
        const struct sh_sim_primary *primary = &machine.primaries[0];
        const uint64_t ended = primary->harm.sides[0].wakes_to_sleeps.total;
        CHECK(primary->completed > 1000);
        CHECK(primary->harm.woken_by_own >= threads * primary->completed);
        CHECK(ended >= primary->completed * (threads + 1));
        CHECK(ended - primary->harm.woken_by_own >= primary->completed);
        CHECK(ended - primary->harm.woken_by_own <= primary->arrived);
        CHECK(sh_sim_latencies_quantile(&primary->latencies, 0) >= 115000 * 0.99);
        CHECK_EQ(primary->arrived, primary->completed + machine.in_system);
        sh_sim_machine_destroy(&machine);
    }
}

/* Of a machine whose cores have queues of their own. */
static void check_queues(const struct sh_sim_machine *machine) {
    uint32_t busy = 0, elastic = 0, idle = 0, waiting = 0, active = 0;
    for (uint32_t i = 0; i < CORES; i++) {
        const struct sh_sim_core *core = &machine->cores[i];
        busy += core->busy;
        elastic += core->elastic;
        idle += !core->busy && !core->elastic && !core->held;
        CHECK(core->busy + core->elastic + core->held <= 1);
        CHECK(!core->elastic || core->state == SH_SIM_LENT);
        for (uint32_t id = core->first; id != UINT32_MAX; id = machine->tasks[id].next) {
            CHECK_EQ(machine->tasks[id].core, i);
            waiting++;
        }
    }
    for (uint32_t i = 0; i < PRIMARIES; i++)
        active += machine->primaries[i].active;
    CHECK_EQ(machine->busy, busy);
    CHECK_EQ(machine->elastic, elastic);
    CHECK_EQ(machine->idle_count, idle);
    CHECK_EQ(machine->ready, waiting);
    CHECK_EQ(machine->demand, busy + waiting);
    CHECK_EQ(machine->demand, active);
}

static void test_tasks_and_cores_with_queues_are_neither_lost_nor_made(void) {
    const uint32_t cores[] = {4, 9};
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct sh_sim_machine machine;
        struct sh_sim_machine_config config = settings(seed);
        struct sh_sim_traffic_config two[] = {traffic(), traffic()};
        two[0].send_ns = seed % 2 ? 20000 : 0;
        two[0].wake_ns = two[1].wake_ns = 10000;
        config.sharing = (struct sh_sim_sharing){
            .shared = true,
            .queues = true,
            .let_go_ns = seed % 4 < 2 ? 50000 : 0,
            .stall_share = 0.5,
            .turn_share = 0.2,
            .tick_ns = 4000000,
            .turn_ns = 1000000,
        };
        config.late_ns = 5000;
        config.agent_ns = seed % 3 * 500000;
        config.agent_every_ns = 3000000;
        srand(seed);
        CHECK_EQ(sh_sim_machine_init(&machine, &config, two, cores, 2), 0);
        for (int event = 0; event < 20000; event++) {
            sh_sim_machine_step(&machine);
            CHECK_EQ(machine.error, 0);
            if (rand() % 8 == 0)
                sh_sim_machine_assign(&machine, (uint32_t)rand() % (CORES + 1));
            if (rand() % 64 == 0)
                sh_sim_machine_keep_spare(&machine, (uint32_t)rand() % 4);
            check_queues(&machine);
        }
        CHECK(machine.primaries[0].completed > 1000);
        CHECK_EQ(machine.primaries[0].harm.woken_by_own > 0, two[0].send_ns > 0);
        CHECK_EQ(machine.primaries[1].harm.woken_by_own, 0);
        sh_sim_machine_destroy(&machine);
    }
}

static void test_an_endless_backlog_ends_the_run(void) {
    const struct sh_sim_rate rate = {INT64_MAX / 4, 1e7};
    struct sh_sim_traffic_config flood = traffic();
    struct sh_sim_machine_config config = settings(1);
    struct sh_sim_machine machine;
    const uint32_t cores = 1;
    flood.schedule = &rate;
    CHECK_EQ(sh_sim_machine_init(&machine, &config, &flood, &cores, 1), 0);
    while (machine.error == 0)
        sh_sim_machine_step(&machine);
    CHECK_EQ(machine.error, -EOVERFLOW);
    sh_sim_machine_destroy(&machine);
}

static void test_settings_out_of_range_are_refused(void) {
    struct sh_sim_machine_config config = settings(1);
    struct sh_sim_traffic_config bad = traffic();
    struct sh_sim_machine machine;
    uint32_t cores = 1;
    bad.fork_min = 4;
    CHECK_EQ(sh_sim_machine_init(&machine, &config, &bad, &cores, 1), -EINVAL);
    sh_sim_machine_destroy(&machine);
    cores = 0;
    bad = traffic();
    CHECK_EQ(sh_sim_machine_init(&machine, &config, &bad, &cores, 1), -EINVAL);
    sh_sim_machine_destroy(&machine);
}

static void test_the_agenda_tells_the_next_event(void) {
    struct sh_sim_agenda agenda;
    int64_t at_ns[23];
    CHECK_EQ(sh_sim_agenda_init(&agenda, 23), 0);
    for (int i = 0; i < 23; i++)
        at_ns[i] = INT64_MAX;
    srand(5);
    for (int round = 0; round < 20000; round++) {
        const uint32_t source = (uint32_t)rand() % 23;
        uint32_t next = 0;
        at_ns[source] = rand() % 5 ? rand() % 50 : INT64_MAX;
        sh_sim_agenda_set(&agenda, source, at_ns[source]);
        for (uint32_t i = 1; i < 23; i++)
            if (at_ns[i] < at_ns[next])
                next = i;
        CHECK_EQ(sh_sim_agenda_next(&agenda), next); /* the first of those at the same time */
        CHECK_EQ(sh_sim_agenda_next_ns(&agenda), at_ns[next]);
    }
    sh_sim_agenda_destroy(&agenda);
}

static void test_quantiles_are_right_within_a_thousandth(void) {
    static struct sh_sim_latencies latencies;
    for (int64_t ns = 1; ns <= 3000000; ns++)
        sh_sim_latencies_add(&latencies, ns * 7);
    for (double q = 0.001; q < 1; q += 0.0373) {
        const double exact = ceil(q * 3000000) * 7;
        CHECK(fabs(sh_sim_latencies_quantile(&latencies, q) / exact - 1) < 0.001);
    }
    CHECK_EQ(sh_sim_latencies_quantile(&latencies, 1), 21000000);
    sh_sim_latencies_add(&latencies, INT64_MAX); /* beyond the last bucket */
    CHECK(sh_sim_latencies_quantile(&latencies, 1) > 1e13);
}

static void test_streams_of_one_seed_differ_and_repeat(void) {
    struct sh_sim_random a, b, again;
    double sum = 0, squares = 0, exponentials = 0;
    sh_sim_random_seed(&a, 1, 1);
    sh_sim_random_seed(&b, 1, 2);
    sh_sim_random_seed(&again, 1, 1);
    for (int i = 0; i < 1000; i++) {
        const uint64_t bits = sh_sim_bits(&a);
        CHECK(bits != sh_sim_bits(&b));
        CHECK(bits == sh_sim_bits(&again));
        CHECK(sh_sim_below(&b, 3) < 3);
    }
    for (int i = 0; i < 1000000; i++) {
        const double normal = sh_sim_normal(&a);
        sum += normal;
        squares += normal * normal;
        exponentials += sh_sim_exponential(&b);
    }
    CHECK(fabs(sum / 1e6) < 0.005);
    CHECK(fabs(squares / 1e6 - 1) < 0.01);
    CHECK(fabs(exponentials / 1e6 - 1) < 0.005);
}

int main(void) {
    RUN(test_the_books_balance_at_every_event);
    RUN(test_a_wait_for_a_batch_that_does_not_yield_is_held_against_it);
    RUN(test_a_wait_for_other_threads_alone_is_not_held_against_the_batch);
    RUN(test_a_request_that_a_thread_sends_ends_with_those_that_it_wakes);
    RUN(test_tasks_and_cores_with_queues_are_neither_lost_nor_made);
    RUN(test_an_endless_backlog_ends_the_run);
    RUN(test_settings_out_of_range_are_refused);
    RUN(test_the_agenda_tells_the_next_event);
    RUN(test_quantiles_are_right_within_a_thousandth);
    RUN(test_streams_of_one_seed_differ_and_repeat);
    return 0;
}
