/* The recorder's ring between the loop's thread and its reader, and a recorded host's account. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>

#include "check.h"
#include "lab/recorder.h"
#include "lab/trace_host.h"

enum { READINGS = 200000, POLL_NS = 50, GAP_NS = 500 };

static struct sh_sensor sensor;

/* Busy is what the time says, so that a reader can tell what it was told. */
static int read_time(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    (void)ctx;
    reading->busy = reading->demand = (uint32_t)(now_ns / POLL_NS % 1000);
    return 0;
}

static void *read_all(void *unused) {
    struct sh_reading reading;
    (void)unused;
    for (int64_t i = 1; i <= READINGS; i++)
        CHECK_EQ(sensor.read(sensor.ctx, i * POLL_NS, &reading), 0);
    return NULL;
}

/* Every change arrives once and in order, or a gap stands where it would. */
static void test_changes_cross_threads(void) {
    const struct sh_sensor inner = {.read = read_time, .wake_fd = -1};
    struct sh_recorder *recorder = calloc(1, sizeof(*recorder));
    struct sh_change taken[1000];
    int64_t until_ns = 0, last_ns = 0, seen = 0;
    bool running = true;
    uint32_t count;
    pthread_t thread;
    CHECK(recorder);
    sh_recorder_init(recorder, &inner, POLL_NS, GAP_NS, &sensor);
    CHECK_EQ(pthread_create(&thread, NULL, read_all, NULL), 0);
    do {
        running = running && pthread_tryjoin_np(thread, NULL) != 0;
        count = sh_recorder_take(recorder, taken, 1000, &until_ns);
        for (uint32_t i = 0; i < count; i++) {
            const int64_t at_ns = taken[i].time_ns;
            const bool in_gap = taken[i].busy == SH_TRACE_UNSEEN;
            if (!in_gap)
                CHECK_EQ(taken[i].busy, at_ns / POLL_NS % 1000);
            seen += !in_gap;
            CHECK_EQ(at_ns > last_ns, true);
            last_ns = at_ns;
        }
        CHECK(until_ns >= last_ns);
    } while (running || count);
    CHECK_EQ(seen + (int64_t)atomic_load(&recorder->lost), READINGS);
    free(recorder);
}

static void test_a_recorded_host_books_what_was_short(void) {
    const struct sh_change changes[] = {{100, 1, 1}, {200, 3, 5}, {300, 0, 0}};
    struct sh_trace_host *host = calloc(1, sizeof(*host));
    struct sh_actuator actuator;
    struct sh_reading reading;
    CHECK(host);
    sh_trace_host_init(host, 4, &sensor, &actuator);
    sh_trace_host_feed(host, changes, 3, 1000);
    CHECK_EQ(sensor.read(sensor.ctx, 100, &reading), 0);
    CHECK_EQ(reading.busy, 1);
    CHECK_EQ(actuator.assign(actuator.ctx, 2), 0); /* leaves 2 */
    CHECK_EQ(sensor.read(sensor.ctx, 250, &reading), 0);
    CHECK_EQ(reading.demand, 5);
    CHECK_EQ(host->short_most, 2); /* 5 wanted, of which there are only 4 */
    CHECK_EQ(actuator.assign(actuator.ctx, 1), 0);
    CHECK_EQ(sensor.read(sensor.ctx, 400, &reading), 0);
    CHECK_EQ(host->short_ns, 100);
    CHECK_EQ(host->short_core_ns, 50 * 2 + 50 * 1);
    CHECK_EQ(host->short_spells, 1);
    CHECK_EQ(host->seen_ns, 300);
    /* Two cores from 200 on: one comes back at 250, the other is no longer wanted at 300. */
    CHECK_EQ(host->waits.total, 2);
    CHECK_EQ(host->waits.sum_ns, 50 + 100);
    free(host);
}

int main(void) {
    RUN(test_changes_cross_threads);
    RUN(test_a_recorded_host_books_what_was_short);
    return 0;
}
