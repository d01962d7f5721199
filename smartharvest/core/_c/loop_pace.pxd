from libc.stdint cimport uint64_t

cdef extern from "loop/loop_pace.h" nogil:
    int sh_ask_for_slice(uint64_t slice_ns)
