/* Loaded by opener: marks a region and walks in it. Linked with the library. */
#include "nvmemu.h"
#include "work.h"

void module_run(void);

void module_run(void)
{
	nvmemu_region_begin("of the module");
	work_ms(100);
	nvmemu_region_end();
}
