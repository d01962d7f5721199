from libc.stdint cimport uint32_t, uint64_t

cdef extern from "learner/csoaa.h" nogil:
    enum:
        SH_CSOAA_MAX_FEATURES
        SH_CSOAA_MAX_CLASSES

    struct sh_csoaa:
        uint32_t classes, features, pitch
        float learning_rate, least_cost, highest_cost
        uint64_t lessons
        double *norm_sum
        float *weight
        float *scale
        float *score

    size_t sh_csoaa_size(uint32_t classes, uint32_t features)
    int sh_csoaa_init(sh_csoaa *model, uint32_t classes, uint32_t features, float learning_rate,
                      void *block)
    void sh_csoaa_learn(sh_csoaa *model, const double *values, const float *costs)
    uint32_t sh_csoaa_predict(sh_csoaa *model, const double *values)
    size_t sh_csoaa_state_size(const sh_csoaa *model)
    int sh_csoaa_adopt(sh_csoaa *model, float least_cost, float highest_cost, uint64_t lessons)
