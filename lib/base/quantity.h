/*
 * Quantities as people write them, "1.5us" or "0.5%", to whole numbers of a small unit and back,
 * exactly: no floating point. No malloc, no stdio.
 */
#ifndef NVE_BASE_QUANTITY_H
#define NVE_BASE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* A list of these ends with a suffix of NULL. The suffix "" stands for a plain number. */
struct nve_unit {
	const char *suffix;
	uint64_t scale; /* how many of the small unit it is */
};

/* Of picoseconds, plain numbers nanoseconds; of bytes per second, plain numbers GB/s. From the
 * second one on they have no plain numbers. */
extern const struct nve_unit nve_units_ps[];
extern const struct nve_unit nve_units_bandwidth[];

/*
 * Digits, perhaps a point and digits, and a unit, nothing else. Returns 0; -EINVAL where the text
 * is anything else, -ERANGE where the number is too great, -EDOM where it is no whole number of the
 * small unit. *value is set only on success.
 */
int nve_quantity_parse(const char *text, const struct nve_unit *units, uint64_t *value);

/* In the greatest unit that it reaches (else in the smallest); nve_quantity_parse reads it back.
 * units: from small to great. Returns the length as snprintf does. */
int nve_quantity_format(uint64_t value, const struct nve_unit *units, char *buf, size_t size);

#endif
