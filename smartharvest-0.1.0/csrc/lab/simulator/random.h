/* Random streams. One seed makes any number of streams that do not depend on one another, so that
 * two runs that differ in one thing still draw the same numbers for all others. */
#ifndef SH_SIM_RANDOM_H
#define SH_SIM_RANDOM_H

#include <stdint.h>

struct sh_sim_random {
    uint64_t state[4]; /* xoshiro256++ (Blackman and Vigna) */
    double spare;      /* the polar method makes normals in pairs */
    int has_spare;
};

void sh_sim_random_seed(struct sh_sim_random *random, uint64_t seed, uint64_t stream);

uint64_t sh_sim_bits(struct sh_sim_random *random);

/* In [0, 1). */
double sh_sim_uniform(struct sh_sim_random *random);

/* In 0..count-1; count >= 1. */
uint32_t sh_sim_below(struct sh_sim_random *random, uint32_t count);

/* Mean 1. */
double sh_sim_exponential(struct sh_sim_random *random);

/* Mean 0, variance 1. */
double sh_sim_normal(struct sh_sim_random *random);

#endif
