#include "report/read_regions.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/fields.h"

enum { PLACE_BYTES = 64 };

#define FIGURE(key)                                                                                \
	{                                                                                          \
#key, offsetof(struct nve_view_region_figures, key), NVE_FIELD_UINT, false         \
	}

/* clang-format off */
static const struct nve_field figures[] = {
	FIGURE(wall_ns),
	FIGURE(cpu_ns),
	FIGURE(stall_ns),
	FIGURE(stall_wb_ns),
	FIGURE(ma_ro),
	FIGURE(ma_wb),
	FIGURE(delay_owed_ns),
	FIGURE(delay_paid_ns),
	{.path = NULL},
};

static const struct nve_field region[] = {
	{"name", offsetof(struct nve_view_region, name), NVE_FIELD_TEXT, false},
	{"calls", offsetof(struct nve_view_region, calls), NVE_FIELD_UINT, false},
	{.path = NULL},
};
/* clang-format on */

static void add(struct nve_view_region_figures *to, const struct nve_view_region_figures *f)
{
	for (const struct nve_field *row = figures; row->path; row++)
		*(uint64_t *)((char *)to + row->offset) +=
			*(const uint64_t *)((const char *)f + row->offset);
}

static int read_region(const json_t *object, struct nve_view_region *r,
		       const struct nve_field_place *place)
{
	int err = nve_fields_read(object, region, r, place);

	if (!err)
		err = nve_fields_read(json_object_get(object, "exclusive"), figures, &r->exclusive,
				      place);
	if (!err)
		err = nve_fields_read(json_object_get(object, "inclusive"), figures, &r->inclusive,
				      place);
	return err;
}

static int read_list(const struct nve_view_process *p, const json_t *list,
		     struct nve_view_regions *regions, struct nve_read_message *why)
{
	char text[PLACE_BYTES];
	const struct nve_field_place place = {.file = p->file, .path = text, .why = why};
	size_t i, all = regions->count + json_array_size(list);
	struct nve_view_region *more = realloc(regions->list, (all + 1) * sizeof(more[0]));
	const json_t *object;

	if (!more) {
		snprintf(why->text, sizeof(why->text), "%s: no memory", p->file);
		return -ENOMEM;
	}
	regions->list = more;
	json_array_foreach(list, i, object)
	{
		int err;

		snprintf(text, sizeof(text), "regions.list[%zu].", i);
		memset(&more[regions->count], 0, sizeof(more[0]));
		err = read_region(object, &more[regions->count], &place);
		if (err)
			return err;
		regions->count++;
	}
	return 0;
}

static int read_process(const struct nve_view_process *p, struct nve_view_regions *regions,
			struct nve_read_message *why)
{
	const struct nve_field_place place = {
		.file = p->file, .path = "regions.outside.", .why = why};
	const json_t *section = json_object_get(p->document, "regions");
	struct nve_view_region_figures outside = {0};
	int err;

	if (!json_is_object(section))
		return 0;
	err = nve_fields_read(json_object_get(section, "outside"), figures, &outside, &place);
	if (err)
		return err;
	add(&regions->outside, &outside);
	return read_list(p, json_object_get(section, "list"), regions, why);
}

static int by_name(const void *a, const void *b)
{
	const struct nve_view_region *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static uint64_t time_ns(const struct nve_view_region *r)
{
	return r->exclusive.cpu_ns + r->exclusive.delay_paid_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct nve_view_region *x = a, *y = b;
	int order = (time_ns(x) < time_ns(y)) - (time_ns(x) > time_ns(y));

	return order ? order : by_name(a, b);
}

/* Sorted by name: each name once. */
static void unite(struct nve_view_regions *r)
{
	size_t kept = 0;

	for (size_t i = 1; i < r->count; i++) {
		if (strcmp(r->list[kept].name, r->list[i].name)) {
			r->list[++kept] = r->list[i];
			continue;
		}
		r->list[kept].calls += r->list[i].calls;
		add(&r->list[kept].exclusive, &r->list[i].exclusive);
		add(&r->list[kept].inclusive, &r->list[i].inclusive);
	}
	r->count = kept + 1;
}

int nve_view_read_regions(const struct nve_view *view, struct nve_view_regions *regions,
			  struct nve_read_message *why)
{
	int err = 0;

	memset(regions, 0, sizeof(*regions));
	for (size_t i = 0; i < view->count && !err; i++)
		err = read_process(&view->processes[i], regions, why);
	if (err) {
		nve_view_free_regions(regions);
		return err;
	}
	if (!regions->count)
		return 0;
	qsort(regions->list, regions->count, sizeof(regions->list[0]), by_name);
	unite(regions);
	qsort(regions->list, regions->count, sizeof(regions->list[0]), by_time);
	return 0;
}

void nve_view_free_regions(struct nve_view_regions *regions)
{
	free(regions->list);
	memset(regions, 0, sizeof(*regions));
}
