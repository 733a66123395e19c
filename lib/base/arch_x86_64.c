#include <cpuid.h>
#include <string.h>

#include "base/arch.h"
#include "base/base.h"

/* The brand string, from three leaves. */
void nve_arch_cpu_name(char *buf, size_t size)
{
	unsigned name[13] = {0}, max = __get_cpuid_max(0x80000000, NULL);

	for (unsigned i = 0; i < 3 && max >= 0x80000004; i++)
		__cpuid(0x80000002 + i, name[4 * i], name[4 * i + 1], name[4 * i + 2],
			name[4 * i + 3]);
	memcpy(buf, name, NVE_MIN(size, sizeof(name)));
	buf[NVE_MIN(size, sizeof(name)) - 1] = '\0';
}
