/* Two threads on one CPU that hand over to each other: switches COUNT, and ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static int there[2], back[2];
static long count;

static void stay_here(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void *answer(void *cpu) {
    char byte;
    stay_here(*(int *)cpu);
    for (long i = 0; i < count; i++)
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            break;
    return NULL;
}

int main(int argc, char **arguments) {
    pthread_t other;
    char byte = 0;
    int cpu = sched_getcpu();
    count = argc > 1 ? atol(arguments[1]) / 2 : 1000;
    if (pipe(there) || pipe(back) || pthread_create(&other, NULL, answer, &cpu))
        return 1;
    stay_here(cpu);
    for (long i = 0; i < count; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    return pthread_join(other, NULL) != 0;
}
