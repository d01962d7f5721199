/* Which core is lent next, and which is taken back first, by who has used them.
 *
 * The CPUs stand in one array, the lent ones first, so that a number still says which they are.
 * Before cores change hands those next to the boundary are chosen: the core lent is the one longest
 * free of the primary, the one taken back first is where the primary runs or waits. Cores that are
 * alike otherwise keep the order of the machine's topology.
 *
 * Masks that nobody can list in advance are journaled as they come: each set is left in a shared
 * page before it is written, next to the one in force. */
#ifndef SH_LEND_ORDER_H
#define SH_LEND_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/sensor.h"

enum {
    SH_LEND_ORDER_MAX_CPUS = 1024, /* and every CPU's number is below */
    SH_LEND_ORDER_WORDS = SH_LEND_ORDER_MAX_CPUS / 64,
    SH_LEND_ORDER_TEXT = 5 * SH_LEND_ORDER_MAX_CPUS, /* bytes of the longest list */
    /* A core that the primary used in the last window or so counts as used. */
    SH_LEND_ORDER_RECENT_NS = 25000000,
};

struct sh_cpu_set {
    uint64_t words[SH_LEND_ORDER_WORDS];
};

/* The mask of a group while `set` is lent: (own & set) | always. */
struct sh_lend_order_file {
    struct sh_cpu_set own, always;
    char *text[2]; /* the caller's, SH_LEND_ORDER_TEXT bytes each: in force, and next */
};

struct sh_lend_order {
    /* The caller's, one entry for each CPU that can be lent; the elastic minimum first. */
    int32_t *cpus;
    /* Rising in the order of lending where use says nothing: the kind of core (its caches, its
     * interrupts) in the high half, its place among all in the low one. */
    uint32_t *ranks;
    int64_t *free_ns; /* room for as many */
    uint32_t count;
    uint32_t unit;        /* hardware threads of a core, which stay together */
    uint32_t fixed;       /* the first so many stay where they are; a multiple of unit */
    uint32_t elastic_min; /* CPUs that are the elastic group's at level 0; 0: it is parked */
    int32_t *added;       /* [level]: the CPU that level has and the one below lacks, or -1 */
    uint32_t levels;
    struct sh_lend_order_file *files; /* one for each of the actuator's */
    uint32_t file_count;

    const struct sh_sensor *sensor; /* tells who uses which CPU; without free_for all are alike */
    /* Where a crash finds what was written last, or was about to be; NULL: nowhere. */
    _Atomic uint64_t *slots[2];

    _Atomic uint32_t in_force; /* of text and slots */
    _Atomic uint32_t choices;  /* so far */
};

/* 0, or -EINVAL for numbers that break the above. */
int sh_lend_order_init(struct sh_lend_order *order);

/* Chooses for a move between two levels and makes the masks of the second. */
void sh_lend_order_choose(struct sh_lend_order *order, uint32_t from, uint32_t to);

/* The move has been made: what was next is in force. */
void sh_lend_order_accept(struct sh_lend_order *order);

/* CPUs of the elastic group at a level. */
uint32_t sh_lend_order_cpus(const struct sh_lend_order *order, uint32_t level);

/* Spells a set as the kernel does, with an end; returns the length. */
uint32_t sh_cpu_set_spell(const struct sh_cpu_set *set, char *text);

#endif
