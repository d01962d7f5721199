/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#include "span_counts.h"

#include <math.h>
#include <string.h>

enum {
    DELAY_STEPS = 4,        /* an octave */
    QUANTILE_HALVINGS = 16, /* to a small part of a bucket */
};

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

/* Of each bucket, how many are in it or a longer one. */
static void sum_from(const struct sh_span_counts *spans, double sums[SH_SPAN_BUCKETS + 1]) {
    sums[SH_SPAN_BUCKETS] = 0;
    for (int i = SH_SPAN_BUCKETS - 1; i >= 0; i--)
        sums[i] = sums[i + 1] + spans->counts[i];
}

static double beyond_by_sums(const double *sums, double limit_ns) {
    const double position = position_of(limit_ns);
    const int at = (int)position;
    if (at >= SH_SPAN_BUCKETS)
        return 0;
    return sums[at] - (sums[at] - sums[at + 1]) * (position - at);
}

/* Delays in coarse steps: so many, each about so long, of shares that sum up to 1. */
struct delays {
    int count;
    double ns[SH_SPAN_OCTAVES * DELAY_STEPS], share[SH_SPAN_OCTAVES * DELAY_STEPS];
};

static void read_delays(struct delays *delays, const struct sh_span_counts *from) {
    enum { WIDTH = SH_SPAN_STEPS / DELAY_STEPS };
    delays->count = 0;
    for (int first = 0; first < SH_SPAN_BUCKETS; first += WIDTH) {
        double sum = 0;
        for (int i = first; i < first + WIDTH; i++)
            sum += from->counts[i];
        if (!(sum > 0))
            continue;
        delays->ns[delays->count] = ns_at(first + WIDTH / 2.0);
        delays->share[delays->count++] = sum / from->total;
    }
}

static double beyond_delayed(const double *sums, const struct delays *delays, double limit_ns) {
    double beyond = 0;
    for (int i = 0; i < delays->count; i++)
        beyond += delays->share[i] * beyond_by_sums(sums, limit_ns - delays->ns[i]);
    return beyond;
}

double sh_span_counts_beyond_delayed(const struct sh_span_counts *spans,
                                     const struct sh_span_counts *by, double limit_ns) {
    double sums[SH_SPAN_BUCKETS + 1];
    struct delays delays;
    sum_from(spans, sums);
    read_delays(&delays, by);
    return beyond_delayed(sums, &delays, limit_ns);
}

double sh_span_counts_quantile_delayed_ns(const struct sh_span_counts *spans,
                                          const struct sh_span_counts *by, double q) {
    double sums[SH_SPAN_BUCKETS + 1];
    struct delays delays;
    double low = 0, high = SH_SPAN_BUCKETS;
    const double left = (1 - q) * spans->total;
    if (!(spans->total > 0))
        return 0;
    sum_from(spans, sums);
    read_delays(&delays, by);
    for (int i = 0; i < QUANTILE_HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (beyond_delayed(sums, &delays, ns_at(middle)) > left)
            low = middle;
        else
            high = middle;
    }
    return ns_at(high);
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

void sh_span_counts_longest(struct sh_span_counts *into, const struct sh_span_counts *spans,
                            double share) {
    double left = share * spans->total;
    memset(into, 0, sizeof(*into));
    for (int i = SH_SPAN_BUCKETS - 1; i >= 0 && left > 0; i--) {
        const double count = fmin(spans->counts[i], left);
        if (!(count > 0))
            continue;
        into->counts[i] = count;
        into->total += count;
        left -= count;
    }
}
