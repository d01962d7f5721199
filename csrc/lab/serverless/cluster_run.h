/* Functions on workers whose cores come and go, in virtual time: invocations arrive, a balancer
 * chooses by what the last reports say, workers run them, evictions end them. */
#ifndef SH_FAAS_RUN_H
#define SH_FAAS_RUN_H

#include "lab/serverless/balancer.h"
#include "lab/serverless/worker.h"
#include "lab/simulator/agenda.h"

enum sh_faas_change_kind {
    SH_FAAS_ARRIVES, /* with so many cores */
    SH_FAAS_RESIZED, /* to so many cores */
    SH_FAAS_NOTICED, /* it will be evicted in so many seconds */
    SH_FAAS_EVICTED,
};

struct sh_faas_change {
    int64_t at_ns;
    double value; /* cores, or seconds of a notice */
    uint32_t slot;
    uint32_t kind;
};

/* Every array is the caller's and outlives the run. */
struct sh_faas_run_config {
    uint32_t slots, functions, invocations, changes, controllers;
    const struct sh_faas_change *change; /* [changes]; times ascend */
    const double *worker_memory_mib;     /* [slots] */
    const double *worker_min_cores;      /* [slots] */
    const uint8_t *worker_regular;       /* [slots]; never evicted: for functions that need it */
    const uint32_t *function_hash;       /* [functions] */
    const double *function_memory_mib;   /* [functions] */
    const int64_t *function_cold_ns;     /* [functions] */
    const uint8_t *function_regular;     /* [functions]; runs on regular workers only */
    const uint8_t *function_idempotent;  /* [functions] */
    const int64_t *arrival_ns;           /* [invocations]; ascend */
    const uint32_t *function;            /* [invocations] */
    const int64_t *work_ns;              /* [invocations]; above 0 */
    int64_t *end_ns;                     /* [invocations]; -1: not finished, or failed */
    uint32_t *worker;                    /* [invocations]; that had it last */
    uint8_t *cold;                       /* [invocations] */
    uint8_t *attempts; /* [invocations]; workers that it was sent to and left by */
    struct sh_faas_options options;
    uint64_t seed;
    int64_t report_ns;     /* between two reports of a worker */
    int64_t keep_alive_ns; /* of an idle instance */
    int64_t measure_until_ns;
    int64_t give_up_ns; /* what has not finished by then has failed */
    uint32_t retries;
};

enum { SH_FAAS_HARVEST, SH_FAAS_REGULAR, SH_FAAS_POOLS };

struct sh_faas_run {
    struct sh_faas_run_config config;
    struct sh_faas_cluster cluster;
    struct sh_sim_agenda agenda;
    struct sh_faas_balancer *balancers; /* [controllers][SH_FAAS_POOLS] */
    struct sh_faas_view *views;         /* [controllers][slots] */
    uint8_t *warm;                      /* [functions][slots]; as of the last report */
    uint32_t *order[SH_FAAS_POOLS];     /* [slots]; those that are there */
    uint32_t order_count[SH_FAAS_POOLS];
    double *eviction_s; /* [slots]; infinite: no notice */
    uint32_t *waiting;  /* [invocations]; those that no worker may take */
    uint32_t waiting_count;
    int64_t now_ns;
    uint32_t next_arrival, next_change, unfinished;
    uint64_t retried, handed_back, evictions, notices, events;
};

/* 0 or -errno; destroy after either. */
int sh_faas_run_init(struct sh_faas_run *run, const struct sh_faas_run_config *config);
void sh_faas_run_destroy(struct sh_faas_run *run);

/* At most so many events. 1: there are more; 0: the run is over; -errno. */
int sh_faas_run_advance(struct sh_faas_run *run, uint64_t events);

#endif
