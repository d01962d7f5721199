from libc.stdint cimport uint64_t


cdef extern from "lab/demo_bully.h" nogil:
    enum sh_bully_state:
        SH_BULLY_PAUSED
        SH_BULLY_RUNNING

    struct sh_bully_block:
        pass

    struct sh_bully:
        pass

    size_t sh_bully_block_size(int threads)
    int sh_bully_start(sh_bully *bully, sh_bully_block *block, int threads)
    void sh_bully_stop(sh_bully *bully)
    void sh_bully_switch(sh_bully_block *block, sh_bully_state state)
    uint64_t sh_bully_units(const sh_bully_block *block, int threads)
