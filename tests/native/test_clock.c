/* Every pacing waits at least until its deadline, and not at all for one that has passed. */
#include "check.h"
#include "loop/clock.h"

static const enum sh_pacing PACINGS[] = {SH_PACING_SLEEP, SH_PACING_SPIN};

static void test_no_pacing_returns_before_the_deadline(void) {
    for (int i = 0; i < 2; i++) {
        struct sh_clock clock;
        sh_clock_monotonic(&clock, PACINGS[i]);
        for (int64_t ahead_ns = 1; ahead_ns <= 1000000; ahead_ns *= 10) {
            const int64_t deadline_ns = clock.now_ns(clock.ctx) + ahead_ns;
            CHECK_EQ(clock.sleep_until(clock.ctx, deadline_ns), 0);
            CHECK(clock.now_ns(clock.ctx) >= deadline_ns);
        }
    }
}

static void test_a_deadline_that_has_passed_is_no_error(void) {
    for (int i = 0; i < 2; i++) {
        struct sh_clock clock;
        sh_clock_monotonic(&clock, PACINGS[i]);
        CHECK_EQ(clock.sleep_until(clock.ctx, clock.now_ns(clock.ctx) - 1), 0);
    }
}

int main(void) {
    RUN(test_no_pacing_returns_before_the_deadline);
    RUN(test_a_deadline_that_has_passed_is_no_error);
    return 0;
}
