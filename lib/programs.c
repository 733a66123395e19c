#include "programs.h"

#include "base/log.h"
#include "base/options.h"
#include "enter.h"

static struct {
	char library[2 * NVE_PATH_BYTES]; /* absolute */
	struct nve_carry carry;
} state;

void nve_programs_setup(const char *library, const char *cwd, char *const envp[], int follow)
{
	if (!library || !*library)
		return;
	if (*library == '/')
		nve_format(state.library, sizeof(state.library), "%s", library);
	else
		nve_format(state.library, sizeof(state.library), "%s/%s", cwd, library);
	if (follow == NVE_FOLLOW_ALWAYS)
		nve_carry_setup(&state.carry, envp, state.library);
}

char *const *nve_programs_environment(char *const envp[], const char *path, bool native,
				      struct nve_carry_room *room)
{
	char *const *carried;

	if (native)
		return state.library[0] ? nve_carry_strip(envp, state.library, room) : envp;
	carried = nve_carry_add(&state.carry, envp, room);
	/* Where nobody takes away again what is put in front, it is not put there. */
	return carried == envp || !path || nve_enter_file(path) ? carried : envp;
}
