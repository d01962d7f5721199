/* The polling loop (paper, Algorithm 1, lines 4-11, and the part of lines 12-22 that cannot wait).
 *
 * It reads the sensor at absolute deadlines, collects the window, and acts alone when the idle
 * buffer runs out, by the plan it holds. Everything slower - learning, predicting - happens
 * elsewhere: windows leave through a ring, plans arrive in one atomic word, nobody locks or waits.
 *
 * sh_loop_step() is one poll and knows no threads: simulated time drives it as sh_loop_start()'s
 * thread does. The caller owns all memory; nothing is allocated after sh_loop_init().
 *
 * The rules:
 *  1. primary cores + harvested cores = total, at every moment.
 *  2. The primary holds at least busy + keep_idle cores (keep_idle >= 1) while there are cores;
 *     more where that would split a core of several CPUs.
 *  3. Exhausted means busy >= primary cores while something is lent (with a sensor that sees every
 *     change: running or waiting tasks, since the loop itself may have displaced a running one).
 *     The reaction happens in the poll that sees it: max(plan's safe cores, busy + keep_idle, one
 *     more than now). A patient plan without a buffer waits until a task does: busy > primary
 * cores.
 *  4. A plan answers a window; it comes from the control plane, or from `decide` where the loop has
 *     been given one. That lends only as long as the control plane permits (sh_loop_permit).
 *     One that answers an older window than the last broken is ignored. Where the loop does not
 *     decide, the permit keeps the last plan in force: the control plane answers windows in batches
 *     while none of them changes the plan.
 *  5. Event-driven, the loop does not poll: the sensor wakes it when the buffer runs out. A burst
 *     that is over when it looks needs no core; the window's peak still shows it. A plan with a
 *     buffer is woken for as soon as that begins to be used, and looked for now and then while
 *     less might do: after each quiet time if it is patient, every millisecond if not.
 *  6. Under a shared plan the elastic group is kept off the plan's primary cores and the primary
 *     preempts it on all others, so busy cores move nothing and rules 2 and 3 rest.
 *  7. An event-driven loop may rest for longer than a window (sh_loop_rest) where no look can move
 *     a core: the plan is shared or lends nothing. Its beat says until when, its window is marked,
 *     and it looks when the permit of what is lent ends.
 *  8. Doubt gives everything back: no plan for plan_ttl_ns and no permit, no poll for stale_ns, a
 *     revocation, a sensor or an actuator that fails. After a failure the loop halts and says
 * which.
 */
#ifndef SH_LOOP_H
#define SH_LOOP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "actuators/actuator.h"
#include "loop/clock.h"
#include "loop/histogram.h"
#include "loop/window.h"
#include "sensors/sensor.h"

enum { SH_RING_WINDOWS = 64, SH_MAX_CPU_WORDS = 64 };

struct sh_loop_config {
    int64_t window_ns;
    int64_t poll_ns;
    int64_t plan_ttl_ns; /* without a new plan for this long nothing stays lent */
    int64_t stale_ns;    /* without a poll for this long the window is void */
    uint32_t total;      /* cores of the pool beyond the elastic minimum, 1..SH_MAX_CORES */
    uint32_t max_harvest;
    uint32_t max_shared; /* the same under a shared plan */
    uint32_t keep_idle;  /* >= 1 */
    /* [0..total]: how many of so many cores can be lent as whole ones; NULL: all. Where several
     * CPUs are one core, all are lent or none: what is too little for a core stays with the
     * primary. */
    const uint16_t *whole_harvests;
    /* With a sensor that sees every change: */
    bool exact;        /* windows are weighted by time, not by polls */
    bool event_driven; /* look when the buffer runs out, a plan comes or a window ends, not by polls
                        */
};

/* What the control plane decided after window `seq`; fits one atomic word. */
struct sh_plan {
    uint32_t seq;           /* the window it answers; only the low 24 bits travel */
    uint32_t primary_cores; /* 0..total */
    uint32_t safe_cores;    /* what exhaustion gives the primary at least, 0..total */
    uint32_t buffer;        /* > 0: keep this many cores idle at every poll instead */
    /* With a buffer: grow at once, and shrink only to what was wanted at most within quiet_ns, but
     * not below primary_cores. It travels as a square root: to 31 us at 250 us, 16 ms at most. Only
     * a sensor that sees waiting tasks can do with a patient buffer of 0; one that leaves
     * primary_cores for 10 ms and more is of sets: its tasks are looked at as windows end. */
    bool patient;
    int64_t quiet_ns;
    bool shared; /* the primary preempts the elastic group; no buffer */
};

enum sh_window_flags {
    SH_WINDOW_EXHAUSTED = 1, /* the idle buffer ran out and broke the window */
    SH_WINDOW_STALE = 2,     /* the loop was not run for stale_ns */
    SH_WINDOW_HALTED = 4,    /* the last one: see error */
    SH_WINDOW_RESTED = 8,    /* longer than others: the loop rested */
};

enum sh_halt { SH_HALT_NONE, SH_HALT_SENSOR, SH_HALT_ACTUATOR, SH_HALT_CLOCK };

struct sh_summary {
    int64_t start_ns, end_ns;
    struct sh_features features;
    uint32_t seq, polls, busy_max, busy_last, demand_max;
    uint32_t primary_cores; /* before the reaction to exhaustion */
    uint32_t flags;
    /* Where the loop decides itself, and has: */
    bool decided;
    int32_t label; /* that was learned; -1: none */
    uint32_t planned_cores, planned_safe_cores;
};

/* Answers a window at once, in the loop's thread; NULL: the control plane does. */
struct sh_decide {
    /* Fills in label and planned cores; false: it cannot now. */
    bool (*answer)(void *ctx, struct sh_summary *summary);
    void *ctx;
};

/* What lending rests on and may end without us: from when *revoked is not 0 on, nothing is lent. */
struct sh_revocation {
    const _Atomic uint32_t *revoked; /* NULL: there is nothing of the kind */
    int fd; /* readable once it is; -1: the loop looks when it does anyway */
};

/* One writer, any reader, relaxed: each is right by itself. */
struct sh_counters {
    _Atomic uint64_t polls, late_polls, missed_polls, windows, dropped_windows;
    _Atomic uint64_t short_safeguards, assignments, plans_expired, stale_windows;
    _Atomic uint64_t polled_ns, harvested_core_ns, busy_core_ns, demand_core_ns;
    _Atomic uint64_t wake_ups; /* of an event-driven loop, by its sensor */
};

struct sh_loop {
    struct sh_loop_config config;
    struct sh_clock clock;
    struct sh_sensor sensor;
    struct sh_actuator actuator;
    struct sh_lendable lendable; /* to be set before the loop starts; none: not known */

    /* The loop's own. */
    struct sh_window window;
    uint32_t seq;
    bool begun; /* a window has begun that this sensor has seen from its beginning on */
    uint32_t primary_cores;
    struct sh_plan plan;
    uint64_t plan_word_seen;
    int64_t plan_adopted_ns;
    uint32_t broken_seq, broken_cores; /* the window last broken and the reaction; 0: answered */
    uint32_t armed;                    /* cores that the sensor wakes the loop at: busy ones, */
    bool armed_waits;                  /* or those that tasks wait for, too */
    int64_t quiet_since_ns;            /* since when a patient plan has wanted fewer cores */
    uint32_t quiet_most;               /* ... and how many at most */
    int64_t rests_ns;                  /* that the window may last beyond its end */
    int64_t last_poll_ns;
    bool placed; /* the actuator has set what it sets with nothing lent */
    /* Everything was taken back for a moment, at taken_ns: the group is not frozen yet. */
    bool unsettled;
    int64_t taken_ns;

    struct sh_decide decide;         /* to be set while the loop does not run */
    struct sh_revocation revocation; /* likewise */

    /* Loop -> control plane. */
    struct sh_summary ring[SH_RING_WINDOWS];
    _Atomic uint32_t ring_head, ring_tail;
    int event_fd; /* readable when windows wait; -1: nobody listens */
    struct sh_counters counters;
    struct sh_histogram lateness;
    struct sh_histogram moves; /* how long the actuator took; in virtual time it takes none */
    _Atomic int halt;          /* enum sh_halt */
    _Atomic int error;
    _Atomic uint32_t harvested;

    /* Control plane -> loop. */
    _Atomic uint64_t plan_word;
    _Atomic int64_t permit_until_ns;
    _Atomic bool unhurried;  /* windows that are not broken need no answer at once */
    _Atomic int64_t rest_ns; /* that a window may last where nothing moves; 0: as long as ever */
    _Atomic bool stop;
    int plan_fd; /* wakes an event-driven loop for a plan or a stop */

    /* The thread, when there is one. */
    pthread_t thread;
    bool started;
    /* Where it may run, and where once it is SCHED_FIFO; all zero: anywhere. */
    uint64_t cpus[SH_MAX_CPU_WORDS], realtime_cpus[SH_MAX_CPU_WORDS];
    /* When it last polled, or a window before it looks again, whichever is later: for who watches
     * over it; may be NULL. */
    _Atomic int64_t *beat;
    int fifo_priority; /* 0: do not ask for SCHED_FIFO */
    /* A loop that polls takes at most this share of a CPU, as far as rests of most_rest_ns do it;
     * 0: any share. What was due meanwhile is missed. */
    uint32_t most_cpu_percent;
    int64_t most_rest_ns;
    int64_t cpu_at_rest_ns; /* the thread's, when it last went to rest */
    _Atomic int scheduling; /* enum sh_scheduling it got; -1 until it runs */
    _Atomic int32_t tid;
    _Atomic int64_t cpu_ns; /* CPU time the thread has used */
};

enum sh_scheduling {
    SH_SCHEDULING_FIFO,
    SH_SCHEDULING_SHORT_SLICE, /* SCHED_OTHER, nice -20, a 100 us slice */
    SH_SCHEDULING_OTHER,
};

/* Opens the event fd and sets the loop before its first poll, everything with the primary.
 * -EINVAL for a configuration that breaks the ranges above. */
int sh_loop_init(struct sh_loop *loop, const struct sh_loop_config *config);
void sh_loop_destroy(struct sh_loop *loop);

/* One poll that was due at deadline_ns and happens at now_ns. 0, or the -errno it halted on. */
int sh_loop_step(struct sh_loop *loop, int64_t deadline_ns, int64_t now_ns);

/* For virtual time: makes at once the polls after the last one and before until_ns, each on its
 * deadline, if all see what the last one saw and do nothing but count it. Stops before the first
 * that might do more. Returns how many it made; the loop is then as if each had been a step. */
uint64_t sh_loop_repeat(struct sh_loop *loop, int64_t until_ns, const struct sh_reading *reading);

/* For virtual time, what an event-driven thread waits for after a step: this many busy cores
 * (SH_SENSOR_DISARM: none is enough), or those that tasks wait for, too, if the next is true ... */
uint32_t sh_loop_alarm_level(const struct sh_loop *loop);
bool sh_loop_alarm_waits(const struct sh_loop *loop);

/* ... or then. */
int64_t sh_loop_next_look(const struct sh_loop *loop);

/* Runs the loop in a thread of its own until sh_loop_stop() or a halt; either gives all back. */
int sh_loop_start(struct sh_loop *loop);
void sh_loop_stop(struct sh_loop *loop);

/* While the loop does not run: other limits, another actuator, and another sensor (NULL: the one it
 * has), from the next step on. Nothing is lent until a plan comes; windows and counters go on, but
 * the window in which the sensor changes begins again. -EINVAL for limits out of range, a sensor
 * that cannot do what the configuration asks of it, and a loop that has halted. */
struct sh_limits {
    uint32_t max_harvest, max_shared, keep_idle;
    const uint16_t *whole_harvests; /* as in sh_loop_config; to be kept alive */
};
int sh_loop_change(struct sh_loop *loop, const struct sh_actuator *actuator,
                   const struct sh_sensor *sensor, const struct sh_limits *limits);

/* Control plane's side: never blocks the loop. */
void sh_loop_post(struct sh_loop *loop, const struct sh_plan *plan);
/* `decide` may lend until then, or without it the plan in force stays so; 0: not any more. What is
 * lent already, a plan takes back. */
void sh_loop_permit(struct sh_loop *loop, int64_t until_ns);
bool sh_loop_take(struct sh_loop *loop, struct sh_summary *summary);
/* Whether a window wakes the control plane. If not, it has to look in time: half a ring wakes it
 * all the same, as one that was broken does. For when nothing can be lent, whatever it answered,
 * and for when it would answer as before. */
void sh_loop_hurry(struct sh_loop *loop, bool hurry);
/* For so long a window may last where nothing that a look sees can move a core; 0: no longer than
 * configured. For when nobody asks for windows. */
void sh_loop_rest(struct sh_loop *loop, int64_t most_ns);
/* Waits until a window is there or other_fd (-1: none) is readable: 1; 0 after timeout_ms, -EINTR
 * on a signal. */
int sh_loop_wait(struct sh_loop *loop, int timeout_ms, int other_fd);

#endif
