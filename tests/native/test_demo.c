/* The demo's server and bully under the sanitizers: every request once and for as long as it was
 * meant to, every pause obeyed. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/demo_bully.h"
#include "lab/demo_server.h"

#define REQUESTS 400
#define THREADS 3

static void test_every_request_of_every_slice_is_completed_once(void) {
    static struct sh_server server;
    static int64_t arrival_ns[REQUESTS], work[REQUESTS], latency_ns[REQUESTS];
    const struct sh_server_slice slice = {arrival_ns, work, latency_ns, REQUESTS, 0};
    const struct sh_server_slice empty = {NULL, NULL, NULL, 0, 0};

    for (size_t i = 0; i < REQUESTS; i++) {
        arrival_ns[i] = (int64_t)(i / 4) * 200000; /* four at a time */
        work[i] = 1000;
    }
    assert(sh_server_start(&server, 0) == -EINVAL);
    assert(sh_server_start(&server, SH_SERVER_MAX_WORKERS + 1) == -EINVAL);
    assert(sh_server_start(&server, THREADS) == 0);
    for (int round = 0; round < 3; round++) {
        memset(latency_ns, 0, sizeof latency_ns);
        sh_server_serve(&server, &slice);
        for (size_t i = 0; i < REQUESTS; i++)
            assert(latency_ns[i] > 0);
    }
    sh_server_serve(&server, &empty);
    sh_server_stop(&server);
    assert(sh_server_calibrate() > 0);
}

static void test_a_request_takes_its_cpu_time_however_fast_the_machine_was_taken_to_be(void) {
    static struct sh_server server;
    static int64_t arrival_ns[REQUESTS], work[REQUESTS], latency_ns[REQUESTS];
    const int64_t steps_per_ms = sh_server_calibrate(), speeds[] = {1, steps_per_ms};

    for (size_t i = 0; i < REQUESTS; i++)
        work[i] = 50000 + 100 * (int64_t)i;
    assert(sh_server_start(&server, THREADS) == 0);
    for (size_t k = 0; k < 2; k++) {
        const struct sh_server_slice slice = {arrival_ns, work, latency_ns, REQUESTS, speeds[k]};
        sh_server_serve(&server, &slice);
        for (size_t i = 0; i < REQUESTS; i++)
            assert(latency_ns[i] >= work[i] / 100 * 99);
    }
    sh_server_stop(&server);
}

static void test_a_bully_counts_only_while_it_is_told_to_run(void) {
    static struct sh_bully bully;
    struct sh_bully_block *block = aligned_alloc(64, sh_bully_block_size(THREADS));

    assert(block);
    memset(block, 0, sh_bully_block_size(THREADS));
    assert(sh_bully_start(&bully, block, 0) == -EINVAL);
    assert(sh_bully_start(&bully, block, THREADS) == 0);
    usleep(1000);
    assert(sh_bully_units(block, THREADS) == 0);
    for (int i = 0; i < 20; i++) {
        const uint64_t before = sh_bully_units(block, THREADS);
        sh_bully_switch(block, SH_BULLY_RUNNING);
        while (sh_bully_units(block, THREADS) == before)
            usleep(1000);
        sh_bully_switch(block, SH_BULLY_PAUSED);
    }
    sh_bully_stop(&bully);
    free(block);
}

int main(void) {
    test_every_request_of_every_slice_is_completed_once();
    test_a_request_takes_its_cpu_time_however_fast_the_machine_was_taken_to_be();
    test_a_bully_counts_only_while_it_is_told_to_run();
    return 0;
}
