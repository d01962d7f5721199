/* What the C sensors read, spoilt at random: nothing is read or written beyond its place, and what
 * they tell stays within the primaries' cores. ANY_INPUT_ROUNDS (20,000) of each, from the seed in
 * ANY_INPUT_SEED (1). */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "sensors/perf_sensor.h"
#include "sensors/proc_sensor.h"
#include "sensors/stat_sensor.h"
#include "sensors/task_list.h"
#include "threads.h"

enum { LONGEST = 4096, PAGE = 4096, DATA = 4096, CPUS = 2 };

static uint64_t state = 1;
static long rounds = 20000;

static uint32_t chance(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % below;
}

static const char *const PIECES[] = {"",           "\n",         " ",
                                     ")",          "(",          "-1",
                                     "0",          "4294967296", "99999999999999999999999999",
                                     "cpu1",       "cpu4095 1",  "cpu 4096 ",
                                     "R ",         ") R",        "-",
                                     "2147483647", "2147483648"};

/* `sample` with some parts replaced; the number of bytes. */
static size_t spoil(const char *sample, char *out) {
    size_t length = strlen(sample);
    memcpy(out, sample, length);
    for (uint32_t n = chance(5); n > 0; n--) {
        const size_t at = chance((uint32_t)length + 1);
        if (chance(3) == 0) {
            const char *piece = PIECES[chance(sizeof(PIECES) / sizeof(PIECES[0]))];
            const size_t more = strlen(piece);
            if (length + more > LONGEST)
                continue;
            memmove(out + at + more, out + at, length - at);
            memcpy(out + at, piece, more);
            length += more;
        } else if (at < length && chance(4) == 0) {
            length = at;
        } else if (at < length) {
            out[at] = (char)chance(256);
        }
    }
    return length;
}

static int memory_file(void) {
    const int fd = memfd_create("any-input", MFD_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void put(int fd, const char *bytes, size_t length) {
    CHECK_EQ(ftruncate(fd, 0), 0);
    CHECK_EQ(pwrite(fd, bytes, length, 0), length);
}

static void note(void *ctx, int32_t tid) {
    CHECK(tid > 0);
    ++*(long *)ctx;
}

static void test_lists_of_tasks(void) {
    char text[LONGEST + 64];
    const int fd = memory_file();
    for (long i = 0; i < rounds; i++) {
        long count = 0;
        put(fd, text, spoil("1\n23\n99999999\n2147483647\n", text));
        CHECK_EQ(sh_list_task_file(fd, note, &count), 0);
        CHECK(count <= LONGEST);
    }
    close(fd);
}

static void test_the_state_of_a_task(void) {
    static struct sh_proc_sensor proc;
    struct sh_sensor sensor;
    char text[LONGEST + 64];
    proc.tasks[0] = (struct sh_proc_task){.tid = 7, .fd = memory_file()};
    proc.task_count = proc.sources.primary_count = proc.sources.allocations[0] = 1;
    proc.next_rescan_ns = INT64_MAX;
    sh_proc_sensor_init(&proc, &sensor);
    for (long i = 0; i < rounds; i++) {
        struct sh_reading reading;
        size_t length = spoil("7 (a) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 "
                              "23 24 25 26 27 28 29 30 31 32 33 34 35 3 37 38\n",
                              text);
        put(proc.tasks[0].fd, length ? text : "x", length ? length : 1);
        CHECK_EQ(sensor.read(sensor.ctx, i, &reading), 0);
        CHECK(reading.busy <= 1 && reading.demand <= 1);
    }
    sh_proc_sensor_close(&proc);
}

static void test_the_counters_of_cpus(void) {
    static struct sh_stat_sensor stat;
    struct sh_sensor sensor;
    char text[LONGEST + 64];
    stat.fd = memory_file();
    stat.pool[0] = 1;
    stat.core_count = stat.allocation = 1;
    sh_stat_sensor_init(&stat, &sensor);
    for (long i = 0; i < rounds; i++) {
        struct sh_reading reading;
        const int64_t now_ns = (int64_t)chance(1u << 31) * (1 + chance(1000));
        size_t length =
            spoil("cpu  9 0 9 9 9\ncpu0 5 0 5 100 0 0\ncpu1 5 0 5 7 1 0\nintr 1\n", text);
        put(stat.fd, length ? text : "x", length ? length : 1);
        CHECK_EQ(sensor.read(sensor.ctx, now_ns, &reading), 0);
        CHECK(reading.busy <= 1);
    }
    close(stat.fd);
}

static struct made_ring {
    _Alignas(8) char page[PAGE];
    char data[DATA];
} rings[CPUS];

/* Mostly records as the kernel writes them, with any contents; sometimes any bytes at all. */
static void write_records(struct perf_event_mmap_page *page, char *data) {
    for (uint32_t n = chance(8); n > 0; n--) {
        static const uint32_t TYPES[] = {
            PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_FORK, PERF_RECORD_EXIT,
            PERF_RECORD_SAMPLE,          PERF_RECORD_LOST, 99};
        union {
            struct perf_event_header header;
            uint32_t words[16];
        } record;
        for (uint32_t i = 0; i < 16; i++)
            record.words[i] = chance(4) ? chance(12) : chance(UINT32_MAX);
        record.header.type = TYPES[chance(6)];
        record.header.size = (uint16_t)(chance(50) ? 24 + 8 * chance(5) : chance(65536));
        const uint32_t size = record.header.size < sizeof(record) ? record.header.size & ~7u
                                                                  : (uint32_t)sizeof(record);
        if (DATA - (page->data_head - page->data_tail) < size)
            return;
        for (uint32_t i = 0; i < size; i++)
            data[page->data_head++ % DATA] = ((const char *)&record)[i];
    }
}

static void test_records_of_switches(void) {
    struct sh_perf_sensor *perf = calloc(1, sizeof(*perf));
    struct sh_sensor sensor;
    static struct sh_window window; /* all 0, as one that is reset must be */
    const int tasks_fd = memory_file(), online_fd = scratch_file();
    int64_t now_ns = 1;
    memset(rings, 0, sizeof(rings));
    for (int cpu = 0; cpu < CPUS; cpu++)
        sh_perf_ring_over(&perf->cpus[cpu].ring, &rings[cpu], PAGE, DATA);
    perf->cpu_count = CPUS;
    perf->sources.source[0] = (struct sh_task_source){.fd = tasks_fd};
    perf->sources.count = perf->sources.primary_count = 1;
    perf->sources.allocations[0] = CPUS;
    perf->list_ns = 1000;
    perf->online_fd = online_fd;
    fill(tasks_fd, "1\n2\n3\n");
    fill(online_fd, "0-1\n");
    CHECK_EQ(sh_perf_sensor_init(perf, 0, &sensor), 0);
    sh_window_reset(&window, 0);
    for (long i = 0; i < rounds; i++) {
        struct sh_reading reading;
        for (int cpu = 0; cpu < CPUS; cpu++)
            write_records((void *)rings[cpu].page, rings[cpu].data);
        now_ns += chance(2000);
        const int err = sensor.read(sensor.ctx, now_ns, &reading);
        CHECK(err <= 0);
        if (!err)
            CHECK(reading.busy <= CPUS && reading.demand <= CPUS);
        if (chance(10) == 0)
            sh_perf_sensor_list(perf, now_ns);
        if (chance(20) == 0) {
            sh_window_reset(&window, now_ns);
            CHECK(sensor.collect(sensor.ctx, now_ns, &window) <= 0);
        }
    }
    for (int cpu = 0; cpu < CPUS; cpu++)
        perf->cpus[cpu].ring.page = NULL;
    close(tasks_fd);
    close(online_fd);
    free(perf);
}

int main(void) {
    const char *asked = getenv("ANY_INPUT_ROUNDS"), *seed = getenv("ANY_INPUT_SEED");
    if (asked)
        rounds = atol(asked);
    state = UINT64_C(0x9e3779b97f4a7c15) * (seed ? (uint64_t)atoll(seed) * 2 + 1 : 3);
    RUN(test_lists_of_tasks);
    RUN(test_the_state_of_a_task);
    RUN(test_the_counters_of_cpus);
    RUN(test_records_of_switches);
    return 0;
}
