#include "report/read_timeline.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/sections.h"

enum { MOST_BUCKETS = 4096, MOST_LANES = 4096 };

static int reject(const struct nve_view_process *p, const char *what, struct nve_read_message *why)
{
	snprintf(why->text, sizeof(why->text), "%s: no whole report: timeline: %s", p->file, what);
	return -EINVAL;
}

static int no_memory(const struct nve_view_process *p, struct nve_read_message *why)
{
	snprintf(why->text, sizeof(why->text), "%s: no memory", p->file);
	return -ENOMEM;
}

static int take_uint(const json_t *value, uint64_t *to)
{
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -EINVAL;
	*to = (uint64_t)json_integer_value(value);
	return 0;
}

static int take_row(const json_t *row, size_t buckets, uint64_t *to)
{
	if (json_array_size(row) != buckets)
		return -EINVAL;
	for (size_t i = 0; i < buckets; i++)
		if (take_uint(json_array_get(row, i), &to[i]))
			return -EINVAL;
	return 0;
}

/* 0, -EINVAL or -ENOMEM. */
static int read_lane(const json_t *object, size_t buckets, struct nve_view_lane *lane)
{
	lane->tid = (int)json_integer_value(json_object_get(object, "tid"));
	lane->name = json_string_value(json_object_get(object, "name"));
	lane->amounts = calloc(NVE_TIMELINE_QUANTITIES * buckets, sizeof(lane->amounts[0]));
	if (!lane->amounts)
		return -ENOMEM;
	for (int q = 0; q < NVE_TIMELINE_QUANTITIES; q++)
		if (take_row(json_object_get(object, nve_report_timeline_key(q)), buckets,
			     lane->amounts + (size_t)q * buckets))
			return -EINVAL;
	return 0;
}

static int read_lanes(const json_t *section, struct nve_view_timeline *t)
{
	const json_t *threads = json_object_get(section, "threads"), *thread;
	size_t i, count = json_array_size(threads);
	int err;

	if (!json_is_array(threads) || count > MOST_LANES ||
	    take_uint(json_object_get(section, "rest_threads"), &t->rest_threads))
		return -EINVAL;
	t->lanes = calloc(count + 1, sizeof(t->lanes[0]));
	if (!t->lanes)
		return -ENOMEM;
	json_array_foreach(threads, i, thread)
	{
		t->lane_count++;
		err = read_lane(thread, t->buckets, &t->lanes[i]);
		if (err)
			return err;
		if (!t->lanes[i].name)
			return -EINVAL;
	}
	if (!t->rest_threads)
		return 0;
	t->lane_count++;
	err = read_lane(json_object_get(section, "rest"), t->buckets, &t->lanes[count]);
	t->lanes[count].name = NULL;
	return err;
}

static int read_section(const json_t *section, struct nve_view_timeline *t)
{
	uint64_t buckets;
	int err;

	if (take_uint(json_object_get(section, "bucket_ns"), &t->bucket_ns) ||
	    take_uint(json_object_get(section, "buckets"), &buckets) || buckets > MOST_BUCKETS)
		return -EINVAL;
	if (!t->bucket_ns || !buckets)
		return 0;
	t->buckets = buckets;
	err = read_lane(json_object_get(section, "total"), buckets, &t->total);
	return err ? err : read_lanes(section, t);
}

int nve_view_read_timeline(const struct nve_view_process *process, struct nve_view_timeline *t,
			   struct nve_read_message *why)
{
	const json_t *section = json_object_get(process->document, "timeline");
	int err;

	memset(t, 0, sizeof(*t));
	if (!section || json_is_null(section))
		return 0;
	err = read_section(section, t);
	if (!err)
		return 0;
	nve_view_free_timeline(t);
	return err == -ENOMEM ? no_memory(process, why)
			      : reject(process, "not a value that reports have", why);
}

void nve_view_free_timeline(struct nve_view_timeline *t)
{
	for (size_t i = 0; i < t->lane_count; i++)
		free(t->lanes[i].amounts);
	free(t->lanes);
	free(t->total.amounts);
	memset(t, 0, sizeof(*t));
}
