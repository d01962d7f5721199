"""Memory that C code uses and a binding owns."""

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Calloc


cdef inline void *allocate(size_t count, size_t size) except NULL:
    cdef void *memory = PyMem_Calloc(count, size)
    if memory is NULL:
        raise MemoryError
    return memory


cdef inline void *hold_slot(object slot, Py_buffer *held, size_t size) except NULL:
    """The address of ``slot``, whose memory stays until ``held`` is released.

    Of a memoryview its exporter is held: the collector empties a memoryview in a garbage cycle
    even while its memory is in use, which may be unmapped then.
    """
    cdef Py_buffer view
    PyObject_GetBuffer(slot, &view, PyBUF_WRITABLE)
    cdef void *address = view.buf
    cdef Py_ssize_t length = view.len
    PyBuffer_Release(&view)
    if length < <Py_ssize_t> size:
        raise ValueError(f"a slot of {length} bytes: {size} are written")
    PyObject_GetBuffer(slot.obj if isinstance(slot, memoryview) else slot, held, PyBUF_WRITABLE)
    return address
