/* Requests, their threads and the queues of a simulated machine: the books that every way to place
 * threads keeps. */
#ifndef SH_SIM_THREADS_H
#define SH_SIM_THREADS_H

#include "lab/simulator/machine.h"

struct sh_sim_thread *sh_sim_queue_at(struct sh_sim_queue *queue, uint32_t index);
void sh_sim_queue_push(struct sh_sim_machine *machine, struct sh_sim_queue *queue,
                       struct sh_sim_thread thread);
void sh_sim_queue_push_front(struct sh_sim_machine *machine, struct sh_sim_queue *queue,
                             struct sh_sim_thread thread);
struct sh_sim_thread sh_sim_queue_pop(struct sh_sim_queue *queue);

/* Puts the requests that arrive at the traffic's next time into the primary's queue. If that fails
 * it sets machine->error. */
void sh_sim_take_arrivals(struct sh_sim_machine *machine, uint32_t primary);

/* A thread of this request has ended. */
void sh_sim_finish_thread(struct sh_sim_machine *machine, uint32_t request);

struct sh_sim_primary *sh_sim_owner(struct sh_sim_machine *machine,
                                    const struct sh_sim_thread *thread);
void sh_sim_note_peaks(struct sh_sim_machine *machine);
bool sh_sim_was_lent(const struct sh_sim_machine *machine, int64_t since_ns);

/* The thread waits for a core from now on. */
void sh_sim_wake(struct sh_sim_machine *machine, struct sh_sim_thread *thread, bool blamed);

/* The primary's thread has waited, and has the core now. */
void sh_sim_note_dispatch(struct sh_sim_machine *machine, struct sh_sim_primary *primary,
                          uint32_t core, struct sh_sim_thread *thread);

/* A thread has a core; one of its own does. */
void sh_sim_start(struct sh_sim_machine *machine, uint32_t core, struct sh_sim_thread thread);

/* The dispatches inside a service that found their core still there. */
void sh_sim_count_dispatches(struct sh_sim_machine *machine, int64_t service_ns);

void sh_sim_add_idle(struct sh_sim_machine *machine, uint32_t core);
void sh_sim_remove_idle(struct sh_sim_machine *machine, uint32_t core);

#endif
