from libc.stdint cimport int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor
from smartharvest.core._c.task_list cimport sh_task_sources

cdef extern from "sensors/proc_sensor.h" nogil:
    struct sh_proc_sensor:
        sh_task_sources sources
        int64_t rescan_ns
        uint32_t tasks_seen

    void sh_proc_sensor_init(sh_proc_sensor *proc, sh_sensor *sensor)
    void sh_proc_sensor_close(sh_proc_sensor *proc)
