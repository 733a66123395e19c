#include "nvmemu.h"

_Static_assert(NVMEMU_VERSION_MAJOR == PROJECT_VERSION_MAJOR, "nvmemu.h is of another version");
_Static_assert(NVMEMU_VERSION_MINOR == PROJECT_VERSION_MINOR, "nvmemu.h is of another version");
_Static_assert(NVMEMU_VERSION_PATCH == PROJECT_VERSION_PATCH, "nvmemu.h is of another version");

__attribute__((visibility("default"))) const char *nvmemu_version(void)
{
	return NVMEMU_VERSION;
}
