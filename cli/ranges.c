#include "ranges.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cli.h"

/* As the variables have it. */
#define LEAST_PS UINT64_C(1000)
#define MOST_PS  UINT64_C(1000000000)

static const struct nve_unit ps_units[] = {
	{"ps", 1}, {"", 1000}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {NULL, 0},
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int add(struct cli_latencies *l, uint64_t ps)
{
	if (l->count == CLI_LATENCIES_MAX)
		return -E2BIG;
	l->ps[l->count++] = ps;
	return 0;
}

static int parse_one(const char *text, uint64_t *ps)
{
	if (nve_quantity_parse(text, ps_units, ps) || *ps < LEAST_PS || *ps > MOST_PS)
		return -EINVAL;
	return 0;
}

static int add_range(struct cli_latencies *l, const char *from, const char *to, const char *step)
{
	uint64_t ps, last_ps, step_ps;

	if (parse_one(from, &ps) || parse_one(to, &last_ps) || last_ps < ps ||
	    nve_quantity_parse(step, ps_units, &step_ps) || !step_ps)
		return -EINVAL;
	for (; ps <= last_ps; ps += step_ps)
		if (add(l, ps))
			return -E2BIG;
	return 0;
}

static int add_item(struct cli_latencies *l, char *item)
{
	char *to = strchr(item, ':'), *step = to ? strchr(to + 1, ':') : NULL;
	uint64_t ps;

	if (!strcmp(item, "dram"))
		return add(l, 0);
	if (!to)
		return parse_one(item, &ps) ? -EINVAL : add(l, ps);
	if (!step)
		return -EINVAL;
	*to = *step = '\0';
	return add_range(l, item, to + 1, step + 1);
}

static void sort(struct cli_latencies *l)
{
	size_t kept = 0;

	qsort(l->ps, l->count, sizeof(l->ps[0]), compare);
	for (size_t i = 0; i < l->count; i++)
		if (!i || l->ps[i] != l->ps[i - 1])
			l->ps[kept++] = l->ps[i];
	l->count = kept;
}

int cli_parse_latencies(const char *text, struct cli_latencies *latencies)
{
	char item[128];
	size_t length;
	int rc;

	latencies->count = 0;
	for (;; text += length + 1) {
		length = strcspn(text, ",");
		if (length >= sizeof(item))
			return -EINVAL;
		memcpy(item, text, length);
		item[length] = '\0';
		rc = add_item(latencies, item);
		if (rc)
			return rc;
		if (!text[length])
			break;
	}
	sort(latencies);
	return 0;
}

void cli_format_latency(uint64_t ps, const char *own, char text[CLI_LATENCY_BYTES])
{
	int length;

	if (!ps) {
		snprintf(text, CLI_LATENCY_BYTES, "%s", own);
		return;
	}
	length = snprintf(text, CLI_LATENCY_BYTES, "%llu.%03llu", (unsigned long long)(ps / 1000),
			  (unsigned long long)(ps % 1000));
	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[length - 1] = '\0';
}

int cli_check_latencies(const char *option, const struct cli_latencies *latencies,
			uint64_t dram_lat_ps, const char *whose)
{
	char least[CLI_LATENCY_BYTES], dram[CLI_LATENCY_BYTES];

	for (size_t i = 0; i < latencies->count; i++) {
		if (!latencies->ps[i] || latencies->ps[i] >= dram_lat_ps)
			continue;
		cli_format_latency(latencies->ps[i], "", least);
		cli_format_latency(dram_lat_ps, "", dram);
		cli_error("--%s: %s ns is below %s DRAM latency of %s ns; memory cannot be made "
			  "faster",
			  option, least, whose, dram);
		return -ERANGE;
	}
	return 0;
}
