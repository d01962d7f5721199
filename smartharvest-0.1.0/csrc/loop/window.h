/* One learning window: a histogram of busy cores and the five features of section 3.4 drawn from
 * it, so that their cost depends on the number of cores and never on the number of samples. */
#ifndef SH_WINDOW_H
#define SH_WINDOW_H

#include <stdint.h>

enum { SH_MAX_CORES = 1024 };

struct sh_window {
    int64_t start_ns;
    uint32_t polls; /* looks at the primary */
    uint32_t busy_max;
    uint32_t busy_last;
    uint32_t demand_max;
    uint64_t total;          /* of all weights */
    uint64_t demand_core_ns; /* cores wanted times the time they were, where windows are exact */
    /* Weight of each number of busy cores: the polls that saw it, or the time it lasted. */
    uint64_t weight[SH_MAX_CORES + 1];
};

/* Population statistics over the weights, in cores. */
struct sh_features {
    double min, max, mean, std, median;
};

void sh_window_reset(struct sh_window *window, int64_t start_ns);

/* busy is clamped to SH_MAX_CORES in all three. */

/* A look that counts as a sample: sh_window_note and a weight of 1. */
void sh_window_add(struct sh_window *window, uint32_t busy, uint32_t demand);

/* A look that tells the last and highest values and weighs nothing. */
void sh_window_note(struct sh_window *window, uint32_t busy, uint32_t demand);

/* This many busy cores for this long. */
void sh_window_weigh(struct sh_window *window, uint32_t busy, uint64_t weight);

/* All zero for an empty window. */
void sh_window_features(const struct sh_window *window, struct sh_features *features);

#endif
