/* The /proc/stat sensor on prepared text, in virtual time. */
#define _GNU_SOURCE
#include <errno.h>

#include "sensors/stat_sensor.h"
#include "threads.h"

#define TICK_NS INT64_C(10000000)
#define LONG_AGO_NS INT64_C(1000000000)

static struct sh_stat_sensor stat;
static struct sh_sensor sensor;

static void make(const uint32_t *pool, uint32_t cores) {
    memset(&stat, 0, sizeof(stat));
    stat.fd = scratch_file();
    memcpy(stat.pool, pool, cores * sizeof(pool[0]));
    stat.core_count = stat.allocation = cores;
    sh_stat_sensor_init(&stat, &sensor);
}

/* The file of four CPUs with these idle and iowait ticks, and the lines around them. */
static void show(const int *idle, const int *iowait) {
    char text[1024] = "cpu  9999 0 9999 9999 9999 0 0 0 0 0\n";
    for (int cpu = 0; cpu < 4; cpu++)
        sprintf(text + strlen(text), "cpu%d 5 0 5 %d %d 0 3 0 0 0\n", cpu, idle[cpu], iowait[cpu]);
    strcat(text, "intr 12345 0 9 1\nctxt 1990473\nbtime 1062191376\nprocs_running 1\n");
    fill(stat.fd, text);
}

static uint32_t busy_at(int64_t now_ns) {
    struct sh_reading reading = {99, 99};
    CHECK_EQ(sensor.read(sensor.ctx, now_ns, &reading), 0);
    CHECK_EQ(reading.demand, reading.busy);
    return reading.busy;
}

static const uint32_t DOWN[] = {3, 2, 1, 0};
static const int NONE[] = {0, 0, 0, 0};

static void test_a_cpu_whose_idle_counter_stands_still_is_busy(void) {
    make(DOWN, 4);
    show((int[]){100, 100, 100, 100}, NONE);
    CHECK_EQ(busy_at(LONG_AGO_NS), 0);
    show((int[]){101, 100, 101, 100}, NONE); /* 1 and 3 ran all the time */
    CHECK_EQ(busy_at(LONG_AGO_NS + TICK_NS), 0);
    CHECK_EQ(busy_at(LONG_AGO_NS + TICK_NS + TICK_NS / 2), 2);
    show((int[]){101, 101, 101, 100}, NONE);
    CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), 1);
    close(stat.fd);
}

static void test_waiting_for_io_is_idle(void) {
    make(DOWN, 4);
    show((int[]){100, 100, 100, 100}, (int[]){7, 7, 7, 7});
    busy_at(LONG_AGO_NS);
    show((int[]){100, 100, 100, 100}, (int[]){8, 7, 7, 7});
    CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), 3);
    close(stat.fd);
}

static void test_cores_the_elastic_group_holds_are_left_out(void) {
    const int32_t cpus[] = {3, 2, 1, 0};
    const struct sh_lendable lendable = {cpus, 4, 1};
    const uint32_t left[] = {2, 1, 1, 0};
    make(DOWN, 4);
    show((int[]){100, 100, 100, 100}, NONE);
    busy_at(LONG_AGO_NS);
    show((int[]){100, 101, 100, 100}, NONE); /* all but 1 are busy */
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t harvested = 0; harvested < 4; harvested++) {
            sensor.on_lent(sensor.ctx, LONG_AGO_NS, &lendable, harvested);
            CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), left[harvested]);
        }
    close(stat.fd);
}

static void test_cpus_outside_the_pool_do_not_count(void) {
    make((const uint32_t[]){2, 1}, 2);
    show((int[]){100, 100, 100, 100}, NONE);
    busy_at(LONG_AGO_NS);
    CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), 2);
    close(stat.fd);
}

static void test_no_more_than_the_allocation_counts(void) {
    make(DOWN, 4);
    stat.allocation = 3;
    show((int[]){100, 100, 100, 100}, NONE);
    busy_at(LONG_AGO_NS);
    CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), 3);
    close(stat.fd);
}

static void test_numbers_of_offline_cpus_may_be_missing(void) {
    make((const uint32_t[]){10, 2}, 2);
    fill(stat.fd, "cpu  1 1 1 1 1\ncpu2 1 1 1 50 0 0 0\ncpu10 1 1 1 60 0 0 0\nintr 5\n");
    CHECK_EQ(busy_at(LONG_AGO_NS), 0);
    fill(stat.fd, "cpu  1 1 1 1 1\ncpu2 1 1 1 51 0 0 0\ncpu10 1 1 1 60 0 0 0\nintr 5\n");
    CHECK_EQ(busy_at(LONG_AGO_NS + 2 * TICK_NS), 1);
    CHECK_EQ(stat.idle_ticks[10], 60);
    close(stat.fd);
}

static void test_a_file_that_cannot_be_read_is_an_error(void) {
    struct sh_reading reading;
    make(DOWN, 4);
    CHECK_EQ(sensor.read(sensor.ctx, LONG_AGO_NS, &reading), -EIO); /* empty */
    close(stat.fd);
    stat.fd = -1;
    CHECK_EQ(sensor.read(sensor.ctx, LONG_AGO_NS, &reading), -EBADF);
}

int main(void) {
    RUN(test_a_cpu_whose_idle_counter_stands_still_is_busy);
    RUN(test_waiting_for_io_is_idle);
    RUN(test_cores_the_elastic_group_holds_are_left_out);
    RUN(test_cpus_outside_the_pool_do_not_count);
    RUN(test_no_more_than_the_allocation_counts);
    RUN(test_numbers_of_offline_cpus_may_be_missing);
    RUN(test_a_file_that_cannot_be_read_is_an_error);
    return 0;
}
