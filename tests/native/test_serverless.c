/* Functions on simulated workers (csrc/lab/serverless/): whatever comes and goes, every invocation
 * has one end, memory is never overdrawn, and one seed gives one run. */
#include <errno.h>

#include "check.h"
#include "lab/serverless/cluster_run.h"

enum { SLOTS = 9, FUNCTIONS = 5, INVOCATIONS = 3000, CHANGES = 400 };

static const int64_t SECOND_NS = 1000000000;

static struct sh_faas_change changes[CHANGES];
static double worker_memory_mib[SLOTS], worker_min_cores[SLOTS], memory_mib[FUNCTIONS];
static uint8_t worker_regular[SLOTS], regular[FUNCTIONS], idempotent[FUNCTIONS];
static uint32_t hash[FUNCTIONS], function[INVOCATIONS], worker[INVOCATIONS];
static int64_t cold_ns[FUNCTIONS], arrival_ns[INVOCATIONS], work_ns[INVOCATIONS];
static int64_t end_ns[INVOCATIONS];
static uint8_t cold[INVOCATIONS], attempts[INVOCATIONS];

static uint32_t make_changes(struct sh_sim_random *random, bool evict) {
    int64_t at_ns = 0;
    uint32_t count = 0;
    uint8_t state[SLOTS] = {0}; /* 0: to come, 1: there, 2: noticed, 3: gone */
    for (uint32_t slot = 0; slot < SLOTS - 3; slot++) {
        changes[count++] = (struct sh_faas_change){0, 1 + slot % 4, slot, SH_FAAS_ARRIVES};
        state[slot] = 1;
    }
    while (count < CHANGES) {
        const uint32_t slot = sh_sim_below(random, SLOTS);
        const double cores = sh_sim_below(random, 5);
        at_ns += sh_sim_below(random, 500) * (SECOND_NS / 1000);
        struct sh_faas_change change = {at_ns, cores, slot, SH_FAAS_RESIZED};
        if (state[slot] == 0) {
            change.kind = SH_FAAS_ARRIVES;
            state[slot] = 1;
        } else if (evict && slot && state[slot] == 1 && sh_sim_below(random, 20) == 0) {
            change.kind = SH_FAAS_NOTICED;
            change.value = 30;
            state[slot] = 2;
        } else if (state[slot] == 2 && sh_sim_below(random, 4) == 0) {
            change.kind = SH_FAAS_EVICTED;
            state[slot] = 3;
        } else if (state[slot] == 3) {
            continue;
        }
        changes[count++] = change;
    }
    return count;
}

static struct sh_faas_run_config settings(uint64_t seed, enum sh_faas_kind kind, bool evict) {
    struct sh_sim_random random;
    sh_sim_random_seed(&random, seed, 9);
    for (uint32_t i = 0; i < SLOTS; i++) {
        worker_memory_mib[i] = 1024;
        worker_min_cores[i] = 1;
        worker_regular[i] = i == 0;
    }
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        memory_mib[i] = 100 * (1 + i);
        cold_ns[i] = i * SECOND_NS / 10;
        hash[i] = i * 7919;
        regular[i] = i == 1;
        idempotent[i] = i % 2;
    }
    int64_t at_ns = 0;
    for (uint32_t i = 0; i < INVOCATIONS; i++) {
        at_ns += sh_sim_below(&random, 60) * (SECOND_NS / 1000);
        arrival_ns[i] = at_ns;
        function[i] = sh_sim_below(&random, FUNCTIONS);
        work_ns[i] = 1 + (int64_t)(sh_sim_exponential(&random) * (double)SECOND_NS / 5);
        worker[i] = cold[i] = attempts[i] = 0;
    }
    return (struct sh_faas_run_config){
        .slots = SLOTS,
        .functions = FUNCTIONS,
        .invocations = INVOCATIONS,
        .changes = make_changes(&random, evict),
        .controllers = 1 + (uint32_t)seed % 3,
        .change = changes,
        .worker_memory_mib = worker_memory_mib,
        .worker_min_cores = worker_min_cores,
        .worker_regular = worker_regular,
        .function_hash = hash,
        .function_memory_mib = memory_mib,
        .function_cold_ns = cold_ns,
        .function_regular = regular,
        .function_idempotent = idempotent,
        .arrival_ns = arrival_ns,
        .function = function,
        .work_ns = work_ns,
        .end_ns = end_ns,
        .worker = worker,
        .cold = cold,
        .attempts = attempts,
        .options =
            {
                .kind = kind,
                .fresh_s = 3,
                .lost_s = 15,
                .fill = 1,
                .grow_at = 1,
                .forget_s = 60,
                .cold_cost = seed % 3 == 2 ? 4 : 0,
            },
        .seed = seed,
        .report_ns = SECOND_NS,
        .keep_alive_ns = 20 * SECOND_NS,
        .measure_until_ns = 60 * SECOND_NS,
        .give_up_ns = 4000 * SECOND_NS,
        .retries = (uint32_t)seed % 2,
    };
}

static void check_memory(const struct sh_faas_run *run) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        const struct sh_faas_worker *one = &run->cluster.workers[i];
        double used = 0, held = 0;
        for (uint32_t j = 0; j < one->running_count; j++)
            used += memory_mib[function[one->running[j].invocation]];
        held = used;
        for (uint32_t j = 0, k = one->queue_head; j < one->queue_length; j++) {
            held += memory_mib[function[k]];
            k = run->cluster.next[k];
        }
        CHECK(held == one->held_memory_mib);
        for (uint32_t j = one->newest; j != SH_FAAS_NONE; j = run->cluster.instances[j].older)
            used += memory_mib[run->cluster.instances[j].function];
        CHECK(used == one->used_memory_mib);
        CHECK(used <= one->total_memory_mib);
    }
}

static uint64_t play(uint64_t seed, enum sh_faas_kind kind, bool evict) {
    const struct sh_faas_run_config config = settings(seed, kind, evict);
    struct sh_faas_run run;
    int more;
    CHECK_EQ(sh_faas_run_init(&run, &config), 0);
    while ((more = sh_faas_run_advance(&run, 97)) == 1)
        check_memory(&run);
    CHECK_EQ(more, 0);
    uint64_t sum = run.events, ended = 0;
    for (uint32_t i = 0; i < INVOCATIONS; i++) {
        CHECK(end_ns[i] == -1 || end_ns[i] >= arrival_ns[i] + work_ns[i] - 2);
        CHECK(end_ns[i] == -1 || worker_regular[worker[i]] == regular[function[i]]);
        ended += end_ns[i] >= 0;
        sum = sum * 31 + (uint64_t)end_ns[i] + worker[i];
    }
    CHECK(ended > INVOCATIONS / 2);
    CHECK(evict || run.evictions == 0);
    sh_faas_run_destroy(&run);
    return sum;
}

static void test_every_invocation_ends_and_memory_is_never_overdrawn(void) {
    for (uint64_t seed = 0; seed < 6; seed++)
        for (int kind = SH_FAAS_MIN_WORKER_SET; kind <= SH_FAAS_TWO_CHOICES; kind++)
            play(seed, (enum sh_faas_kind)kind, seed % 2);
}

static void test_one_seed_gives_one_run(void) {
    for (int kind = SH_FAAS_MIN_WORKER_SET; kind <= SH_FAAS_TWO_CHOICES; kind++) {
        const uint64_t first = play(3, (enum sh_faas_kind)kind, true);
        CHECK(play(3, (enum sh_faas_kind)kind, true) == first);
        CHECK(play(4, (enum sh_faas_kind)kind, true) != first);
    }
}

static void test_without_workers_nobody_is_chosen(void) {
    const struct sh_faas_options options = {.fill = 1, .forget_s = 60};
    const struct sh_faas_function one = {0, 5, 128};
    const uint8_t warm[1] = {0};
    for (int kind = SH_FAAS_MIN_WORKER_SET; kind <= SH_FAAS_TWO_CHOICES; kind++) {
        struct sh_faas_options chosen = options;
        struct sh_faas_balancer balancer;
        chosen.kind = (enum sh_faas_kind)kind;
        CHECK_EQ(sh_faas_balancer_init(&balancer, &chosen, 1, 1, 1, 1), 0);
        CHECK_EQ(sh_faas_choose(&balancer, &one, &(struct sh_faas_pool){0}, warm, 0), -EAGAIN);
        sh_faas_balancer_destroy(&balancer);
    }
}

int main(void) {
    RUN(test_every_invocation_ends_and_memory_is_never_overdrawn);
    RUN(test_one_seed_gives_one_run);
    RUN(test_without_workers_nobody_is_chosen);
    return 0;
}
