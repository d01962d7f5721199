/* The histogram's quantiles against the sorted values. */
#include <math.h>

#include "check.h"
#include "loop/histogram.h"

enum { VALUES = 5000 };

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void test_a_quantile_is_never_too_low_and_at_most_an_eighth_too_high(void) {
    static struct sh_histogram histogram;
    static int64_t values[VALUES];
    srand(1);
    for (int i = 0; i < VALUES; i++) {
        values[i] = (int64_t)rand() >> (rand() % 31); /* every octave */
        sh_histogram_add(&histogram, values[i]);
    }
    qsort(values, VALUES, sizeof(values[0]), compare);
    CHECK_EQ(histogram.total, VALUES);
    CHECK_EQ(histogram.max_ns, values[VALUES - 1]);
    uint64_t sum = 0;
    for (int i = 0; i < VALUES; i++)
        sum += (uint64_t)values[i];
    CHECK_EQ(histogram.sum_ns, sum);
    for (int percent = 0; percent <= 100; percent++) {
        const double q = percent / 100.0;
        const double rank = ceil(q * VALUES);
        const int64_t exact = values[rank < 1 ? 0 : (int)rank - 1];
        const int64_t got = sh_histogram_quantile(&histogram, q);
        CHECK(got >= exact);
        CHECK(got <= exact + exact / 8);
    }
    CHECK_EQ(sh_histogram_quantile(&histogram, 1.0), values[VALUES - 1]);
}

static void test_bucket_edges_lose_nothing(void) {
    for (int shift = 0; shift < 63; shift++)
        for (int64_t off = -1; off <= 1; off++) {
            static struct sh_histogram histogram;
            const int64_t value = ((int64_t)1 << shift) + off;
            memset(&histogram, 0, sizeof(histogram));
            sh_histogram_add(&histogram, value);
            sh_histogram_add(&histogram, INT64_MAX);
            const int64_t got = sh_histogram_quantile(&histogram, 0.5);
            CHECK(got >= value && got <= value + value / 8);
        }
}

static void test_small_values_are_exact(void) {
    for (int64_t value = 0; value < 2 * SH_HISTOGRAM_SUB; value++) {
        static struct sh_histogram histogram;
        memset(&histogram, 0, sizeof(histogram));
        sh_histogram_add(&histogram, value);
        sh_histogram_add(&histogram, 1000);
        CHECK_EQ(sh_histogram_quantile(&histogram, 0.5), value);
    }
}

static void test_negative_values_count_as_zero(void) {
    static struct sh_histogram histogram;
    sh_histogram_add(&histogram, -5);
    sh_histogram_add(&histogram, INT64_MIN);
    CHECK_EQ(histogram.total, 2);
    CHECK_EQ(histogram.count[0], 2);
    CHECK_EQ(sh_histogram_quantile(&histogram, 1.0), 0);
}

static void test_the_largest_value_has_a_bucket(void) {
    static struct sh_histogram histogram;
    sh_histogram_add(&histogram, INT64_MAX);
    CHECK_EQ(histogram.count[SH_HISTOGRAM_BUCKETS - 1], 1);
    CHECK_EQ(sh_histogram_quantile(&histogram, 0.0), INT64_MAX);
    CHECK_EQ(sh_histogram_quantile(&histogram, 1.0), INT64_MAX);
}

static void test_an_empty_histogram_has_zero_quantiles(void) {
    static struct sh_histogram histogram;
    CHECK_EQ(sh_histogram_quantile(&histogram, 0.0), 0);
    CHECK_EQ(sh_histogram_quantile(&histogram, 1.0), 0);
}

int main(void) {
    RUN(test_a_quantile_is_never_too_low_and_at_most_an_eighth_too_high);
    RUN(test_bucket_edges_lose_nothing);
    RUN(test_small_values_are_exact);
    RUN(test_negative_values_count_as_zero);
    RUN(test_the_largest_value_has_a_bucket);
    RUN(test_an_empty_histogram_has_zero_quantiles);
    return 0;
}
