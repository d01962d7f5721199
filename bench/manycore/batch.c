/* Batch work for a guest that has no compiler: counts its units in shared memory.
 *
 *   batch KIND WORKERS COUNTERS
 *
 * KIND: compute (arithmetic in the first-level cache), forks (processes that touch pages and end,
 * as those of a build) or slices (compute, with the longest time slice there is). Waits for a line
 * on standard input, a single process until then; COUNTERS gets 64 bytes a worker, a native uint64
 * of units at the start of each. Ends with its parent. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS = 20000, PAGES = 64, PAGE = 4096, STRIDE = 8 };
#define LONG_SLICE_NS 100000000
#define KEEP_POLICY 0x08 /* SCHED_FLAG_KEEP_POLICY, linux/sched.h */

static void compute(void) {
    uint64_t value = 1;
    for (int i = 0; i < STEPS; i++) {
        value = value * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(value));
    }
}

static void fork_once(void) {
    static char memory[PAGES * PAGE];
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < PAGES; i++)
            memory[i * PAGE]++;
        compute();
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* sched_setattr(2), which the library has no function for. The policy stays: another would take the
 * task out of the class that an agent has put it in. */
static void ask_for_long_slices(void) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } wanted = {.size = sizeof(wanted), .flags = KEEP_POLICY, .runtime = LONG_SLICE_NS};
    syscall(SYS_sched_setattr, 0, &wanted, 0);
}

int main(int argc, char **argv) {
    char line[16];
    if (argc != 4)
        return 2;
    const int workers = atoi(argv[2]), file = open(argv[3], O_RDWR | O_CREAT, 0600);
    const size_t bytes = (size_t)workers * STRIDE * sizeof(uint64_t);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return 1;
    volatile uint64_t *units = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (units == MAP_FAILED || !fgets(line, sizeof(line), stdin))
        return 1;
    for (int i = 0; i < workers; i++) {
        if (fork() != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (strcmp(argv[1], "slices") == 0)
            ask_for_long_slices();
        for (;;) {
            if (strcmp(argv[1], "forks") == 0)
                fork_once();
            else
                compute();
            units[i * STRIDE]++;
        }
    }
    while (fgets(line, sizeof(line), stdin))
        ;
    return 0; /* the workers die with it (PR_SET_PDEATHSIG) */
}
