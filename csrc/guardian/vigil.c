#define _GNU_SOURCE
#include "guardian/vigil.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "loop/clock.h"

enum { NS_PER_S = 1000000000 };

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* A beat may be a moment younger than the look that finds it. */
static int64_t silent_ns(const struct sh_vigil_look *look, int64_t beat_ns) {
    return most(0, look->now_ns - beat_ns);
}

int64_t sh_vigil_until_next(const struct sh_vigil_limits *limits,
                            const struct sh_vigil_look *look) {
    /* A beat of the loop in the future says how long it rests. */
    const bool rests = look->loop_beat_ns > look->now_ns;
    const int64_t rests_ns =
        rests ? least(look->loop_beat_ns - look->now_ns, limits->look_late) : 0;
    const int64_t left_ns =
        least(limits->shrink_after + rests_ns - silent_ns(look, look->loop_beat_ns),
              limits->kill_after - silent_ns(look, look->agent_beat_ns));
    return least(most(left_ns, limits->look_soon / 4), limits->look_late);
}

/* A new beat from before the last look is none: it does not show how long there was silence. */
static bool beats(int64_t beat_ns, int64_t last_beat_ns, const struct sh_vigil_look *last,
                  const struct sh_vigil_look *look, int64_t due, int64_t limit) {
    if (beat_ns < 0)
        return false;
    if (beat_ns == last_beat_ns ? look->now_ns - beat_ns >= due : beat_ns < last->now_ns)
        return false;
    return silent_ns(look, beat_ns) < limit;
}

bool sh_vigil_is_well(const struct sh_vigil_limits *limits, const struct sh_vigil_look *last,
                      const struct sh_vigil_look *look) {
    const int64_t gap_ns = look->now_ns - last->now_ns;
    if (last->phase != SH_VIGIL_RUNNING || look->phase != SH_VIGIL_RUNNING || gap_ns < 0 ||
        gap_ns >= limits->standstill ||
        gap_ns > sh_vigil_until_next(limits, last) + limits->look_soon)
        return false;
    return beats(look->loop_beat_ns, last->loop_beat_ns, last, look, limits->loop_due,
                 least(limits->shrink_after, limits->kill_after)) &&
           beats(look->agent_beat_ns, last->agent_beat_ns, last, look, limits->agent_due,
                 limits->kill_after);
}

static void look(struct sh_vigil *vigil) {
    struct sh_vigil_page *page = vigil->page;
    vigil->last = vigil->look;
    vigil->look.now_ns = sh_monotonic_ns();
    atomic_store(&page->guardian_beat_ns, vigil->look.now_ns);
    vigil->look.phase = atomic_load(&page->phase);
    vigil->look.loop_beat_ns = atomic_load(&page->loop_beat_ns);
    vigil->look.agent_beat_ns = atomic_load(&page->agent_beat_ns);
}

int sh_vigil_wait(struct sh_vigil *vigil, int64_t wait_ns, bool well) {
    struct pollfd agent = {.fd = vigil->pidfd, .events = POLLIN};
    for (;;) {
        const struct timespec wait = {.tv_sec = (time_t)(wait_ns / NS_PER_S),
                                      .tv_nsec = (long)(wait_ns % NS_PER_S)};
        const int ended = ppoll(&agent, 1, &wait, NULL);
        const bool interrupted = ended < 0 && errno == EINTR;
        if (ended != 0 && !interrupted)
            return ended > 0 ? 0 : -errno;
        look(vigil);
        if (!well || interrupted || !sh_vigil_is_well(&vigil->limits, &vigil->last, &vigil->look))
            return 1;
        wait_ns = sh_vigil_until_next(&vigil->limits, &vigil->look);
    }
}
