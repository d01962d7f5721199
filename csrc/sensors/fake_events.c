#include "sensors/fake_events.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void account(struct sh_fake_events *fake, int64_t now_ns) {
    if (now_ns > fake->changed_ns) {
        fake->spent_ns[fake->busy] += (uint64_t)(now_ns - fake->changed_ns);
        fake->demand_core_ns += (uint64_t)(now_ns - fake->changed_ns) * fake->demand;
    }
    fake->changed_ns = now_ns;
}

static int events_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_fake_events *fake = ctx;
    (void)now_ns;
    pthread_mutex_lock(&fake->lock);
    reading->busy = fake->busy;
    reading->demand = fake->demand;
    const int err = fake->error;
    pthread_mutex_unlock(&fake->lock);
    return err;
}

static int events_collect(void *ctx, int64_t now_ns, struct sh_window *window) {
    struct sh_fake_events *fake = ctx;
    pthread_mutex_lock(&fake->lock);
    account(fake, now_ns);
    for (uint32_t busy = 0; busy <= SH_MAX_CORES; busy++)
        if (fake->spent_ns[busy])
            sh_window_weigh(window, busy, fake->spent_ns[busy]);
    if (fake->demand_max > window->demand_max)
        window->demand_max = fake->demand_max;
    memset(fake->spent_ns, 0, sizeof(fake->spent_ns));
    fake->demand_max = fake->demand;
    window->demand_core_ns += fake->demand_core_ns;
    fake->demand_core_ns = 0;
    pthread_mutex_unlock(&fake->lock);
    return 0;
}

static void events_arm(void *ctx, uint32_t cores, bool waits) {
    struct sh_fake_events *fake = ctx;
    pthread_mutex_lock(&fake->lock);
    fake->alarm = cores;
    fake->alarm_waits = waits;
    pthread_mutex_unlock(&fake->lock);
}

static void events_drain(void *ctx) {
    struct sh_fake_events *fake = ctx;
    uint64_t drained;
    ssize_t got = read(fake->wake_fd, &drained, sizeof(drained));
    (void)got;
}

int sh_fake_events_init(struct sh_fake_events *fake, int64_t now_ns, struct sh_sensor *sensor) {
    memset(fake, 0, sizeof(*fake));
    fake->changed_ns = now_ns;
    fake->alarm = SH_SENSOR_DISARM;
    fake->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fake->wake_fd < 0)
        return -errno;
    pthread_mutex_init(&fake->lock, NULL);
    *sensor = (struct sh_sensor){
        .read = events_read,
        .ctx = fake,
        .collect = events_collect,
        .arm = events_arm,
        .drain = events_drain,
        .wake_fd = fake->wake_fd,
    };
    return 0;
}

void sh_fake_events_destroy(struct sh_fake_events *fake) {
    pthread_mutex_destroy(&fake->lock);
    close(fake->wake_fd);
}

void sh_fake_events_set(struct sh_fake_events *fake, int64_t now_ns, uint32_t busy,
                        uint32_t demand) {
    pthread_mutex_lock(&fake->lock);
    account(fake, now_ns);
    fake->busy = busy < SH_MAX_CORES ? busy : SH_MAX_CORES;
    fake->demand = demand > fake->busy ? demand : fake->busy;
    if (fake->demand > fake->demand_max)
        fake->demand_max = fake->demand;
    if ((fake->alarm_waits ? fake->demand : fake->busy) >= fake->alarm) {
        const uint64_t one = 1;
        ssize_t written = write(fake->wake_fd, &one, sizeof(one));
        (void)written;
        fake->alarm = SH_SENSOR_DISARM;
    }
    pthread_mutex_unlock(&fake->lock);
}

void sh_fake_events_fail(struct sh_fake_events *fake, int err) {
    pthread_mutex_lock(&fake->lock);
    fake->error = err;
    pthread_mutex_unlock(&fake->lock);
}
