/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#include "span_counts.h"

#include <math.h>
#include <string.h>

/* In steps from the first bucket's lower edge. */
static double position_of(double ns) {
    const double position = (log2(ns) - SH_SPAN_FIRST_LOG2) * SH_SPAN_STEPS;
    if (!(position > 0)) /* 0 ns is at minus infinity */
        return 0;
    return position < SH_SPAN_BUCKETS ? position : SH_SPAN_BUCKETS;
}

static double ns_at(double position) {
    return exp2(position / SH_SPAN_STEPS + SH_SPAN_FIRST_LOG2);
}

void sh_span_counts_add(struct sh_span_counts *spans, uint64_t ns, double count) {
    int first = (int)(position_of((double)ns) + 0.5) - SH_SPAN_WIDTH / 2;
    if (first < 0)
        first = 0;
    if (first > SH_SPAN_BUCKETS - SH_SPAN_WIDTH)
        first = SH_SPAN_BUCKETS - SH_SPAN_WIDTH;
    for (int i = 0; i < SH_SPAN_WIDTH; i++)
        spans->counts[first + i] += count / SH_SPAN_WIDTH;
    spans->total += count;
}

void sh_span_counts_scale(struct sh_span_counts *spans, double factor) {
    spans->total *= factor;
    for (int i = 0; i < SH_SPAN_BUCKETS; i++)
        spans->counts[i] *= factor;
}

double sh_span_counts_beyond(const struct sh_span_counts *spans, double limit_ns) {
    const double position = position_of(limit_ns);
    const int at = (int)position;
    if (at >= SH_SPAN_BUCKETS)
        return 0;
    double beyond = spans->counts[at] * (1 - (position - at));
    for (int i = at + 1; i < SH_SPAN_BUCKETS; i++)
        beyond += spans->counts[i];
    return beyond;
}

double sh_span_counts_quantile_ns(const struct sh_span_counts *spans, double q) {
    const double left = (1 - q) * spans->total;
    double beyond = 0;
    for (int i = SH_SPAN_BUCKETS - 1; i >= 0; i--) {
        const double count = spans->counts[i];
        if (count > 0 && beyond + count > left)
            return ns_at(i + 1 - (left - beyond) / count);
        beyond += count;
    }
    return 0;
}

void sh_span_counts_by_time(struct sh_span_counts *into, const struct sh_span_counts *spans,
                            double q) {
    double left = q * spans->total;
    memset(into, 0, sizeof(*into));
    for (int i = 0; i < SH_SPAN_BUCKETS && left > 0; i++) {
        const double count = fmin(spans->counts[i], left);
        if (!(count > 0))
            continue;
        into->counts[i] = count * ns_at(i + 0.5);
        into->total += into->counts[i];
        left -= count;
    }
}
