/* A queue for each core, as on Linux (sh_sim_sharing.queues): tasks sleep, wake on a core, wait in
 * its queue, and run.
 *
 *  - A primary is a pool of as many workers as it has cores, and one task that sends: it sleeps
 *    until a request is due, sends all that are due and wakes a worker for each. A worker that
 *    runs takes the oldest request, and the next without sleeping. What waking and sleeping cost is
 *    CPU time (send_ns, wake_ns in sh_sim_traffic_config): half of it before the work, half after.
 *  - A task that wakes goes back to its core if that is idle; else to an idle one among those it
 *    looks at; else it waits on its own. It looks at fewer the more the cores are in use, and at
 *    none from 85 % on. A core that runs the elastic group counts as idle, and as in use.
 *  - The elastic group gives way at once to a task that the core's own timer wakes. One that is
 *    woken from elsewhere has to wait for up to a tick, with the chance stall_share. When a task
 *    leaves, the elastic group has a turn before those who wait, with the chance turn_share.
 *  - A core that has nothing left to run takes the task that has waited longest from another's
 *    queue; one of the elastic group's has always something, and takes one every few ms only.
 *  - With let_go_ns the elastic group is in a class below all. It gives way at once; a core that
 *    runs it is not idle, and does not count as in use. As many cores as sh_sim_machine_keep_spare
 *    says are kept idle, and up to two more until 2 ms after one had to let go; no more than others
 *    are taken. One changes sides in let_go_ns. Where a task has displaced the elastic group, that
 *    goes on once nobody else waits there. One that runs the elastic group takes a task from
 *    another's queue sixteen times as rarely.
 */
#ifndef SH_SIM_QUEUES_H
#define SH_SIM_QUEUES_H

#include "lab/simulator/machine.h"

/* 0 or -ENOMEM. */
int sh_sim_queues_init(struct sh_sim_machine *machine);

/* The primary's next requests are due now. */
void sh_sim_queues_arrive(struct sh_sim_machine *machine, uint32_t primary);

/* What the core's place in the agenda was set for. */
void sh_sim_queues_step(struct sh_sim_machine *machine, uint32_t core);

/* Somebody else, above every task, has a core from now on for a while. */
void sh_sim_queues_hold(struct sh_sim_machine *machine);

/* As many cores are idle, or about to be, as are to be; with let_go_ns. */
void sh_sim_queues_keep_spare(struct sh_sim_machine *machine);

/* The elastic group may run on this core from now on, or no longer. */
void sh_sim_queues_share(struct sh_sim_machine *machine, uint32_t core);
void sh_sim_queues_keep(struct sh_sim_machine *machine, uint32_t core);

#endif
