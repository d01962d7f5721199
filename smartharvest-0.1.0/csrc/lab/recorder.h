/* A sensor that passes another one's readings on and notes when they change.
 *
 * The notes leave through a ring with one writer (the loop's thread) and one reader, who takes no
 * lock; nothing is allocated. What could not be seen or kept is noted as unseen, never guessed. */
#ifndef SH_RECORDER_H
#define SH_RECORDER_H

#include <stdatomic.h>
#include <stdint.h>

#include "sensors/sensor.h"

enum {
    SH_TRACE_UNSEEN = 0xffff, /* as busy: from here on nobody looked */
    SH_RECORDER_RING = 1 << 16,
};

/* From time_ns on, until the next change. */
struct sh_change {
    int64_t time_ns;
    uint16_t busy, demand; /* cores, demand >= busy; both SH_TRACE_UNSEEN where nobody looked */
};

struct sh_recorder {
    struct sh_sensor inner;
    int64_t poll_ns; /* how long a reading is good for when the next one is late */
    int64_t gap_ns;  /* two readings further apart than this leave a gap between them */

    /* The loop's own. */
    struct sh_change last;
    int64_t last_read_ns;
    int64_t lost_since_ns; /* the ring was full from here on; 0: it was not */

    int64_t told_until_ns; /* the reader's own */

    struct sh_change ring[SH_RECORDER_RING];
    _Atomic uint32_t head, tail;
    _Atomic int64_t seen_until_ns; /* the last reading; the changes up to here are in the ring */
    _Atomic uint64_t changes, gaps, lost; /* lost: changes that found the ring full */
};

/* Wires *sensor; inner must outlive it. */
void sh_recorder_init(struct sh_recorder *recorder, const struct sh_sensor *inner, int64_t poll_ns,
                      int64_t gap_ns, struct sh_sensor *sensor);

/* Moves up to `most` changes, oldest first, and returns how many. *until_ns becomes the time up to
 * which the changes are known once these have been taken, 0 before the first reading. */
uint32_t sh_recorder_take(struct sh_recorder *recorder, struct sh_change *changes, uint32_t most,
                          int64_t *until_ns);

#endif
