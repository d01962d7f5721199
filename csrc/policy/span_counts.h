/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* How many spans of time were how long; counts may fade, and be taken away again. */
#ifndef SH_SPAN_COUNTS_H
#define SH_SPAN_COUNTS_H

#include <stdint.h>

enum {
    SH_SPAN_FIRST_LOG2 = 9, /* ns; what is shorter counts as that */
    SH_SPAN_OCTAVES = 27,   /* up to a minute; what is longer counts as that */
    SH_SPAN_STEPS = 64,     /* an octave */
    SH_SPAN_WIDTH = 4,      /* steps over which a span is spread: what is known of it is a bucket's
                               middle */
    SH_SPAN_BUCKETS = SH_SPAN_OCTAVES * SH_SPAN_STEPS,
};

struct sh_span_counts {
    double total;
    double counts[SH_SPAN_BUCKETS];
};

/* So many more spans of about so long; fewer, if `count` is below 0. Those of integer counts that
 * are taken away leave nothing behind. */
void sh_span_counts_add(struct sh_span_counts *spans, uint64_t ns, double count);

/* All count `factor` times as much. */
void sh_span_counts_scale(struct sh_span_counts *spans, double factor);

/* How many are longer. */
double sh_span_counts_beyond(const struct sh_span_counts *spans, double limit_ns);

/* What the share `q` is at most as long as; 0 without spans. */
double sh_span_counts_quantile_ns(const struct sh_span_counts *spans, double q);

/* Each counts for its nanoseconds, but for the longest beyond the share `q`. */
void sh_span_counts_by_time(struct sh_span_counts *into, const struct sh_span_counts *spans,
                            double q);

/* The longest ones: the share `share` of all. */
void sh_span_counts_longest(struct sh_span_counts *into, const struct sh_span_counts *spans,
                            double share);

/* Each span takes longer by a delay drawn from `by`, which is not empty: how many are longer than
 * the limit then, and what the share `q` is at most as long as. A delay is known to a quarter of
 * an octave. */
double sh_span_counts_beyond_delayed(const struct sh_span_counts *spans,
                                     const struct sh_span_counts *by, double limit_ns);
double sh_span_counts_quantile_delayed_ns(const struct sh_span_counts *spans,
                                          const struct sh_span_counts *by, double q);

#endif
