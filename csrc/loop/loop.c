#define _GNU_SOURCE
#include "loop/loop.h"

#include "loop/loop_thread.h"
#include "loop/plan_word.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How often an event-driven loop looks whether a plain buffer allows to lend more. A poll of a
 * real-time thread makes the kernel choose again among the tasks that queue on its CPU: at every 50
 * us they all stay cache-hot, and no idle CPU pulls them over. */
static const int64_t LEND_LOOK_NS = 1000000;

/* A plan that leaves the primary cores of its own, and waits so long before it lends more again, is
 * of sets that seldom change: to look at a task that waits before the window ends would move cores
 * more often than it gains. */
static const int64_t SELDOM_QUIET_NS = 10000000;

/* A group that is to be frozen with no core left is frozen once that has lasted so long under a
 * plan that follows demand: a freezer takes a third of a millisecond, each time a core comes back
 * and goes again. Until then the group shares its last CPU under cpu.idle. */
static const int64_t SETTLE_NS = 10000000;

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void count(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

int sh_loop_init(struct sh_loop *loop, const struct sh_loop_config *config) {
    if (config->poll_ns <= 0 || config->window_ns < config->poll_ns || config->total < 1 ||
        config->total > SH_MAX_CORES || config->keep_idle < 1 || config->plan_ttl_ns <= 0 ||
        config->stale_ns <= 0)
        return -EINVAL;
    memset(loop, 0, sizeof(*loop));
    loop->config = *config;
    loop->primary_cores = config->total;
    loop->armed = SH_SENSOR_DISARM;
    loop->sensor.wake_fd = -1;
    loop->revocation.fd = -1;
    atomic_store(&loop->scheduling, -1);
    loop->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->plan_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return loop->event_fd < 0 || loop->plan_fd < 0 ? -errno : 0;
}

void sh_loop_destroy(struct sh_loop *loop) {
    sh_loop_stop(loop);
    if (loop->event_fd >= 0)
        close(loop->event_fd);
    if (loop->plan_fd >= 0)
        close(loop->plan_fd);
    loop->event_fd = loop->plan_fd = -1;
}

/* The loop's own answer; it is taken up as one of the control plane's would be. */
static void decide(struct sh_loop *loop, struct sh_summary *window, int64_t now_ns) {
    const uint32_t total = loop->config.total;
    if (!loop->decide.answer || (window->flags & SH_WINDOW_HALTED) ||
        !loop->decide.answer(loop->decide.ctx, window))
        return;
    const int64_t until_ns = atomic_load_explicit(&loop->permit_until_ns, memory_order_acquire);
    const bool permitted = now_ns < until_ns;
    if (!permitted && until_ns && loop->primary_cores != total) /* not withdrawn: forgotten */
        count(&loop->counters.plans_expired, 1);
    const struct sh_plan plan = {
        .seq = window->seq,
        .primary_cores = permitted ? window->planned_cores : total,
        .safe_cores = permitted ? window->planned_safe_cores : total,
    };
    window->decided = true;
    atomic_store_explicit(&loop->plan_word, sh_plan_pack(&plan), memory_order_release);
}

static void publish_window(struct sh_loop *loop, int64_t now_ns, uint32_t primary_cores,
                           uint32_t flags) {
    uint32_t head = atomic_load_explicit(&loop->ring_head, memory_order_relaxed);
    uint32_t tail = atomic_load_explicit(&loop->ring_tail, memory_order_acquire);
    const struct sh_window *window = &loop->window;
    struct sh_summary summary = {
        .start_ns = window->start_ns,
        .end_ns = now_ns,
        .seq = loop->seq,
        .polls = window->polls,
        .busy_max = window->busy_max,
        .busy_last = window->busy_last,
        .demand_max = window->demand_max,
        .primary_cores = primary_cores,
        .flags = flags,
        .label = -1,
    };
    sh_window_features(window, &summary.features);
    decide(loop, &summary, now_ns);
    /* A halt may interrupt a control plane that sleeps: its slot is kept free. */
    if (head - tail >= SH_RING_WINDOWS - ((flags & SH_WINDOW_HALTED) ? 0 : 1)) {
        count(&loop->counters.dropped_windows, 1);
        return;
    }
    loop->ring[head % SH_RING_WINDOWS] = summary;
    atomic_store_explicit(&loop->ring_head, head + 1, memory_order_release);
    /* A window that is answered, or needs no answer, can wait until the control plane looks; one
     * that was broken is answered otherwise than those before it. */
    const bool broken = flags & (SH_WINDOW_EXHAUSTED | SH_WINDOW_STALE);
    const bool unhurried = atomic_load_explicit(&loop->unhurried, memory_order_relaxed);
    const bool can_wait = summary.decided || (unhurried && !broken);
    const bool urgent =
        !can_wait || (flags & SH_WINDOW_HALTED) || head - tail >= SH_RING_WINDOWS / 2;
    if (loop->event_fd >= 0 && urgent) {
        const uint64_t one = 1;
        ssize_t written = write(loop->event_fd, &one, sizeof(one));
        (void)written; /* EAGAIN: the counter is full, so the reader is awake */
    }
}

/* Time-weighted statistics for the window that ends. */
static void weigh_window(struct sh_loop *loop, int64_t now_ns) {
    struct sh_window *window = &loop->window;
    uint64_t core_ns = 0;
    /* A sensor that fails here fails at the next reading too, which halts. */
    if (!loop->config.exact || loop->sensor.collect(loop->sensor.ctx, now_ns, window) != 0)
        return;
    for (uint32_t busy = 1; busy <= window->busy_max; busy++)
        core_ns += busy * window->weight[busy];
    count(&loop->counters.busy_core_ns, core_ns);
    count(&loop->counters.demand_core_ns, window->demand_core_ns);
    if (window->total == 0) /* broken before any time had passed */
        sh_window_weigh(window, window->busy_last, 1);
}

static void close_window(struct sh_loop *loop, int64_t now_ns, uint32_t primary_cores,
                         uint32_t flags) {
    count(&loop->counters.windows, 1);
    weigh_window(loop, now_ns);
    publish_window(loop, now_ns, primary_cores, flags);
    sh_window_reset(&loop->window, now_ns);
    if (++loop->seq == 0)
        loop->seq = 1;
}

/* Ends the window at once; what the loop has just assigned stands until its answer arrives. */
static void break_window(struct sh_loop *loop, int64_t now_ns, uint32_t before, uint32_t flags) {
    loop->broken_seq = loop->seq;
    loop->broken_cores = loop->primary_cores;
    loop->plan.primary_cores = loop->primary_cores;
    close_window(loop, now_ns, before, flags);
}

/* Moves cores and tells the sensor who holds them then. */
static int move(struct sh_loop *loop, uint32_t harvested, int64_t now_ns, bool briefly) {
    const struct sh_actuator *actuator = &loop->actuator;
    const bool timed = atomic_load_explicit(&loop->tid, memory_order_relaxed) > 0;
    const int64_t began_ns = timed ? loop->clock.now_ns(loop->clock.ctx) : now_ns;
    briefly = briefly && actuator->assign_briefly;
    const int err = briefly ? actuator->assign_briefly(actuator->ctx, harvested)
                            : actuator->assign(actuator->ctx, harvested);
    if (err)
        return err;
    loop->unsettled = briefly && harvested == 0;
    loop->taken_ns = now_ns;
    const int64_t ended_ns = timed ? loop->clock.now_ns(loop->clock.ctx) : now_ns;
    if (timed && harvested != loop->config.total - loop->primary_cores)
        sh_histogram_add(&loop->moves, ended_ns - began_ns);
    if (loop->sensor.on_lent)
        loop->sensor.on_lent(loop->sensor.ctx, ended_ns, &loop->lendable, harvested);
    return 0;
}

static int halt(struct sh_loop *loop, int64_t now_ns, enum sh_halt why, int err) {
    /* The last thing tried: whatever is lent comes back. If even that is refused, the control
     * plane still holds the journal. */
    if (loop->primary_cores != loop->config.total || loop->unsettled || why == SH_HALT_ACTUATOR)
        (void)move(loop, 0, now_ns, false);
    uint32_t held = loop->primary_cores;
    loop->primary_cores = loop->config.total;
    atomic_store_explicit(&loop->harvested, 0, memory_order_relaxed);
    atomic_store(&loop->error, -err);
    atomic_store(&loop->halt, why);
    close_window(loop, now_ns, held, SH_WINDOW_HALTED);
    return err;
}

static uint32_t limited(const struct sh_loop_config *c, bool shared, uint32_t cores) {
    const uint32_t most = shared ? c->max_shared : c->max_harvest;
    const uint32_t least = most < c->total ? c->total - most : 0;
    cores = min_u32(max_u32(cores, least), c->total);
    return c->whole_harvests ? c->total - c->whole_harvests[c->total - cores] : cores;
}

static uint32_t within_limits(const struct sh_loop *loop, uint32_t cores) {
    return limited(&loop->config, loop->plan.shared, cores);
}

/* May the primary use all that it has? Then only a task that waits tells that it needs more. */
static bool is_tight(const struct sh_plan *plan) {
    return plan->patient && plan->buffer == 0;
}

/* Cores that stay idle, whatever the plan says: none where waiting tasks ring instead. */
static uint32_t least_idle(const struct sh_loop *loop) {
    return loop->config.keep_idle - (is_tight(&loop->plan) ? 1 : 0);
}

/* Does the loop follow demand at every look, instead of holding a window's cores? */
static bool follows(const struct sh_loop *loop) {
    return loop->plan.buffer > 0 || loop->plan.patient;
}

/* Has the idle buffer run out? */
static bool exhausted(const struct sh_loop *loop, uint32_t needed) {
    if (loop->plan.shared || loop->primary_cores >= loop->config.total)
        return false;
    return least_idle(loop) > 0 ? needed >= loop->primary_cores : needed > loop->primary_cores;
}

/* Gives the primary `cores`, never fewer than the limits allow. */
static int assign(struct sh_loop *loop, uint32_t cores, int64_t now_ns) {
    const struct sh_loop_config *c = &loop->config;
    cores = within_limits(loop, cores);
    if (cores == loop->primary_cores)
        return 0;
    const int err = move(loop, c->total - cores, now_ns, loop->plan.patient);
    if (err)
        return err;
    loop->primary_cores = cores;
    atomic_store_explicit(&loop->harvested, c->total - cores, memory_order_relaxed);
    count(&loop->counters.assignments, 1);
    return 0;
}

/* Has a group frozen that has nothing lent, unless that is for a moment. */
static int settle(struct sh_loop *loop, int64_t now_ns) {
    if (!loop->unsettled || (loop->plan.patient && now_ns - loop->taken_ns < SETTLE_NS))
        return 0;
    const int err = loop->actuator.assign(loop->actuator.ctx, 0);
    loop->unsettled = err != 0;
    return err;
}

/* Has nobody stood by the plan for too long? Where the loop does not decide, a permit does so for a
 * plan that no window changes. */
static bool expired(const struct sh_loop *loop, int64_t now_ns) {
    if (now_ns - loop->plan_adopted_ns <= loop->config.plan_ttl_ns)
        return false;
    return loop->decide.answer ||
           now_ns >= atomic_load_explicit(&loop->permit_until_ns, memory_order_acquire);
}

static void adopt_plan(struct sh_loop *loop, int64_t now_ns) {
    uint64_t word = atomic_load_explicit(&loop->plan_word, memory_order_acquire);
    if (word == loop->plan_word_seen)
        return;
    const bool same = sh_plan_same(word, loop->plan_word_seen);
    loop->plan_word_seen = word;
    struct sh_plan plan = sh_plan_unpack(word);
    if (loop->broken_seq && sh_plan_older(plan.seq, loop->broken_seq))
        return;
    /* The answer to a broken window may rest on a slower view than the reaction had. */
    if (loop->broken_seq && plan.seq == (loop->broken_seq & SH_PLAN_SEQ_MASK))
        plan.primary_cores = max_u32(plan.primary_cores, loop->broken_cores);
    loop->broken_seq = 0; /* later plans are newer; a mark kept for days would look newer again */
    if (!loop->plan.patient) {
        loop->quiet_since_ns = now_ns;
        loop->quiet_most = 0;
    }
    loop->plan = plan;
    /* A repeated one, which wakes nobody, may have been there since the window began. */
    const bool in_force = !expired(loop, now_ns);
    loop->plan_adopted_ns =
        same && in_force ? max_i64(loop->plan_adopted_ns, loop->window.start_ns) : now_ns;
}

/* Grows to `cores` at once; shrinks once fewer have been wanted for quiet_ns, to the most of them.
 */
static uint32_t patiently(struct sh_loop *loop, uint32_t cores, int64_t now_ns) {
    cores = within_limits(loop, cores);
    if (cores >= loop->primary_cores) {
        loop->quiet_since_ns = now_ns;
        loop->quiet_most = 0;
        return cores;
    }
    loop->quiet_most = max_u32(loop->quiet_most, cores);
    if (now_ns - loop->quiet_since_ns < loop->plan.quiet_ns)
        return loop->primary_cores;
    const uint32_t most = loop->quiet_most;
    loop->quiet_since_ns = now_ns;
    loop->quiet_most = cores;
    return most;
}

/* What the primary should hold now that `busy` of its cores are busy (line 20). */
static uint32_t wanted(struct sh_loop *loop, uint32_t busy, int64_t now_ns) {
    const struct sh_loop_config *c = &loop->config;
    if (loop->plan_adopted_ns == 0 || sh_loop_is_revoked(loop))
        return c->total;
    if (expired(loop, now_ns)) {
        if (loop->primary_cores != c->total)
            count(&loop->counters.plans_expired, 1);
        return c->total;
    }
    if (loop->plan.shared)
        return loop->plan.primary_cores;
    const uint32_t floor = busy + least_idle(loop);
    if (loop->plan.patient)
        return patiently(
            loop, max_u32(max_u32(busy + loop->plan.buffer, floor), loop->plan.primary_cores),
            now_ns);
    if (loop->plan.buffer)
        return max_u32(busy + loop->plan.buffer, floor);
    /* Raised, it stays so until the next plan: a window's cores do not follow every poll. */
    loop->plan.primary_cores = max_u32(loop->plan.primary_cores, floor);
    return loop->plan.primary_cores;
}

/* Cores the primary needs at this moment. A sensor that sees every switch sees the primary's task
 * off its CPU when this very thread has displaced it: what wants to run counts as running, or an
 * alarm would ring, find nobody, and ring again as soon as this thread sleeps. */
static uint32_t pressing(const struct sh_loop *loop, const struct sh_reading *reading) {
    const bool sees_changes = loop->sensor.collect != NULL;
    const uint32_t cores = sees_changes ? max_u32(reading->busy, reading->demand) : reading->busy;
    return min_u32(cores, SH_MAX_CORES);
}

/* Takes up what the loop has just decided. */
static int follow_decision(struct sh_loop *loop, uint32_t needed, int64_t now_ns) {
    if (!loop->decide.answer)
        return 0;
    adopt_plan(loop, now_ns);
    const int err = assign(loop, wanted(loop, needed, now_ns), now_ns);
    return err ? halt(loop, now_ns, SH_HALT_ACTUATOR, err) : 0;
}

/* Can no look move a core before the plan changes or nobody stands by it any more? */
static bool is_settled(const struct sh_loop *loop) {
    const struct sh_plan *plan = &loop->plan;
    const uint32_t total = loop->config.total;
    return loop->config.event_driven && !loop->decide.answer && loop->plan_adopted_ns &&
           !loop->unsettled && !follows(loop) &&
           (plan->shared || (plan->primary_cores == total && loop->primary_cores == total));
}

/* How long the window may last beyond its end, since the loop may rest. */
static int64_t rests_ns(const struct sh_loop *loop) {
    const int64_t start_ns = loop->window.start_ns, end_ns = start_ns + loop->config.window_ns;
    const int64_t rest_ns = atomic_load_explicit(&loop->rest_ns, memory_order_relaxed);
    if (rest_ns <= loop->config.window_ns || !is_settled(loop))
        return 0;
    int64_t rested_ns = start_ns + rest_ns;
    if (loop->primary_cores < loop->config.total) {
        const int64_t permit_ns =
            atomic_load_explicit(&loop->permit_until_ns, memory_order_acquire);
        const int64_t ttl_end_ns = loop->plan_adopted_ns + loop->config.plan_ttl_ns + 1;
        rested_ns = min_i64(rested_ns, max_i64(permit_ns, ttl_end_ns));
    }
    return max_i64(0, rested_ns - end_ns);
}

int sh_loop_step(struct sh_loop *loop, int64_t deadline_ns, int64_t now_ns) {
    const struct sh_loop_config *c = &loop->config;
    struct sh_counters *n = &loop->counters;
    struct sh_reading reading = {0, 0};
    const int64_t late_ns = now_ns - deadline_ns;
    int err;

    if (atomic_load_explicit(&loop->halt, memory_order_relaxed) != SH_HALT_NONE)
        return -atomic_load(&loop->error);
    if (late_ns >= 0) /* an event comes before the deadline and cannot be late for it */
        sh_histogram_add(&loop->lateness, late_ns);
    if (late_ns >= c->poll_ns) {
        count(&n->late_polls, 1);
        if (!c->event_driven)
            count(&n->missed_polls, (uint64_t)(late_ns / c->poll_ns));
    }
    if (!loop->begun) {
        loop->begun = true;
        loop->seq += loop->seq == 0; /* 0 is before the first poll */
        loop->last_poll_ns = now_ns;
        sh_window_reset(&loop->window, now_ns);
    }
    if (!loop->placed) {
        loop->placed = true;
        err = move(loop, 0, now_ns, false);
        if (err)
            return halt(loop, now_ns, SH_HALT_ACTUATOR, err);
    }

    const uint32_t before = loop->primary_cores;
    err = loop->sensor.read(loop->sensor.ctx, now_ns, &reading);
    if (err)
        return halt(loop, now_ns, SH_HALT_SENSOR, err);
    const uint32_t busy = min_u32(reading.busy, SH_MAX_CORES);
    const uint32_t needed = pressing(loop, &reading);

    const int64_t elapsed_ns = now_ns - loop->last_poll_ns;
    loop->last_poll_ns = now_ns;
    count(&n->polls, 1);
    count(&n->polled_ns, (uint64_t)elapsed_ns);
    count(&n->harvested_core_ns, (uint64_t)elapsed_ns * (c->total - before));
    if (c->exact) {
        sh_window_note(&loop->window, busy, max_u32(reading.demand, busy));
    } else {
        sh_window_add(&loop->window, busy, max_u32(reading.demand, busy));
        count(&n->busy_core_ns, (uint64_t)elapsed_ns * busy);
        count(&n->demand_core_ns, (uint64_t)elapsed_ns * max_u32(reading.demand, busy));
    }

    /* A rest is no standstill. */
    const int64_t rested_ns = loop->rests_ns;
    loop->rests_ns = 0;
    if (elapsed_ns > c->stale_ns + rested_ns) {
        err = assign(loop, c->total, now_ns);
        if (err)
            return halt(loop, now_ns, SH_HALT_ACTUATOR, err);
        count(&n->stale_windows, 1);
        break_window(loop, now_ns, before, SH_WINDOW_STALE);
        return follow_decision(loop, needed, now_ns);
    }

    if (exhausted(loop, needed) && !sh_loop_is_revoked(loop)) {
        uint32_t safe = max_u32(loop->plan.safe_cores, loop->window.busy_max + 1);
        if (follows(loop))
            safe = max_u32(needed + loop->plan.buffer,
                           loop->plan.patient ? loop->plan.primary_cores : 0);
        loop->quiet_since_ns = now_ns;
        loop->quiet_most = 0;
        err = assign(loop, max_u32(max_u32(safe, needed + least_idle(loop)), before + 1), now_ns);
        if (err)
            return halt(loop, now_ns, SH_HALT_ACTUATOR, err);
        count(&n->short_safeguards, 1);
        if (!follows(loop)) {
            break_window(loop, now_ns, before, SH_WINDOW_EXHAUSTED);
            return follow_decision(loop, needed, now_ns);
        }
    } else {
        adopt_plan(loop, now_ns);
        err = assign(loop, wanted(loop, needed, now_ns), now_ns);
        if (err || (err = settle(loop, now_ns)))
            return halt(loop, now_ns, SH_HALT_ACTUATOR, err);
    }

    const int64_t lasted_ns = now_ns - loop->window.start_ns;
    if (lasted_ns >= c->window_ns) {
        const bool rested = min_i64(rested_ns + c->window_ns, lasted_ns) >= 2 * c->window_ns;
        close_window(loop, now_ns, before, rested ? SH_WINDOW_RESTED : 0);
        err = follow_decision(loop, needed, now_ns);
    }
    loop->rests_ns = rests_ns(loop);
    return err;
}

uint64_t sh_loop_repeat(struct sh_loop *loop, int64_t until_ns, const struct sh_reading *reading) {
    const struct sh_loop_config *c = &loop->config;
    struct sh_counters *n = &loop->counters;
    const uint32_t busy = min_u32(reading->busy, SH_MAX_CORES);
    const uint32_t demand = max_u32(reading->demand, busy), needed = pressing(loop, reading);
    int64_t last_ns = min_i64(until_ns - 1, loop->window.start_ns + c->window_ns - 1);

    if (atomic_load_explicit(&loop->halt, memory_order_relaxed) != SH_HALT_NONE || !loop->begun ||
        atomic_load_explicit(&loop->plan_word, memory_order_acquire) != loop->plan_word_seen ||
        loop->unsettled || exhausted(loop, needed))
        return 0;
    const bool is_old = loop->last_poll_ns - loop->plan_adopted_ns > c->plan_ttl_ns;
    if (is_old && loop->primary_cores < c->total)
        return 0;
    if (loop->plan_adopted_ns && !is_old)
        last_ns = min_i64(last_ns, loop->plan_adopted_ns + c->plan_ttl_ns);
    if (loop->plan.patient) /* it may be time to shrink */
        last_ns = min_i64(last_ns, loop->quiet_since_ns + loop->plan.quiet_ns - 1);
    if (last_ns < loop->last_poll_ns + c->poll_ns)
        return 0;
    const struct sh_plan plan = loop->plan;
    const int64_t quiet_since_ns = loop->quiet_since_ns;
    const uint32_t quiet_most = loop->quiet_most;
    if (within_limits(loop, wanted(loop, needed, loop->last_poll_ns + c->poll_ns)) !=
        loop->primary_cores) {
        loop->plan = plan; /* that is for the next poll to do */
        loop->quiet_since_ns = quiet_since_ns;
        loop->quiet_most = quiet_most;
        return 0;
    }
    const uint64_t times = (uint64_t)((last_ns - loop->last_poll_ns) / c->poll_ns);
    const uint64_t elapsed_ns = times * (uint64_t)c->poll_ns;
    sh_histogram_add_times(&loop->lateness, 0, times);
    count(&n->polls, times);
    count(&n->polled_ns, elapsed_ns);
    count(&n->harvested_core_ns, elapsed_ns * (c->total - loop->primary_cores));
    sh_window_note(&loop->window, busy, demand);
    loop->window.polls += (uint32_t)times - 1;
    if (!c->exact) {
        sh_window_weigh(&loop->window, busy, times);
        count(&n->busy_core_ns, elapsed_ns * busy);
        count(&n->demand_core_ns, elapsed_ns * demand);
    }
    loop->last_poll_ns += (int64_t)elapsed_ns;
    (void)wanted(loop, needed, loop->last_poll_ns); /* the last of them is what is remembered */
    return times;
}

/* --- between two steps ------------------------------------------------------------------------ */

uint32_t sh_loop_alarm_level(const struct sh_loop *loop) {
    const struct sh_plan *plan = &loop->plan;
    const uint32_t idle = max_u32(plan->buffer, least_idle(loop));
    const uint32_t cores = loop->primary_cores;
    const bool is_set = is_tight(plan) && plan->primary_cores > 0;
    const bool seldom = is_set && plan->quiet_ns >= SELDOM_QUIET_NS;
    if (cores >= loop->config.total || plan->shared || seldom)
        return SH_SENSOR_DISARM;
    return cores + 1 > idle ? cores + 1 - idle : 0;
}

bool sh_loop_alarm_waits(const struct sh_loop *loop) {
    return is_tight(&loop->plan);
}

/* When an event-driven loop looks without being woken: at the window's end, and for a plan that
 * follows demand whenever it may be time to shrink, since only more busy cores wake. */
int64_t sh_loop_next_look(const struct sh_loop *loop) {
    const struct sh_plan *plan = &loop->plan;
    const int64_t end_ns = loop->window.start_ns + loop->config.window_ns + loop->rests_ns;
    const uint32_t fewest =
        max_u32(plan->patient ? plan->primary_cores : 0, max_u32(plan->buffer, least_idle(loop)));
    if (!follows(loop) || loop->primary_cores <= within_limits(loop, fewest))
        return end_ns;
    const int64_t pause_ns = plan->patient ? plan->quiet_ns : LEND_LOOK_NS;
    return min_i64(end_ns, loop->last_poll_ns + max_i64(pause_ns, loop->config.poll_ns));
}

bool sh_loop_rings(struct sh_loop *loop, uint32_t level, int64_t now_ns) {
    struct sh_reading reading;
    return loop->sensor.read(loop->sensor.ctx, now_ns, &reading) != 0 ||
           pressing(loop, &reading) >= level;
}

void sh_loop_clock_failed(struct sh_loop *loop, int64_t now_ns, int err) {
    halt(loop, now_ns, SH_HALT_CLOCK, err);
}

void sh_loop_end(struct sh_loop *loop) {
    const struct sh_clock *clock = &loop->clock;
    loop->plan.patient = false;
    int err = assign(loop, loop->config.total, clock->now_ns(clock->ctx));
    if (err || (err = settle(loop, clock->now_ns(clock->ctx))))
        halt(loop, clock->now_ns(clock->ctx), SH_HALT_ACTUATOR, err);
}

int sh_loop_change(struct sh_loop *loop, const struct sh_actuator *actuator,
                   const struct sh_sensor *sensor, const struct sh_limits *limits) {
    struct sh_loop_config *c = &loop->config;
    if (loop->started || atomic_load(&loop->halt) != SH_HALT_NONE || limits->keep_idle < 1)
        return -EINVAL;
    if (sensor && ((c->exact && !sensor->collect) || (c->event_driven && sensor->wake_fd < 0)))
        return -EINVAL;
    c->max_harvest = limits->max_harvest;
    c->max_shared = limits->max_shared;
    c->keep_idle = limits->keep_idle;
    c->whole_harvests = limits->whole_harvests;
    if (loop->sensor.on_lent) { /* none of those that may not be lendable any more is lent */
        const struct sh_lendable before = {loop->lendable.cpus, loop->lendable.count, 0};
        loop->sensor.on_lent(loop->sensor.ctx, loop->last_poll_ns, &before, 0);
    }
    if (sensor) {
        loop->sensor = *sensor;
        loop->armed = SH_SENSOR_DISARM;
        loop->begun = false;
    }
    loop->actuator = *actuator;
    loop->placed = loop->unsettled = false;
    loop->primary_cores = c->total;
    atomic_store_explicit(&loop->harvested, 0, memory_order_relaxed);
    loop->plan_adopted_ns = 0;
    loop->plan_word_seen = atomic_load(&loop->plan_word);
    return 0;
}

/* --- the control plane's side ----------------------------------------------------------------- */

/* What repeats the plan before and moves no core can wait for the loop's next look, which is at the
 * window's end at the latest: a wake-up of its thread would be another interruption. */
void sh_loop_post(struct sh_loop *loop, const struct sh_plan *plan) {
    const struct sh_loop_config *c = &loop->config;
    const uint64_t word = sh_plan_pack(plan);
    const uint64_t before = atomic_exchange(&loop->plan_word, word);
    const uint32_t harvested = atomic_load(&loop->harvested);
    const bool fixed = plan->buffer == 0 && !plan->patient && !plan->shared;
    const bool moves = fixed && harvested != c->total - limited(c, false, plan->primary_cores);
    if (moves || !sh_plan_same(word, before))
        sh_loop_wake(loop);
}

void sh_loop_hurry(struct sh_loop *loop, bool hurry) {
    atomic_store_explicit(&loop->unhurried, !hurry, memory_order_relaxed);
}

void sh_loop_rest(struct sh_loop *loop, int64_t most_ns) {
    if (atomic_exchange(&loop->rest_ns, most_ns) > most_ns)
        sh_loop_wake(loop);
}

void sh_loop_permit(struct sh_loop *loop, int64_t until_ns) {
    atomic_store_explicit(&loop->permit_until_ns, until_ns, memory_order_release);
}

bool sh_loop_take(struct sh_loop *loop, struct sh_summary *summary) {
    uint32_t tail = atomic_load_explicit(&loop->ring_tail, memory_order_relaxed);
    if (tail == atomic_load_explicit(&loop->ring_head, memory_order_acquire))
        return false;
    *summary = loop->ring[tail % SH_RING_WINDOWS];
    atomic_store_explicit(&loop->ring_tail, tail + 1, memory_order_release);
    return true;
}

int sh_loop_wait(struct sh_loop *loop, int timeout_ms, int other_fd) {
    struct pollfd fds[] = {{.fd = loop->event_fd, .events = POLLIN},
                           {.fd = other_fd, .events = POLLIN}};
    uint64_t drained;
    const int ready = poll(fds, 2, timeout_ms);
    if (ready < 0)
        return -errno;
    if (fds[0].revents) {
        ssize_t got = read(loop->event_fd, &drained, sizeof(drained));
        (void)got;
    }
    return ready > 0;
}
