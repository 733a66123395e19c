/*
 * One bench of validate: a native process and one for each row, all of this machine at once but
 * only one running at a time. In each round every row has one turn and native two, in a new random
 * order, so that what drifts meets all alike. The length of turns is varied by more than an epoch,
 * so that they do not beat with the portions in which delay is served.
 */
#include "validate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "cli.h"
#include "worker.h"

enum {
	MEMBERS = 1 + 2 * VALIDATE_LATENCIES,
	NATIVE = 0,       /* index of the native member */
	NATIVE_TURNS = 2, /* in each round */
	TURNS = MEMBERS + NATIVE_TURNS - 1,
	PROBE_STEPS = 200000,
	WARM_ROUNDS = 8, /* the library learns the walk, forgets how the list was made */
	SPARE_MIB = 256, /* to leave free */
	VARIATION_PERCENT = 20,
};

/* The lowest latency above native that is worth measuring. */
static const double least_ratio = 1.10;

struct member {
	struct cli_job job;
	struct cli_worker worker;
	struct validate_row *row; /* NULL: native */
	struct cli_slice *slices;
	size_t slice_count;
};

struct group {
	const struct validate_settings *settings;
	struct validate_result *result;
	const char *bench;
	bool write;
	struct member members[MEMBERS];
	size_t member_count;
	uint64_t nominal_steps, random;
	uint64_t started_ns; /* when the timed rounds began */
};

static uint64_t next_random(struct group *g)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random;
}

static int add_member(struct group *g, struct validate_row *row)
{
	struct member *m = &g->members[g->member_count];
	const struct validate_settings *s = g->settings;

	*m = (struct member){
		.job = {.work = g->write ? "write" : "read", .bytes = s->bytes, .huge = s->huge},
		.row = row,
		.slices = calloc(s->rounds * NATIVE_TURNS, sizeof(*m->slices)),
	};
	if (!m->slices) {
		cli_error("no memory for %llu rounds", (unsigned long long)s->rounds);
		return -ENOMEM;
	}
	g->member_count++;
	if (!row)
		return 0;
	m->job.library = s->library;
	if (row->kind == VALIDATE_ROBENCH_READ)
		m->job.rlat_ns = row->latency_ns;
	else
		m->job.wlat_ns = row->latency_ns;
	return 0;
}

static void add_rows(struct group *g, enum validate_kind kind, double native_ns)
{
	const struct validate_settings *s = g->settings;
	double least_ns = fmax(least_ratio * native_ns, s->dram_lat_ns);

	for (size_t i = 0; i < s->latency_count; i++) {
		struct validate_row *row = &g->result->rows[g->result->row_count++];

		*row = (struct validate_row){.kind = kind, .latency_ns = s->latencies_ns[i]};
		row->skipped = (double)row->latency_ns < least_ns;
		row->native.value = native_ns;
	}
}

static int add_row_members(struct group *g, size_t first_row)
{
	for (size_t i = first_row; i < g->result->row_count; i++) {
		struct validate_row *row = &g->result->rows[i];
		int err = row->skipped ? 0 : add_member(g, row);

		if (err)
			return err;
	}
	return 0;
}

uint64_t validate_available_bytes(void)
{
	unsigned long long kib;
	uint64_t bytes = UINT64_MAX;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			bytes = (uint64_t)kib << 10;
	if (f)
		fclose(f);
	return bytes;
}

static int check_memory(const struct group *g)
{
	uint64_t need = (g->member_count - 1) * g->settings->bytes + ((uint64_t)SPARE_MIB << 20);
	uint64_t have = validate_available_bytes();

	if (need <= have)
		return 0;
	cli_error("%s needs %llu MiB of memory, of which %llu are available: give fewer "
		  "--latencies or less --bytes (at least twice the last-level cache)",
		  g->bench, (unsigned long long)(need >> 20), (unsigned long long)(have >> 20));
	return -ENOMEM;
}

static int start_members(struct group *g, size_t from)
{
	int err;

	for (size_t i = from; i < g->member_count; i++) {
		err = cli_worker_start(&g->members[i].worker, &g->members[i].job);
		if (err)
			return err;
	}
	for (size_t i = from; i < g->member_count; i++) {
		struct member *m = &g->members[i];
		bool huge = false;

		err = cli_worker_ready(&m->worker, &m->job, &huge);
		if (err)
			return err;
		g->result->small_pages |= m->job.huge && !huge;
	}
	return 0;
}

/* How long a native step takes, from which follows how many make a turn. */
static int probe_native(struct group *g, double *native_ns)
{
	struct cli_turn turn;
	int err = 0;

	/* The first walk is warm-up. */
	for (int i = 0; i < 2 && !err; i++)
		err = cli_worker_turn(&g->members[NATIVE].worker, PROBE_STEPS, &turn);
	if (err)
		return err;
	*native_ns = (double)turn.cpu_ns / PROBE_STEPS;
	g->nominal_steps = (uint64_t)((double)g->settings->slice_ms * 1e6 / *native_ns);
	if (!g->nominal_steps)
		g->nominal_steps = 1;
	return 0;
}

/* Fills order with the members of one round. Returns how many turns there are. */
static size_t draw_order(struct group *g, size_t order[TURNS])
{
	size_t count = 0;

	for (size_t i = 1; i < NATIVE_TURNS; i++)
		order[count++] = NATIVE;
	for (size_t i = 0; i < g->member_count; i++)
		order[count++] = i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t j = (size_t)(next_random(g) % (i + 1)), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
	return count;
}

static void show_progress(const struct group *g, uint64_t round)
{
	double passed = (double)(nve_clock_ns(CLOCK_MONOTONIC) - g->started_ns) * 1e-9;
	uint64_t rounds = g->settings->rounds;
	double left = round ? passed / (double)round * (double)(rounds - round) : 0;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s: round %llu of %llu", g->bench,
		(unsigned long long)NVE_MIN(round + 1, rounds), (unsigned long long)rounds);
	if (round)
		fprintf(stderr, ", %.0f s left of this bench", left);
	fprintf(stderr, "\033[K");
	if (round == rounds)
		fprintf(stderr, "\r\033[K");
	fflush(stderr);
}

static int run_round(struct group *g, bool timed)
{
	size_t order[TURNS], turns = draw_order(g, order);
	uint64_t span = g->nominal_steps * 2 * VARIATION_PERCENT / 100 + 1;

	for (size_t i = 0; i < turns; i++) {
		struct member *m = &g->members[order[i]];
		uint64_t steps = g->nominal_steps - span / 2 + next_random(g) % span;
		struct cli_turn turn;
		int err = cli_worker_turn(&m->worker, steps, &turn);

		if (err)
			return err;
		if (timed)
			m->slices[m->slice_count++] = (struct cli_slice){
				.time_ns = (double)turn.cpu_ns,
				.steps = (double)steps,
			};
	}
	return 0;
}

static int run_rounds(struct group *g)
{
	int err = 0;

	for (int i = 0; i < WARM_ROUNDS && !err; i++)
		err = run_round(g, false);
	g->started_ns = nve_clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < g->settings->rounds && !err; i++) {
		show_progress(g, i);
		err = run_round(g, true);
	}
	show_progress(g, g->settings->rounds);
	return err;
}

/* A row without slices, of a run that was interrupted, keeps a kept count of 0. */
static int take_estimates(struct group *g)
{
	struct cli_estimate native = {.value = NAN};
	int err = cli_estimate_slices(g->members[NATIVE].slices, g->members[NATIVE].slice_count,
				      &native);

	for (size_t i = 1; i < g->member_count && !err; i++) {
		struct member *m = &g->members[i];

		m->row->native = native;
		if (m->slice_count)
			err = cli_estimate_slices(m->slices, m->slice_count, &m->row->measured);
	}
	return err == -ENODATA ? 0 : err;
}

static int run_group(struct group *g)
{
	size_t first_row = g->result->row_count;
	double native_ns;
	int err = add_member(g, NULL);

	if (!err)
		err = start_members(g, NATIVE);
	if (!err)
		err = probe_native(g, &native_ns);
	if (err)
		return err;
	if (g->write) {
		add_rows(g, VALIDATE_WBBENCH_WRITE, native_ns);
	} else {
		add_rows(g, VALIDATE_ROBENCH_READ, native_ns);
		add_rows(g, VALIDATE_ROBENCH_WRITE, native_ns);
	}
	err = add_row_members(g, first_row);
	if (!err)
		err = check_memory(g);
	if (err || g->member_count == 1)
		return err;
	err = start_members(g, NATIVE + 1);
	return err ? err : run_rounds(g);
}

int validate_run_bench(const struct validate_settings *s, bool write,
		       struct validate_result *result)
{
	struct group *g = calloc(1, sizeof(*g));
	int err, estimate_err;

	if (!g)
		return -ENOMEM;
	g->settings = s;
	g->result = result;
	g->write = write;
	g->bench = write ? "wbbench" : "robench";
	g->random = 0x2545f4914f6cdd1d;
	err = run_group(g);
	for (size_t i = 0; i < g->member_count; i++)
		cli_worker_stop(&g->members[i].worker);
	estimate_err = take_estimates(g);
	for (size_t i = 0; i < g->member_count; i++)
		free(g->members[i].slices);
	free(g);
	return err ? err : estimate_err;
}
