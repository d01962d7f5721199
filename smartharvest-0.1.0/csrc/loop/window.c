#include "loop/window.h"

#include <math.h>
#include <string.h>

void sh_window_reset(struct sh_window *window, int64_t start_ns) {
    /* Only the weights up to the old peak can be non-zero. */
    memset(window->weight, 0, (window->busy_max + 1) * sizeof(window->weight[0]));
    window->start_ns = start_ns;
    window->total = 0;
    window->demand_core_ns = 0;
    window->polls = 0;
    window->busy_max = 0;
    window->busy_last = 0;
    window->demand_max = 0;
}

static uint32_t clamp(uint32_t busy) {
    return busy < SH_MAX_CORES ? busy : SH_MAX_CORES;
}

void sh_window_weigh(struct sh_window *window, uint32_t busy, uint64_t weight) {
    busy = clamp(busy);
    window->weight[busy] += weight;
    window->total += weight;
    if (busy > window->busy_max && weight > 0)
        window->busy_max = busy;
}

void sh_window_note(struct sh_window *window, uint32_t busy, uint32_t demand) {
    busy = clamp(busy);
    window->polls++;
    window->busy_last = busy;
    if (busy > window->busy_max)
        window->busy_max = busy;
    if (demand > window->demand_max)
        window->demand_max = demand;
}

void sh_window_add(struct sh_window *window, uint32_t busy, uint32_t demand) {
    sh_window_note(window, busy, demand);
    sh_window_weigh(window, busy, 1);
}

void sh_window_features(const struct sh_window *window, struct sh_features *features) {
    /* Nanoseconds times cores squared leave 64 bits behind. */
    unsigned __int128 sum = 0, squares = 0;
    uint64_t seen = 0;
    uint32_t min = 0, lower = 0, upper = 0;
    const uint64_t n = window->total;
    memset(features, 0, sizeof(*features));
    if (n == 0)
        return;
    while (window->weight[min] == 0)
        min++;
    for (uint32_t busy = min; busy <= window->busy_max; busy++) {
        const uint64_t weight = window->weight[busy];
        sum += (unsigned __int128)weight * busy;
        squares += (unsigned __int128)weight * busy * busy;
        if (seen < (n + 1) / 2 && seen + weight >= (n + 1) / 2)
            lower = busy;
        if (seen < n / 2 + 1 && seen + weight >= n / 2 + 1)
            upper = busy;
        seen += weight;
    }
    /* Integer sums: n * squares - sum^2 is exact, so a constant window has std 0. */
    features->min = min;
    features->max = window->busy_max;
    features->mean = (double)sum / (double)n;
    features->std = sqrt((double)(n * squares - sum * sum)) / (double)n;
    features->median = (lower + upper) / 2.0;
}
