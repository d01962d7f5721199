#define _GNU_SOURCE
#include "sensors/stat_sensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One tick of USER_HZ and a bit: an idle CPU's counter moves at least this often. */
enum { BUSY_AFTER_NS = 11000000 };

static void parse(struct sh_stat_sensor *stat, int64_t now_ns) {
    char *p = stat->buffer;
    while ((p = strstr(p, "cpu"))) {
        p += 3;
        if (*p < '0' || *p > '9')
            continue; /* the sum of all CPUs */
        unsigned long cpu = strtoul(p, &p, 10);
        uint64_t fields[5];
        for (int i = 0; i < 5; i++)
            fields[i] = strtoull(p, &p, 10);
        uint64_t idle = fields[3] + fields[4]; /* idle + iowait */
        if (cpu < SH_STAT_MAX_CPUS && idle != stat->idle_ticks[cpu]) {
            stat->idle_ticks[cpu] = idle;
            stat->moved_ns[cpu] = now_ns;
        }
    }
}

static int stat_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_stat_sensor *stat = ctx;
    ssize_t got = pread(stat->fd, stat->buffer, sizeof(stat->buffer) - 1, 0);
    uint32_t busy = 0;
    if (got <= 0)
        return got < 0 ? -errno : -EIO;
    stat->buffer[got] = '\0';
    parse(stat, now_ns);
    for (uint32_t i = 0; i < stat->core_count; i++) {
        const uint32_t cpu = stat->pool[i];
        busy += !stat->lent[cpu] && now_ns - stat->moved_ns[cpu] > BUSY_AFTER_NS;
    }
    if (busy > stat->allocation)
        busy = stat->allocation;
    reading->busy = reading->demand = busy;
    return 0;
}

static void stat_on_lent(void *ctx, int64_t now_ns, const struct sh_lendable *lendable,
                         uint32_t harvested) {
    struct sh_stat_sensor *stat = ctx;
    (void)now_ns;
    for (uint32_t i = 0; i < lendable->count; i++)
        stat->lent[lendable->cpus[i] % SH_STAT_MAX_CPUS] = i < lendable->elastic_min + harvested;
}

void sh_stat_sensor_init(struct sh_stat_sensor *stat, struct sh_sensor *sensor) {
    *sensor =
        (struct sh_sensor){.read = stat_read, .ctx = stat, .on_lent = stat_on_lent, .wake_fd = -1};
}
