/* The perf sensor over made rings: what each record means, whatever their order and whatever is
 * missing. On the kernel's own rings: test_perf_sensor_live.c. */
#define _GNU_SOURCE
#include "sensors/perf_sensor.h"

#include <errno.h>
#include <fcntl.h>

#include "threads.h"

enum { CPUS = 3, PAGE = 4096, DATA = 4096 };

static struct sh_perf_sensor *perf;
static struct sh_sensor sensor;
static struct sh_window window;
static int tasks_fd[2], online_fd;

static struct made_ring {
    _Alignas(8) char page[PAGE];
    char data[DATA];
} rings[CPUS];

/* --- writing records as the kernel does --------------------------------------------------------
 */

static void put(int cpu, const void *bytes, size_t count) {
    struct perf_event_mmap_page *page = (void *)rings[cpu].page;
    for (size_t i = 0; i < count; i++)
        rings[cpu].data[page->data_head++ % DATA] = ((const char *)bytes)[i];
}

static size_t free_bytes(int cpu) {
    const struct perf_event_mmap_page *page = (const void *)rings[cpu].page;
    return DATA - (page->data_head - page->data_tail);
}

struct who {
    int32_t pid, tid;
};

static void put_record(int cpu, uint32_t type, uint16_t misc, const void *body, size_t body_bytes,
                       int32_t tid, int64_t time_ns) {
    const struct who writer = {tid, tid};
    const struct perf_event_header header = {type, misc, (uint16_t)(24 + body_bytes)};
    CHECK(free_bytes(cpu) >= header.size);
    put(cpu, &header, sizeof(header));
    put(cpu, body, body_bytes);
    put(cpu, &writer, sizeof(writer));
    put(cpu, &time_ns, sizeof(time_ns));
}

enum { IN, OUT, PREEMPTED };

static void switched(int cpu, int how, int32_t tid, int32_t other, int64_t time_ns) {
    static const uint16_t misc[] = {0, PERF_RECORD_MISC_SWITCH_OUT,
                                    PERF_RECORD_MISC_SWITCH_OUT |
                                        PERF_RECORD_MISC_SWITCH_OUT_PREEMPT};
    const struct who body = {other, other};
    put_record(cpu, PERF_RECORD_SWITCH_CPU_WIDE, misc[how], &body, sizeof(body), tid, time_ns);
}

static void sampled(int cpu, int32_t tid, int64_t time_ns) {
    put_record(cpu, PERF_RECORD_SAMPLE, 0, NULL, 0, tid, time_ns);
}

static void forked(int cpu, int32_t parent, int32_t pid, int32_t tid, int64_t time_ns) {
    const struct {
        int32_t pid, ppid, tid, ptid;
        int64_t time_ns;
    } body = {pid, parent, tid, parent, time_ns};
    put_record(cpu, PERF_RECORD_FORK, 0, &body, sizeof(body), parent, time_ns);
}

static void exited(int cpu, int32_t tid, int64_t time_ns) {
    const struct {
        int32_t pid, ppid, tid, ptid;
        int64_t time_ns;
    } body = {tid, 1, tid, 1, time_ns};
    put_record(cpu, PERF_RECORD_EXIT, 0, &body, sizeof(body), tid, time_ns);
}

static void lost(int cpu, int64_t time_ns) {
    const struct {
        uint64_t id, lost;
    } body = {0, 5};
    put_record(cpu, PERF_RECORD_LOST, 0, &body, sizeof(body), 0, time_ns);
}

/* --- a sensor for two primaries, tasks 100.. and 200.. -----------------------------------------
 */

static const int64_t LIST_NS = 1000000;

static void start(uint32_t first_allocation, uint32_t second_allocation) {
    memset(rings, 0, sizeof(rings));
    memset(perf, 0, sizeof(*perf));
    for (int cpu = 0; cpu < CPUS; cpu++)
        sh_perf_ring_over(&perf->cpus[cpu].ring, &rings[cpu], PAGE, DATA);
    perf->cpu_count = CPUS;
    for (uint32_t i = 0; i < 2; i++)
        perf->sources.source[i] = (struct sh_task_source){.fd = tasks_fd[i], .primary = i};
    perf->sources.count = perf->sources.primary_count = 2;
    perf->sources.allocations[0] = first_allocation;
    perf->sources.allocations[1] = second_allocation;
    perf->list_ns = LIST_NS;
    perf->online_fd = online_fd;
    fill(tasks_fd[0], "100\n101\n102\n103\n");
    fill(tasks_fd[1], "200\n201\n");
    fill(online_fd, "0-2\n");
    CHECK_EQ(sh_perf_sensor_init(perf, 0, &sensor), 0);
    CHECK_EQ(perf->counts.tasks, 6);
}

static struct sh_reading look_at(int64_t now_ns) {
    struct sh_reading reading = {99, 99};
    CHECK_EQ(sensor.read(sensor.ctx, now_ns, &reading), 0);
    return reading;
}

#define CHECK_READING(now_ns, busy_, demand_)                                                      \
    do {                                                                                           \
        const struct sh_reading reading_ = look_at(now_ns);                                        \
        CHECK_EQ(reading_.busy, busy_);                                                            \
        CHECK_EQ(reading_.demand, demand_);                                                        \
    } while (0)

/* A list of the tasks that begins now, however soon after the last. */
static void list_at(int64_t now_ns) {
    perf->next_list_ns = 0;
    sh_perf_sensor_list(perf, now_ns);
}

static void collect_at(int64_t now_ns) {
    sh_window_reset(&window, now_ns);
    CHECK_EQ(sensor.collect(sensor.ctx, now_ns, &window), 0);
}

/* --- who runs ----------------------------------------------------------------------------------
 */

static void test_a_primary_task_is_busy_from_in_to_out(void) {
    start(3, 3);
    CHECK_READING(10, 0, 0);
    switched(0, IN, 100, 0, 20);
    CHECK_READING(30, 1, 1);
    switched(1, IN, 200, 0, 40);
    CHECK_READING(50, 2, 2);
    switched(0, OUT, 100, 0, 60);
    CHECK_READING(70, 1, 1);
    switched(1, OUT, 200, 999, 80); /* a stranger's turn */
    CHECK_READING(90, 0, 0);
}

static void test_what_leaves_runnable_waits_until_it_comes_back_or_elsewhere(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 10);
    switched(0, PREEMPTED, 100, 101, 20);
    switched(0, IN, 101, 100, 21);
    CHECK_READING(30, 1, 2);
    switched(1, IN, 100, 0, 40);
    CHECK_READING(50, 2, 2);
    switched(1, OUT, 100, 0, 60);
    switched(0, OUT, 101, 0, 61);
    CHECK_READING(70, 0, 0);
}

static void test_who_comes_is_known_from_who_leaves_and_the_other_way_round(void) {
    start(3, 3);
    switched(0, OUT, 999, 100, 10); /* IN not written yet */
    CHECK_READING(20, 1, 1);
    switched(0, IN, 101, 100, 30); /* OUT missed: 100 is gone, nobody knows where to */
    CHECK_READING(40, 1, 1);
    switched(0, IN, 999, 101, 50);
    CHECK_READING(60, 0, 0);
}

static void test_no_primary_counts_for_more_than_its_allocation(void) {
    start(1, 3);
    switched(0, IN, 100, 0, 10);
    switched(1, IN, 101, 0, 20);
    CHECK_READING(30, 1, 1);
    switched(2, IN, 200, 0, 40);
    CHECK_READING(50, 2, 2);
    switched(2, PREEMPTED, 200, 201, 60);
    CHECK_READING(70, 2, 3);
    switched(0, OUT, 100, 0, 80);
    CHECK_READING(90, 2, 3);
    switched(1, OUT, 101, 0, 100);
    CHECK_READING(110, 1, 2);
}

static void test_records_of_two_cpus_are_taken_in_in_the_order_of_their_times(void) {
    start(3, 3);
    for (int i = 0; i < 20; i++) { /* one task that hops to and fro */
        switched(i % 2, IN, 100, 0, 100 * i + 10);
        switched(i % 2, PREEMPTED, 100, 0, 100 * i + 50);
    }
    switched(0, IN, 100, 0, 5000);
    CHECK_READING(6000, 1, 1);
}

static void test_a_record_that_is_seen_late_does_not_put_a_task_back(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 10);
    CHECK_READING(20, 1, 1);
    switched(1, IN, 100, 0, 40); /* where it came from was not visible yet */
    CHECK_READING(50, 1, 1);
    switched(0, PREEMPTED, 100, 0, 30);
    CHECK_READING(60, 1, 1);
    switched(1, OUT, 100, 0, 70);
    CHECK_READING(80, 0, 0);
}

/* --- windows -----------------------------------------------------------------------------------
 */

static void test_a_window_is_weighed_by_the_time_between_records(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 100);
    collect_at(1000); /* the first only begins */
    CHECK_EQ(window.total, 0);
    switched(1, IN, 200, 0, 1200);
    switched(1, PREEMPTED, 200, 201, 1500);
    switched(1, IN, 201, 200, 1500);
    CHECK_READING(1600, 2, 3);
    switched(1, OUT, 201, 0, 1700);
    switched(0, OUT, 100, 0, 1900);
    collect_at(2000);
    CHECK_EQ(window.weight[1], 200 + 200);
    CHECK_EQ(window.weight[2], 500);
    CHECK_EQ(window.weight[0], 100);
    CHECK_EQ(window.total, 1000);
    CHECK_EQ(window.busy_max, 2);
    CHECK_EQ(window.demand_max, 3);
    CHECK_EQ(window.demand_core_ns, 200 + 300 * 2 + 200 * 3 + 200 * 2 + 100);
    collect_at(2500); /* 200 still waits */
    CHECK_EQ(window.weight[0], 500);
    CHECK_EQ(window.demand_max, 1);
}

/* --- births and ends ---------------------------------------------------------------------------
 */

static void test_children_belong_to_their_parents_primary(void) {
    start(3, 0);
    switched(0, IN, 100, 0, 10);
    forked(0, 100, 150, 150, 20);
    forked(0, 100, 100, 151, 30);
    forked(0, 100, 152, 152, 31);
    switched(1, IN, 150, 0, 40);
    switched(2, IN, 151, 0, 50);
    CHECK_READING(60, 3, 3);
    switched(2, OUT, 151, 999, 70);
    forked(2, 999, 998, 998, 80);
    switched(2, OUT, 999, 998, 90);
    CHECK_READING(100, 2, 2);
    switched(2, OUT, 998, 152, 110);
    CHECK_READING(120, 3, 3);
}

static void test_a_process_does_not_own_its_child_processes(void) {
    start(3, 0);
    perf->processes_apart[0] = true;
    switched(0, IN, 100, 0, 10);
    forked(0, 100, 100, 150, 20); /* a thread */
    forked(0, 100, 151, 151, 30); /* a process */
    switched(1, IN, 150, 0, 40);
    switched(2, IN, 151, 0, 50);
    CHECK_READING(60, 2, 2);
}

static void test_a_child_that_ran_before_its_birth_was_seen_is_counted(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 10);
    switched(1, IN, 150, 0, 30);
    CHECK_READING(40, 1, 1);
    forked(0, 100, 150, 150, 20);
    CHECK_READING(50, 2, 2);
}

static void test_a_task_that_ends_is_busy_until_it_is_off_its_cpu(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 10);
    exited(0, 100, 20);
    CHECK_READING(30, 1, 1);
    switched(0, OUT, -1, 0, 40); /* it has no number any more */
    CHECK_READING(50, 0, 0);
    CHECK_EQ(perf->counts.tasks, 5);
    switched(0, IN, 100, 0, 60); /* somebody else's now */
    CHECK_READING(70, 0, 0);
}

static void test_a_task_preempted_at_its_end_comes_back_without_a_number(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 10);
    exited(0, 100, 20);
    switched(0, PREEMPTED, 100, 999, 30);
    switched(0, PREEMPTED, 999, -1, 40);
    switched(0, OUT, -1, 0, 50);
    CHECK_READING(60, 0, 0);
    CHECK_EQ(perf->counts.tasks, 5);
}

static void test_a_number_given_out_again_is_a_strangers(void) {
    start(3, 3);
    forked(0, 999, 101, 101, 10);
    switched(0, IN, 101, 0, 20);
    CHECK_READING(30, 0, 0);
}

static void test_ten_thousand_short_lives_leave_nothing_behind(void) {
    start(3, 3);
    switched(0, IN, 100, 0, 1);
    for (int i = 0; i < 10000; i++) {
        const int64_t begin_ns = 10 + i * 100;
        const int32_t tid = 1000 + i % 30000;
        forked(0, 100, tid, tid, begin_ns);
        switched(1, IN, tid, 0, begin_ns + 10);
        CHECK_READING(begin_ns + 20, 2, 2);
        exited(1, tid, begin_ns + 30);
        switched(1, OUT, i % 2 ? -1 : tid, 0, begin_ns + 40);
        CHECK_READING(begin_ns + 50, 1, 1);
    }
    CHECK_EQ(perf->counts.tasks, 6);
    CHECK_EQ(perf->counts.overruns, 0);
}

/* --- lists -------------------------------------------------------------------------------------
 */

static void test_tasks_moved_into_a_group_or_out_of_it_are_so_after_the_next_list(void) {
    start(3, 3);
    switched(0, IN, 300, 0, 10);
    switched(1, IN, 100, 0, 10);
    switched(2, IN, 101, 0, 10);
    CHECK_READING(20, 2, 2);
    fill(tasks_fd[0], "101\n102\n103\n300\n");
    list_at(30);
    CHECK_READING(40, 2, 2);
    switched(2, OUT, 101, 0, 50);
    CHECK_READING(60, 1, 1); /* 300 runs, 100 is nobody's */
    switched(0, OUT, 300, 0, 70);
    CHECK_READING(80, 0, 0);
    CHECK_EQ(perf->counts.tasks, 6);
}

static void test_a_task_moved_between_two_primaries_counts_for_the_other(void) {
    start(3, 0);
    switched(0, IN, 100, 0, 10);
    CHECK_READING(20, 1, 1);
    fill(tasks_fd[0], "101\n102\n103\n");
    fill(tasks_fd[1], "100\n200\n201\n");
    list_at(30);
    CHECK_READING(40, 0, 0); /* the other may use nothing */
}

static void test_who_is_born_while_the_list_is_made_stays(void) {
    start(3, 3);
    list_at(10); /* was read before the birth, is merged after it */
    forked(0, 100, 150, 150, 20);
    switched(0, IN, 150, 0, 30);
    CHECK_READING(40, 1, 1);
    list_at(50); /* the next one does not know it either: it has moved out */
    CHECK_READING(60, 0, 0);
}

static void test_lists_are_made_no_more_often_than_asked(void) {
    start(3, 3);
    fill(tasks_fd[0], "100\n");
    sh_perf_sensor_list(perf, LIST_NS - 1);
    look_at(LIST_NS - 1);
    CHECK_EQ(perf->counts.tasks, 6);
    perf->next_list_ns = LIST_NS; /* a slow machine rests longer */
    sh_perf_sensor_list(perf, LIST_NS);
    look_at(LIST_NS);
    CHECK_EQ(perf->counts.tasks, 3);
}

/* --- what goes wrong ---------------------------------------------------------------------------
 */

static void test_a_full_ring_means_that_everything_is_wanted_until_all_is_known_again(void) {
    start(2, 3);
    collect_at(0);
    for (int i = 0; free_bytes(1) >= SH_PERF_LONGEST_RECORD; i++)
        switched(1, i % 2 ? OUT : IN, 100, 0, 10 + i);
    CHECK_READING(1000, 5, 5);
    CHECK_EQ(perf->counts.overruns, 1);
    list_at(1000);
    CHECK_READING(1100, 5, 5); /* still nothing from behind the gap */
    lost(1, 1200);
    CHECK_READING(1250, 5, 5);
    sampled(1, 200, 1300);
    CHECK_READING(1400, 5, 5); /* births may have been missed once more */
    list_at(1450);
    CHECK_READING(1500, 1, 1);
    CHECK_EQ(perf->counts.overruns, 1);
    collect_at(2000);
    CHECK_EQ(window.busy_max, 5);
    CHECK(window.weight[5] >= 300);
}

static void test_missing_records_are_noticed_where_the_ring_was_not_seen_full(void) {
    start(2, 3);
    switched(0, IN, 100, 0, 10);
    CHECK_READING(20, 1, 1);
    lost(0, 30);
    switched(0, IN, 999, 0, 40);
    CHECK_READING(50, 5, 5);
    list_at(60);
    CHECK_READING(70, 0, 0);
    CHECK_EQ(perf->counts.overruns, 1);
}

static void test_a_sample_corrects_who_runs_and_is_counted(void) {
    start(3, 3);
    sampled(0, 0, 10);
    CHECK_READING(20, 0, 0);
    CHECK_EQ(perf->counts.corrections, 0);
    sampled(0, 100, 30);
    CHECK_READING(40, 1, 1);
    sampled(0, 100, 50);
    CHECK_READING(60, 1, 1);
    CHECK_EQ(perf->counts.corrections, 1);
}

static void test_a_silent_cpu_fails(void) {
    struct sh_reading reading;
    start(3, 3);
    const int64_t second_ns = 1000000000;
    for (int cpu = 0; cpu < CPUS; cpu++)
        sampled(cpu, 0, second_ns);
    look_at(2 * second_ns);
    sampled(0, 0, 2 * second_ns);
    sampled(1, 0, 2 * second_ns);
    CHECK_EQ(sensor.read(sensor.ctx, 2 * second_ns + second_ns / 2, &reading), -ESTALE);
}

static void test_other_cpus_online_fail(void) {
    struct sh_reading reading;
    start(3, 3);
    fill(online_fd, "0-1\n");
    list_at(10);
    CHECK_EQ(sensor.read(sensor.ctx, 20, &reading), -ESTALE);
}

static void test_a_lost_list_fails(void) {
    struct sh_reading reading;
    start(3, 3);
    perf->sources.source[1].fd = -1;
    list_at(10);
    CHECK_EQ(sensor.read(sensor.ctx, 20, &reading), -EBADF);
}

static void test_more_tasks_than_can_be_known_fail(void) {
    struct sh_reading reading;
    start(3, 3);
    for (int i = 0; i < SH_TASK_TABLE_MAX; i++) {
        forked(0, 100, 1000 + i, 1000 + i, 10 + i);
        if (sensor.read(sensor.ctx, 20 + i, &reading) == -EOVERFLOW)
            return;
    }
    CHECK(false);
}

static void test_a_record_that_cannot_be_is_taken_for_a_gap(void) {
    const struct perf_event_header nonsense = {PERF_RECORD_SAMPLE, 0, 8};
    start(2, 3);
    put(0, &nonsense, sizeof(nonsense));
    CHECK_READING(10, 5, 5);
    sampled(0, 0, 20);
    list_at(30);
    CHECK_READING(40, 0, 0);
}

int main(void) {
    perf = calloc(1, sizeof(*perf));
    tasks_fd[0] = scratch_file();
    tasks_fd[1] = scratch_file();
    online_fd = scratch_file();
    RUN(test_a_primary_task_is_busy_from_in_to_out);
    RUN(test_what_leaves_runnable_waits_until_it_comes_back_or_elsewhere);
    RUN(test_who_comes_is_known_from_who_leaves_and_the_other_way_round);
    RUN(test_no_primary_counts_for_more_than_its_allocation);
    RUN(test_records_of_two_cpus_are_taken_in_in_the_order_of_their_times);
    RUN(test_a_record_that_is_seen_late_does_not_put_a_task_back);
    RUN(test_a_window_is_weighed_by_the_time_between_records);
    RUN(test_children_belong_to_their_parents_primary);
    RUN(test_a_process_does_not_own_its_child_processes);
    RUN(test_a_child_that_ran_before_its_birth_was_seen_is_counted);
    RUN(test_a_task_that_ends_is_busy_until_it_is_off_its_cpu);
    RUN(test_a_task_preempted_at_its_end_comes_back_without_a_number);
    RUN(test_a_number_given_out_again_is_a_strangers);
    RUN(test_ten_thousand_short_lives_leave_nothing_behind);
    RUN(test_tasks_moved_into_a_group_or_out_of_it_are_so_after_the_next_list);
    RUN(test_a_task_moved_between_two_primaries_counts_for_the_other);
    RUN(test_who_is_born_while_the_list_is_made_stays);
    RUN(test_lists_are_made_no_more_often_than_asked);
    RUN(test_a_full_ring_means_that_everything_is_wanted_until_all_is_known_again);
    RUN(test_missing_records_are_noticed_where_the_ring_was_not_seen_full);
    RUN(test_a_sample_corrects_who_runs_and_is_counted);
    RUN(test_a_silent_cpu_fails);
    RUN(test_other_cpus_online_fail);
    RUN(test_a_lost_list_fails);
    RUN(test_more_tasks_than_can_be_known_fail);
    RUN(test_a_record_that_cannot_be_is_taken_for_a_gap);
    free(perf);
    return 0;
}
