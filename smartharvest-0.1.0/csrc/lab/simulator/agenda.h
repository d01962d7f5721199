/* What happens next: one pending event for each of a fixed number of sources, in a binary heap.
 * Events at the same time come in the order of their sources. */
#ifndef SH_SIM_AGENDA_H
#define SH_SIM_AGENDA_H

#include <stdint.h>

struct sh_sim_agenda {
    uint32_t count;     /* of sources */
    int64_t *at_ns;     /* [source]; INT64_MAX: nothing pending */
    uint32_t *heap;     /* sources, the next first */
    uint32_t *position; /* [source]: where in the heap */
};

/* 0 or -ENOMEM. */
int sh_sim_agenda_init(struct sh_sim_agenda *agenda, uint32_t count);
void sh_sim_agenda_destroy(struct sh_sim_agenda *agenda);

/* The source's event is at at_ns now, INT64_MAX for none. */
void sh_sim_agenda_set(struct sh_sim_agenda *agenda, uint32_t source, int64_t at_ns);

static inline uint32_t sh_sim_agenda_next(const struct sh_sim_agenda *agenda) {
    return agenda->heap[0];
}

static inline int64_t sh_sim_agenda_next_ns(const struct sh_sim_agenda *agenda) {
    return agenda->at_ns[agenda->heap[0]];
}

#endif
