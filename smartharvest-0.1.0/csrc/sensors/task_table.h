/* The primaries' tasks by their numbers, without allocation: found, added and removed in constant
 * time. */
#ifndef SH_TASK_TABLE_H
#define SH_TASK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { SH_TASK_TABLE_MAX = 32768, SH_TASK_TABLE_SLOTS = 2 * SH_TASK_TABLE_MAX };

/* Where a task is: the number of its CPU, or one of these. */
enum { SH_TASK_ASLEEP = -1, SH_TASK_WAITS = -2 };

struct sh_task {
    int32_t tid;
    int16_t place;
    uint16_t primary;
    uint8_t listing; /* the last one it belongs to */
    bool ending;
};

struct sh_task_table {
    struct sh_task tasks[SH_TASK_TABLE_MAX]; /* the first `count`, in any order */
    uint32_t count;
    uint16_t slots[SH_TASK_TABLE_SLOTS]; /* index + 1; 0: free */
};

/* NULL if it is not there. Valid until the next addition or removal. */
struct sh_task *sh_task_find(struct sh_task_table *table, int32_t tid);

/* A new task, asleep; tid must not be there yet. NULL if the table is full. */
struct sh_task *sh_task_add(struct sh_task_table *table, int32_t tid);

/* The last task takes its place. */
void sh_task_remove(struct sh_task_table *table, struct sh_task *task);

#endif
