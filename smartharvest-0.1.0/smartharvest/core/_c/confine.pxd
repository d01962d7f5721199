from libc.stdint cimport uint32_t, uint64_t

from smartharvest.core._c.affinity cimport sh_affinity_mask

cdef extern from "actuators/confine.h" nogil:
    int sh_confine(
        int fd, bint directory, const sh_affinity_mask *mask, uint32_t passes, uint64_t *changed
    )
