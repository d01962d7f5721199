/* A simulated server: cores, primary VMs whose threads need them, and an elastic group that holds
 * the cores it is lent. It stands behind the loop's sensor and actuator.
 *
 * What is assumed:
 *  - A thread runs to its end on one core. Threads that find none wait in a queue of their VM,
 *    first come first served; of several VMs, the longest waiting thread comes first. No core that
 *    may run a waiting thread stays idle (but see queue_in_transit).
 *  - A VM never runs on more cores than it has. Its threads beyond that wait inside the guest:
 *    that is no dispatch wait, as the hypervisor does not see it.
 *  - The elastic group uses every core it has. Placement is exclusive: the primaries' threads run
 *    on no core that is lent. Unless it is shared (sh_sim_sharing): then they run on all, and the
 *    elastic group on those of its own that no primary's thread is on.
 *  - A core that is lent leaves the primaries at once and reaches the elastic group after the
 *    mechanism's delay; one that is given back is the elastic group's until the delay is over. A
 *    change of mind cuts both short. Cores given back last are lent first.
 */
#ifndef SH_SIM_MACHINE_H
#define SH_SIM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "actuators/actuator.h"
#include "lab/simulator/agenda.h"
#include "lab/simulator/harm.h"
#include "lab/simulator/latencies.h"
#include "lab/simulator/random.h"
#include "lab/simulator/traffic.h"
#include "loop/histogram.h"
#include "sensors/sensor.h"

enum { SH_SIM_MAX_PRIMARIES = 64, SH_SIM_MAX_BACKLOG = 1 << 22 };

/* A distribution by its quantiles, joined by straight lines. */
struct sh_sim_delay {
    const double *share; /* ascending from 0 to 1 */
    const int64_t *ns;
    uint32_t length; /* 0: no delay */
};

struct sh_sim_mechanism {
    struct sh_sim_delay lend, give_back;
    bool per_core; /* each core has a delay of its own; otherwise all of one change share it */
};

/* Linux with the elastic group under cpu.idle: a thread that wakes takes an idle core or one that
 * runs the elastic group, without distinction, and preempts that at once. Cores change hands in no
 * time. What goes wrong, for a time between 0 and a tick: */
struct sh_sim_sharing {
    bool shared;
    double stall_share; /* of the preemptions: the batch is inside the kernel and does not yield */
    double turn_share;  /* of the cores that fall free with threads waiting: the kernel gives the
                           elastic group its turn first */
    int64_t tick_ns;
    /* A core of the primaries' own that falls idle pulls a thread that is held up so. */

    /* A queue for each core, as on Linux 7.3 (queues.h), and with it: */
    bool queues;
    int64_t turn_ns; /* a turn lasts so long, and up to a tick more */
    /* Above 0, the elastic group is in a class below. Its scheduler keeps lent cores idle
     * (sh_sim_machine_keep_spare says how many). A core changes sides in so long. */
    int64_t let_go_ns;
};

struct sh_sim_machine_config {
    uint32_t cores; /* of the primaries when nothing is lent, 1..SH_MAX_CORES */
    /* Of these the elastic group has so many at any time; shared placement only. The loop's total
     * is what is left. */
    uint32_t elastic_min;
    struct sh_sim_mechanism mechanism;
    /* A woken thread that finds no idle core is queued on one of its group's at random. Those
     * queued on a busy core go to whichever becomes idle first; one queued on a core that is still
     * being handed over stays there until that has arrived, since its run queue is nobody's to
     * steal from. Otherwise all wait for whichever is first. */
    bool queue_in_transit;
    /* Cores are lent by number, highest first, and a thread that runs on one goes back to the head
     * of the queue. Otherwise idle cores are lent first: moving a thread to an idle core is free.
     */
    bool preempt_running;
    /* A core's first thread after it was lent takes so much longer: cold caches. */
    int64_t cold_ns;
    /* Threads sleep and wake inside their service: one more dispatch without a wait for each so
     * much service; 0: none. The long-term safeguard looks at a share of all dispatches. */
    int64_t dispatch_every_ns;
    int64_t long_wait_ns; /* a dispatch that waited longer is a long wait */
    struct sh_sim_sharing sharing;
    /* With queues: how late, in the mean, who wakes begins to run on a free core. And somebody
     * above every task takes a core, drawn, for so long and so often; 0: never. It stands for the
     * agent's guardian, in real time. */
    int64_t late_ns, agent_ns, agent_every_ns;
    uint64_t seed;
};

struct sh_sim_thread {
    uint32_t request;
    bool blamed;       /* something was lent when it became ready */
    bool sends;        /* wakes its request's others when it is done */
    bool woken_by_own; /* by another of its primary's */
    int64_t service_ns, ready_ns;
    int64_t woke_ns;            /* when it became ready first */
    int64_t held_up_ns;         /* of its waits since then: see sh_sim_elastic_stints */
    int64_t held_ns;            /* since when it is queued on a core of the elastic group's; 0 */
    uint64_t elastic_before_ns; /* the elastic group's CPU time when it became ready */
};

/* With queues: a worker or the sender of a primary. */
struct sh_sim_task {
    enum sh_sim_step {
        SH_SIM_RESTING, /* asleep, or about to be */
        SH_SIM_WOKEN,
        SH_SIM_SENDING, /* about to send */
        SH_SIM_WORKING,
    } step;
    uint32_t primary;
    uint32_t core;       /* where it ran last, or waits */
    uint32_t next;       /* behind it in the core's queue, or of the sleeping workers */
    int64_t interval_ns; /* from one wake-up to the next, lately; 0: not known */
    struct sh_sim_thread thread;
};

struct sh_sim_queue { /* a ring that grows */
    struct sh_sim_thread *threads;
    uint32_t capacity, first, length;
};

struct sh_sim_primary {
    uint32_t cores;
    uint32_t running; /* threads on a core */
    uint32_t active;  /* ... or ready for one; never more than cores */
    struct sh_sim_traffic traffic;
    struct sh_sim_queue queue;  /* the ready ones first, then those that wait inside the guest */
    uint32_t ready;             /* of the queue */
    struct sh_sim_queue unsent; /* those that one who sends has yet to wake */
    /* With queues: tasks; the sender, the first and the last of the sleeping workers, and how many
     * of them are woken and wait. */
    uint32_t sender, sleeper, last_sleeper, woken;
    struct sh_sim_latencies latencies;
    struct sh_sim_harm harm;
    uint64_t arrived, completed; /* requests */
    uint64_t work_ns;            /* CPU time of the threads that arrived */
};

enum sh_sim_core_state {
    SH_SIM_PRIMARY,   /* the primaries' */
    SH_SIM_LENDING,   /* nobody's */
    SH_SIM_LENT,      /* the elastic group's */
    SH_SIM_RETURNING, /* still the elastic group's */
};

struct sh_sim_core {
    enum sh_sim_core_state state;
    bool busy;     /* runs a primary's thread */
    bool queued;   /* a thread waits here until the core is back, or the elastic group yields */
    bool cold;     /* was lent, and has run no primary thread since */
    uint32_t slot; /* in the list of the idle ones */
    int64_t late_by_ns; /* lending held up the thread here, or who was before it, by so much */
    struct sh_sim_thread thread;
    /* With queues: */
    bool elastic;         /* runs the elastic group */
    bool leaving;         /* ... until it is idle; or idle until it does */
    bool displaced;       /* the elastic group waits here */
    bool held;            /* by who is above every task */
    uint32_t task;        /* that runs */
    int64_t since_ns;     /* when it began to */
    uint32_t first, last; /* of the tasks that wait */
};

struct sh_sim_request {
    int64_t arrival_ns;
    uint32_t primary;
    uint32_t threads; /* not yet finished; in a free entry: the next free one */
};

/* Since the start. */
struct sh_sim_totals {
    uint64_t busy_core_ns;    /* cores that ran primary threads */
    uint64_t demand_core_ns;  /* ... or were wanted by one */
    uint64_t elastic_core_ns; /* cores the elastic group had */
    uint64_t requests_ns;     /* requests in the system */
    uint64_t dispatches, long_waits, blamed_waits, wait_ns;
    uint64_t lent, given_back, preempted, stranded; /* stranded: queued on a core in transit */
    uint64_t assignments;
};

enum { SH_SIM_STINTS = 64 };

/* When the elastic group had a core, whichever: the last of these times. From the first moment of a
 * wait in which it had one, it is what the thread waits for: without it there were a core. */
struct sh_sim_elastic_stints {
    struct {
        int64_t from_ns, until_ns;
    } stints[SH_SIM_STINTS];
    uint32_t last;
    bool goes_on;
};

struct sh_sim_recent { /* dispatches and cores given back since somebody last cleared it */
    struct sh_histogram waits, runs, moves;
};

struct sh_sim_machine {
    struct sh_sim_machine_config config;
    struct sh_sim_primary *primaries;
    uint32_t primary_count;
    struct sh_sim_core *cores;
    uint32_t *idle; /* numbers of the primaries' idle cores */
    uint32_t idle_count;
    struct sh_sim_request *requests;
    uint32_t request_capacity, free_request, in_system;
    struct sh_sim_task *tasks;
    double used;                 /* share of the cores lately in use, to who looks for one */
    struct sh_sim_agenda agenda; /* cores first, then the primaries' arrivals, then the agent */
    struct sh_sim_random delays, placement;
    struct sh_sim_totals totals;
    struct sh_sim_latencies waits;
    struct sh_sim_recent recent;

    int64_t now_ns, counted_ns;
    uint32_t busy, demand, ready; /* threads on a core, wanting one, in a queue for one */
    uint32_t lent, returning; /* cores: what is on its way to the elastic group counts as lent */
    uint32_t elastic;         /* cores that the elastic group has */
    uint32_t stalled;         /* of these, where a thread is queued; shared placement only */
    uint32_t spare_most;      /* lent cores kept idle at most */
    int64_t slack_until_ns;   /* ... and some more until then */
    uint32_t busy_peak, demand_peak; /* since somebody last set them to busy and demand */
    int64_t dispatch_credit_ns;
    int64_t lent_until_ns;    /* something was lent until then */
    uint64_t elastic_idle_ns; /* the elastic group's CPU time when a core was last idle */
    struct sh_sim_elastic_stints elastic_stints;
    bool changed; /* what the sensor reads, since this was last cleared */
    int error;    /* -ENOMEM, or -EOVERFLOW: an endless backlog */
    /* For sensors that weigh windows by time: since the last collection. */
    uint64_t spent_ns[SH_MAX_CORES + 1], spent_demand_core_ns;
    uint32_t spent_demand_max;
    bool collecting;
};

/* The configurations' arrays must outlive the machine. 0, -EINVAL or -ENOMEM. */
int sh_sim_machine_init(struct sh_sim_machine *machine, const struct sh_sim_machine_config *config,
                        const struct sh_sim_traffic_config *traffic, const uint32_t *cores,
                        uint32_t primary_count);
void sh_sim_machine_destroy(struct sh_sim_machine *machine);

/* exact: the sensor sees every change and weighs windows by time. */
void sh_sim_machine_sensor(struct sh_sim_machine *machine, bool exact, struct sh_sensor *sensor);
void sh_sim_machine_actuator(struct sh_sim_machine *machine, struct sh_actuator *actuator);

/* Does what is due at the next event. machine->error tells of a failure. */
void sh_sim_machine_step(struct sh_sim_machine *machine);

/* Nothing happens until then. */
void sh_sim_machine_wait(struct sh_sim_machine *machine, int64_t until_ns);

/* Lends `lent` cores in all. */
void sh_sim_machine_assign(struct sh_sim_machine *machine, uint32_t lent);

/* Keeps so many lent cores idle at most from now on, where sharing has let_go_ns. */
void sh_sim_machine_keep_spare(struct sh_sim_machine *machine, uint32_t most);

/* Ready threads that have waited longer than a long wait and wait still. */
struct sh_sim_long_waits {
    uint32_t all, blamed;
    int64_t blamed_longest_ns;
};
struct sh_sim_long_waits sh_sim_machine_long_waits(const struct sh_sim_machine *machine);

#endif
