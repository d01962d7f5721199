/* Lines 12-20 of Algorithm 1 without Python: what agent.py and policy/smartharvest.py decide, with
 * the learner of csoaa.h, decision for decision (a test holds the two together).
 *
 * It stands behind the loop's own call at the end of a window, so that a decision needs no other
 * thread to run. Nothing is allocated. */
#ifndef SH_DECIDER_H
#define SH_DECIDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "learner/csoaa.h"
#include "loop/loop.h"

struct sh_decider_config {
    uint32_t total, keep_idle;
    bool label_demand;    /* the label is the peak of demand; otherwise of busy cores */
    bool aggressive;      /* exhaustion gives everything back; otherwise a second's peak + 1 */
    bool train_exhausted; /* exhausted windows are lessons, too */
    bool broken_features; /* ... and their features the next lesson's */
};

struct sh_decider {
    struct sh_decide decide; /* for the loop */
    struct sh_decider_config config;
    struct sh_csoaa *model;
    const float *costs; /* a row of total + 1 for every label */
    /* Set by the thread that has the model. The loop does not wait: a window it is set in goes
     * unanswered and unlearned. */
    _Atomic int *taken;
    double features[5]; /* of the window before, if there are any */
    bool has_features;
    /* The peaks of the last second, falling; a ring. */
    struct {
        int64_t end_ns;
        uint32_t peak;
    } peaks[SH_MAX_CORES + 2];
    uint32_t first, count;
};

/* 0, or -EINVAL: the model must have the classes 0..total and five features. */
int sh_decider_init(struct sh_decider *decider, const struct sh_decider_config *config,
                    struct sh_csoaa *model, const float *costs, _Atomic int *taken);

/* What the loop calls. False: the model is taken, there is no answer. */
bool sh_decider_decide(void *decider, struct sh_summary *summary);

#endif
