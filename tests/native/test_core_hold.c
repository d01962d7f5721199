/* Threads that hold a core while it changes hands. */
#define _GNU_SOURCE
#include "actuators/core_hold.h"

#include "threads.h"

static struct sh_core_hold_thread threads[2];
static struct sh_core_hold core_hold;

static bool begin(int fifo_priority) {
    const struct sched_param fifo = {.sched_priority = 1}, other = {0};
    core_hold =
        (struct sh_core_hold){.threads = threads, .count = 2, .fifo_priority = fifo_priority};
    threads[0].cpu = (uint32_t)some_cpu();
    threads[1].cpu = SH_CORE_HOLD_MAX_CPUS - 1; /* of which there are hardly as many */
    CHECK_EQ(sh_core_hold_start(&core_hold), 0);
    if (sched_setscheduler(0, SCHED_FIFO, &fifo))
        return false;
    CHECK_EQ(sched_setscheduler(0, SCHED_OTHER, &other), 0);
    return true;
}

static void test_a_core_nobody_releases_is_let_go_soon(void) {
    if (begin(1))
        for (int i = 0; i < 3; i++) {
            sh_core_hold_hold(&core_hold, (int32_t)threads[0].cpu);
            AWAIT(atomic_load(&threads[0].held) == 0);
        }
    sh_core_hold_stop(&core_hold);
}

static void test_releasing_ends_the_hold(void) {
    begin(1);
    for (int i = 0; i < 100; i++) {
        sh_core_hold_hold(&core_hold, (int32_t)threads[0].cpu);
        sh_core_hold_release(&core_hold, (int32_t)threads[0].cpu);
        CHECK_EQ(atomic_load(&threads[0].held), 0);
    }
    sh_core_hold_stop(&core_hold);
}

static void test_a_cpu_without_a_thread_is_nobodys_to_hold(void) {
    begin(1);
    sh_core_hold_hold(&core_hold, 777);
    sh_core_hold_hold(&core_hold, -1);
    sh_core_hold_release(&core_hold, 777);
    CHECK_EQ(atomic_load(&threads[0].held) + atomic_load(&threads[1].held), 0);
    sh_core_hold_stop(&core_hold);
}

static void test_a_thread_that_is_not_a_real_time_one_holds_nothing(void) {
    begin(1000); /* no such priority */
    AWAIT(atomic_load(&core_hold.failed) == 2);
    sh_core_hold_hold(&core_hold, (int32_t)threads[0].cpu);
    sh_core_hold_release(&core_hold, (int32_t)threads[0].cpu);
    sh_core_hold_stop(&core_hold);
}

static void test_stopping_waits_for_nobody(void) {
    for (int i = 0; i < 20; i++) {
        begin(1);
        if (i % 2)
            sh_core_hold_hold(&core_hold, (int32_t)threads[0].cpu);
        sh_core_hold_stop(&core_hold);
        sh_core_hold_stop(&core_hold);
    }
}

int main(void) {
    RUN(test_a_core_nobody_releases_is_let_go_soon);
    RUN(test_releasing_ends_the_hold);
    RUN(test_a_cpu_without_a_thread_is_nobodys_to_hold);
    RUN(test_a_thread_that_is_not_a_real_time_one_holds_nothing);
    RUN(test_stopping_waits_for_nobody);
    return 0;
}
