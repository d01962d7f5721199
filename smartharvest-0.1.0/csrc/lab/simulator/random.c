#include "lab/simulator/random.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void sh_sim_random_seed(struct sh_sim_random *random, uint64_t seed, uint64_t stream) {
    uint64_t state = seed;
    state = splitmix(&state) ^ (stream * 0xd1342543de82ef95u);
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix(&state);
    random->has_spare = 0;
}

static uint64_t rotate(uint64_t x, int k) {
    return x << k | x >> (64 - k);
}

uint64_t sh_sim_bits(struct sh_sim_random *random) {
    uint64_t *s = random->state;
    const uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double sh_sim_uniform(struct sh_sim_random *random) {
    return (double)(sh_sim_bits(random) >> 11) * 0x1p-53;
}

uint32_t sh_sim_below(struct sh_sim_random *random, uint32_t count) {
    return (uint32_t)((sh_sim_bits(random) >> 32) * count >> 32);
}

double sh_sim_exponential(struct sh_sim_random *random) {
    return -log(1.0 - sh_sim_uniform(random));
}

double sh_sim_normal(struct sh_sim_random *random) {
    double x, y, square;
    if (random->has_spare) {
        random->has_spare = 0;
        return random->spare;
    }
    do {
        x = 2.0 * sh_sim_uniform(random) - 1.0;
        y = 2.0 * sh_sim_uniform(random) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    const double factor = sqrt(-2.0 * log(square) / square);
    random->spare = y * factor;
    random->has_spare = 1;
    return x * factor;
}
