/* Latencies of command lines: "300", "200:1000:100", "dram,1us,2us:4us:500ns". Pure. */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum { CLI_LATENCIES_MAX = 1000, CLI_POINTS_MAX = 10000, CLI_LATENCY_BYTES = 24 };

struct cli_latencies {
	uint64_t ps[CLI_LATENCIES_MAX]; /* ascending, each once; 0: DRAM's own */
	size_t count;
};

/* A pair of them. */
struct cli_point {
	uint64_t rlat_ps, wlat_ps;
};

/*
 * A list of latencies, with commas, each of which is one or FROM:TO:STEP, which ends with the last
 * one that is at most TO. 0; -EINVAL: no such list, or a latency that no variable would take;
 * -E2BIG: more than CLI_LATENCIES_MAX.
 */
int cli_parse_latencies(const char *text, struct cli_latencies *latencies);

/* Is one of them below DRAM's? 0, or -ERANGE after a message. option: its name; whose: as in
 * "this machine's". */
int cli_check_latencies(const char *option, const struct cli_latencies *latencies,
			uint64_t dram_lat_ps, const char *whose);

/* "300", "122.5"; with own for 0. */
void cli_format_latency(uint64_t ps, const char *own, char text[CLI_LATENCY_BYTES]);

#endif
