/* Starts and ends processes as fast as it is told: churn RATE, in processes a second. Each burns a
 * few microseconds and lives for as long. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pace.h"

static void burn(void) {
    for (volatile int i = 0; i < 20000; i++)
        ;
}

int main(int count, char **arguments) {
    const long rate = count > 1 ? atol(arguments[1]) : 1000;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (;;) {
        const pid_t child = vfork();
        if (child == 0) {
            burn();
            _exit(0);
        }
        waitpid(child, NULL, 0);
        wait_for_step(&next, rate);
    }
}
