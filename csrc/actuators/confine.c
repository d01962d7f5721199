#define _GNU_SOURCE
#include "actuators/confine.h"

#include <errno.h>
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

static int get(int32_t tid, struct sh_affinity_mask *mask) {
    memset(mask, 0, sizeof(*mask));
    return sched_getaffinity(tid, sizeof(*mask), (cpu_set_t *)mask) < 0 ? -errno : 0;
}

static int set(int32_t tid, const struct sh_affinity_mask *mask) {
    return sched_setaffinity(tid, sizeof(*mask), (const cpu_set_t *)mask) < 0 ? -errno : 0;
}

static bool holds(const struct sh_affinity_mask *all, const struct sh_affinity_mask *some) {
    unsigned long missing = 0;
    for (size_t i = 0; i < sizeof(all->bits) / sizeof(all->bits[0]); i++)
        missing |= some->bits[i] & ~all->bits[i];
    return !missing;
}

int sh_give_back(const struct sh_give_back *how, int32_t tid) {
    const struct sh_affinity_mask *wanted = &how->known[0];
    struct sh_affinity_mask now;
    uint32_t had = 0;
    int err = get(tid, &now);
    if (err)
        return err;
    while (had < how->count && memcmp(&now, &how->known[had], sizeof(now)) != 0)
        had++;
    if (had == how->count)
        return (int)had;
    /* A pin that is refused is so before the kernel forgets what the thread had. */
    if ((err = set(tid, wanted)) || (err = set(tid, &how->every)) || (err = get(tid, &now)))
        return err;
    if (memcmp(&now, wanted, sizeof(now)) != 0 || !holds(&now, &how->within))
        err = set(tid, wanted);
    return err ? err : (int)had;
}
