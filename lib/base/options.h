/*
 * THE table of variables: name, type, default, range and help stand once, in options.c; parsing,
 * checking, printing and the README's list all come from it.
 *
 * Pure: the environment is passed in. No malloc, no stdio.
 */
#ifndef NVE_BASE_OPTIONS_H
#define NVE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nve_option_model { NVE_MODEL_ASYMMETRIC, NVE_MODEL_SYMMETRIC };
enum nve_option_counters {
	NVE_COUNTERS_AUTO,
	NVE_COUNTERS_AHEAD,
	NVE_COUNTERS_PMU,
	NVE_COUNTERS_REPLAY
};
enum nve_option_inject { NVE_INJECT_AUTO, NVE_INJECT_SPIN, NVE_INJECT_SLEEP, NVE_INJECT_OFF };

enum nve_option_handover { NVE_HANDOVER_AT_SYNC, NVE_HANDOVER_AT_IO, NVE_HANDOVER_NOWHERE };

/* always: also children with an environment in which nothing of ours is left */
enum nve_option_follow { NVE_FOLLOW_OFF, NVE_FOLLOW_ON, NVE_FOLLOW_ALWAYS };

enum nve_option_regions { NVE_REGIONS_OFF, NVE_REGIONS_ONLY };
/* What is on the emulated NVM: all memory, or what a guidance file says. */
enum nve_option_place { NVE_PLACE_ALL, NVE_PLACE_FILE };

enum { NVE_BIND_OFF = -1, NVE_NODES_MAX = 1024 };

enum { NVE_PATH_BYTES = 1024 };

struct nve_options {
	uint64_t rlat_ps;         /* emulated read latency, picoseconds; 0: DRAM's own */
	uint64_t wlat_ps;         /* emulated write latency, picoseconds; 0: DRAM's own */
	uint64_t rbw_bytes_per_s; /* emulated read bandwidth; 0: no limit */
	uint64_t wbw_bytes_per_s; /* emulated write bandwidth; 0: no limit */
	uint64_t dram_lat_ps;     /* 0: measured */
	uint64_t llc_lat_ps;      /* 0: measured */
	uint64_t epoch_ns;
	uint64_t budget_ppm; /* share of a thread's time for look-ahead, parts per million */
	int model;           /* enum nve_option_model */
	int counters;        /* enum nve_option_counters */
	int inject;          /* enum nve_option_inject */
	int handover;        /* enum nve_option_handover */
	int regions;         /* enum nve_option_regions */
	int placing;         /* enum nve_option_place */
	int bind;            /* number of a NUMA node; NVE_BIND_OFF: none */
	int log_level;       /* enum nve_log_level */
	bool strict;
	bool heat;                       /* per-allocation-site heat */
	uint64_t heat_depth;             /* frames of a site */
	uint64_t heat_min_bytes;         /* smaller blocks have no site */
	int follow;                      /* enum nve_option_follow */
	char device[NVE_PATH_BYTES];     /* name of a preset; empty: none */
	char out[NVE_PATH_BYTES];        /* empty: none */
	char place[NVE_PATH_BYTES];      /* of NVE_PLACE_FILE */
	char pmu_events[NVE_PATH_BYTES]; /* empty: by the CPU's row */
	char record[NVE_PATH_BYTES];     /* empty: none */
	char replay[NVE_PATH_BYTES];     /* of NVE_COUNTERS_REPLAY */
	char log_file[NVE_PATH_BYTES];   /* empty: stderr */
};

/* One message, ready to print, without a newline. */
struct nve_options_message {
	char text[400];
};

/*
 * Fills *o from defaults and envp. Returns 0; or -EINVAL at the first bad value, with the message
 * in *error (name, value, accepted form). A name that is a near miss of ours (edit distance 1:
 * NVM_WLATT) gives the return value 0 and a warning in *warning (its text is empty otherwise);
 * other unknown NVM_ names are left alone.
 */
int nve_options_parse(struct nve_options *o, char *const envp[], struct nve_options_message *error,
		      struct nve_options_message *warning);

/* Does it ask for emulation: is a latency, a bandwidth or a device set? */
bool nve_options_emulate(const struct nve_options *o);

/* Or at least for what emulation measures? */
static inline bool nve_options_measure(const struct nve_options *o)
{
	return nve_options_emulate(o) || o->heat;
}

/*
 * What look-ahead may take, ppm. The budget is a price for delay that is right; where nothing can
 * be owed, whatever look-ahead finds, since both latencies are DRAM's own and bandwidths have no
 * limit, a quarter of it must do for the report's shares. Not where others live on its windows:
 * heat, placement, regions that are emulated alone, a record to predict from.
 */
uint64_t nve_options_budget_ppm(const struct nve_options *o, uint64_t dram_lat_ps);

/* Is memory bound to a node instead? */
static inline bool nve_options_bind(const struct nve_options *o)
{
	return o->bind != NVE_BIND_OFF;
}

/* Checks latencies against the DRAM latency in force. Returns 0, or -ERANGE with a message that
 * names both. */
int nve_options_check_latency(const struct nve_options *o, uint64_t dram_lat_ps,
			      struct nve_options_message *error);

/* The same for bandwidths, against the most that the machine moves. */
int nve_options_check_bandwidth(const struct nve_options *o, uint64_t read_bytes_per_s,
				uint64_t write_bytes_per_s, struct nve_options_message *error);

/* Row i of the table, for printing; NULL past the end. */
struct nve_option_row {
	const char *name, *form, *fallback, *help;
};
const struct nve_option_row *nve_options_row(size_t i);

/* Does row i take "on", so that its mere name can stand for that? */
bool nve_options_is_switch(size_t i);

/* The value in force of row i, as the user would write it. Returns its length. */
int nve_options_format(const struct nve_options *o, size_t i, char *buf, size_t size);

#endif
