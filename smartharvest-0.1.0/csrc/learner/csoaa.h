/* Cost-sensitive one-against-all (section 4): every class's cost is regressed by a linear model of
 * its own, and the class of lowest predicted cost is the prediction, the lowest on ties.
 *
 * Every score is, bit for bit, that of Vowpal Wabbit 9.11 with
 *   --csoaa K --indexing 0 --noconstant --power_t 0 -l RATE
 * whose arithmetic this is: squared loss, normalized and invariant updates, single precision except
 * the normalizer's sums, features in order with the bias last, and zero features left out. That
 * needs IEEE arithmetic as written (-ffp-contract=off) and the C library's powf and expf.
 *
 * The caller owns all memory; nothing here allocates. */
#ifndef SH_CSOAA_H
#define SH_CSOAA_H

#include <stddef.h>
#include <stdint.h>

enum { SH_CSOAA_MAX_FEATURES = 32, SH_CSOAA_MAX_CLASSES = 1025 };

struct sh_csoaa {
    uint32_t classes;
    uint32_t features; /* with the bias, which is the last and always 1 */
    float learning_rate;
    /* Of all costs so far and 0. A prediction is clipped to them before it is corrected. */
    float least_cost, highest_cost;
    uint64_t lessons;

    /* In the caller's block. Per feature a plane of `pitch` floats, one for each class. */
    uint32_t pitch;
    double *norm_sum;      /* per class: of (feature / its scale)^2, over all lessons */
    double *weight_sum;    /* per class: lessons that corrected it */
    float *weight, *scale; /* scale: the largest magnitude of the feature so far */
    float *rate;           /* 1 / scale^2, as powf rounds it */
    float *score;          /* per class, of the last prediction or lesson */
    float *norm, *per_update, *update;
};

/* Bytes of the block; 0 for an invalid shape. features counts the bias. */
size_t sh_csoaa_size(uint32_t classes, uint32_t features);

/* A model that has learned nothing, in a block aligned as by malloc. -EINVAL for an invalid
 * shape or learning rate. */
int sh_csoaa_init(struct sh_csoaa *model, uint32_t classes, uint32_t features, float learning_rate,
                  void *block);

/* values: features - 1 of them, the bias left out, each finite and below 1e18 in magnitude;
 * costs: one finite cost for each class. Afterwards `score` holds what was predicted before. */
void sh_csoaa_learn(struct sh_csoaa *model, const double *values, const float *costs);
uint32_t sh_csoaa_predict(struct sh_csoaa *model, const double *values);

/* What survives a restart: the first bytes of the block and, with them, the cost range. */
size_t sh_csoaa_state_size(const struct sh_csoaa *model);
/* Takes over a block whose first sh_csoaa_state_size() bytes were replaced. -EINVAL if they hold
 * what no model does; the model is then as after sh_csoaa_init(). */
int sh_csoaa_adopt(struct sh_csoaa *model, float least_cost, float highest_cost, uint64_t lessons);

#endif
