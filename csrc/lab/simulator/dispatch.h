/* Threads and cores of a simulated machine: who runs where, who waits. */
#ifndef SH_SIM_DISPATCH_H
#define SH_SIM_DISPATCH_H

#include "lab/simulator/machine.h"

/* The primary's next requests arrive now. */
void sh_sim_arrive(struct sh_sim_machine *machine, uint32_t primary);

/* The thread on this core has come to its end. */
void sh_sim_complete(struct sh_sim_machine *machine, uint32_t core);

/* The core is the primaries' again. */
void sh_sim_admit_core(struct sh_sim_machine *machine, uint32_t core);

/* Nobody's thread runs, or waits, on this core of the primaries any more. */
void sh_sim_clear_core(struct sh_sim_machine *machine, uint32_t core);

/* Waiting threads take idle cores. */
void sh_sim_serve_waiting(struct sh_sim_machine *machine);

/* With shared placement. */

/* The elastic group may run on one more core, and on one less. */
void sh_sim_share_core(struct sh_sim_machine *machine);
void sh_sim_keep_core(struct sh_sim_machine *machine);

/* The elastic group yields this core to the thread that is queued there. */
void sh_sim_end_stall(struct sh_sim_machine *machine, uint32_t core);

#endif
