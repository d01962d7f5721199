/*
 * The demo's latency-sensitive server and its load generator, in one process.
 *
 * Client and server share the primary group, as in section 5.1 of the SmartHarvest paper: what
 * harvesting costs cannot hide behind a network. The load is open loop: a request's latency counts
 * from its intended arrival, however late the generator itself ran.
 */
#ifndef SH_DEMO_SERVER_H
#define SH_DEMO_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SH_SERVER_MAX_WORKERS 1024

/* One run of traffic; the caller owns the arrays, each `count` long. */
struct sh_server_slice {
    const int64_t *arrival_ns; /* intended arrivals after the slice's start, ascending */
    const int64_t *work;       /* of each request: steps, or ns of CPU time */
    int64_t *latency_ns;       /* out: completion - intended arrival */
    size_t count;
    int64_t steps_per_ms; /* about; 0: work is in steps */
};

struct sh_server {
    pthread_mutex_t lock;
    pthread_cond_t arrival; /* a request waits, or the server stops */
    pthread_cond_t drained; /* the last request of the slice is complete */
    const struct sh_server_slice *slice;
    int64_t start_ns; /* CLOCK_MONOTONIC */
    size_t arrived;   /* requests sent; the queue is [taken, arrived) */
    size_t taken;
    size_t completed;
    bool stopping;
    int workers;
    pthread_t threads[SH_SERVER_MAX_WORKERS];
};

/* Steps of work one CPU does in a millisecond; the fastest of several tries. Takes about 40 ms. */
int64_t sh_server_calibrate(void);

/*
 * Starts `workers` threads (1..SH_SERVER_MAX_WORKERS), which sleep until requests arrive.
 * Returns 0, -EINVAL, or what pthread_create refused with (nothing is left running then).
 */
int sh_server_start(struct sh_server *server, int workers);

/*
 * Sends the slice's requests at their intended times and returns when all are complete. The calling
 * thread is the load generator: it sleeps between sends and never spins.
 */
void sh_server_serve(struct sh_server *server, const struct sh_server_slice *slice);

/* Ends the workers. Not while a slice is served. */
void sh_server_stop(struct sh_server *server);

#endif
