#include "emu/restart.h"

/*
 * The result has taken the place of the first argument (x0). The kernel keeps a copy for its own
 * restarts but does not show it in the signal frame, and nothing else tells what it was: the
 * program sees EINTR.
 */
void nve_restart_call(ucontext_t *uc)
{
	(void)uc;
}

enum nve_restart nve_restart_kind(const ucontext_t *uc)
{
	(void)uc;
	return NVE_RESTART_NONE;
}
