/*
 * Footprint: the definition asks for at least twice the last-level cache. A cyclic walk of F bytes
 * through a cache of C bytes that replaces at random still hits a share h = exp(-(1 - h) * F / C)
 * of the time: 20 % at F = 2 C, 2 % at 4 C, 0.03 % at 8 C; and what is to be shown here is a per
 * cent. Hence 8 C, and 128 MiB at least, since a guest is not always told of all the cache that it
 * uses.
 */
#include "walk.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LLC_MULTIPLE = 8 };
static const size_t least_bytes = (size_t)128 << 20;

struct settings {
	size_t bytes;
	uint64_t steps; /* 0: as many as seconds allow */
	double seconds;
	bool huge;
};

size_t bench_walk_bytes(void)
{
	size_t bytes = LLC_MULTIPLE * bench_llc_bytes();

	return bytes > least_bytes ? bytes : least_bytes;
}

static double seconds_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static int parse_number(const char *text, bool suffix, uint64_t *value)
{
	char *end;
	unsigned long long n;
	unsigned shift = 0;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || end == text || *text == '-')
		return -EINVAL;
	if (suffix && *end) {
		const char *units = "KMG", *unit = strchr(units, *end);

		if (!unit)
			return -EINVAL;
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (*end || n > UINT64_MAX >> shift)
		return -EINVAL;
	*value = (uint64_t)n << shift;
	return 0;
}

static int parse_seconds(const char *text, double *value)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !(n > 0 && n < 1e6))
		return -EINVAL;
	*value = n;
	return 0;
}

static int parse_option(int letter, const char *text, struct settings *s)
{
	uint64_t n = 0;
	int err = 0;

	switch (letter) {
	case 'b':
		err = parse_number(text, true, &n);
		s->bytes = (size_t)n;
		return err ? err : n < 2 * sizeof(struct bench_node) ? -EINVAL : 0;
	case 'n': return parse_number(text, false, &s->steps);
	case 's': return parse_seconds(text, &s->seconds);
	case 'u':
		s->huge = !strcmp(text, "on");
		return s->huge || !strcmp(text, "off") ? 0 : -EINVAL;
	default: return -ENOENT;
	}
}

static void print_usage(FILE *out, const char *name)
{
	fprintf(out,
		"usage: %s [--bytes N[K|M|G]] [--steps N] [--seconds S] [--huge on|off]\n"
		"\n"
		"Walks a random cyclic list of 64-byte nodes and prints the time per step, in\n"
		"nanoseconds of the thread's CPU time.\n"
		"\n"
		"  --bytes N     footprint; default: 8 times the last-level cache, 128M at least\n"
		"  --steps N     steps to walk; default: as many as --seconds allows\n"
		"  --seconds S   CPU time to walk for when --steps is not given; default: 2\n"
		"  --huge on|off back the list with huge pages; default: on\n",
		name);
}

static int parse_arguments(int argc, char **argv, const char *name, struct settings *s)
{
	static const struct option options[] = {
		{"bytes", required_argument, NULL, 'b'},   {"steps", required_argument, NULL, 'n'},
		{"seconds", required_argument, NULL, 's'}, {"huge", required_argument, NULL, 'u'},
		{"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
	};
	int letter, index = 0;

	while ((letter = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (letter == 'h') {
			print_usage(stdout, name);
			exit(0);
		}
		if (letter == '?')
			return -EINVAL;
		if (parse_option(letter, optarg, s)) {
			fprintf(stderr, "%s: --%s: bad value '%s'\n", name, options[index].name,
				optarg);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", name, argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/* Walks and returns how many steps were made. Slices are short against seconds, long against a
 * clock reading. */
static uint64_t walk_for(const struct settings *s, bench_walker walk, struct bench_node *node)
{
	const uint64_t slice = s->steps ? s->steps : 100000;
	double start = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	uint64_t done = 0;

	do {
		node = walk(node, slice);
		done += slice;
	} while (!s->steps && seconds_of(CLOCK_THREAD_CPUTIME_ID) - start < s->seconds);
	return node ? done : 0;
}

int bench_walk_main(int argc, char **argv, const char *name, bench_walker walk)
{
	struct settings s = {.bytes = bench_walk_bytes(), .seconds = 2, .huge = true};
	struct bench_chase chase = {0};
	struct bench_node *node;
	double cpu, wall;
	uint64_t steps;
	int err = parse_arguments(argc, argv, name, &s);

	if (err)
		return 2;
	err = bench_chase_make(&chase, s.bytes, s.huge, 1);
	if (err) {
		fprintf(stderr, "%s: no memory for %zu bytes: %s\n", name, s.bytes, strerror(-err));
		return 1;
	}

	/* Untimed: the making leaves the beginning of the list in the cache. */
	node = walk(chase.nodes, chase.count < 200000 ? chase.count : 200000);
	cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
	wall = seconds_of(CLOCK_MONOTONIC);
	steps = walk_for(&s, walk, node);
	cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = seconds_of(CLOCK_MONOTONIC) - wall;

	printf("%s: %.2f ns per step (%llu steps, %zu MiB, %s pages, %.3f s CPU, %.3f s wall)\n",
	       name, cpu / (double)steps * 1e9, (unsigned long long)steps, chase.bytes >> 20,
	       chase.huge ? "huge" : "small", cpu, wall);
	bench_chase_free(&chase);
	return 0;
}
