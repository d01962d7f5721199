#include "learner/csoaa.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Below this the square of a feature would underflow. */
#define LEAST_MAGNITUDE 1.084202e-19f

/* Planes begin on whole vectors. */
enum { LANES = 8 };

/* In a variable, and not one the compiler can see through: it turns powf(x, -1) into 1 / x, which
 * rounds otherwise in every fifth case. */
static volatile const float minus_one_in_memory = -1.f;

static uint32_t pitch_of(uint32_t classes) {
    return (classes + LANES - 1) / LANES * LANES;
}

static int is_shape(uint32_t classes, uint32_t features) {
    return classes >= 1 && classes <= SH_CSOAA_MAX_CLASSES && features >= 1 &&
           features <= SH_CSOAA_MAX_FEATURES;
}

static size_t state_size(uint32_t pitch, uint32_t features) {
    return pitch * (2 * sizeof(double) + 2 * features * sizeof(float));
}

size_t sh_csoaa_size(uint32_t classes, uint32_t features) {
    const uint32_t pitch = pitch_of(classes);
    if (!is_shape(classes, features))
        return 0;
    return state_size(pitch, features) + pitch * (features + 4) * sizeof(float);
}

size_t sh_csoaa_state_size(const struct sh_csoaa *model) {
    return state_size(model->pitch, model->features);
}

int sh_csoaa_init(struct sh_csoaa *model, uint32_t classes, uint32_t features, float learning_rate,
                  void *block) {
    const uint32_t pitch = pitch_of(classes);
    if (!is_shape(classes, features) || !(learning_rate > 0) || !isfinite(learning_rate))
        return -EINVAL;
    memset(block, 0, sh_csoaa_size(classes, features));
    *model = (struct sh_csoaa){
        .classes = classes, .features = features, .learning_rate = learning_rate, .pitch = pitch};
    model->norm_sum = block;
    model->weight_sum = model->norm_sum + pitch;
    model->weight = (float *)(model->weight_sum + pitch);
    model->scale = model->weight + pitch * features;
    model->rate = model->scale + pitch * features;
    model->score = model->rate + pitch * features;
    model->norm = model->score + pitch;
    model->per_update = model->norm + pitch;
    model->update = model->per_update + pitch;
    return 0;
}

/* The features that count: those that are not zero, and the bias. */
struct present {
    uint32_t count;
    uint32_t plane[SH_CSOAA_MAX_FEATURES];
    float value[SH_CSOAA_MAX_FEATURES];
};

static void gather(const struct sh_csoaa *model, const double *values, struct present *present) {
    present->count = 0;
    for (uint32_t i = 0; i + 1 < model->features; i++) {
        const float value = (float)values[i];
        if (value == 0)
            continue;
        present->plane[present->count] = i * model->pitch;
        present->value[present->count++] = value;
    }
    present->plane[present->count] = (model->features - 1) * model->pitch;
    present->value[present->count++] = 1.f;
}

static void score(struct sh_csoaa *model, const struct present *present) {
    const uint32_t pitch = model->pitch;
    float *restrict scores = model->score;
    memset(scores, 0, pitch * sizeof(*scores));
    for (uint32_t i = 0; i < present->count; i++) {
        const float *restrict weight = model->weight + present->plane[i];
        const float value = present->value[i];
        for (uint32_t c = 0; c < pitch; c++)
            scores[c] += weight[c] * value;
    }
}

uint32_t sh_csoaa_predict(struct sh_csoaa *model, const double *values) {
    struct present present;
    uint32_t best = 0;
    gather(model, values, &present);
    score(model, &present);
    for (uint32_t c = 1; c < model->classes; c++)
        if (model->score[c] < model->score[best])
            best = c;
    return best;
}

/* What each class's clipped prediction is off by, in update[]; 0 for a class that needs no lesson.
 * The clip range grows from class to class. */
static void find_errors(struct sh_csoaa *model, const float *costs) {
    float least = model->least_cost, highest = model->highest_cost;
    for (uint32_t c = 0; c < model->classes; c++) {
        const float cost = costs[c];
        float prediction = model->score[c];
        least = cost < least ? cost : least;
        highest = cost > highest ? cost : highest;
        if (isnan(prediction))
            prediction = 0;
        prediction = prediction > highest ? highest : prediction < least ? least : prediction;
        const float error = cost - prediction;
        model->update[c] = error * error > 0 ? error : 0; /* its square may underflow */
    }
    model->least_cost = least;
    model->highest_cost = highest;
}

/* A feature larger than ever: its weight becomes what it had been, had the scale been known. */
static void rescale(struct sh_csoaa *model, uint32_t plane, float magnitude) {
    const float minus_one = minus_one_in_memory;
    float *weight = model->weight + plane, *scale = model->scale + plane;
    float *rate = model->rate + plane;
    for (uint32_t c = 0; c < model->classes; c++) {
        if (model->update[c] == 0 || magnitude <= scale[c])
            continue;
        if (scale[c] > 0) {
            const float ratio = magnitude / scale[c];
            weight[c] *= powf(ratio * ratio, minus_one);
        }
        scale[c] = magnitude;
        rate[c] = powf(magnitude * magnitude, minus_one);
    }
}

/* Per class: the lesson's normalized length, and what a unit of update would move the score by. */
static void normalize(struct sh_csoaa *model, const struct present *present) {
    const uint32_t pitch = model->pitch;
    memset(model->norm, 0, 2 * pitch * sizeof(float)); /* and per_update behind it */
    for (uint32_t i = 0; i < present->count; i++) {
        float *restrict norm = model->norm;
        float *restrict per_update = model->per_update;
        const float *restrict scale = model->scale + present->plane[i];
        const float *restrict rate = model->rate + present->plane[i];
        float magnitude = fabsf(present->value[i]);
        float least_scale = FLT_MAX;
        if (magnitude * magnitude < LEAST_MAGNITUDE * LEAST_MAGNITUDE)
            magnitude = LEAST_MAGNITUDE;
        for (uint32_t c = 0; c < model->classes; c++)
            least_scale = scale[c] < least_scale ? scale[c] : least_scale;
        if (magnitude > least_scale)
            rescale(model, present->plane[i], magnitude);
        const float square = magnitude * magnitude;
        /* Classes without a lesson get a value nobody reads. */
        for (uint32_t c = 0; c < pitch; c++) {
            norm[c] += square / (scale[c] * scale[c]);
            per_update[c] += square * rate[c];
        }
    }
}

/* Turns each class's error into its step. Most classes share their history, so that the costly
 * functions of the one before are the next one's too. */
static void find_steps(struct sh_csoaa *model) {
    const float eta = model->learning_rate, minus_one = minus_one_in_memory;
    float last_ratio = 0, multiplier = 0, last_exponent = 0, exponential = 1;
    for (uint32_t c = 0; c < model->classes; c++) {
        const float error = model->update[c];
        if (error == 0)
            continue;
        model->norm_sum[c] += (double)model->norm[c];
        model->weight_sum[c] += 1;
        const float ratio = (float)model->norm_sum[c] / (float)model->weight_sum[c];
        if (ratio != last_ratio) {
            last_ratio = ratio;
            multiplier = powf(ratio, minus_one);
        }
        const float per_update = model->per_update[c] * multiplier;
        float update;
        if ((double)(eta * per_update) < 1e-6) {
            update = 2.f * error * eta;
        } else {
            const float exponent = -2.f * eta * per_update;
            if (exponent != last_exponent) {
                last_exponent = exponent;
                exponential = expf(exponent);
            }
            update = error * (1.f - exponential) / per_update;
        }
        model->update[c] = isnan(update) ? 0 : update * multiplier;
    }
}

void sh_csoaa_learn(struct sh_csoaa *model, const double *values, const float *costs) {
    const uint32_t pitch = model->pitch;
    struct present present;
    gather(model, values, &present);
    score(model, &present);
    find_errors(model, costs);
    normalize(model, &present);
    find_steps(model);
    for (uint32_t i = 0; i < present.count; i++) {
        float *restrict weight = model->weight + present.plane[i];
        const float *restrict rate = model->rate + present.plane[i];
        const float *restrict update = model->update;
        const float value = present.value[i];
        for (uint32_t c = 0; c < pitch; c++)
            weight[c] += update[c] * (value * rate[c]);
    }
    model->lessons++;
}

static int is_state(const struct sh_csoaa *model) {
    const size_t planes = (size_t)model->pitch * model->features;
    for (uint32_t c = 0; c < model->pitch; c++)
        if (!isfinite(model->norm_sum[c]) || !isfinite(model->weight_sum[c]) ||
            model->norm_sum[c] < 0 || model->weight_sum[c] < 0)
            return 0;
    for (size_t i = 0; i < planes; i++)
        if (!isfinite(model->weight[i]) || !isfinite(model->scale[i]) || model->scale[i] < 0)
            return 0;
    return 1;
}

int sh_csoaa_adopt(struct sh_csoaa *model, float least_cost, float highest_cost, uint64_t lessons) {
    const float minus_one = minus_one_in_memory;
    const size_t planes = (size_t)model->pitch * model->features;
    if (!is_state(model) || !(least_cost <= 0) || !(highest_cost >= 0) || !isfinite(least_cost) ||
        !isfinite(highest_cost)) {
        sh_csoaa_init(model, model->classes, model->features, model->learning_rate,
                      model->norm_sum);
        return -EINVAL;
    }
    for (size_t i = 0; i < planes; i++)
        model->rate[i] =
            model->scale[i] > 0 ? powf(model->scale[i] * model->scale[i], minus_one) : 0;
    model->least_cost = least_cost;
    model->highest_cost = highest_cost;
    model->lessons = lessons;
    return 0;
}
