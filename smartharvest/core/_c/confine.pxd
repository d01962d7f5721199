from libc.stdint cimport int32_t, uint32_t, uint64_t

from smartharvest.core._c.affinity cimport sh_affinity_mask

cdef extern from "actuators/confine.h" nogil:
    int sh_confine(
        int fd, bint directory, const sh_affinity_mask *mask, uint32_t passes, uint64_t *changed
    )

    struct sh_give_back:
        const sh_affinity_mask *known
        uint32_t count
        sh_affinity_mask every
        sh_affinity_mask within

    int give_back_one "sh_give_back"(const sh_give_back *how, int32_t tid)
