#include <sys/auxv.h>

#include "base/arch.h"
#include "base/log.h"

/* HWCAP_CPUID of the kernel: it lets programs read the identification registers. */
enum { CAN_READ_ID = 1 << 11 };

void nve_arch_cpu_name(char *buf, size_t size)
{
	uint64_t midr;

	buf[0] = '\0';
	if (!(getauxval(AT_HWCAP) & CAN_READ_ID))
		return;
	__asm__("mrs %0, midr_el1" : "=r"(midr));
	nve_format(buf, size, "Arm implementer 0x%x part 0x%x r%up%u",
		   (unsigned)(midr >> 24 & 0xff), (unsigned)(midr >> 4 & 0xfff),
		   (unsigned)(midr >> 20 & 0xf), (unsigned)(midr & 0xf));
}
