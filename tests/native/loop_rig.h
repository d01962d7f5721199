/* A loop between a fake sensor and a fake actuator, driven poll by poll in virtual time. */
#ifndef SH_TEST_LOOP_RIG_H
#define SH_TEST_LOOP_RIG_H

#include "actuators/fake_actuator.h"
#include "check.h"
#include "loop/loop.h"
#include "sensors/fake_sensor.h"

enum { POLL_NS = 50000, WINDOW_POLLS = 10, SEQ_LAST = 0xffffff };

struct rig {
    struct sh_loop loop;
    struct sh_fake_sensor sensor;
    struct sh_fake_actuator actuator;
    int32_t busy; /* what the sensor says; negative: its error */
    int64_t now_ns;
};

static inline struct sh_loop_config usual(void) {
    return (struct sh_loop_config){
        .window_ns = WINDOW_POLLS * POLL_NS,
        .poll_ns = POLL_NS,
        .plan_ttl_ns = 100 * WINDOW_POLLS * POLL_NS,
        .stale_ns = 20 * POLL_NS,
        .total = 8,
        .max_harvest = 8,
        .keep_idle = 1,
    };
}

static inline struct rig *make(struct sh_loop_config config) {
    struct rig *rig = calloc(1, sizeof(*rig));
    CHECK(rig);
    CHECK_EQ(sh_loop_init(&rig->loop, &config), 0);
    rig->sensor.script = &rig->busy;
    rig->sensor.script_length = 1;
    sh_fake_sensor_init(&rig->sensor, &rig->loop.sensor);
    sh_fake_actuator_init(&rig->actuator, &rig->loop.actuator);
    rig->now_ns = 1000000000;
    return rig;
}

static inline void drop(struct rig *rig) {
    sh_loop_destroy(&rig->loop);
    free(rig);
}

static inline uint32_t last_assigned(const struct rig *rig) {
    return rig->actuator.levels[(rig->actuator.count - 1) % SH_FAKE_ACTUATOR_KEPT];
}

/* One punctual poll that finds `busy` cores busy. */
static inline int try_poll(struct rig *rig, int32_t busy) {
    rig->busy = busy;
    rig->now_ns += rig->loop.config.poll_ns;
    return sh_loop_step(&rig->loop, rig->now_ns, rig->now_ns);
}

static inline void poll_busy(struct rig *rig, int32_t busy) {
    CHECK_EQ(try_poll(rig, busy), 0);
    /* Rules 1 and 2, and the actuator was told what the loop believes. */
    const struct sh_loop *loop = &rig->loop;
    const uint32_t total = loop->config.total;
    CHECK_EQ(loop->primary_cores + loop->harvested, total);
    CHECK_EQ(last_assigned(rig), loop->harvested);
    CHECK(loop->primary_cores == total || loop->primary_cores >= (uint32_t)busy + 1);
}

static inline void post(struct rig *rig, uint32_t seq, uint32_t primary_cores,
                        uint32_t safe_cores) {
    const struct sh_plan plan = {
        .seq = seq, .primary_cores = primary_cores, .safe_cores = safe_cores};
    sh_loop_post(&rig->loop, &plan);
}

static inline void post_buffer(struct rig *rig, uint32_t seq, uint32_t buffer) {
    const uint32_t total = rig->loop.config.total;
    const struct sh_plan plan = {
        .seq = seq, .primary_cores = total, .safe_cores = total, .buffer = buffer};
    sh_loop_post(&rig->loop, &plan);
}

static inline struct sh_summary take(struct rig *rig) {
    struct sh_summary summary;
    CHECK(sh_loop_take(&rig->loop, &summary));
    return summary;
}

static inline bool nothing_waits(struct rig *rig) {
    struct sh_summary summary;
    return !sh_loop_take(&rig->loop, &summary);
}

/* A rig in its first window that holds `primary_cores` by a plan. */
static inline struct rig *holding(struct sh_loop_config config, uint32_t primary_cores,
                                  uint32_t safe) {
    struct rig *rig = make(config);
    poll_busy(rig, 0);
    post(rig, 0, primary_cores, safe);
    poll_busy(rig, 0);
    CHECK_EQ(rig->loop.primary_cores, primary_cores);
    return rig;
}

#endif
