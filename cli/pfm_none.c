/* Built without libpfm4. */
#include <stddef.h>

#include "cli.h"

const struct nve_pfm *cli_load_pfm(void)
{
	return NULL;
}
