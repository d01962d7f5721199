/* The guardian's looks at a healthy agent, without Python: some ten a second, in real time.
 *
 * Who is not plainly well is for smartharvest/guardian/verdict.py alone. A look is plainly well if
 * that state machine would find the agent well, miss no beat and record nothing, and if all that it
 * knew afterwards followed from this look: then it need not see it. */
#ifndef SH_VIGIL_H
#define SH_VIGIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SH_VIGIL_RUNNING = 1 }; /* the phase in which a loop runs */

/* The part of the page that agent, loop and guardian share (host/journal/shared_page.py). */
struct sh_vigil_page {
    _Atomic int64_t loop_beat_ns, agent_beat_ns, guardian_beat_ns, phase;
};

/* What the guardian sees at one moment. */
struct sh_vigil_look {
    int64_t now_ns, phase, loop_beat_ns, agent_beat_ns;
};

struct sh_vigil_limits {
    int64_t shrink_after, kill_after;
    int64_t loop_due, agent_due; /* a beat so old is missed, unless it is new */
    int64_t look_soon, look_late;
    int64_t standstill; /* a guardian that has not looked for so long says so */
};

struct sh_vigil {
    struct sh_vigil_limits limits;
    struct sh_vigil_page *page;
    int pidfd;                       /* the agent's */
    struct sh_vigil_look last, look; /* the last two looks */
};

/* How long from `look`, if it is plainly well, to the next. */
int64_t sh_vigil_until_next(const struct sh_vigil_limits *limits, const struct sh_vigil_look *look);

/* Whether `look` is plainly well after `last`, which was. */
bool sh_vigil_is_well(const struct sh_vigil_limits *limits, const struct sh_vigil_look *last,
                      const struct sh_vigil_look *look);

/* Waits for wait_ns, beats as the guardian and looks. If the look before was plainly well (`well`)
 * it goes on for as long as the looks are. 1: the look is to be judged; 0: the agent has ended; or
 * -errno. A signal makes a look early, and has it judged. */
int sh_vigil_wait(struct sh_vigil *vigil, int64_t wait_ns, bool well);

#endif
