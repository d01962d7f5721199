/* The window's features against the plain definition over the samples themselves. */
#include <math.h>

#include "check.h"
#include "loop/window.h"

enum { MOST_SAMPLES = 700, ROUNDS = 300 };

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void check_close(double actual, double expected) {
    CHECK(fabs(actual - expected) <= 1e-9 * (1 + fabs(expected)));
}

static void check_against_definition(const struct sh_window *window, uint32_t *samples, size_t n) {
    struct sh_features features;
    double sum = 0, squares = 0;
    sh_window_features(window, &features);
    qsort(samples, n, sizeof(samples[0]), compare);
    for (size_t i = 0; i < n; i++)
        sum += samples[i];
    for (size_t i = 0; i < n; i++)
        squares += (samples[i] - sum / (double)n) * (samples[i] - sum / (double)n);
    CHECK_EQ(features.min, samples[0]);
    CHECK_EQ(features.max, samples[n - 1]);
    check_close(features.mean, sum / (double)n);
    check_close(features.std, sqrt(squares / (double)n));
    check_close(features.median, (samples[(n - 1) / 2] + samples[n / 2]) / 2.0);
}

static void test_features_agree_with_their_definition_window_after_window(void) {
    static struct sh_window window;
    static uint32_t samples[MOST_SAMPLES];
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t n = 1 + (size_t)rand() % MOST_SAMPLES;
        const uint32_t cores = 1 + (uint32_t)rand() % (round % 2 ? 8 : SH_MAX_CORES);
        sh_window_reset(&window, round);
        for (size_t i = 0; i < n; i++) {
            samples[i] = (uint32_t)rand() % (cores + 1);
            sh_window_add(&window, samples[i], samples[i]);
        }
        CHECK_EQ(window.polls, n);
        CHECK_EQ(window.start_ns, round);
        CHECK_EQ(window.busy_last, samples[n - 1]);
        check_against_definition(&window, samples, n);
    }
}

static void test_the_median_of_an_even_number_is_between_the_middle_two(void) {
    static struct sh_window window;
    struct sh_features features;
    const uint32_t samples[] = {1, 9, 2, 5};
    for (size_t i = 0; i < 4; i++)
        sh_window_add(&window, samples[i], samples[i]);
    sh_window_features(&window, &features);
    CHECK(features.median == 3.5);
    sh_window_add(&window, 4, 4);
    sh_window_features(&window, &features);
    CHECK(features.median == 4.0);
}

static void test_a_constant_window_has_no_deviation(void) {
    static struct sh_window window;
    struct sh_features features;
    for (int i = 0; i < 500; i++)
        sh_window_add(&window, 7, 7);
    sh_window_features(&window, &features);
    CHECK(features.std == 0.0);
    CHECK(features.mean == 7.0);
}

static void test_an_empty_window_has_zero_features(void) {
    static struct sh_window window;
    struct sh_features features;
    memset(&features, 0xff, sizeof(features));
    sh_window_features(&window, &features);
    CHECK(features.min == 0 && features.max == 0 && features.mean == 0);
    CHECK(features.std == 0 && features.median == 0);
}

static void test_a_reset_leaves_nothing_of_the_window_before(void) {
    static struct sh_window window;
    struct sh_features features;
    for (uint32_t busy = 0; busy <= SH_MAX_CORES; busy++)
        sh_window_add(&window, busy, 2 * busy);
    sh_window_reset(&window, 42);
    CHECK_EQ(window.start_ns, 42);
    CHECK_EQ(window.polls + window.busy_max + window.busy_last + window.demand_max, 0);
    for (uint32_t busy = 0; busy <= SH_MAX_CORES; busy++)
        CHECK_EQ(window.weight[busy], 0);
    sh_window_add(&window, 3, 5);
    sh_window_features(&window, &features);
    CHECK(features.min == 3 && features.max == 3);
    CHECK_EQ(window.demand_max, 5);
}

static void test_busy_is_clamped_to_the_most_cores(void) {
    static struct sh_window window;
    sh_window_add(&window, SH_MAX_CORES + 1, UINT32_MAX);
    CHECK_EQ(window.busy_max, SH_MAX_CORES);
    CHECK_EQ(window.weight[SH_MAX_CORES], 1);
    CHECK_EQ(window.demand_max, UINT32_MAX);
}

int main(void) {
    RUN(test_features_agree_with_their_definition_window_after_window);
    RUN(test_the_median_of_an_even_number_is_between_the_middle_two);
    RUN(test_a_constant_window_has_no_deviation);
    RUN(test_an_empty_window_has_zero_features);
    RUN(test_a_reset_leaves_nothing_of_the_window_before);
    RUN(test_busy_is_clamped_to_the_most_cores);
    return 0;
}
