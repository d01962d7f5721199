/* The rescuing threads where the sensor cannot tell them anything; with one that can, the tests on
 * a real host have them. */
#define _GNU_SOURCE
#include "actuators/rescue.h"

#include "sensors/bpf_sensor.h"

#include <dirent.h>

#include "threads.h"

static struct sh_bpf_shared shared;
static struct sh_bpf_sensor bpf;
static struct sh_rescue_thread threads[2];
static struct sh_rescue rescue;

static int entries_of(const char *path) {
    int count = 0;
    DIR *directory = opendir(path);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void make(void) {
    memset(&bpf, 0, sizeof(bpf));
    memset(bpf.maps, -1, sizeof(bpf.maps));
    bpf.shared = &shared;
    bpf.cpu_count = SH_BPF_MAX_CPUS;
    bpf.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    threads[0].cpu = threads[1].cpu = (uint32_t)some_cpu();
    rescue = (struct sh_rescue){.threads = threads, .count = 2, .stop_fd = -1};
    sh_bpf_sensor_tells(&bpf, &rescue.displacements);
}

static void test_told_by_nobody_no_thread_is_left_and_nothing_open(void) {
    make();
    const int files = entries_of("/proc/self/fd"), tasks = entries_of("/proc/self/task");
    CHECK(sh_rescue_start(&rescue) < 0);
    CHECK_EQ(shared.control.rescue, 0);
    CHECK_EQ(rescue.stop_fd, -1);
    CHECK_EQ(entries_of("/proc/self/fd"), files);
    CHECK_EQ(entries_of("/proc/self/task"), tasks);
}

static void test_what_was_never_started_can_be_stopped(void) {
    make();
    sh_rescue_stop(&rescue);
    sh_rescue_stop(&rescue);
    CHECK_EQ(rescue.rescues, 0);
}

static void test_threads_come_and_go_beside_a_sensor_that_tells(void) {
    struct sh_bpf_config config = {.parts = SH_BPF_LEVELS | SH_BPF_DEMAND, .primary_count = 1};
    struct sh_sensor sensor;
    const char *reason = "";
    config.allocations[0] = 1;
    config.targets[0] = (struct sh_bpf_target){
        .id = (uint64_t)getpid(), .hierarchy = SH_BPF_PROCESS, .runner = SH_BPF_ELASTIC};
    config.target_count = 1;
    make();
    const int err = sh_bpf_sensor_open(&bpf, &config, &sensor, &reason);
    if (err) { /* not allowed here; with rights the agent's own tests need it */
        fprintf(stderr, "  %s: %s\n", reason, strerror(-err));
        return;
    }
    for (int turn = 0; turn < 20; turn++) {
        CHECK_EQ(sh_rescue_start(&rescue), 0);
        CHECK_EQ(bpf.shared->control.rescue, 1);
        usleep(500);
        (void)sh_bpf_sensor_displacements(&bpf);
        sh_rescue_stop(&rescue);
        CHECK_EQ(bpf.shared->control.rescue, 0);
    }
    sh_bpf_sensor_close(&bpf);
}

static void test_only_a_thread_that_is_told_again_soon_wakes_twice(void) {
    const int64_t soon_ns = 10000, later_ns = 10000000;
    int64_t moment_ns = sh_rescue_moment_ns(0, later_ns);
    CHECK_EQ(moment_ns, 0);
    for (int64_t expected_ns = 15000; expected_ns <= 960000; expected_ns *= 2) {
        moment_ns = sh_rescue_moment_ns(moment_ns, soon_ns);
        CHECK_EQ(moment_ns, expected_ns);
    }
    CHECK_EQ(sh_rescue_moment_ns(moment_ns, soon_ns), moment_ns);
    CHECK_EQ(sh_rescue_moment_ns(moment_ns, later_ns), 0);
}

int main(void) {
    RUN(test_only_a_thread_that_is_told_again_soon_wakes_twice);
    RUN(test_threads_come_and_go_beside_a_sensor_that_tells);
    RUN(test_told_by_nobody_no_thread_is_left_and_nothing_open);
    RUN(test_what_was_never_started_can_be_stopped);
    return 0;
}
