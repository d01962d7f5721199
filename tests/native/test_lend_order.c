/* The choice of cores: limits, and the spelling of sets. What is chosen: tests/unit/core. */
#define _GNU_SOURCE
#include "actuators/lend_order.h"

#include "check.h"

enum { CPUS = 256 };

static int32_t cpus[CPUS], added[CPUS + 1];
static uint32_t ranks[CPUS];
static int64_t free_ns[CPUS], measured_ns[CPUS];
static char text[2][SH_LEND_ORDER_TEXT];
static _Atomic uint64_t slots[2][SH_LEND_ORDER_WORDS];
static struct sh_lend_order_file file;
static struct sh_lend_order order;
static struct sh_sensor sensor;

static void measured(void *ctx, const int32_t *asked, uint32_t count, int64_t *found) {
    (void)ctx;
    for (uint32_t i = 0; i < count; i++)
        found[i] = measured_ns[asked[i]];
}

static void make(uint32_t count) {
    memset(&file, 0xff, sizeof(file.own));
    memset(&file.always, 0, sizeof(file.always));
    file.text[0] = text[0];
    file.text[1] = text[1];
    for (uint32_t i = 0; i < count; i++) {
        cpus[i] = (int32_t)(count - 1 - i);
        ranks[i] = i;
        measured_ns[i] = 1000000000;
    }
    sensor = (struct sh_sensor){.free_for = measured};
    order = (struct sh_lend_order){
        .cpus = cpus,
        .ranks = ranks,
        .free_ns = free_ns,
        .count = count,
        .unit = 1,
        .fixed = 1,
        .added = added,
        .levels = count + 1,
        .files = &file,
        .file_count = 1,
        .sensor = &sensor,
        .slots = {slots[0], slots[1]},
    };
    CHECK_EQ(sh_lend_order_init(&order), 0);
}

static const char *move(uint32_t from, uint32_t to) {
    sh_lend_order_choose(&order, from, to);
    sh_lend_order_accept(&order);
    return text[order.in_force];
}

static void test_sets_are_spelled_as_the_kernel_does(void) {
    struct sh_cpu_set set = {{0}};
    char spelled[SH_LEND_ORDER_TEXT];
    CHECK_EQ(sh_cpu_set_spell(&set, spelled), 0);
    CHECK_TEXT(spelled, "");
    set.words[0] = 0xb; /* 0, 1 and 3 */
    set.words[1] = 1;
    set.words[0] |= UINT64_C(1) << 63;
    set.words[SH_LEND_ORDER_WORDS - 1] = UINT64_C(1) << 63;
    sh_cpu_set_spell(&set, spelled);
    CHECK_TEXT(spelled, "0-1,3,63-64,1023");
}

static void test_the_longest_list_has_room(void) {
    struct sh_cpu_set set;
    char spelled[SH_LEND_ORDER_TEXT];
    memset(&set, 0x55, sizeof(set));
    CHECK(sh_cpu_set_spell(&set, spelled) < SH_LEND_ORDER_TEXT);
    memset(&set, 0xff, sizeof(set));
    sh_cpu_set_spell(&set, spelled);
    CHECK_TEXT(spelled, "0-1023");
}

static void test_a_sensor_that_cannot_tell_leaves_the_order(void) {
    make(4);
    sensor.free_for = NULL;
    CHECK_TEXT(move(0, 2), "2-3");
    CHECK_TEXT(move(2, 3), "1-3");
    CHECK_TEXT(move(3, 1), "3");
}

static void test_the_added_cpus_follow_the_choice(void) {
    make(CPUS);
    measured_ns[17] = 2000000000;
    CHECK_TEXT(move(1, 2), "17,255");
    CHECK_EQ(added[1], -1); /* parked there already */
    CHECK_EQ(added[2], 17);
    CHECK_EQ(slots[order.in_force][0], 1 << 17);
    measured_ns[255] = measured_ns[17] = 0;
    CHECK_TEXT(move(2, 3), "17,254-255");
    CHECK_TEXT(move(3, 2), "254-255");
    CHECK_EQ(added[3], 17); /* what was taken back stands next to the boundary */
    CHECK_TEXT(move(2, CPUS), "0-255");
}

static void test_numbers_that_cannot_be_are_refused(void) {
    make(4);
    order.unit = 3;
    CHECK_EQ(sh_lend_order_init(&order), -22);
    make(4);
    order.fixed = 5;
    CHECK_EQ(sh_lend_order_init(&order), -22);
    make(4);
    cpus[2] = SH_LEND_ORDER_MAX_CPUS;
    CHECK_EQ(sh_lend_order_init(&order), -22);
}

int main(void) {
    RUN(test_sets_are_spelled_as_the_kernel_does);
    RUN(test_the_longest_list_has_room);
    RUN(test_a_sensor_that_cannot_tell_leaves_the_order);
    RUN(test_the_added_cpus_follow_the_choice);
    RUN(test_numbers_that_cannot_be_are_refused);
    return 0;
}
