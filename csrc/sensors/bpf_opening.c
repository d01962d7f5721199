/* Loading, mapping, attaching and seeding the in-kernel sensor, and closing it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/sensor.loader.h"
#include "sensors/bpf_inside.h"
#include "sensors/bpf_loader.h"

enum { LOADING_TRIES = 5 };

/* CPU numbers run from 0 to the last possible one: "0-3" or "0,2-5". */
static uint32_t possible_cpus(void) {
    char text[256] = "";
    int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    const char *last = text;
    for (const char *p = text; *p; p++)
        if (*p == '-' || *p == ',')
            last = p + 1;
    const uint32_t count = (uint32_t)strtoul(last, NULL, 10) + 1;
    return min_u32(count, SH_BPF_MAX_CPUS);
}

static const char *arrange(const struct sh_bpf_config *config, struct sh_bpf_settings *settings) {
    uint32_t hierarchies = 0;
    if (config->primary_count < 1 || config->primary_count > SH_BPF_MAX_PRIMARIES)
        return "too many primaries, or none";
    if (config->target_count > SH_BPF_MAX_TARGETS)
        return "too many targets";
    if ((config->parts & SH_BPF_DEMAND) && !(config->parts & SH_BPF_LEVELS))
        return "demand is counted only with levels";
    if ((config->parts & SH_BPF_HARM) && !(config->parts & SH_BPF_DEMAND))
        return "harm is counted only with demand";
    if (config->pool_count > SH_BPF_MAX_CPUS)
        return "too many CPUs in the pool";
    settings->parts = config->parts;
    settings->primary_count = config->primary_count;
    memcpy(settings->allocations, config->allocations, sizeof(settings->allocations));
    settings->agent = (int32_t)getpid();
    settings->pool_count = config->pool_count;
    for (uint32_t i = 0; i < config->target_count; i++) {
        const struct sh_bpf_target *target = &config->targets[i];
        uint32_t known = 0;
        if (target->runner != SH_BPF_ELASTIC &&
            (target->runner < SH_BPF_PRIMARY ||
             target->runner >= SH_BPF_PRIMARY + config->primary_count))
            return "a target that is nobody's";
        if (target->hierarchy == SH_BPF_PROCESS) {
            settings->processes = 1;
            continue;
        }
        while (known < hierarchies && settings->hierarchies[known] != target->hierarchy)
            known++;
        if (known < hierarchies)
            continue;
        if (hierarchies == 2)
            return "targets in more than two cgroup hierarchies";
        settings->hierarchies[hierarchies++] = target->hierarchy;
    }
    return NULL;
}

static int load(struct sh_bpf_sensor *bpf, const struct sh_bpf_settings *settings,
                const char **reason) {
    struct sensor_programs loaded = {
        .context.size = sizeof(loaded),
        .cpus.max_entries = bpf->cpu_count,
        .harms.max_entries = bpf->harm_count,
        .tracked_tasks.max_entries = settings->parts & SH_BPF_HARM ? SH_BPF_TRACKED_TASKS : 1,
        .wakes.max_entries = bpf->page_bytes,
        .rescues.max_entries = bpf->cpu_count,
        .rodata.contents = (uint64_t)(uintptr_t)settings,
    };
    int err, tries = 0;
    do /* the verifier breaks off when a signal comes */
        err = sh_loader_run(&loaded.context, sensor_loader_data, sensor_loader_data_bytes,
                            sensor_loader_code, sensor_loader_code_bytes, reason);
    while (err == -EAGAIN && ++tries < LOADING_TRIES);
    const int maps[] = {loaded.cpus.fd,  loaded.harms.fd,   loaded.tracked_tasks.fd,
                        loaded.wakes.fd, loaded.rescues.fd, loaded.bss.fd,
                        loaded.rodata.fd};
    const int programs[] = {loaded.on_switch.fd,     loaded.on_waking.fd, loaded.on_wakeup.fd,
                            loaded.on_wakeup_new.fd, loaded.on_expiry.fd, loaded.on_expired.fd,
                            loaded.on_look.fd,       loaded.on_walk.fd};
    /* The loader closes what it made when it fails. */
    if (err)
        return err;
    memcpy(bpf->maps, maps, sizeof(maps));
    memcpy(bpf->programs, programs, sizeof(programs));
    return 0;
}

static void *map_memory(size_t bytes, int protection, int fd, off_t offset) {
    void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, offset);
    return memory == MAP_FAILED ? NULL : memory;
}

static int map_all(struct sh_bpf_sensor *bpf) {
    const int both = PROT_READ | PROT_WRITE;
    bpf->shared = map_memory(sizeof(*bpf->shared), both, bpf->maps[SHARED], 0);
    bpf->cpus = map_memory(bpf->cpu_count * sizeof(*bpf->cpus), both, bpf->maps[CPUS], 0);
    bpf->harms = map_memory(bpf->harm_count * sizeof(*bpf->harms), PROT_READ, bpf->maps[HARMS], 0);
    bpf->wake_consumed = map_memory(bpf->page_bytes, both, bpf->maps[WAKES], 0);
    bpf->wake_produced = map_memory(bpf->page_bytes, PROT_READ, bpf->maps[WAKES], bpf->page_bytes);
    if (bpf->shared && bpf->cpus && bpf->harms && bpf->wake_consumed && bpf->wake_produced)
        return 0;
    return -errno;
}

static int attach(struct sh_bpf_sensor *bpf) {
    int *links = bpf->links;
    if ((links[WALK_LINK] = sh_loader_attach_iterator(bpf->programs[ON_WALK])) < 0)
        return links[WALK_LINK];
    if (bpf->config.parts & SH_BPF_DEMAND) {
        if ((links[WAKEUP_LINK] = sh_loader_attach(bpf->programs[ON_WAKEUP])) < 0)
            return links[WAKEUP_LINK];
        if ((links[WAKEUP_NEW_LINK] = sh_loader_attach(bpf->programs[ON_WAKEUP_NEW])) < 0)
            return links[WAKEUP_NEW_LINK];
    }
    if (bpf->config.parts & SH_BPF_HARM) {
        if ((links[WAKING_LINK] = sh_loader_attach(bpf->programs[ON_WAKING])) < 0)
            return links[WAKING_LINK];
        if ((links[EXPIRED_LINK] = sh_loader_attach(bpf->programs[ON_EXPIRED])) < 0)
            return links[EXPIRED_LINK];
        if ((links[EXPIRY_LINK] = sh_loader_attach(bpf->programs[ON_EXPIRY])) < 0)
            return links[EXPIRY_LINK];
    }
    links[SWITCH_LINK] = sh_loader_attach(bpf->programs[ON_SWITCH]);
    return links[SWITCH_LINK] < 0 ? links[SWITCH_LINK] : 0;
}

/* Where queues are per-CPU variables it takes a walk to find them. */
static int find_queues(struct sh_bpf_sensor *bpf) {
    int32_t wanting_off = 0;
    int err = sh_bpf_walk_tasks(bpf, &wanting_off);
    if (err || (err = sh_loader_call(bpf->programs[ON_LOOK])))
        return err;
    return bpf->shared->look.cpus ? 0 : -ENOTSUP;
}

static int seed(struct sh_bpf_sensor *bpf) {
    struct sh_bpf_drift drift;
    int err;
    /* Our own switch brings the clocks together; the look depends on them. */
    if ((err = sh_bpf_sensor_alive(bpf)) || (err = find_queues(bpf)) ||
        (err = sh_bpf_sensor_resync(bpf, &drift)))
        return err;
    sh_bpf_note_base(bpf);
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        (void)sh_bpf_was_used(bpf, cpu);
    return 0;
}

static int open_whole(struct sh_bpf_sensor *bpf, const struct sh_bpf_config *config,
                      struct sh_bpf_settings *settings, struct sh_sensor *sensor,
                      const char **reason) {
    int err;
    memset(bpf, 0, sizeof(*bpf));
    memset(bpf->maps, -1, sizeof(bpf->maps));
    memset(bpf->programs, -1, sizeof(bpf->programs));
    memset(bpf->links, -1, sizeof(bpf->links));
    bpf->config = *config;
    bpf->config.parts = settings->parts;
    bpf->cpu_count = settings->cpu_count = possible_cpus();
    bpf->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    bpf->harm_count = 1;
    if (settings->parts & SH_BPF_HARM)
        bpf->harm_count = bpf->cpu_count * config->primary_count;
    if (access("/sys/kernel/btf/vmlinux", R_OK)) {
        *reason = "the kernel has no BTF";
        return -ENOTSUP;
    }
    if ((err = load(bpf, settings, reason)))
        return err;
    *reason = "mapping the sensor's memory";
    if ((err = map_all(bpf)))
        goto fail;
    struct sh_bpf_control *control = &bpf->shared->control;
    control->wake_at = SH_BPF_NO_WAKE;
    control->lent_until_ns = control->minimum_until_ns = INT64_MIN;
    control->wait_threshold_ns = config->wait_threshold_ns;
    memcpy(control->targets, config->targets, sizeof(control->targets));
    for (uint32_t i = 0; i < config->pool_count; i++)
        bpf->shared->pool[i] = (uint16_t)config->pool[i];
    STORE(control->target_count, config->target_count);
    *reason = "attaching to the scheduler's tracepoints";
    if ((err = attach(bpf)))
        goto fail;
    *reason = "looking at the run queues";
    if ((err = seed(bpf)))
        goto fail;
    sh_bpf_wire(bpf, sensor);
    *reason = "";
    return 0;
fail:
    sh_bpf_sensor_close(bpf);
    return err;
}

int sh_bpf_sensor_open(struct sh_bpf_sensor *bpf, const struct sh_bpf_config *config,
                       struct sh_sensor *sensor, const char **reason) {
    struct sh_bpf_settings settings = {0};
    *reason = arrange(config, &settings);
    if (*reason)
        return -EINVAL;
    const int err = open_whole(bpf, config, &settings, sensor, reason);
    if (!err || !(settings.parts & SH_BPF_HARM) || err == -EPERM)
        return err;
    /* A kernel that refuses the newest part must not go without the others. */
    settings.parts &= ~(uint32_t)SH_BPF_HARM;
    return open_whole(bpf, config, &settings, sensor, reason);
}

static void close_all(int *fds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

void sh_bpf_sensor_close(struct sh_bpf_sensor *bpf) {
    close_all(bpf->links, sizeof(bpf->links) / sizeof(bpf->links[0]));
    close_all(bpf->programs, sizeof(bpf->programs) / sizeof(bpf->programs[0]));
    if (bpf->shared)
        munmap(bpf->shared, sizeof(*bpf->shared));
    if (bpf->cpus)
        munmap(bpf->cpus, bpf->cpu_count * sizeof(*bpf->cpus));
    if (bpf->harms)
        munmap(bpf->harms, bpf->harm_count * sizeof(*bpf->harms));
    if (bpf->wake_consumed)
        munmap(bpf->wake_consumed, bpf->page_bytes);
    if (bpf->wake_produced)
        munmap((void *)bpf->wake_produced, bpf->page_bytes);
    bpf->shared = NULL;
    bpf->cpus = NULL;
    bpf->harms = NULL;
    bpf->wake_consumed = NULL;
    bpf->wake_produced = NULL;
    close_all(bpf->maps, sizeof(bpf->maps) / sizeof(bpf->maps[0]));
}
