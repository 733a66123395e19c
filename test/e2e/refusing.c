/* A library to preload that behaves as ours does with NVM_STRICT=on where it cannot emulate. */
#include <unistd.h>

__attribute__((constructor)) static void refuse(void)
{
	_exit(125);
}
