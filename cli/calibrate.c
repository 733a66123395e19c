/* nvmemu calibrate: measures the machine anew, keeps the figures and prints them. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "count/calibrate.h"
#include "count/calstore.h"
#include "report/utc.h"

/* As long as a program's start may take for it. */
#define LIMIT_NS UINT64_C(1500000000)

/* A busy machine spoils a measurement; so many in a row are not by chance. */
enum { FIGURES = 13, FIGURES_CHASED = 5, TRIES = 5 };

struct figure {
	const char *key, *unit, *meaning;
	uint64_t value; /* of 10^-decimals units */
	unsigned decimals;
};

static void print_help(void)
{
	printf("usage: nvmemu calibrate [--json]\n"
	       "\n"
	       "Measures this machine's memory and core, which takes a tenth of a second, and "
	       "keeps\n"
	       "the figures for the programs that are emulated from now on. Without it the first "
	       "such\n"
	       "program after each boot does the same. Other load disturbs the figures.\n"
	       "\n"
	       "  --json  print JSON instead of the table\n"
	       "\n"
	       "Exit status: 0, or 1 when measuring failed or the figures could not be kept.\n");
}

/* W, the ratio of the model, in thousandths. */
static uint64_t ratio_milli(const struct nve_calibration *c)
{
	return c->llc_lat_ps ? (uint64_t)c->dram_lat_ps * 1000 / c->llc_lat_ps : 0;
}

/* Without timed reads those that come of them are left out. Returns how many there are. */
static size_t list_figures(const struct nve_calibration *c, struct figure figures[FIGURES])
{
	const struct figure list[FIGURES] = {
		{"dram_lat", "ns", "a miss of the last-level cache (NVM_DRAM_LAT overrides it)",
		 c->dram_lat_ps, 3},
		{"llc_lat", "ns", "a hit in the last-level cache (NVM_LLC_LAT overrides it)",
		 c->llc_lat_ps, 3},
		{"w", "", "the first over the second", ratio_milli(c), 3},
		{"llc", "bytes", "size of the last-level cache", c->llc_bytes, 0},
		{"tsc", "kHz", "rate of the time-stamp counter, whose ticks are below", c->tsc_khz,
		 0},
		{"timed_dram", "ticks", "a timed read of a line from memory",
		 c->timed_dram_cycles_milli, 3},
		{"timed_llc", "ticks", "a timed read of a line from the last-level cache",
		 c->timed_llc_cycles_milli, 3},
		{"timed_l1", "ticks", "a timed read of a line from the first-level cache",
		 c->timed_l1_cycles_milli, 3},
		{"fence", "ticks", "the part of a timed read that is fences and clock readings",
		 c->fence_cycles, 0},
		{"threshold", "ticks", "a timed read from here on came from memory",
		 c->threshold_cycles, 0},
		{"timed_translated", "ticks",
		 "the same, its translation fetched before; 0: this processor cannot",
		 c->timed_translated_cycles_milli, 3},
		{"probe", "ticks", "a timed read of the probe, which watches memory's drift",
		 c->probe_cycles_milli, 3},
		{"run_ahead", "instructions", "how far the core runs beyond a miss",
		 c->run_ahead_instructions, 0},
	};

	memcpy(figures, list, sizeof(list));
	return c->timed_reads ? FIGURES : FIGURES_CHASED;
}

static void print_text(const struct nve_calstore *store, const struct nve_calibration *c, bool kept)
{
	struct figure figures[FIGURES];
	char value[32], date[NVE_UTC_BYTES];
	size_t count;

	count = list_figures(c, figures);
	nve_utc_format(c->measured_at_s, date);
	printf("%s, measured at %s with %s pages\n\n", store->cpu, date,
	       c->huge_pages ? "huge" : "small");
	for (size_t i = 0; i < count; i++) {
		const struct figure *f = &figures[i];

		snprintf(value, sizeof(value), "%.*f", f->decimals ? 1 : 0,
			 (double)f->value / pow(10, f->decimals));
		printf("%-11s %11s %-12s  %s\n", f->key, value, f->unit, f->meaning);
	}
	if (kept)
		printf("\nkept in %s\n", store->path);
}

static int print_json(const struct nve_calstore *store, const struct nve_calibration *c, bool kept)
{
	const struct nve_report_sink sink = cli_stream_sink(stdout);
	struct figure figures[FIGURES];
	struct nve_json j;
	char key[40];
	size_t count;

	count = list_figures(c, figures);
	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", "nvmemu-calibration");
	nve_json_uint(&j, "version", 1);
	nve_json_field(&j, "cpu", store->cpu, sizeof(store->cpu));
	for (size_t i = 0; i < count; i++) {
		const struct figure *f = &figures[i];

		snprintf(key, sizeof(key), "%s%s%s", f->key, *f->unit ? "_" : "", f->unit);
		nve_json_decimal(&j, key, (int64_t)f->value, f->decimals);
	}
	nve_json_bool(&j, "huge_pages", c->huge_pages);
	nve_utc_format(c->measured_at_s, key);
	nve_json_string(&j, "measured_at", key);
	nve_json_string(&j, "kept_in", kept ? store->path : NULL);
	nve_json_close(&j);
	return nve_json_finish(&j);
}

/* Under the lock, so that programs that start meanwhile wait for these figures. */
int cli_measure_calibration(struct nve_calstore *store, struct nve_calibration *c, int *keep_error)
{
	bool locked = !nve_calstore_lock(store);
	int err = -ERANGE;

	for (int i = 0; i < TRIES && err == -ERANGE; i++)
		err = nve_calibrate(c, LIMIT_NS);
	*keep_error = err ? 0 : nve_calstore_save(store, c);
	if (locked)
		nve_calstore_unlock(store);
	return err;
}

/* With a message for each failure. */
static int measure(struct nve_calstore *store, struct nve_calibration *c, bool *kept)
{
	int keep_error, err = cli_measure_calibration(store, c, &keep_error);

	*kept = !err && !keep_error;
	if (err)
		cli_error("the measurement failed: %s",
			  err == -ERANGE ? "the readings make no sense; the machine is too busy"
					 : strerror(-err));
	if (keep_error)
		cli_error("cannot keep the figures%s%s: %s", *store->path ? " in " : "",
			  store->path, strerror(-keep_error));
	return err;
}

int cli_renew_calibration(struct nve_calibration *calibration)
{
	static struct nve_calstore store;
	bool kept;

	nve_calstore_setup(&store, environ);
	return measure(&store, calibration, &kept);
}

int cli_calibrate(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct nve_calibration calibration = {0};
	static struct nve_calstore store;
	bool json = false, kept;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'j': json = true; break;
		case 'h': print_help(); return CLI_OK;
		default: return CLI_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[optind]);
		return CLI_USAGE;
	}

	/* Without a place the store still knows the CPU, and saving says what is wrong. */
	nve_calstore_setup(&store, environ);
	if (measure(&store, &calibration, &kept))
		return CLI_FAILED;
	if (!json)
		print_text(&store, &calibration, kept);
	else if (print_json(&store, &calibration, kept))
		return CLI_FAILED;
	return kept ? CLI_OK : CLI_FAILED;
}
