#include "base/clock.h"

#include <errno.h>

/* Both clocks read at one moment, as nearly as can be had. */
struct instant {
	uint64_t tsc, ns;
};

/* An interrupt between the readings would part them: of several tries the tightest counts. */
static struct instant read_instant(void)
{
	struct instant best = {0, 0};
	uint64_t best_gap = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = nve_tsc();
		uint64_t ns = nve_clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t gap = nve_tsc() - before;

		if (gap < best_gap) {
			best_gap = gap;
			best = (struct instant){before + gap / 2, ns};
		}
	}
	return best;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

uint64_t nve_clock_tsc_khz(uint64_t wait_ns)
{
	struct instant start = read_instant(), end;
	uint64_t elapsed_ns;

	do {
		sleep_ns(wait_ns ? wait_ns : 1000000);
		end = read_instant();
		elapsed_ns = end.ns - start.ns;
	} while (elapsed_ns < wait_ns || !elapsed_ns);
	return (uint64_t)((unsigned __int128)(end.tsc - start.tsc) * 1000000u / elapsed_ns);
}
