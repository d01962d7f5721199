#include "loop/plan_word.h"

/* A plan in one word: 24 bits of sequence, 11 + 11 of cores, 11 of buffer, 7 of patience. Zero is
 * "none yet". The largest buffer stands for a shared plan. */
enum {
    SEQ_BITS = SH_PLAN_SEQ_BITS,
    CORES_BITS = 11,
    SEQ_MASK = SH_PLAN_SEQ_MASK,
    CORES_MASK = (1 << CORES_BITS) - 1,
    MOST_PATIENCE = 127,
    SHARED_BUFFER = CORES_MASK,
};
_Static_assert((int)SH_MAX_CORES < (int)SHARED_BUFFER, "cores fit their bits");

/* 0: not patient; otherwise one more than the root of the quiet time in microseconds. */
static uint64_t pack_patience(const struct sh_plan *plan) {
    uint64_t root = 0;
    if (!plan->patient)
        return 0;
    while (root < MOST_PATIENCE - 1 && (int64_t)(root * root) * 1000 < plan->quiet_ns)
        root++;
    return root + 1;
}

uint64_t sh_plan_pack(const struct sh_plan *plan) {
    const uint32_t buffer = plan->shared                   ? SHARED_BUFFER
                            : plan->buffer < SHARED_BUFFER ? plan->buffer
                                                           : SHARED_BUFFER - 1;
    return (uint64_t)(plan->seq & SEQ_MASK) |
           (uint64_t)(plan->primary_cores & CORES_MASK) << SEQ_BITS |
           (uint64_t)(plan->safe_cores & CORES_MASK) << (SEQ_BITS + CORES_BITS) |
           (uint64_t)buffer << (SEQ_BITS + 2 * CORES_BITS) |
           pack_patience(plan) << (SEQ_BITS + 3 * CORES_BITS);
}

struct sh_plan sh_plan_unpack(uint64_t word) {
    const int64_t root = (int64_t)(word >> (SEQ_BITS + 3 * CORES_BITS)) - 1;
    const uint32_t buffer = (uint32_t)(word >> (SEQ_BITS + 2 * CORES_BITS)) & CORES_MASK;
    const bool shared = buffer == SHARED_BUFFER;
    return (struct sh_plan){
        .seq = (uint32_t)word & SEQ_MASK,
        .primary_cores = (uint32_t)(word >> SEQ_BITS) & CORES_MASK,
        .safe_cores = (uint32_t)(word >> (SEQ_BITS + CORES_BITS)) & CORES_MASK,
        .buffer = shared ? 0 : buffer,
        .patient = root >= 0 && !shared,
        .quiet_ns = root * root * 1000,
        .shared = shared,
    };
}

bool sh_plan_same(uint64_t a, uint64_t b) {
    return a >> SEQ_BITS == b >> SEQ_BITS;
}

bool sh_plan_older(uint32_t a, uint32_t b) {
    return ((a - b) & SEQ_MASK) > SEQ_MASK / 2;
}
