/* The cpuset actuator on files that answer as a v1 kernel's do and remember every write. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>

#include "actuators/cpuset.h"
#include "threads.h"

enum { GROUP, CHILD, GRANDCHILD, FREEZER, FILES, EFFECTIVE = 10 /* of file f: EFFECTIVE + f */ };

struct host {
    char value[FILES][64]; /* each group's parent is the one before it */
    char log[1024];
    int fail_file, fail_with; /* the next write of this file fails */
    const char *effective;    /* what every effective set reads as; NULL: the mask */
    const char *ending;
};

static struct host host;
static struct sh_cpuset cpuset;
static struct sh_actuator actuator;

static uint64_t cpus_of(const char *list) {
    uint64_t cpus = 0;
    for (char *p = (char *)list; *p; p += *p == ',') {
        const unsigned long first = strtoul(p, &p, 10);
        const unsigned long last = *p == '-' ? strtoul(p + 1, &p, 10) : first;
        for (unsigned long cpu = first; cpu <= last; cpu++)
            cpus |= UINT64_C(1) << cpu;
    }
    return cpus;
}

static int host_write(void *ctx, int handle, const char *value, size_t length) {
    struct host *h = ctx;
    char text[64];
    CHECK(handle >= 0 && handle < FILES && length < sizeof(text));
    memcpy(text, value, length);
    text[length] = '\0';
    sprintf(h->log + strlen(h->log), "%d=%s ", handle, text);
    if (h->fail_file == handle) {
        h->fail_file = -1;
        return -h->fail_with;
    }
    if (handle != FREEZER) {
        const uint64_t cpus = cpus_of(text);
        if (handle > GROUP && cpus & ~cpus_of(h->value[handle - 1]))
            return -EACCES;
        if (handle < GRANDCHILD && cpus_of(h->value[handle + 1]) & ~cpus)
            return -EBUSY;
    }
    strcpy(h->value[handle], text);
    return 0;
}

static ssize_t host_read(void *ctx, int handle, char *value, size_t size) {
    struct host *h = ctx;
    const char *mask = h->effective ? h->effective : h->value[handle - EFFECTIVE];
    CHECK(handle >= EFFECTIVE && handle < EFFECTIVE + FILES);
    return snprintf(value, size, "%s%s", mask, h->ending);
}

static const char *const GROUP_MASKS[] = {"3", "2-3", "1-3"};
static const char *const CHILD_MASKS[] = {"3", "2-3", "2-3"}; /* its own CPUs are 2-3 */
static const char *const GRANDCHILD_MASKS[] = {"3", "3", "3"};
static const int32_t ADDED[] = {-1, 2, 1};

static void make(uint32_t files) {
    const char *const *const masks[] = {GROUP_MASKS, CHILD_MASKS, GRANDCHILD_MASKS};
    host = (struct host){.fail_file = -1, .ending = "\n"};
    strcpy(host.value[GROUP], "0-3");
    if (files > 1)
        strcpy(host.value[CHILD], "2-3");
    if (files > 2)
        strcpy(host.value[GRANDCHILD], "3");
    memset(&cpuset, 0, sizeof(cpuset));
    cpuset.ops = (struct sh_file_ops){.write = host_write, .read = host_read, .ctx = &host};
    for (uint32_t i = 0; i < files; i++)
        cpuset.files[i] = (struct sh_cpuset_file){
            .cpus = (int)i, .effective = EFFECTIVE + (int)i, .masks = masks[i]};
    cpuset.file_count = files;
    cpuset.levels = 3;
    cpuset.nudge.tasks_fd = cpuset.freezer = -1;
    cpuset.added_cpu = ADDED;
    sh_cpuset_init(&cpuset, &actuator);
}

static int assign(uint32_t level) {
    host.log[0] = '\0';
    return actuator.assign(actuator.ctx, level);
}

static void test_one_write_moves_any_number_of_cores(void) {
    make(1);
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.log, "0=3 ");
    CHECK_EQ(assign(2), 0);
    CHECK_TEXT(host.log, "0=1-3 ");
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.log, "0=3 ");
    CHECK_EQ(assign(9), 0); /* beyond the last level: the last */
    CHECK_TEXT(host.log, "0=1-3 ");
    CHECK_EQ(cpuset.writes, 4);
}

static void test_the_first_assign_succeeds_whatever_the_children_hold(void) {
    for (uint32_t level = 0; level < 3; level++) {
        make(3);
        strcpy(host.value[CHILD], "0-3");
        strcpy(host.value[GRANDCHILD], "1-2");
        CHECK_EQ(assign(level), 0);
        CHECK_TEXT(host.value[GROUP], GROUP_MASKS[level]);
        CHECK_TEXT(host.value[CHILD], CHILD_MASKS[level]);
        CHECK_TEXT(host.value[GRANDCHILD], GRANDCHILD_MASKS[level]);
    }
}

static void test_the_first_assign_widens_a_group_that_is_too_narrow(void) {
    make(2);
    strcpy(host.value[GROUP], "3");
    strcpy(host.value[CHILD], "3");
    CHECK_EQ(assign(1), 0);
    CHECK_TEXT(host.value[GROUP], "2-3");
    CHECK_TEXT(host.value[CHILD], "2-3");
}

static void test_children_shrink_before_their_group(void) {
    make(3);
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.log, "1=3 0=3 ");
}

static void test_a_group_grows_before_its_children(void) {
    make(3);
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(assign(1), 0);
    CHECK_TEXT(host.log, "0=2-3 1=2-3 ");
}

static void test_a_mask_in_force_is_not_written(void) {
    make(3);
    CHECK_EQ(assign(1), 0);
    const uint64_t writes = cpuset.writes;
    CHECK_EQ(assign(1), 0);
    CHECK_TEXT(host.log, "");
    CHECK_EQ(assign(2), 0);
    CHECK_TEXT(host.log, "0=1-3 "); /* the children stay at 2-3 and 3 */
    CHECK_EQ(cpuset.skipped, 2);
    CHECK_EQ(cpuset.writes, writes + 1);
}

static void test_a_refusal_names_file_and_level(void) {
    make(3);
    CHECK_EQ(assign(0), 0);
    host.fail_file = CHILD;
    host.fail_with = ENOSPC;
    CHECK_EQ(assign(1), -ENOSPC);
    CHECK_EQ(cpuset.failed_file, CHILD);
    CHECK_EQ(cpuset.failed_level, 1);
    CHECK_EQ(cpuset.current, -1);
}

static void test_after_a_refusal_everything_is_written_anew(void) {
    make(3);
    CHECK_EQ(assign(0), 0);
    host.fail_file = CHILD;
    host.fail_with = EACCES;
    CHECK_EQ(assign(2), -EACCES); /* the group holds 1-3 by now */
    CHECK_EQ(assign(0), 0);
    for (int file = GROUP; file <= GRANDCHILD; file++)
        CHECK_TEXT(host.value[file], "3");
    CHECK_EQ(cpuset.current, 0);
}

static void test_a_refusal_at_the_first_assign_is_reported(void) {
    make(1);
    host.fail_file = GROUP;
    host.fail_with = EACCES;
    CHECK_EQ(assign(0), -EACCES);
    CHECK_EQ(cpuset.failed_file, GROUP);
    CHECK_EQ(cpuset.failed_level, 0);
}

static void test_another_effective_set_than_written_is_an_error(void) {
    static const char *const others[] = {"2", "", "2-31", "2-3,5", "1-3"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        make(1);
        CHECK_EQ(assign(0), 0);
        host.effective = others[i];
        CHECK_EQ(assign(1), -SH_ERR_EFFECTIVE);
        CHECK_EQ(cpuset.failed_file, GROUP);
        CHECK_EQ(cpuset.failed_level, 1);
    }
}

static void test_an_effective_set_needs_no_newline(void) {
    make(1);
    host.ending = "";
    CHECK_EQ(assign(1), 0);
}

static void test_a_file_without_effective_set_is_not_read_back(void) {
    make(1);
    cpuset.files[0].effective = -1;
    host.effective = "7";
    CHECK_EQ(assign(1), 0);
}

static void with_freezer(void) {
    make(1);
    cpuset.freezer = FREEZER;
    cpuset.freeze = "FROZEN";
    cpuset.thaw = "THAWED";
}

static void test_freezing_follows_the_shrink_and_thawing_precedes_the_grow(void) {
    with_freezer();
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.log, "0=3 3=FROZEN ");
    CHECK_EQ(assign(1), 0);
    CHECK_TEXT(host.log, "3=THAWED 0=2-3 ");
    CHECK_EQ(assign(2), 0);
    CHECK_TEXT(host.log, "0=1-3 ");
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.log, "0=3 3=FROZEN ");
}

static void test_what_is_taken_back_for_a_moment_is_not_frozen(void) {
    with_freezer();
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(actuator.assign_briefly(actuator.ctx, 0), 0);
    CHECK_TEXT(host.value[GROUP], "3");
    CHECK(!cpuset.frozen);
    CHECK_EQ(assign(0), 0); /* it lasts */
    CHECK_TEXT(host.log, "3=FROZEN ");
    CHECK_EQ(actuator.assign_briefly(actuator.ctx, 0), 0); /* which thaws nothing */
    CHECK(cpuset.frozen);
    CHECK_EQ(assign(1), 0);
    CHECK_EQ(actuator.assign_briefly(actuator.ctx, 2), 0);
    CHECK_TEXT(host.value[GROUP], "1-3");
}

static void test_a_freezer_that_refuses_is_named(void) {
    with_freezer();
    host.fail_file = FREEZER;
    host.fail_with = EPERM;
    CHECK_EQ(assign(0), -EPERM);
    CHECK_EQ(cpuset.failed_file, cpuset.file_count);
    CHECK_EQ(cpuset.failed_level, 0);
    CHECK_EQ(assign(0), 0);
    CHECK_TEXT(host.value[FREEZER], "FROZEN");
    host.fail_file = FREEZER;
    CHECK_EQ(assign(2), -EPERM);
    CHECK_EQ(cpuset.failed_file, cpuset.file_count);
    CHECK_EQ(cpuset.failed_level, 2);
    CHECK_TEXT(host.value[GROUP], "3"); /* nothing was lent to a frozen group */
}

static void test_plain_files_are_written_in_place_and_read_from_the_start(void) {
    struct sh_file_ops ops;
    char text[16] = "";
    const int fd = scratch_file();
    sh_file_ops_posix(&ops);
    fill(fd, "0-3\n");
    CHECK_EQ(lseek(fd, 2, SEEK_SET), 2);
    CHECK_EQ(ops.write(ops.ctx, fd, "1-2", 3), 0);
    CHECK_EQ(ops.read(ops.ctx, fd, text, sizeof(text) - 1), 4);
    CHECK_TEXT(text, "1-2\n");
    CHECK_EQ(ops.read(ops.ctx, fd, text, 2), 2);
    CHECK_EQ(ops.write(ops.ctx, -1, "1", 1), -EBADF);
    CHECK_EQ(ops.read(ops.ctx, -1, text, 1), -EBADF);
    close(fd);
}

/* --- holding ---------------------------------------------------------------------------------- */

static struct sh_core_hold_thread holders[2]; /* threads that never started: only the words */
static struct sh_core_hold core_hold = {.threads = holders, .count = 2};
static char holding[64];

static int write_and_look(void *ctx, int handle, const char *value, size_t length) {
    sprintf(holding + strlen(holding), "%u%u ", holders[0].held, holders[1].held);
    return host_write(ctx, handle, value, length);
}

static void assign_holding(uint32_t level, int result, const char *held) {
    holding[0] = '\0';
    CHECK_EQ(assign(level), result);
    CHECK_TEXT(holding, held);
    CHECK_EQ(holders[0].held + holders[1].held, 0); /* let go, whatever came of it */
}

static void test_the_cores_that_change_hands_are_held_during_the_write(void) {
    make(1);
    cpuset.core_hold = &core_hold;
    cpuset.ops.write = write_and_look;
    for (int i = 0; i < 2; i++)
        holders[i].cpu = (uint32_t)ADDED[i + 1];
    assign_holding(0, 0, "00 "); /* nobody knows what changes hands */
    assign_holding(1, 0, "10 ");
    assign_holding(2, 0, "01 ");
    assign_holding(0, 0, "11 ");
    assign_holding(2, 0, "11 ");
    host.fail_file = GROUP;
    host.fail_with = EIO;
    assign_holding(1, -EIO, "01 ");
}

/* --- exclusive placement ---------------------------------------------------------------------- */

enum {
    ELASTIC = 0,
    WEB = 4,
    WEB_CHILD = 6,
    DB = 8
}; /* handles; no two of one family but the web's */

static const char *const ELASTIC_MASKS[] = {"7", "6-7", "4-7"};
static const char *const WEB_MASKS[] = {"0-6", "0-5", "0-3"};
static const char *const WEB_CHILD_MASKS[] = {"2-6", "2-5", "2-3"};
static const char *const DB_MASKS[] = {"0-6,9", "0-5,9", "0-3,9"};

static char held[10][64];
static char order[512];
static int die_after; /* writes that still happen; then the process is gone */

/* As the kernel does: a child never has what its parent lacks. */
static int exclusive_write(void *ctx, int handle, const char *value, size_t length) {
    char text[64];
    (void)ctx;
    if (die_after == 0)
        return -EINTR;
    die_after--;
    memcpy(text, value, length);
    text[length] = '\0';
    if (handle == WEB && cpus_of(held[WEB_CHILD]) & ~cpus_of(text))
        return -EBUSY;
    if (handle == WEB_CHILD && cpus_of(text) & ~cpus_of(held[WEB]))
        return -EACCES;
    sprintf(order + strlen(order), "%d=%s ", handle, text);
    strcpy(held[handle], text);
    return 0;
}

static void make_exclusive(void) {
    memset(&cpuset, 0, sizeof(cpuset));
    order[0] = '\0';
    die_after = 1000;
    strcpy(held[ELASTIC], "0-7");
    strcpy(held[WEB], "0-7");
    strcpy(held[WEB_CHILD], "2-7");
    strcpy(held[DB], "0-7,9");
    cpuset.ops = (struct sh_file_ops){.write = exclusive_write};
    cpuset.files[0] =
        (struct sh_cpuset_file){.cpus = ELASTIC, .effective = -1, .masks = ELASTIC_MASKS};
    cpuset.files[1] =
        (struct sh_cpuset_file){.cpus = WEB, .effective = -1, .masks = WEB_MASKS, .primary = true};
    cpuset.files[2] = (struct sh_cpuset_file){
        .cpus = WEB_CHILD, .effective = -1, .masks = WEB_CHILD_MASKS, .primary = true};
    cpuset.files[3] =
        (struct sh_cpuset_file){.cpus = DB, .effective = -1, .masks = DB_MASKS, .primary = true};
    cpuset.file_count = 4;
    cpuset.levels = 3;
    cpuset.nudge.tasks_fd = cpuset.freezer = -1;
    cpuset.added_cpu = ADDED;
    sh_cpuset_init(&cpuset, &actuator);
}

static int assign_exclusive(uint32_t level) {
    order[0] = '\0';
    return actuator.assign(actuator.ctx, level);
}

static void test_lending_widens_the_elastic_set_before_it_narrows_the_primaries(void) {
    make_exclusive();
    CHECK_EQ(assign_exclusive(0), 0);
    CHECK_EQ(assign_exclusive(1), 0);
    CHECK_TEXT(order, "0=6-7 8=0-5,9 6=2-5 4=0-5 ");
}

static void test_taking_back_widens_the_primaries_before_it_narrows_the_elastic_set(void) {
    make_exclusive();
    CHECK_EQ(assign_exclusive(2), 0);
    CHECK_EQ(assign_exclusive(0), 0);
    CHECK_TEXT(order, "4=0-6 6=2-6 8=0-6,9 0=7 ");
}

static void test_the_last_core_of_the_primaries_is_theirs_at_once(void) {
    make_exclusive();
    cpuset.freezer = FREEZER;
    cpuset.freeze = "FROZEN";
    cpuset.thaw = "THAWED";
    CHECK_EQ(assign_exclusive(1), 0);
    order[0] = '\0';
    CHECK_EQ(actuator.assign_briefly(actuator.ctx, 0), 0);
    CHECK(cpuset.frozen);
}

static void test_the_first_exclusive_assign_starts_from_whatever_is_there(void) {
    for (uint32_t level = 0; level < 3; level++) {
        make_exclusive();
        CHECK_EQ(assign_exclusive(level), 0);
        CHECK_TEXT(held[ELASTIC], ELASTIC_MASKS[level]);
        CHECK_TEXT(held[WEB], WEB_MASKS[level]);
        CHECK_TEXT(held[WEB_CHILD], WEB_CHILD_MASKS[level]);
        CHECK_TEXT(held[DB], DB_MASKS[level]);
    }
}

static void test_killed_between_any_two_writes_a_primary_has_its_share(void) {
    const char *const *const masks[] = {WEB_MASKS, WEB_CHILD_MASKS, DB_MASKS};
    const int handles[] = {WEB, WEB_CHILD, DB};
    const uint64_t pool = cpus_of("0-7");
    for (uint32_t from = 0; from < 3; from++)
        for (uint32_t to = 0; to < 3; to++)
            for (int writes = 0; writes < 8; writes++) {
                make_exclusive();
                CHECK_EQ(assign_exclusive(from), 0);
                die_after = writes;
                (void)assign_exclusive(to);
                const uint32_t least = from > to ? from : to; /* the smaller share of the two */
                for (int i = 0; i < 3; i++) {
                    const uint64_t share = cpus_of(masks[i][least]);
                    CHECK_EQ(cpus_of(held[handles[i]]) & share, share);
                }
                /* No core is nobody's. */
                CHECK_EQ((cpus_of(held[ELASTIC]) | cpus_of(held[DB])) & pool, pool);
            }
}

static void test_after_an_exclusive_refusal_the_primaries_get_everything_first(void) {
    make_exclusive();
    CHECK_EQ(assign_exclusive(2), 0);
    die_after = 1;
    CHECK_EQ(assign_exclusive(1), -EINTR);
    die_after = 1000;
    CHECK_EQ(assign_exclusive(0), 0);
    CHECK(strncmp(order, "4=", 2) == 0 || strncmp(order, "8=", 2) == 0);
    CHECK_TEXT(held[WEB], "0-6");
    CHECK_TEXT(held[ELASTIC], "7");
}

/* --- the nudge -------------------------------------------------------------------------------- */

static char own_cpus[4096]; /* as the kernel spells them */

static void read_own_cpus(void) {
    cpu_set_t set;
    CHECK_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    own_cpus[0] = '\0';
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int last = cpu;
        if (!CPU_ISSET(cpu, &set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        char *end = own_cpus + strlen(own_cpus);
        end += sprintf(end, "%s%d", *own_cpus ? "," : "", cpu);
        if (last > cpu)
            sprintf(end, "-%d", last);
        cpu = last;
    }
}

static int take_any_write(void *ctx, int handle, const char *value, size_t length) {
    (void)ctx, (void)handle, (void)value, (void)length;
    return 0;
}

static const char *const NUDGE_MASKS[] = {"as before", own_cpus};
static _Atomic int32_t nudged_tid;

/* Grows by some CPU a group that lists this one thread; the number of nudges that were made. */
static uint64_t nudges_of(int32_t tid) {
    const int32_t added[] = {-1, some_cpu()};
    char line[16];
    make(1);
    cpuset.ops.write = take_any_write;
    cpuset.files[0] = (struct sh_cpuset_file){.effective = -1, .masks = NUDGE_MASKS};
    cpuset.levels = 2;
    cpuset.added_cpu = added;
    cpuset.nudge.pinned_tid = &nudged_tid;
    cpuset.nudge.tasks_fd = scratch_file();
    sprintf(line, "%d\n", tid);
    fill(cpuset.nudge.tasks_fd, line);
    CHECK_EQ(assign(0), 0);
    CHECK_EQ(cpuset.nudge.nudges, 0);
    CHECK_EQ(assign(1), 0);
    close(cpuset.nudge.tasks_fd);
    CHECK_EQ(nudged_tid, 0); /* nobody is left pinned */
    return cpuset.nudge.nudges;
}

static void test_a_runnable_thread_is_nudged_to_the_added_cpu_and_released(void) {
    static struct worker spinner;
    cpu_set_t now, own;
    worker_start(&spinner, true, -1);
    CHECK_EQ(nudges_of(spinner.tid), 1);
    CHECK_EQ(sched_getaffinity(spinner.tid, sizeof(now), &now), 0);
    CHECK_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
    CPU_AND(&now, &now, &own);
    CHECK(CPU_EQUAL(&now, &own));
    worker_stop(&spinner);
}

static void test_sleeping_pinned_and_dead_threads_are_left_alone(void) {
    static struct worker sleeper, pinned;
    cpu_set_t now;
    worker_start(&sleeper, false, -1);
    CHECK_EQ(nudges_of(sleeper.tid), 0);
    worker_stop(&sleeper);
    CHECK_EQ(nudges_of(sleeper.tid), 0);
    CHECK_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
    if (CPU_COUNT(&now) == 1)
        return; /* pinned is what everything is */
    worker_start(&pinned, true, some_cpu());
    CHECK_EQ(nudges_of(pinned.tid), 0);
    CHECK_EQ(sched_getaffinity(pinned.tid, sizeof(now), &now), 0);
    CHECK_EQ(CPU_COUNT(&now), 1);
    worker_stop(&pinned);
}

int main(void) {
    read_own_cpus();
    RUN(test_one_write_moves_any_number_of_cores);
    RUN(test_the_first_assign_succeeds_whatever_the_children_hold);
    RUN(test_the_first_assign_widens_a_group_that_is_too_narrow);
    RUN(test_children_shrink_before_their_group);
    RUN(test_a_group_grows_before_its_children);
    RUN(test_a_mask_in_force_is_not_written);
    RUN(test_a_refusal_names_file_and_level);
    RUN(test_after_a_refusal_everything_is_written_anew);
    RUN(test_a_refusal_at_the_first_assign_is_reported);
    RUN(test_another_effective_set_than_written_is_an_error);
    RUN(test_an_effective_set_needs_no_newline);
    RUN(test_a_file_without_effective_set_is_not_read_back);
    RUN(test_freezing_follows_the_shrink_and_thawing_precedes_the_grow);
    RUN(test_what_is_taken_back_for_a_moment_is_not_frozen);
    RUN(test_a_freezer_that_refuses_is_named);
    RUN(test_plain_files_are_written_in_place_and_read_from_the_start);
    RUN(test_the_cores_that_change_hands_are_held_during_the_write);
    RUN(test_lending_widens_the_elastic_set_before_it_narrows_the_primaries);
    RUN(test_taking_back_widens_the_primaries_before_it_narrows_the_elastic_set);
    RUN(test_the_last_core_of_the_primaries_is_theirs_at_once);
    RUN(test_the_first_exclusive_assign_starts_from_whatever_is_there);
    RUN(test_killed_between_any_two_writes_a_primary_has_its_share);
    RUN(test_after_an_exclusive_refusal_the_primaries_get_everything_first);
    RUN(test_a_runnable_thread_is_nudged_to_the_added_cpu_and_released);
    RUN(test_sleeping_pinned_and_dead_threads_are_left_alone);
    return 0;
}
