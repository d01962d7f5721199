#include "sensors/task_table.h"

#include "check.h"

static struct sh_task_table table;

static void test_tasks_are_found_until_they_are_removed(void) {
    table = (struct sh_task_table){0};
    CHECK(sh_task_find(&table, 7) == NULL);
    for (int32_t tid = 1; tid <= 1000; tid++)
        CHECK_EQ(sh_task_add(&table, tid)->place, SH_TASK_ASLEEP);
    for (int32_t tid = 2; tid <= 1000; tid += 2)
        sh_task_remove(&table, sh_task_find(&table, tid));
    CHECK_EQ(table.count, 500);
    for (int32_t tid = 1; tid <= 1000; tid++) {
        const struct sh_task *task = sh_task_find(&table, tid);
        CHECK_EQ(task != NULL, tid % 2);
        if (task)
            CHECK_EQ(task->tid, tid);
    }
}

/* Against a plain array, with numbers so few that they meet each other all the time. */
static void test_any_order_of_additions_and_removals_keeps_all_to_be_found(void) {
    enum { NUMBERS = 3000, STEPS = 200000 };
    static bool there[NUMBERS];
    uint32_t random = 12345, count = 0;
    table = (struct sh_task_table){0};
    for (int step = 0; step < STEPS; step++) {
        random = random * 1664525 + 1013904223;
        const int32_t number = (int32_t)(random >> 8) % NUMBERS;
        const int32_t tid = number * 65536 / 7 + 1; /* spread unevenly over the slots */
        struct sh_task *task = sh_task_find(&table, tid);
        CHECK_EQ(task != NULL, there[number]);
        if (task)
            sh_task_remove(&table, task);
        else
            CHECK_EQ(sh_task_add(&table, tid)->tid, tid);
        there[number] = !there[number];
        count += there[number] ? 1 : -1;
        CHECK_EQ(table.count, count);
    }
}

static void test_a_full_table_says_so(void) {
    table = (struct sh_task_table){0};
    for (int32_t tid = 1; tid <= SH_TASK_TABLE_MAX; tid++)
        CHECK(sh_task_add(&table, tid) != NULL);
    CHECK(sh_task_add(&table, SH_TASK_TABLE_MAX + 1) == NULL);
    sh_task_remove(&table, sh_task_find(&table, 1));
    CHECK(sh_task_add(&table, SH_TASK_TABLE_MAX + 1) != NULL);
    CHECK(sh_task_find(&table, SH_TASK_TABLE_MAX) != NULL);
    CHECK(sh_task_find(&table, 1) == NULL);
}

int main(void) {
    RUN(test_tasks_are_found_until_they_are_removed);
    RUN(test_any_order_of_additions_and_removals_keeps_all_to_be_found);
    RUN(test_a_full_table_says_so);
    return 0;
}
