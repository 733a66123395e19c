/* What this machine's memory and core are like: measured once per boot and CPU model, then kept. */
#ifndef NVE_COUNT_CALIBRATION_H
#define NVE_COUNT_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

/* A timed read that took so many times memory's latency was interrupted. It says nothing, neither
 * in calibration nor later: interruptions come in other numbers at other times. */
enum { NVE_OUTLIER_LATENCIES = 5 };

struct nve_calibration {
	uint64_t tsc_khz;

	/* per step of a chase that nothing else slows down */
	uint32_t dram_lat_ps, llc_lat_ps;

	/* Where there is no look-ahead this is false, and what it alone needs, down to the gaps, is
	 * 0. */
	bool timed_reads;

	/* lines of the same kinds through the fenced, timed read; thousandths of a TSC tick */
	uint32_t timed_dram_cycles_milli, timed_llc_cycles_milli, timed_l1_cycles_milli;

	uint32_t fence_cycles;      /* what the fences and readings cost by themselves */
	uint32_t threshold_cycles;  /* a timed read at or above it came from memory */
	uint32_t run_ahead_writers; /* the same, of instructions that write a general register */
	uint32_t run_ahead_instructions; /* how far the core had run before a signal stopped it */
	/* lines of memory whose translation was fetched before; 0: this processor cannot (touch.h)
	 */
	uint32_t timed_translated_cycles_milli;
	uint32_t probe_cycles_milli; /* timed reads of the probe, ahead/probe.h */
	/* the core: TSC ticks, thousandths, of a cycle; from one miss to the next, of independent
	 * loads and of independent stores */
	uint32_t cycle_ticks_milli, read_gap_ticks_milli, write_gap_ticks_milli;

	uint32_t signal_ns; /* a timer signal, there and back */
	bool huge_pages;    /* the buffer was backed by them */
	/* hardware counters, pmu/rate.h: of which plan (0: none), and its groups' rates */
	uint64_t pmu_plan, pmu_rate, pmu_rate_second;
	/* memory's bandwidth, of one thread and of all processors; 0: not measured, since nobody
	 * wanted to emulate another */
	uint64_t read_bytes_per_s, write_bytes_per_s;
	uint64_t all_read_bytes_per_s, all_write_bytes_per_s;
	uint64_t footprint_bytes; /* of the chase */
	uint32_t tries;           /* how often it was measured at start; by the one who keeps it */
	uint64_t llc_bytes;
	uint64_t measured_at_s; /* CLOCK_REALTIME */
};

/* Is every field possible, and do they fit together? 0, or -ERANGE with the name of the field. */
int nve_calibration_check(const struct nve_calibration *calibration, const char **field);

#endif
