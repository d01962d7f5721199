/* The guardian's looks: which are plainly well, when the next is due, and what ends the waiting. */
#define _GNU_SOURCE
#include "guardian/vigil.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "check.h"
#include "loop/clock.h"
#include "threads.h"

enum { MS = 1000000 };

static const int64_t T = 1000000000000;

static const struct sh_vigil_limits limits = {
    .shrink_after = 84 * MS,
    .kill_after = 1000 * MS,
    .loop_due = 42 * MS,
    .agent_due = 250 * MS,
    .look_soon = 10 * MS,
    .look_late = 100 * MS,
    .standstill = 500 * MS,
};

static const struct sh_vigil_look last = {T, SH_VIGIL_RUNNING, T - 4 * MS, T - 20 * MS};

/* A look at T + now, whose beats are so old. */
static struct sh_vigil_look look_at(int64_t now, int64_t loop_age, int64_t agent_age) {
    return (struct sh_vigil_look){T + now, SH_VIGIL_RUNNING, T + now - loop_age,
                                  T + now - agent_age};
}

static bool well(struct sh_vigil_look look) {
    return sh_vigil_is_well(&limits, &last, &look);
}

static void test_new_beats_in_time_are_well(void) {
    CHECK(well(look_at(80 * MS, 5 * MS, 20 * MS)));
    CHECK(well(look_at(80 * MS, -1, -1))); /* a moment after the clock was read */
    CHECK(well(look_at(90 * MS, 83 * MS, 90 * MS)));
    CHECK(well(look_at(90 * MS, 84 * MS - 1, 20 * MS)));
    CHECK(!well(look_at(90 * MS, 84 * MS, 20 * MS)));
    struct sh_vigil_limits strict = limits;
    strict.kill_after = 50 * MS;
    strict.look_soon = 40 * MS; /* the last look's silence leaves 30 ms */
    struct sh_vigil_look look = look_at(60 * MS, 50 * MS - 1, 50 * MS - 1);
    CHECK(sh_vigil_is_well(&strict, &last, &look));
    look.loop_beat_ns--;
    CHECK(!sh_vigil_is_well(&strict, &last, &look));
    look.loop_beat_ns++;
    look.agent_beat_ns--;
    CHECK(!sh_vigil_is_well(&strict, &last, &look));
}

static void test_another_phase_is_not(void) {
    struct sh_vigil_look ending = look_at(80 * MS, 5 * MS, 20 * MS), before = last;
    CHECK(sh_vigil_is_well(&limits, &before, &ending));
    before.phase = 0;
    CHECK(!sh_vigil_is_well(&limits, &before, &ending));
    before.phase = ending.phase = 2;
    CHECK(!sh_vigil_is_well(&limits, &before, &ending));
}

static void test_a_look_that_comes_late_or_before_the_last_is_not(void) {
    CHECK(well(look_at(90 * MS, 0, 0)));
    CHECK(!well(look_at(90 * MS + 1, 0, 0)));
    CHECK(!well(look_at(-1, -10, -10)));
    struct sh_vigil_limits patient = limits;
    patient.look_late = 1000 * MS;
    patient.shrink_after = 1000 * MS;
    struct sh_vigil_look after = look_at(499 * MS, 0, 0);
    CHECK(sh_vigil_is_well(&patient, &last, &after));
    after = look_at(500 * MS, 0, 0);
    CHECK(!sh_vigil_is_well(&patient, &last, &after));
}

static void test_an_old_beat_is_well_until_it_is_due(void) {
    struct sh_vigil_look look = look_at(80 * MS, 0, 0);
    look.agent_beat_ns = last.agent_beat_ns;
    CHECK(well(look));
    look.loop_beat_ns = last.loop_beat_ns; /* 84 ms old */
    CHECK(!well(look));
    look = look_at(37 * MS, 0, 0);
    look.loop_beat_ns = last.loop_beat_ns;
    CHECK(well(look));
    look.now_ns += 1 * MS;
    CHECK(!well(look));
}

static void test_a_new_beat_from_before_the_last_look_is_not(void) {
    CHECK(well(look_at(80 * MS, 80 * MS, 80 * MS)));
    CHECK(!well(look_at(80 * MS, 80 * MS + 1, 20 * MS)));
    CHECK(!well(look_at(80 * MS, 20 * MS, 80 * MS + 1)));
}

static void test_no_number_on_the_page_overflows(void) {
    static const int64_t odd[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX};
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        struct sh_vigil_look look = look_at(80 * MS, 5 * MS, 20 * MS);
        look.loop_beat_ns = odd[i];
        CHECK_EQ(well(look), odd[i] == INT64_MAX);
        look.agent_beat_ns = odd[i];
        CHECK_EQ(well(look), odd[i] == INT64_MAX);
        look.phase = odd[i];
        CHECK(!well(look));
    }
}

static void test_the_next_look_is_due_when_a_beat_would_be_too_old(void) {
    struct sh_vigil_look look = last;
    CHECK_EQ(sh_vigil_until_next(&limits, &look), 80 * MS);
    look.loop_beat_ns = T - 83 * MS;
    CHECK_EQ(sh_vigil_until_next(&limits, &look), 10 * MS / 4);
    look.loop_beat_ns = T + 6 * MS;
    CHECK_EQ(sh_vigil_until_next(&limits, &look), 90 * MS);
    look.loop_beat_ns = INT64_MAX;
    CHECK_EQ(sh_vigil_until_next(&limits, &look), limits.look_late);
    look.agent_beat_ns = T - 980 * MS;
    CHECK_EQ(sh_vigil_until_next(&limits, &look), 20 * MS);
}

/* An agent that ends when its descriptor is readable. */
struct agent {
    struct sh_vigil_page page;
    struct sh_vigil vigil;
    _Atomic bool judged;
};

static void make(struct agent *agent) {
    *agent = (struct agent){.vigil = {.limits = limits, .page = &agent->page}};
    /* What the machine has these threads wait for is no matter here. */
    agent->vigil.limits.look_soon = agent->vigil.limits.shrink_after = 3600LL * 1000 * MS;
    agent->vigil.limits.kill_after = agent->vigil.limits.standstill = INT64_MAX / 4;
    agent->vigil.limits.loop_due = agent->vigil.limits.agent_due = INT64_MAX / 4;
    agent->vigil.limits.look_late = MS / 10;
    agent->vigil.pidfd = eventfd(0, EFD_CLOEXEC);
    CHECK(agent->vigil.pidfd >= 0);
    atomic_store(&agent->page.phase, SH_VIGIL_RUNNING);
    agent->page.loop_beat_ns = agent->page.agent_beat_ns = sh_monotonic_ns();
}

static void test_each_look_is_shown_where_all_is_not_known_to_be_well(void) {
    struct agent agent;
    make(&agent);
    for (int i = 0; i < 3; i++) {
        const struct sh_vigil_look before = agent.vigil.look;
        CHECK_EQ(sh_vigil_wait(&agent.vigil, 1, false), 1);
        CHECK_EQ(agent.vigil.last.now_ns, before.now_ns);
        CHECK(agent.vigil.look.now_ns > before.now_ns);
        CHECK_EQ(agent.page.guardian_beat_ns, agent.vigil.look.now_ns);
        CHECK_EQ(agent.vigil.look.phase, SH_VIGIL_RUNNING);
        CHECK_EQ(agent.vigil.look.loop_beat_ns, agent.page.loop_beat_ns);
        CHECK_EQ(agent.vigil.look.agent_beat_ns, agent.page.agent_beat_ns);
    }
    close(agent.vigil.pidfd);
}

static void test_an_end_of_the_agent_ends_the_waiting_without_a_look(void) {
    struct agent agent;
    make(&agent);
    CHECK_EQ(eventfd_write(agent.vigil.pidfd, 1), 0);
    CHECK_EQ(sh_vigil_wait(&agent.vigil, 3600LL * 1000 * MS, true), 0);
    CHECK_EQ(agent.page.guardian_beat_ns, 0);
    close(agent.vigil.pidfd);
}

static void test_a_time_that_is_none_is_an_error(void) {
    struct agent agent;
    make(&agent);
    CHECK_EQ(sh_vigil_wait(&agent.vigil, -1, true), -EINVAL);
    CHECK_EQ(agent.page.guardian_beat_ns, 0);
    close(agent.vigil.pidfd);
}

static void *watch(void *arg) {
    struct agent *agent = arg;
    CHECK_EQ(sh_vigil_wait(&agent->vigil, 1, false), 1);
    CHECK_EQ(sh_vigil_wait(&agent->vigil, 1, true), 1);
    atomic_store(&agent->judged, true);
    return NULL;
}

/* Waits until the guardian has looked several times. */
static void await_looks(struct agent *agent) {
    for (int i = 0; i < 10; i++) {
        const int64_t before = atomic_load(&agent->page.guardian_beat_ns);
        AWAIT(atomic_load(&agent->page.guardian_beat_ns) != before);
        atomic_store(&agent->page.loop_beat_ns, sh_monotonic_ns());
        atomic_store(&agent->page.agent_beat_ns, sh_monotonic_ns());
    }
}

static void test_it_looks_on_alone_until_the_phase_changes(void) {
    struct agent agent;
    pthread_t guardian;
    make(&agent);
    CHECK_EQ(pthread_create(&guardian, NULL, watch, &agent), 0);
    await_looks(&agent);
    atomic_store(&agent.page.phase, 2);
    pthread_join(guardian, NULL);
    CHECK_EQ(agent.vigil.last.phase, SH_VIGIL_RUNNING);
    CHECK_EQ(agent.vigil.look.phase, 2);
    CHECK_EQ(agent.page.guardian_beat_ns, agent.vigil.look.now_ns);
    close(agent.vigil.pidfd);
}

static void nothing(int number) {
    (void)number;
}

static void test_a_signal_has_the_look_shown(void) {
    struct agent agent;
    pthread_t guardian;
    const struct sigaction action = {.sa_handler = nothing};
    make(&agent);
    agent.vigil.limits.look_late = 3600LL * 1000 * MS;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(pthread_create(&guardian, NULL, watch, &agent), 0);
    AWAIT(atomic_load(&agent.page.guardian_beat_ns) != 0);
    AWAIT(pthread_kill(guardian, SIGUSR1) != 0 || atomic_load(&agent.judged));
    pthread_join(guardian, NULL);
    close(agent.vigil.pidfd);
}

int main(void) {
    RUN(test_new_beats_in_time_are_well);
    RUN(test_another_phase_is_not);
    RUN(test_a_look_that_comes_late_or_before_the_last_is_not);
    RUN(test_an_old_beat_is_well_until_it_is_due);
    RUN(test_a_new_beat_from_before_the_last_look_is_not);
    RUN(test_no_number_on_the_page_overflows);
    RUN(test_the_next_look_is_due_when_a_beat_would_be_too_old);
    RUN(test_each_look_is_shown_where_all_is_not_known_to_be_well);
    RUN(test_an_end_of_the_agent_ends_the_waiting_without_a_look);
    RUN(test_a_time_that_is_none_is_an_error);
    RUN(test_it_looks_on_alone_until_the_phase_changes);
    RUN(test_a_signal_has_the_look_shown);
    return 0;
}
