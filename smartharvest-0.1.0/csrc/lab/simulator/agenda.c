#include "lab/simulator/agenda.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

int sh_sim_agenda_init(struct sh_sim_agenda *agenda, uint32_t count) {
    agenda->count = count;
    agenda->at_ns = calloc(count, sizeof(*agenda->at_ns));
    agenda->heap = calloc(count, sizeof(*agenda->heap));
    agenda->position = calloc(count, sizeof(*agenda->position));
    if (!agenda->at_ns || !agenda->heap || !agenda->position)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        agenda->at_ns[i] = INT64_MAX;
        agenda->heap[i] = agenda->position[i] = i;
    }
    return 0;
}

void sh_sim_agenda_destroy(struct sh_sim_agenda *agenda) {
    free(agenda->at_ns);
    free(agenda->heap);
    free(agenda->position);
}

static bool before(const struct sh_sim_agenda *agenda, uint32_t a, uint32_t b) {
    return agenda->at_ns[a] < agenda->at_ns[b] || (agenda->at_ns[a] == agenda->at_ns[b] && a < b);
}

static void place(struct sh_sim_agenda *agenda, uint32_t position, uint32_t source) {
    agenda->heap[position] = source;
    agenda->position[source] = position;
}

void sh_sim_agenda_set(struct sh_sim_agenda *agenda, uint32_t source, int64_t at_ns) {
    uint32_t i = agenda->position[source];
    agenda->at_ns[source] = at_ns;
    for (; i > 0 && before(agenda, source, agenda->heap[(i - 1) / 2]); i = (i - 1) / 2)
        place(agenda, i, agenda->heap[(i - 1) / 2]);
    for (uint32_t child; (child = 2 * i + 1) < agenda->count; i = child) {
        if (child + 1 < agenda->count &&
            before(agenda, agenda->heap[child + 1], agenda->heap[child]))
            child++;
        if (!before(agenda, agenda->heap[child], source))
            break;
        place(agenda, i, agenda->heap[child]);
    }
    place(agenda, i, source);
}
