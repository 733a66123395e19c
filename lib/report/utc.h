/* Dates without libc's time zones, which need locks and files: signal-safe. */
#ifndef NVE_REPORT_UTC_H
#define NVE_REPORT_UTC_H

#include <stdint.h>

enum { NVE_UTC_BYTES = 24 };

/* Seconds of CLOCK_REALTIME as "2026-11-30T13:14:15Z". Past the year 9999: the last second of it.
 */
void nve_utc_format(uint64_t seconds, char text[NVE_UTC_BYTES]);

/* For file names: "20261130T131415Z". */
void nve_utc_format_name(uint64_t seconds, char text[NVE_UTC_BYTES]);

#endif
