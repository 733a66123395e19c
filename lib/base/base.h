/* Small helpers that every module may use. */
#ifndef NVE_BASE_H
#define NVE_BASE_H

#include <stddef.h>
#include <stdint.h>

#define NVE_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* Both evaluate their arguments once. */
#define NVE_MIN(a, b)                                                                              \
	__extension__({                                                                            \
		__auto_type min_a = (a);                                                           \
		__auto_type min_b = (b);                                                           \
		min_a < min_b ? min_a : min_b;                                                     \
	})
#define NVE_MAX(a, b)                                                                              \
	__extension__({                                                                            \
		__auto_type max_a = (a);                                                           \
		__auto_type max_b = (b);                                                           \
		max_a > max_b ? max_a : max_b;                                                     \
	})
#define NVE_LINE_BYTES 64u
#define NVE_PAGE_BYTES 4096u

#define nve_likely(x)   __builtin_expect(!!(x), 1)
#define nve_unlikely(x) __builtin_expect(!!(x), 0)

#endif
