#define _GNU_SOURCE
#include "actuators/confine.h"

#include <sched.h>
#include <string.h>

#include "sensors/task_list.h"

struct pass {
    const struct sh_affinity_mask *mask;
    bool first;
    uint64_t changed;
};

static void confine_one(void *ctx, int32_t tid) {
    struct pass *pass = ctx;
    struct sh_affinity_mask now;
    /* At first nearly all have another one: asking would take as long as setting. */
    if (!pass->first) {
        memset(&now, 0, sizeof(now));
        if (sched_getaffinity(tid, sizeof(now), (cpu_set_t *)&now) >= 0 &&
            memcmp(&now, pass->mask, sizeof(now)) == 0)
            return;
    }
    if (sched_setaffinity(tid, sizeof(*pass->mask), (const cpu_set_t *)pass->mask) == 0)
        pass->changed++;
}

int sh_confine(int fd, bool directory, const struct sh_affinity_mask *mask, uint32_t passes,
               uint64_t *changed) {
    struct pass pass = {.mask = mask, .first = true};
    for (uint32_t i = 0; i < passes; i++) {
        pass.changed = 0;
        const int err = directory ? sh_list_task_directory(fd, confine_one, &pass)
                                  : sh_list_task_file(fd, confine_one, &pass);
        if (err)
            return err;
        *changed += pass.changed;
        if (pass.changed == 0)
            break;
        pass.first = false;
    }
    return 0;
}
