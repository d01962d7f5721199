/* daemons RATE: starts as many daemons a second as it is told, whose parents end at once, and
 * writes their process ids to its output. Every second one has a session of its own. Each lives
 * until the input is closed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pace.h"

static void daemon_main(void) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char line[16];
    const int length = snprintf(line, sizeof(line), "%d\n", (int)getpid());
    if (write(STDOUT_FILENO, line, (size_t)length) != length)
        _exit(1);
    poll(&input, 1, 120000);
    _exit(0);
}

int main(int count, char **arguments) {
    const long rate = count > 1 ? atol(arguments[1]) : 40;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long number = 0;; number++) {
        const pid_t child = fork();
        if (child == 0) {
            if (number % 2)
                setsid();
            if (fork() == 0)
                daemon_main();
            _exit(0);
        }
        waitpid(child, NULL, 0);
        wait_for_step(&next, rate);
    }
}
