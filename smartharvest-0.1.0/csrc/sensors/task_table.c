#include "sensors/task_table.h"

#include <stddef.h>

enum { SLOT_MASK = SH_TASK_TABLE_SLOTS - 1, SLOT_BITS = 16 };

/* Task numbers come in rows: multiplied, they spread (Knuth, vol. 3, 6.4). */
static uint32_t home_of(int32_t tid) {
    return (uint32_t)tid * UINT32_C(2654435769) >> (32 - SLOT_BITS);
}

/* The slot that names the task, or the free one where it would be named. */
static uint32_t slot_of(const struct sh_task_table *table, int32_t tid) {
    uint32_t slot = home_of(tid);
    while (table->slots[slot] && table->tasks[table->slots[slot] - 1].tid != tid)
        slot = (slot + 1) & SLOT_MASK;
    return slot;
}

struct sh_task *sh_task_find(struct sh_task_table *table, int32_t tid) {
    const uint16_t named = table->slots[slot_of(table, tid)];
    return named ? &table->tasks[named - 1] : NULL;
}

struct sh_task *sh_task_add(struct sh_task_table *table, int32_t tid) {
    if (table->count == SH_TASK_TABLE_MAX)
        return NULL;
    struct sh_task *task = &table->tasks[table->count];
    const uint32_t slot = slot_of(table, tid);
    table->slots[slot] = (uint16_t)++table->count;
    *task = (struct sh_task){.tid = tid, .place = SH_TASK_ASLEEP};
    return task;
}

/* Frees a slot; those behind it move up, so that no search ends before its goal. */
static void free_slot(struct sh_task_table *table, uint32_t hole) {
    for (uint32_t slot = (hole + 1) & SLOT_MASK; table->slots[slot];
         slot = (slot + 1) & SLOT_MASK) {
        const uint32_t home = home_of(table->tasks[table->slots[slot] - 1].tid);
        /* Does its search come by the hole before it comes here? */
        if (((slot - home) & SLOT_MASK) >= ((slot - hole) & SLOT_MASK)) {
            table->slots[hole] = table->slots[slot];
            hole = slot;
        }
    }
    table->slots[hole] = 0;
}

void sh_task_remove(struct sh_task_table *table, struct sh_task *task) {
    struct sh_task *last = &table->tasks[table->count - 1];
    free_slot(table, slot_of(table, task->tid));
    if (task != last) {
        table->slots[slot_of(table, last->tid)] = (uint16_t)(task - table->tasks + 1);
        *task = *last;
    }
    table->count--;
}
