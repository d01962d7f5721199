/* sleepers THREADS: they sleep. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *sleep_for_ever(void *unused) {
    for (;;)
        pause();
    return unused;
}

int main(int count, char **arguments) {
    const long threads = count > 1 ? atol(arguments[1]) : 1000;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleep_for_ever, NULL))
            return 1;
    }
    pause();
    return 0;
}
