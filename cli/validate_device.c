/*
 * nvmemu validate --device: what programs see of a device. Two chases and the kernels of STREAM run
 * natively and under the device, in turns, each kind by itself. Where the device limits bandwidth,
 * a third process has its latencies alone: the delay is what the larger demand needs, so a stream
 * is to be as fast as the slower of these two allows.
 */
#include "validate.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/options.h"
#include "bench/stream.h"
#include "cli.h"
#include "count/calstore.h"
#include "presets.h"
#include "worker.h"

enum { WARM_ROUNDS = 4, PROBE_NS = 5000000, SLOWEST = 50 };
enum member { NATIVE, DEVICE, LATENCIES, MEMBERS };

static const char *const works[] = {"read", "write", "copy", "scale", "add", "triad"};
enum { WORKS = NVE_ARRAY_SIZE(works), CHASES = 2 };

/* Whose demand decides what is asked for. */
enum by { BY_LATENCY, BY_BANDWIDTH, BY_NONE };

struct row {
	const char *work;
	const struct bench_stream_kernel *kernel; /* NULL: a chase */
	bool skipped;
	enum by by;
	double asked_ns;                      /* a step */
	struct cli_estimate of[MEMBERS];      /* a step */
	double error_percent, target_percent; /* of the latency, or of the bandwidth */
	bool met;
};

struct device {
	const struct validate_settings *settings;
	struct nve_options options; /* of the device: latencies and bandwidths here */
	bool limits;                /* bandwidth, wherever */
	uint64_t machine_read, machine_write;
	struct row rows[WORKS];
	size_t count, targets, met;
	uint64_t random;
};

/* One kind of work, while it is measured. */
struct group {
	struct device *device;
	struct row *row;
	struct cli_job job[MEMBERS];
	struct cli_worker worker[MEMBERS];
	struct cli_slice *slices[MEMBERS];
	size_t members, slice_count;
	uint64_t steps;
};

static int start_member(struct group *g, enum member m)
{
	const struct device *d = g->device;
	const struct validate_settings *s = d->settings;
	bool huge;
	int err;

	g->job[m] = (struct cli_job){
		.library = m == NATIVE ? NULL : s->library,
		.work = g->row->work,
		.bytes = s->bytes,
		.huge = s->huge,
		.device = m == DEVICE ? d->options.device : NULL,
	};
	if (m == LATENCIES) {
		g->job[m].rlat_ns = (d->options.rlat_ps + 500) / 1000;
		g->job[m].wlat_ns = (d->options.wlat_ps + 500) / 1000;
	}
	g->slices[m] = calloc(s->rounds, sizeof(*g->slices[m]));
	if (!g->slices[m])
		return -ENOMEM;
	g->members++;
	err = cli_worker_start(&g->worker[m], &g->job[m]);
	return err ? err : cli_worker_ready(&g->worker[m], &g->job[m], &huge);
}

/* The first that runs under the device has measured what the machine does: shares are of that. */
static int find_bandwidths(struct device *d)
{
	static struct nve_calstore store;
	struct nve_calibration c;
	const char *reason;

	if (!d->limits || d->machine_read)
		return 0;
	if (nve_calstore_setup(&store, environ) || nve_calstore_load(&store, &c, &reason)) {
		cli_error("this machine's bandwidth is not kept: there is no place for it");
		return -EIO;
	}
	d->machine_read = c.all_read_bytes_per_s;
	d->machine_write = c.all_write_bytes_per_s;
	nve_presets_apply_bandwidth(&d->options, d->machine_read, d->machine_write);
	return 0;
}

static bool is_limited(const struct device *d)
{
	return d->options.rbw_bytes_per_s || d->options.wbw_bytes_per_s;
}

static double time_for(unsigned bytes_per_word, uint64_t bytes_per_s)
{
	if (!bytes_per_s)
		return 0;
	return (double)bytes_per_word * CLI_WORKER_WORDS * 1e9 / (double)bytes_per_s;
}

/* What a step of a stream takes at least at the device's bandwidths. */
static double least_ns(const struct device *d, const struct bench_stream_kernel *k)
{
	return fmax(time_for(k->reads, d->options.rbw_bytes_per_s),
		    time_for(k->writes, d->options.wbw_bytes_per_s));
}

static int probe(struct group *g, double *native_ns)
{
	struct cli_turn turn;
	uint64_t steps = 200;
	int err = 0;

	/* Warm-up, and long enough to tell. */
	do {
		steps *= 4;
		err = cli_worker_turn(&g->worker[NATIVE], steps, &turn);
	} while (!err && turn.cpu_ns < PROBE_NS);
	*native_ns = (double)turn.cpu_ns / (double)steps;
	g->steps = (uint64_t)((double)g->device->settings->slice_ms * 1e6 / *native_ns) + 1;
	return err;
}

static int take_turns(struct group *g, bool timed)
{
	struct device *d = g->device;
	size_t order[MEMBERS];

	cli_shuffle(order, g->members, &d->random);
	for (size_t i = 0; i < g->members; i++) {
		size_t m = order[i];
		struct cli_turn turn;
		/* varied, so that turns do not beat with the portions of delay */
		uint64_t steps = g->steps * (80 + (d->random >> 33) % 41) / 100 + 1;
		int err = cli_worker_turn(&g->worker[m], steps, &turn);

		if (err)
			return err;
		if (timed)
			g->slices[m][g->slice_count] =
				(struct cli_slice){(double)turn.cpu_ns, (double)steps};
	}
	g->slice_count += timed;
	return 0;
}

/* Lists and arrays are made on the device, too: a chase that only reads has been written before. */
static bool is_too_slow(const struct device *d)
{
	return (double)d->options.wlat_ps / 1e3 > SLOWEST * d->settings->dram_lat_ns;
}

static int measure(struct group *g)
{
	struct device *d = g->device;
	double native_ns;
	int err = start_member(g, NATIVE);

	if (!err)
		err = probe(g, &native_ns);
	if (!err && is_too_slow(d)) {
		g->row->skipped = true;
		g->row->of[NATIVE].value = native_ns;
		return 0;
	}
	if (!err)
		err = start_member(g, DEVICE);
	if (!err)
		err = find_bandwidths(d);
	if (!err && g->row->kernel && is_limited(d))
		err = start_member(g, LATENCIES);
	for (uint64_t i = 0; i < WARM_ROUNDS + d->settings->rounds && !err; i++)
		err = take_turns(g, i >= WARM_ROUNDS);
	for (size_t m = 0; m < g->members && !err; m++)
		err = cli_estimate_slices(g->slices[m], g->slice_count, &g->row->of[m]);
	return err;
}

static void judge_chase(const struct device *d, struct row *row)
{
	uint64_t ps = strcmp(row->work, "read") ? d->options.wlat_ps : d->options.rlat_ps;

	row->asked_ns = ps ? (double)ps / 1e3 : row->of[NATIVE].value;
	row->by = BY_LATENCY;
	row->error_percent = 100 * (row->of[DEVICE].value / row->asked_ns - 1);
	row->target_percent = d->settings->target_percent > 0 ? d->settings->target_percent : 1.1;
}

static void judge_stream(const struct device *d, struct row *row)
{
	double least = least_ns(d, row->kernel), alone = row->of[LATENCIES].value;

	row->by = BY_NONE;
	if (least <= row->of[NATIVE].value)
		return;
	row->by = least > alone ? BY_BANDWIDTH : BY_LATENCY;
	row->asked_ns = fmax(least, alone);
	row->error_percent = 100 * (row->asked_ns / row->of[DEVICE].value - 1);
	row->target_percent = d->settings->target_percent > 0 ? d->settings->target_percent : 5;
}

static int run_work(struct device *d, const char *work)
{
	struct row *row = &d->rows[d->count];
	struct group g = {.device = d, .row = row};
	int err;

	*row = (struct row){.work = work};
	if (d->count >= CHASES)
		row->kernel = bench_stream_find(work);
	err = measure(&g);
	for (size_t m = 0; m < g.members; m++) {
		cli_worker_stop(&g.worker[m]);
		free(g.slices[m]);
	}
	if (err)
		return err;
	d->count++;
	if (row->skipped)
		return 0;
	if (row->kernel)
		judge_stream(d, row);
	else
		judge_chase(d, row);
	if (row->by == BY_NONE)
		return 0;
	row->met = fabs(row->error_percent) <= row->target_percent;
	d->targets++;
	d->met += row->met;
	return 0;
}

/* As the bench tells it: a chase the time of a step, a stream the bytes that its source moves. */
static double figure(const struct row *row, double ns)
{
	const struct bench_stream_kernel *k = row->kernel;

	return k ? (double)(k->source_reads + k->source_writes) * CLI_WORKER_WORDS / ns : ns;
}

static void print_figure(const struct row *row, double ns)
{
	if (ns > 0)
		printf(" %9.*f", row->kernel ? 2 : 1, figure(row, ns));
	else
		printf(" %9s", "-");
}

static void print_row(const struct row *row)
{
	static const char *const demands[] = {
		[BY_LATENCY] = "latency",
		[BY_BANDWIDTH] = "bandwidth",
	};
	const struct cli_estimate *seen = &row->of[DEVICE];

	printf("%-6s %-6s", row->work, row->kernel ? "GB/s" : "ns");
	print_figure(row, row->of[NATIVE].value);
	if (row->skipped) {
		printf("  skipped: writes of more than %d times DRAM's latency take too long\n",
		       SLOWEST);
		return;
	}
	print_figure(row, row->asked_ns);
	print_figure(row, seen->value);
	printf(" %5.1f", 100 * seen->half_width / seen->value);
	if (row->by == BY_NONE)
		printf(" %7s  no limit below what it does natively\n", "-");
	else
		printf(" %+7.1f  %s: %s %.3g %%\n", row->error_percent, demands[row->by],
		       row->met ? "within" : "beyond", row->target_percent);
}

static void print_limit(const struct device *d, const char *what, uint64_t limit, uint64_t machine)
{
	if (!d->machine_read)
		return;
	if (limit)
		printf("; %s %.1f GB/s", what, (double)limit / 1e9);
	else
		printf("; %s not below the %.1f GB/s of this machine", what, (double)machine / 1e9);
}

static void print_device(const struct device *d)
{
	const struct nve_options *o = &d->options;

	printf("%s: read %.1f ns, write %.1f ns", o->device,
	       o->rlat_ps ? (double)o->rlat_ps / 1e3 : d->settings->dram_lat_ns,
	       o->wlat_ps ? (double)o->wlat_ps / 1e3 : d->settings->dram_lat_ns);
	print_limit(d, "reads", o->rbw_bytes_per_s, d->machine_read);
	print_limit(d, "writes", o->wbw_bytes_per_s, d->machine_write);
	printf("; DRAM %.1f ns\n", d->settings->dram_lat_ns);
	printf("%-6s %-6s %9s %9s %9s %5s %7s\n", "", "", "native", "asked", "seen", "+-%",
	       "error%");
	for (size_t i = 0; i < d->count; i++)
		print_row(&d->rows[i]);
	fflush(stdout);
}

static int load(struct device *d, const char *name)
{
	struct nve_options_message error, warning;
	int err = nve_options_parse(&d->options, environ, &error, &warning);

	if (!err && strlen(name) >= sizeof(d->options.device))
		err = -ENOENT;
	if (!err) {
		snprintf(d->options.device, sizeof(d->options.device), "%s", name);
		err = nve_presets_load(&d->options, environ, &error);
	}
	if (!err)
		err = nve_presets_apply(&d->options,
					(uint64_t)(d->settings->dram_lat_ns * 1e3 + 0.5), &error);
	if (err)
		cli_error("%s", error.text);
	d->limits = !err && nve_presets_have_bandwidth(&d->options);
	return err;
}

static int run_device(struct device *d, const char *name)
{
	int err = load(d, name);

	for (size_t i = 0; i < WORKS && !err; i++)
		err = run_work(d, works[i]);
	if (d->count)
		print_device(d);
	return err;
}

/* The device is all that is set. */
static void clear_environment(void)
{
	static const char *const names[] = {"NVM_DEVICE", "NVM_RLAT", "NVM_WLAT", "NVM_RBW",
					    "NVM_WBW"};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++)
		unsetenv(names[i]);
}

/* A device that is faster than this machine is told of, and no reason to leave out the others. */
static int run_all(const struct validate_settings *s, size_t *targets, size_t *met)
{
	const struct nve_preset *p;
	int err = 0;

	for (size_t i = 0; (p = nve_preset_builtin(i)) && !err; i++) {
		struct device d = {.settings = s, .random = 0x2545f4914f6cdd1d};

		err = run_device(&d, p->name);
		err = err == -ERANGE ? 0 : err;
		*targets += d.targets;
		*met += d.met;
		if (!err)
			putchar('\n');
	}
	return err;
}

int validate_run_device(const struct validate_settings *s, size_t *targets, size_t *met)
{
	struct device d = {.settings = s, .random = 0x2545f4914f6cdd1d};
	int err;

	clear_environment();
	if (!strcmp(s->device, "all"))
		return run_all(s, targets, met);
	err = run_device(&d, s->device);
	*targets = d.targets;
	*met = d.met;
	return err;
}
