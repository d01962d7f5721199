#include "lab/trace_host.h"

#include <string.h>

static bool unseen(const struct sh_change *change) {
    return change->busy == SH_TRACE_UNSEEN;
}

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* Cores the primary is short of now. */
static uint32_t shortage(const struct sh_trace_host *host) {
    const uint32_t wanted = min_u32(host->now.demand, host->total);
    const uint32_t held = host->total - min_u32(host->harvested, host->total);
    return unseen(&host->now) || wanted <= held ? 0 : wanted - held;
}

static void note_shortage(struct sh_trace_host *host) {
    const uint32_t cores = shortage(host);
    host->short_spells += cores && !host->short_of;
    while (host->short_of < cores)
        host->short_since_ns[host->short_of++] = host->at_ns;
    while (host->short_of > cores)
        sh_histogram_add(&host->waits, host->at_ns - host->short_since_ns[--host->short_of]);
    if (cores > host->short_most)
        host->short_most = cores;
}

/* Books the time up to to_ns, over which nothing has changed. */
static void pass(struct sh_trace_host *host, int64_t to_ns) {
    if (to_ns <= host->at_ns)
        return;
    const uint64_t elapsed_ns = (uint64_t)(to_ns - host->at_ns);
    host->at_ns = to_ns;
    if (unseen(&host->now))
        return;
    host->spent_ns[min_u32(host->now.busy, SH_MAX_CORES)] += elapsed_ns;
    host->demand_core_ns += elapsed_ns * host->now.demand;
    host->seen_ns += elapsed_ns;
    host->short_ns += shortage(host) ? elapsed_ns : 0;
    host->short_core_ns += elapsed_ns * shortage(host);
}

static void advance(struct sh_trace_host *host, int64_t to_ns) {
    while (host->position < host->length && host->changes[host->position].time_ns <= to_ns) {
        pass(host, host->changes[host->position].time_ns);
        host->now = host->changes[host->position++];
        if (!unseen(&host->now) && host->now.demand > host->demand_max)
            host->demand_max = host->now.demand;
        note_shortage(host);
    }
    pass(host, to_ns);
}

static int host_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_trace_host *host = ctx;
    advance(host, now_ns);
    if (!unseen(&host->now))
        *reading = (struct sh_reading){host->now.busy, host->now.demand};
    return 0;
}

static int host_collect(void *ctx, int64_t now_ns, struct sh_window *window) {
    struct sh_trace_host *host = ctx;
    advance(host, now_ns);
    for (uint32_t busy = 0; busy <= SH_MAX_CORES; busy++)
        if (host->spent_ns[busy])
            sh_window_weigh(window, busy, host->spent_ns[busy]);
    if (host->demand_max > window->demand_max)
        window->demand_max = host->demand_max;
    window->demand_core_ns += host->demand_core_ns;
    memset(host->spent_ns, 0, sizeof(host->spent_ns));
    host->demand_max = unseen(&host->now) ? 0 : host->now.demand;
    host->demand_core_ns = 0;
    return 0;
}

static int host_assign(void *ctx, uint32_t harvested) {
    struct sh_trace_host *host = ctx;
    host->harvested = harvested;
    note_shortage(host);
    return 0;
}

void sh_trace_host_init(struct sh_trace_host *host, uint32_t total, struct sh_sensor *sensor,
                        struct sh_actuator *actuator) {
    memset(host, 0, sizeof(*host));
    host->total = total;
    host->now = (struct sh_change){0, SH_TRACE_UNSEEN, SH_TRACE_UNSEEN};
    *sensor =
        (struct sh_sensor){.read = host_read, .ctx = host, .collect = host_collect, .wake_fd = -1};
    *actuator = (struct sh_actuator){.assign = host_assign, .ctx = host};
}

void sh_trace_host_feed(struct sh_trace_host *host, const struct sh_change *changes,
                        uint32_t length, int64_t until_ns) {
    advance(host, host->until_ns);
    host->changes = changes;
    host->length = length;
    host->position = 0;
    host->until_ns = until_ns;
}

int sh_trace_host_play(struct sh_trace_host *host, struct sh_loop *loop, int64_t *deadline_ns,
                       int64_t until_ns) {
    const int64_t poll_ns = loop->config.poll_ns;
    if (until_ns > host->until_ns)
        until_ns = host->until_ns;
    while (*deadline_ns < until_ns) {
        if (atomic_load(&loop->ring_head) != atomic_load(&loop->ring_tail))
            return 0;
        advance(host, *deadline_ns);
        if (!unseen(&host->now)) {
            int err = sh_loop_step(loop, *deadline_ns, *deadline_ns);
            if (err)
                return err;
        }
        *deadline_ns += poll_ns;
    }
    return 0;
}
