#define _GNU_SOURCE
#include "affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task_list.h"

enum { MAX_PASSES = 16 };

struct pass {
    const struct sh_affinity_mask *mask;
    uint32_t changed, seen;
    int error;
};

static void set_one(void *ctx, int32_t tid) {
    struct pass *pass = ctx;
    struct sh_affinity_mask now;
    pass->seen++;
    memset(&now, 0, sizeof(now));
    if (sched_getaffinity(tid, sizeof(now), (cpu_set_t *)&now) == 0 &&
        memcmp(&now, pass->mask, sizeof(now)) == 0)
        return;
    if (sched_setaffinity(tid, sizeof(*pass->mask), (const cpu_set_t *)pass->mask) == 0)
        pass->changed++;
    else if (errno != ESRCH)
        pass->error = -errno;
}

static int affinity_assign(void *ctx, uint32_t harvested) {
    struct sh_affinity *affinity = ctx;
    const uint32_t level = harvested < affinity->levels ? harvested : affinity->levels - 1;
    struct pass pass = {.mask = &affinity->masks[level]};
    if (affinity->current == (int64_t)level)
        return 0;
    affinity->current = -1;
    for (int passes = 0; passes < MAX_PASSES; passes++) {
        pass.changed = pass.seen = 0;
        for (uint32_t i = 0; i < affinity->process_count; i++) {
            int err = sh_list_task_directory(affinity->task_dirs[i], set_one, &pass);
            if (err && err != -ESRCH)
                return err;
        }
        if (pass.error)
            return pass.error;
        if (pass.seen == 0)
            return -ESRCH;
        atomic_fetch_add_explicit(&affinity->writes, pass.changed, memory_order_relaxed);
        if (pass.changed == 0)
            break;
    }
    affinity->current = level;
    return 0;
}

void sh_affinity_init(struct sh_affinity *affinity, struct sh_actuator *actuator) {
    affinity->current = -1;
    actuator->assign = affinity_assign;
    actuator->ctx = affinity;
}
