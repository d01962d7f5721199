/* Simulated workers: instances in memory, and running invocations that share cores.
 *
 * Each running invocation gets min(1, cores / running) of a core (processor sharing). Served time
 * advances at that rate, so that a change of cores changes the rate and nothing else. A cold start
 * is work like the invocation itself. Idle instances are kept until keep_alive_ns have passed or
 * their memory is needed; without memory an invocation waits its turn. */
#ifndef SH_FAAS_WORKER_H
#define SH_FAAS_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#define SH_FAAS_NONE UINT32_MAX

struct sh_faas_job {
    double finish; /* in served time */
    uint32_t invocation;
};

struct sh_faas_worker {
    double cores;
    double served_ns; /* what an invocation that ran since the start has got */
    int64_t at_ns;    /* everything is up to date as of then */
    double used_memory_mib, total_memory_mib;
    double held_memory_mib;      /* of what it runs or lets wait */
    struct sh_faas_job *running; /* a heap, the next to finish first */
    uint32_t running_count, running_capacity;
    uint32_t queue_head, queue_tail, queue_length; /* invocations that wait for memory */
    uint32_t newest, oldest;                       /* idle instances */
    bool alive;
    double core_ns, busy_core_ns; /* had and used, before measure_until_ns */
};

struct sh_faas_instance {
    int64_t idle_since_ns;
    uint32_t function;
    uint32_t newer, older; /* of the worker; a free instance's older is the next free one */
    uint32_t above, below; /* of the worker and the function */
};

/* All workers, and what they share. The caller owns the arrays marked *. */
struct sh_faas_cluster {
    uint32_t slots, functions, invocations;
    struct sh_faas_worker *workers; /* [slots] */
    const double *memory_mib;       /* * [functions] */
    const int64_t *cold_ns;         /* * [functions] */
    const uint32_t *function;       /* * [invocations] */
    const int64_t *work_ns;         /* * [invocations] */
    uint8_t *cold;                  /* * [invocations]; it started cold, at least once */
    uint32_t *next;                 /* [invocations]; in whichever queue one is */
    uint32_t *top;                  /* [slots * functions]; the idle instance used last */
    uint32_t *bottom;               /* the same; the one used first */
    struct sh_faas_instance *instances;
    uint32_t instance_count, instance_capacity, free_instance;
    int64_t keep_alive_ns, measure_until_ns;
};

/* 0 or -ENOMEM; destroy after either. The arrays marked * and the settings are the caller's. */
int sh_faas_cluster_init(struct sh_faas_cluster *cluster);
void sh_faas_cluster_destroy(struct sh_faas_cluster *cluster);

/* Brings the worker up to now_ns. */
void sh_faas_worker_advance(struct sh_faas_cluster *cluster, uint32_t slot, int64_t now_ns);

/* Those below want the worker up to date. */

/* When the next of the running invocations finishes, at the present cores; INT64_MAX: never. */
int64_t sh_faas_worker_next_ns(const struct sh_faas_cluster *cluster, uint32_t slot);

/* Runs it, or lets it wait for memory. 0 or -ENOMEM. */
int sh_faas_worker_take(struct sh_faas_cluster *cluster, uint32_t slot, uint32_t invocation);

/* An invocation that has finished, SH_FAAS_NONE without one. Its instance is idle now. */
uint32_t sh_faas_worker_finished(struct sh_faas_cluster *cluster, uint32_t slot);

/* Starts those that wait, as memory allows. 0 or -ENOMEM. */
int sh_faas_worker_start_waiting(struct sh_faas_cluster *cluster, uint32_t slot);

/* Takes out an invocation that waits, or one that runs; SH_FAAS_NONE without one. */
uint32_t sh_faas_worker_hand_back(struct sh_faas_cluster *cluster, uint32_t slot);
uint32_t sh_faas_worker_abort(struct sh_faas_cluster *cluster, uint32_t slot);

/* Ends idle instances that were kept for long enough. */
void sh_faas_worker_expire(struct sh_faas_cluster *cluster, uint32_t slot);

/* All idle instances are gone. */
void sh_faas_worker_clear(struct sh_faas_cluster *cluster, uint32_t slot);

#endif
