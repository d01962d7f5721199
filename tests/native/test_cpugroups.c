/* The cpugroups actuator on made groups of processes that end and fork while they are moved. */
#include <errno.h>

#include "actuators/cpugroups.h"
#include "check.h"

enum { OUTER, SPLITS = 3, GROUPS, MOST = 64, TAKE = 100 /* of group g: TAKE + g */ };

struct host {
    int32_t members[GROUPS][MOST];
    int count[GROUPS];
    int32_t ended;   /* listed, and gone when it is moved */
    int32_t refused; /* the kernel refuses it with EINVAL */
    int forks;       /* so many moves leave a new process behind; -1: all */
    int32_t next;
    int writes;
};

static struct host host;
static struct sh_cpugroups groups;
static struct sh_actuator actuator;
static const uint16_t SPLIT_OF[] = {0, 0, 1, 2};

static void add(int group, int32_t tid) {
    CHECK(host.count[group] < MOST);
    host.members[group][host.count[group]++] = tid;
}

static int host_write(void *ctx, int handle, const char *value, size_t length) {
    const int32_t tid = atoi(value);
    const int to = handle - TAKE;
    (void)ctx;
    CHECK(to > OUTER && to < GROUPS && length == strlen(value));
    host.writes++;
    if (tid == host.refused)
        return -EINVAL;
    for (int g = 0; g < GROUPS; g++)
        for (int i = 0; i < host.count[g]; i++)
            if (host.members[g][i] == tid) {
                const int ended = tid == host.ended;
                memmove(&host.members[g][i], &host.members[g][i + 1],
                        sizeof(int32_t) * (size_t)(--host.count[g] - i));
                if (ended)
                    return -ESRCH;
                if (host.forks) {
                    add(g, host.next++);
                    host.forks -= host.forks > 0;
                }
                add(to, tid);
                if (host.forks < 0) /* keeps the made host small */
                    host.count[to] = 0;
                return 0;
            }
    return -ESRCH;
}

static ssize_t host_read(void *ctx, int handle, char *value, size_t size) {
    size_t used = 0;
    (void)ctx;
    CHECK(handle >= 0 && handle < GROUPS);
    for (int i = 0; i < host.count[handle]; i++)
        used += (size_t)snprintf(value + used, size - used, "%d\n", host.members[handle][i]);
    return (ssize_t)used;
}

static void make(void) {
    memset(&host, 0, sizeof(host));
    memset(&groups, 0, sizeof(groups));
    host.next = 1000;
    groups.ops = (struct sh_file_ops){.write = host_write, .read = host_read};
    groups.outer = (struct sh_cpugroup){.list = OUTER, .take = TAKE + OUTER};
    for (int i = 0; i < SPLITS; i++)
        groups.splits[i] = (struct sh_cpugroup){.list = i + 1, .take = TAKE + i + 1};
    groups.split_count = SPLITS;
    groups.split_of = SPLIT_OF;
    groups.levels = 4;
    sh_cpugroups_init(&groups, &actuator);
    for (int32_t tid = 1; tid <= 5; tid++)
        add(OUTER, tid);
}

static int assign(uint32_t level) {
    return actuator.assign(actuator.ctx, level);
}

static void check_all_in(int group) {
    for (int g = 0; g < GROUPS; g++)
        CHECK(g == group ? host.count[g] > 0 : host.count[g] == 0);
}

static void test_all_tasks_are_in_the_group_of_the_split(void) {
    static const int LEVELS[] = {0, 3, 2, 1, 2, 9};
    static const int GROUP_OF[] = {1, 3, 2, 1, 2, 3};
    make();
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(assign((uint32_t)LEVELS[i]), 0);
        check_all_in(GROUP_OF[i]);
        CHECK_EQ(host.count[GROUP_OF[i]], 5);
    }
    CHECK_EQ(groups.moves, 30);
}

static void test_levels_of_one_split_move_nobody(void) {
    make();
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(host.writes, 5);
}

static void test_newcomers_wherever_they_are_come_along(void) {
    make();
    CHECK_EQ(assign(0), 0);
    add(OUTER, 50);
    add(3, 51);
    CHECK_EQ(assign(2), 0);
    check_all_in(2);
    CHECK_EQ(host.count[2], 7);
}

static void test_who_is_born_during_a_move_is_not_left_behind(void) {
    make();
    host.forks = 7;
    CHECK_EQ(assign(2), 0);
    check_all_in(2);
    CHECK_EQ(host.count[2], 12);
}

static void test_who_ends_during_a_move_is_passed_over(void) {
    make();
    host.ended = 1;
    CHECK_EQ(assign(2), 0);
    check_all_in(2);
    CHECK_EQ(host.count[2], 4);
}

static void test_endless_forks_end_in_an_error(void) {
    make();
    host.forks = -1;
    CHECK_EQ(assign(2), -EAGAIN);
    CHECK_EQ(groups.current, -1);
}

static void test_a_refusal_is_told_and_the_next_assignment_moves_all(void) {
    make();
    host.refused = 3;
    CHECK_EQ(assign(3), -EINVAL);
    CHECK_EQ(groups.failed_tid, 3);
    CHECK_EQ(groups.failed_split, 2);
    host.refused = 0;
    CHECK_EQ(assign(3), 0);
    check_all_in(3);
}

static void test_a_long_move_beats(void) {
    static _Atomic int64_t beat;
    make();
    groups.beat = &beat;
    CHECK_EQ(assign(3), 0);
    CHECK(beat > 0);
}

int main(void) {
    RUN(test_all_tasks_are_in_the_group_of_the_split);
    RUN(test_levels_of_one_split_move_nobody);
    RUN(test_newcomers_wherever_they_are_come_along);
    RUN(test_who_is_born_during_a_move_is_not_left_behind);
    RUN(test_who_ends_during_a_move_is_passed_over);
    RUN(test_endless_forks_end_in_an_error);
    RUN(test_a_refusal_is_told_and_the_next_assignment_moves_all);
    RUN(test_a_long_move_beats);
    return 0;
}
