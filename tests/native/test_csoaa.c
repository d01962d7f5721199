/* csoaa: shapes, what a restart keeps, and hostile features under the sanitizers. Its scores are
 * compared with Vowpal Wabbit's in tests/unit/algorithm/learning. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "learner/csoaa.h"

enum { CLASSES = 11, FEATURES = 6 };

static void *new_model(struct sh_csoaa *model, uint32_t classes) {
    void *block = malloc(sh_csoaa_size(classes, FEATURES));
    CHECK(block != NULL);
    CHECK_EQ(sh_csoaa_init(model, classes, FEATURES, 0.1f, block), 0);
    return block;
}

static void skewed(float *costs, uint32_t classes, uint32_t label) {
    for (uint32_t c = 0; c < classes; c++)
        costs[c] = c < label ? (float)(label - c + classes - 1) : (float)(c - label);
}

static void test_shapes_that_cannot_be(void) {
    struct sh_csoaa model;
    double block[64];
    CHECK_EQ(sh_csoaa_size(0, FEATURES), 0);
    CHECK_EQ(sh_csoaa_size(SH_CSOAA_MAX_CLASSES + 1, FEATURES), 0);
    CHECK_EQ(sh_csoaa_size(2, 0), 0);
    CHECK_EQ(sh_csoaa_size(2, SH_CSOAA_MAX_FEATURES + 1), 0);
    CHECK_EQ(sh_csoaa_init(&model, 0, FEATURES, 0.1f, block), -EINVAL);
    CHECK_EQ(sh_csoaa_init(&model, 1, 1, 0.f, block), -EINVAL);
    CHECK_EQ(sh_csoaa_init(&model, 1, 1, NAN, block), -EINVAL);
    CHECK_EQ(sh_csoaa_init(&model, 1, 1, INFINITY, block), -EINVAL);
}

static void test_it_learns_a_constant_peak(void) {
    struct sh_csoaa model;
    void *block = new_model(&model, CLASSES);
    const double window[] = {0, 3, 1.25, 0.5, 1};
    float costs[CLASSES];
    skewed(costs, CLASSES, 4);
    for (int i = 0; i < 200; i++)
        sh_csoaa_learn(&model, window, costs);
    CHECK_EQ(sh_csoaa_predict(&model, window), 4);
    CHECK_EQ(model.lessons, 200);
    free(block);
}

static void test_the_largest_model_stays_in_its_block(void) {
    struct sh_csoaa model;
    void *block = malloc(sh_csoaa_size(SH_CSOAA_MAX_CLASSES, SH_CSOAA_MAX_FEATURES));
    double values[SH_CSOAA_MAX_FEATURES - 1];
    float costs[SH_CSOAA_MAX_CLASSES];
    CHECK_EQ(sh_csoaa_init(&model, SH_CSOAA_MAX_CLASSES, SH_CSOAA_MAX_FEATURES, 0.1f, block), 0);
    for (int i = 0; i < SH_CSOAA_MAX_FEATURES - 1; i++)
        values[i] = i;
    skewed(costs, SH_CSOAA_MAX_CLASSES, SH_CSOAA_MAX_CLASSES - 1);
    sh_csoaa_learn(&model, values, costs);
    CHECK(sh_csoaa_predict(&model, values) < SH_CSOAA_MAX_CLASSES);
    free(block);
}

static void test_tiny_huge_and_missing_features(void) {
    struct sh_csoaa model;
    void *block = new_model(&model, CLASSES);
    const double windows[][5] = {
        {0, 0, 0, 0, 0}, {1e-30, 1e-25, 1e-20, 0, 1}, {1e17, 1e9, 1, 0, 0}, {-3, -1, 0, 2, -2}};
    float costs[CLASSES];
    for (uint32_t i = 0; i < 400; i++) {
        skewed(costs, CLASSES, i % CLASSES);
        sh_csoaa_learn(&model, windows[i % 4], costs);
        CHECK(sh_csoaa_predict(&model, windows[(i + 1) % 4]) < CLASSES);
    }
    free(block);
}

static void test_a_model_goes_on_from_its_state(void) {
    struct sh_csoaa model, copy;
    void *block = new_model(&model, CLASSES), *other = new_model(&copy, CLASSES);
    const double window[] = {1, 5, 2.5, 1.5, 2};
    float costs[CLASSES];
    for (uint32_t i = 0; i < 50; i++) {
        skewed(costs, CLASSES, i % 7);
        sh_csoaa_learn(&model, window, costs);
    }
    memcpy(other, block, sh_csoaa_state_size(&model));
    CHECK_EQ(sh_csoaa_adopt(&copy, model.least_cost, model.highest_cost, model.lessons), 0);
    sh_csoaa_learn(&model, window, costs);
    sh_csoaa_learn(&copy, window, costs);
    CHECK_EQ(memcmp(block, other, sh_csoaa_state_size(&model)), 0);
    CHECK_EQ(copy.lessons, 51);
    free(block);
    free(other);
}

static void test_a_state_no_model_has_is_refused_and_forgotten(void) {
    struct sh_csoaa model;
    void *block = new_model(&model, CLASSES);
    const double window[] = {1, 5, 2.5, 1.5, 2};
    memset(block, 0xff, sh_csoaa_state_size(&model));
    CHECK_EQ(sh_csoaa_adopt(&model, 0, 1, 3), -EINVAL);
    CHECK_EQ(model.lessons, 0);
    CHECK_EQ(sh_csoaa_predict(&model, window), 0);
    CHECK_EQ(sh_csoaa_adopt(&model, NAN, 1, 3), -EINVAL);
    CHECK_EQ(sh_csoaa_adopt(&model, 0, -1, 3), -EINVAL);
    free(block);
}

int main(void) {
    test_shapes_that_cannot_be();
    test_it_learns_a_constant_peak();
    test_the_largest_model_stays_in_its_block();
    test_tiny_huge_and_missing_features();
    test_a_model_goes_on_from_its_state();
    test_a_state_no_model_has_is_refused_and_forgotten();
    return 0;
}
