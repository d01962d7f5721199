/* The third seam: who may run where. */
#ifndef SH_ACTUATOR_H
#define SH_ACTUATOR_H

#include <stdint.h>

struct sh_actuator {
    /* Leaves the elastic group with its minimum + harvested cores once it returns. 0, or -errno:
     * then the group may hold either set and the caller must treat the host as unknown. */
    int (*assign)(void *ctx, uint32_t harvested);
    /* The same for cores that are soon to be lent again: with none left the group is not frozen,
     * which takes longer than all else, until assign(0) is called. NULL: as assign. */
    int (*assign_briefly)(void *ctx, uint32_t harvested);
    void *ctx;
};

#endif
