/*
 * Placement (NVM_PLACE=FILE): which memory is on the emulated NVM. Connects the guidance file, the
 * heap, which says whose memory an address is, and the waits that look-ahead has seen.
 */
#ifndef NVE_PLACING_H
#define NVE_PLACING_H

#include <stdbool.h>

#include "base/options.h"
#include "emu/guidance.h"
#include "emu/tiers.h"
#include "report/placement.h"
#include "source_lines.h"

/*
 * Reads the guidance file and finds the source lines that it names. Before the heap is on and the
 * program runs. 0, also where none is asked for; or -EINVAL with a message that tells the file, the
 * line and the accepted form. load_dw: libdw, or NULL where it is not installed.
 */
int nve_placing_load(const struct nve_options *options, const struct nve_dw *(*load_dw)(void),
		     struct nve_options_message *error);

/* Takes what windows wait for. Before the first thread. */
void nve_placing_begin(void);

/* Is there a guidance file? */
bool nve_placing_on(void);

/* Why nothing is emulated where memory is bound to a node. */
void nve_placing_tell_bound(char *why, size_t size);

/* malloc() of that caller, on NVM: its call path is, whatever the file says. With a guidance file,
 * and the heap on. */
struct nve_caller;
void *nve_placing_malloc(size_t size, const struct nve_caller *caller);

/* What epochs of threads without windows of their own go by. */
const struct nve_tiers_process *nve_placing_process(void);
enum nve_tier nve_placing_default(void);

void nve_placing_fill(struct nve_placement_snapshot *s, const struct nve_options *options);

#endif
