/* The rescuing threads where the sensor cannot tell them anything; with one that can, the tests on
 * a real host have them. */
#define _GNU_SOURCE
#include "rescue.h"

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

static void make(bool pull) {
    memset(&bpf, 0, sizeof(bpf));
    memset(bpf.maps, -1, sizeof(bpf.maps));
    bpf.shared = &shared;
    bpf.cpu_count = SH_BPF_MAX_CPUS;
    bpf.page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    bpf.config.pull = pull;
    threads[0].cpu = threads[1].cpu = (uint32_t)some_cpu();
    rescue = (struct sh_rescue){.bpf = &bpf, .threads = threads, .count = 2, .stop_fd = -1};
}

static void test_told_by_nobody_no_thread_is_left_and_nothing_open(void) {
    for (int pull = 0; pull < 2; pull++) {
        make(pull);
        const int files = entries_of("/proc/self/fd"), tasks = entries_of("/proc/self/task");
        CHECK(sh_rescue_start(&rescue) < 0);
        CHECK_EQ(shared.control.rescue, 0);
        CHECK_EQ(rescue.stop_fd, -1);
        CHECK_EQ(entries_of("/proc/self/fd"), files);
        CHECK_EQ(entries_of("/proc/self/task"), tasks);
    }
}

static void test_what_was_never_started_can_be_stopped(void) {
    make(false);
    sh_rescue_stop(&rescue);
    sh_rescue_stop(&rescue);
    CHECK_EQ(rescue.rescues, 0);
}

int main(void) {
    RUN(test_told_by_nobody_no_thread_is_left_and_nothing_open);
    RUN(test_what_was_never_started_can_be_stopped);
    return 0;
}
