/*
 * nvmemu-workload NAME: runs one kernel for some seconds of CPU time, or for a number of steps, and
 * prints one line of JSON.
 */
#include "workload.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_kernel *const tables[] = {
	bench_chase_kernels, bench_random_kernels, bench_stream_kernels,
	bench_table_kernels, bench_mix_kernels,
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static const char *const origin_names[] = {
	[BENCH_CONSTRUCTION] = "construction", [BENCH_RESIDENT] = "resident",
	[BENCH_CALLGRIND] = "callgrind",       [BENCH_COUNTED] = "counted",
	[BENCH_LATENCY] = "latency",           [BENCH_NONE] = "none",
};

enum { SLICE_NS = 5000000, STEPS_AT_FIRST = 256 };

struct request {
	const char *name;
	size_t bytes; /* 0: as the kernel's row says */
	double seconds;
	uint64_t steps, keys;
	bool by_steps, huge, resident, check;
};

static const struct bench_kernel *find_kernel(const char *name)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct bench_kernel *k = tables[t]; k->name; k++)
			if (strcmp(k->name, name) == 0)
				return k;
	return NULL;
}

static void print_right(const struct bench_kernel *k, bool json)
{
	bool stall_known = k->stall_origin == BENCH_CONSTRUCTION;
	bool dirty_known = k->dirty_origin == BENCH_CONSTRUCTION;
	char stall[16] = "null", dirty[16] = "null";

	if (stall_known)
		snprintf(stall, sizeof(stall), "%.2f", k->stall);
	if (dirty_known)
		snprintf(dirty, sizeof(dirty), "%.2f", k->dirty);
	if (json) {
		printf("{\"name\": \"%s\", \"stall_origin\": \"%s\", \"stall\": %s, "
		       "\"dirty_origin\": \"%s\", \"dirty\": %s, \"what\": \"%s\"}\n",
		       k->name, origin_names[k->stall_origin], stall, origin_names[k->dirty_origin],
		       dirty, k->what);
		return;
	}
	printf("%-18s stall %-12s dirty %-12s %s\n", k->name,
	       stall_known ? stall : origin_names[k->stall_origin],
	       dirty_known ? dirty : origin_names[k->dirty_origin], k->what);
}

static void list_kernels(bool json)
{
	for (unsigned t = 0; t < TABLES; t++)
		for (const struct bench_kernel *k = tables[t]; k->name; k++)
			print_right(k, json);
}

/* A cache's size, or what is usual where the machine does not tell. */
static size_t cache_bytes(unsigned level, size_t usual)
{
	size_t bytes = bench_cache_bytes(level);

	return bytes ? bytes : usual;
}

static size_t default_bytes(enum bench_fit fit, bool resident)
{
	size_t l1 = cache_bytes(1, 32 << 10), l2 = cache_bytes(2, 512 << 10);
	size_t llc = cache_bytes(3, 32 << 20);

	if (resident)
		return bench_pow2_below(l1) / 2;
	switch (fit) {
	case BENCH_FIT_L1: return bench_pow2_below(l1) / 2;
	case BENCH_FIT_L2: return bench_pow2_below(l2) / 2;
	case BENCH_FIT_LLC: return bench_pow2_below(l2 * 4 < llc / 4 ? l2 * 4 : llc / 4);
	case BENCH_FIT_4_LLC: return llc * 4;
	case BENCH_FIT_8_LLC: return llc * 8;
	}
	return llc * 4;
}

static void run_slice(struct bench_run *run, uint64_t steps)
{
	run->kernel->run(run, steps);
	run->steps += steps;
}

/* What the measured phase took. */
struct timing {
	uint64_t setup_ns, cpu_ns;
	double fastest_ns; /* a step in the fastest slice; 0: not cut into slices */
};

/* Slices of some 5 ms, until the time is over: a clock is read rarely. */
static void run_for(struct bench_run *run, uint64_t limit_ns, struct timing *timing)
{
	uint64_t start = bench_thread_cpu_ns(), spent = 0, slice = STEPS_AT_FIRST;

	while (spent < limit_ns) {
		uint64_t took;
		double step_ns;

		run_slice(run, slice);
		took = bench_thread_cpu_ns() - start - spent;
		spent += took;
		step_ns = (double)took / (double)slice;
		if (took < SLICE_NS / 2)
			slice *= 2;
		else if (timing->fastest_ns == 0 || step_ns < timing->fastest_ns)
			timing->fastest_ns = step_ns;
		if (took > SLICE_NS * 2 && slice > STEPS_AT_FIRST)
			slice /= 2;
	}
	timing->cpu_ns = spent;
}

static void run_steps(struct bench_run *run, uint64_t steps, struct timing *timing)
{
	uint64_t start = bench_thread_cpu_ns();

	if (steps > 0)
		run_slice(run, steps);
	timing->cpu_ns = bench_thread_cpu_ns() - start;
}

static void print_result(const struct bench_run *run, const struct timing *timing)
{
	printf("{\"name\": \"%s\", \"bytes\": %zu, \"huge\": %s, \"resident\": %s, "
	       "\"steps\": %llu, \"writes\": %llu, \"setup_ns\": %llu, \"cpu_ns\": %llu, "
	       "\"ns_per_step\": %.4f, \"fastest_ns_per_step\": %.4f, \"second_steps\": %llu, "
	       "\"second_cpu_ns\": %llu, \"checksum\": %llu}\n",
	       run->kernel->name, run->bytes, run->huge_got ? "true" : "false",
	       run->resident ? "true" : "false", (unsigned long long)run->steps,
	       (unsigned long long)run->writes, (unsigned long long)timing->setup_ns,
	       (unsigned long long)timing->cpu_ns,
	       run->steps ? (double)timing->cpu_ns / (double)run->steps : 0.0, timing->fastest_ns,
	       (unsigned long long)run->second_steps, (unsigned long long)run->second_cpu_ns,
	       (unsigned long long)run->checksum);
}

static int run_kernel(const struct request *request, const struct bench_kernel *kernel)
{
	struct bench_run run = {
		.kernel = kernel,
		.keys = request->keys,
		.resident = request->resident,
		.huge = request->huge,
	};
	bool keeps_size = kernel->keeps_size && request->resident;
	uint64_t start = bench_thread_cpu_ns();
	struct timing timing = {0};
	int err;

	run.bytes = request->bytes;
	if (!run.bytes)
		run.bytes = default_bytes(kernel->fit, request->resident && !keeps_size);
	err = kernel->setup(&run);
	if (err) {
		fprintf(stderr, "nvmemu-workload: %s: set-up: %s\n", kernel->name, strerror(-err));
		return 1;
	}
	timing.setup_ns = bench_thread_cpu_ns() - start;
	if (request->by_steps)
		run_steps(&run, request->steps, &timing);
	else
		run_for(&run, (uint64_t)(request->seconds * 1e9), &timing);
	if (kernel->finish)
		kernel->finish(&run);
	print_result(&run, &timing);
	if (request->check && kernel->check(&run)) {
		fprintf(stderr, "nvmemu-workload: %s: wrong result\n", kernel->name);
		return 1;
	}
	return 0;
}

static void print_usage(FILE *to)
{
	fputs("usage: nvmemu-workload NAME [options]\n"
	      "  --bytes N[KMG]    footprint (default: as the kernel needs, from the LLC's size)\n"
	      "  --seconds S       CPU time of the measured phase (default 3)\n"
	      "  --steps N         a number of steps instead; 0: set-up only\n"
	      "  --huge on|off     huge pages, where the system allows them (default on)\n"
	      "  --resident        the same loop over a footprint that fits the caches\n"
	      "  --keys N          tables and trees: look up that many different keys only\n"
	      "  --check           verify afterwards what the steps left behind\n"
	      "  --list            names, right answers or their origin, descriptions\n"
	      "  --list-json       the same, a JSON object a line\n",
	      to);
}

static size_t parse_bytes(const char *text)
{
	char *end;
	double number = strtod(text, &end);
	unsigned shift = 0;

	if (*end == 'K')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (end == text || number < 1 || end[shift ? 1 : 0])
		return 0;
	return (size_t)(number * (double)(1ull << shift));
}

enum option_code {
	BYTES = 256,
	SECONDS,
	STEPS,
	HUGE_PAGES,
	RESIDENT,
	KEYS,
	CHECK,
	LIST,
	LIST_JSON,
	HELP
};

static const struct option options[] = {
	{"bytes", required_argument, NULL, BYTES},
	{"seconds", required_argument, NULL, SECONDS},
	{"steps", required_argument, NULL, STEPS},
	{"huge", required_argument, NULL, HUGE_PAGES},
	{"resident", no_argument, NULL, RESIDENT},
	{"keys", required_argument, NULL, KEYS},
	{"check", no_argument, NULL, CHECK},
	{"list", no_argument, NULL, LIST},
	{"list-json", no_argument, NULL, LIST_JSON},
	{"help", no_argument, NULL, HELP},
	{NULL, 0, NULL, 0},
};

static bool take_number(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && *end == '\0' && *number >= 0;
}

/* Returns whether the option's value is well-formed. */
static bool take_option(struct request *r, int code, const char *value)
{
	double number = 0;

	switch (code) {
	case KEYS:
		if (!take_number(value, &number))
			return false;
		r->keys = (uint64_t)number;
		return r->keys > 0;
	case BYTES: r->bytes = parse_bytes(value); return r->bytes > 0;
	case SECONDS: return take_number(value, &r->seconds);
	case STEPS:
		r->by_steps = take_number(value, &number);
		r->steps = (uint64_t)number;
		return r->by_steps;
	case HUGE_PAGES:
		r->huge = strcmp(value, "on") == 0;
		return r->huge || strcmp(value, "off") == 0;
	case RESIDENT: r->resident = true; return true;
	case CHECK: r->check = true; return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	struct request request = {.seconds = 3, .huge = true};
	const struct bench_kernel *kernel;
	int code;

	while ((code = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (code == LIST || code == LIST_JSON) {
			list_kernels(code == LIST_JSON);
			return 0;
		}
		if (code == HELP) {
			print_usage(stdout);
			return 0;
		}
		if (!take_option(&request, code, optarg)) {
			print_usage(stderr);
			return 2;
		}
	}
	if (optind != argc - 1) {
		print_usage(stderr);
		return 2;
	}
	kernel = find_kernel(argv[optind]);
	if (!kernel) {
		fprintf(stderr, "nvmemu-workload: no kernel '%s'; see --list\n", argv[optind]);
		return 2;
	}
	return run_kernel(&request, kernel);
}
