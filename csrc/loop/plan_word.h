/* A plan in one word, which the control plane posts and the loop takes up without a lock. */
#ifndef SH_PLAN_WORD_H
#define SH_PLAN_WORD_H

#include "loop/loop.h"

enum {
    SH_PLAN_SEQ_BITS = 24,
    SH_PLAN_SEQ_MASK = (1 << SH_PLAN_SEQ_BITS) - 1,
};

/* What has too many bits is cut: the window's number to 24, a buffer to the largest; a quiet time
 * is rounded up to a square of microseconds. */
uint64_t sh_plan_pack(const struct sh_plan *plan);
struct sh_plan sh_plan_unpack(uint64_t word);

/* Do two plans ask for the same, whatever windows they answer? */
bool sh_plan_same(uint64_t a, uint64_t b);

/* Does a answer an older window than b? The numbers wrap. */
bool sh_plan_older(uint32_t a, uint32_t b);

#endif
