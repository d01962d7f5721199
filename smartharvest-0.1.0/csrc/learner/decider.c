#include "learner/decider.h"

#include <errno.h>
#include <string.h>

enum { HORIZON_NS = 1000000000, FEATURES = 5, PEAKS = SH_MAX_CORES + 2 };

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

int sh_decider_init(struct sh_decider *decider, const struct sh_decider_config *config,
                    struct sh_csoaa *model, const float *costs, _Atomic int *taken) {
    if (config->total < 1 || config->total > SH_MAX_CORES || model->classes != config->total + 1 ||
        model->features != FEATURES + 1)
        return -EINVAL;
    memset(decider, 0, sizeof(*decider));
    decider->decide = (struct sh_decide){sh_decider_decide, decider};
    decider->config = *config;
    decider->model = model;
    decider->costs = costs;
    decider->taken = taken;
    return 0;
}

/* safeguard.py: a window counts as long as any part of it lies within the horizon. */
static void observe(struct sh_decider *decider, const struct sh_summary *window) {
    while (decider->count > 0 &&
           decider->peaks[(decider->first + decider->count - 1) % PEAKS].peak <= window->busy_max)
        decider->count--;
    const uint32_t last = (decider->first + decider->count++) % PEAKS;
    decider->peaks[last].end_ns = window->end_ns;
    decider->peaks[last].peak = window->busy_max;
    while (decider->peaks[decider->first].end_ns <= window->end_ns - HORIZON_NS) {
        decider->first = (decider->first + 1) % PEAKS;
        decider->count--;
    }
}

static uint32_t safe_cores(const struct sh_decider *decider, uint32_t primary_cores) {
    if (decider->config.aggressive || decider->count == 0)
        return decider->config.total;
    const uint32_t peak = decider->peaks[decider->first].peak;
    return min_u32(decider->config.total, max_u32(peak, primary_cores) + 1);
}

static void keep_features(struct sh_decider *decider, const struct sh_features *f) {
    const double features[FEATURES] = {f->min, f->max, f->mean, f->std, f->median};
    memcpy(decider->features, features, sizeof(features));
    decider->has_features = true;
}

/* The label, or -1 if the window is no lesson. */
static int32_t learn(struct sh_decider *decider, const struct sh_summary *window) {
    const struct sh_decider_config *c = &decider->config;
    const bool exhausted = window->flags & SH_WINDOW_EXHAUSTED;
    int32_t label = -1;
    if (window->flags & SH_WINDOW_STALE) {
        decider->has_features = false;
        return -1;
    }
    if ((!exhausted || c->train_exhausted) && decider->has_features) {
        const uint32_t demand = c->label_demand ? window->demand_max : 0;
        label = (int32_t)min_u32(max_u32(window->busy_max, demand), c->total);
        sh_csoaa_learn(decider->model, decider->features,
                       decider->costs + (size_t)label * (c->total + 1));
    }
    if (exhausted && c->broken_features)
        keep_features(decider, &window->features);
    return label;
}

static uint32_t predict(struct sh_decider *decider, const struct sh_summary *window) {
    keep_features(decider, &window->features);
    if (decider->model->lessons == 0)
        return decider->config.total;
    return sh_csoaa_predict(decider->model, decider->features);
}

bool sh_decider_decide(void *ctx, struct sh_summary *window) {
    struct sh_decider *decider = ctx;
    const struct sh_decider_config *c = &decider->config;
    uint32_t cores = c->total;
    if (atomic_exchange_explicit(decider->taken, 1, memory_order_acquire))
        return false;
    observe(decider, window);
    window->label = learn(decider, window);
    if (!(window->flags & SH_WINDOW_STALE)) {
        cores = window->flags & SH_WINDOW_EXHAUSTED ? safe_cores(decider, window->primary_cores)
                                                    : predict(decider, window);
        cores = max_u32(cores, window->busy_last + c->keep_idle);
    }
    atomic_store_explicit(decider->taken, 0, memory_order_release);
    window->planned_cores = min_u32(cores, c->total);
    window->planned_safe_cores = safe_cores(decider, window->planned_cores);
    return true;
}
