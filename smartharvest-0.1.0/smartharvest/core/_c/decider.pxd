from libc.stdint cimport uint32_t

from smartharvest.core._c.csoaa cimport sh_csoaa
from smartharvest.core._c.loop cimport sh_decide, sh_summary

cdef extern from "learner/decider.h" nogil:
    ctypedef int atomic_int "_Atomic int"

    int atomic_exchange(atomic_int *at, int value)
    void atomic_store(atomic_int *at, int value)

    struct sh_decider_config:
        uint32_t total, keep_idle
        bint label_demand, aggressive, train_exhausted, broken_features

    struct sh_decider:
        sh_decide decide

    int sh_decider_init(sh_decider *decider, const sh_decider_config *config, sh_csoaa *model,
                        const float *costs, atomic_int *taken)
    bint sh_decider_decide(void *ctx, sh_summary *summary)
