#include "report/read_heat.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/fields.h"

enum { PLACE_BYTES = 64, BUCKETS_MOST = 4096, ROWS_MOST = 1 << 20 };

#define ROW(type, path, member, kind)                                                              \
	{                                                                                          \
		path, offsetof(struct type, member), NVE_FIELD_##kind, false                       \
	}
#define MAY(type, path, member, kind)                                                              \
	{                                                                                          \
		path, offsetof(struct type, member), NVE_FIELD_##kind, true                        \
	}

static const struct nve_field heat_fields[] = {
	ROW(nve_heat_view, "stall_ns", stall_ns, UINT),
	ROW(nve_heat_view, "attributed_ns", attributed_ns, UINT),
	ROW(nve_heat_view, "unattributed_ns", unattributed_ns, UINT),
	ROW(nve_heat_view, "samples_lost", samples_lost, UINT),
	ROW(nve_heat_view, "samples_no_answer", samples_no_answer, UINT),
	ROW(nve_heat_view, "sites_not_listed", sites_not_listed, UINT),
	ROW(nve_heat_view, "bucket_ns", bucket_ns, UINT),
	{NULL, 0, 0, false},
};

static const struct nve_field value_fields[] = {
	ROW(nve_view_heat, "stall_ns", stall_ns, UINT),
	ROW(nve_view_heat, "stall_wb_ns", stall_wb_ns, UINT),
	ROW(nve_view_heat, "reads", reads, UINT),
	ROW(nve_view_heat, "writes", writes, UINT),
	ROW(nve_view_heat, "lines", lines, UINT),
	{NULL, 0, 0, false},
};

static const struct nve_field site_fields[] = {
	ROW(nve_view_site, "kind", kind, TEXT),
	ROW(nve_view_site, "arena", arena, UINT),
	MAY(nve_view_site, "blocks.allocations", allocations, UINT),
	MAY(nve_view_site, "blocks.frees", frees, UINT),
	MAY(nve_view_site, "blocks.bytes", bytes, UINT),
	MAY(nve_view_site, "blocks.live_bytes", live_bytes, UINT),
	MAY(nve_view_site, "blocks.peak_bytes", peak_bytes, UINT),
	MAY(nve_view_site, "blocks.lifetimes", lifetimes, UINT),
	MAY(nve_view_site, "blocks.lifetime_ns", lifetime_ns, UINT),
	{NULL, 0, 0, false},
};

static const struct nve_field arena_fields[] = {
	ROW(nve_view_arena, "arena", arena, UINT),
	ROW(nve_view_arena, "kind", kind, TEXT),
	ROW(nve_view_arena, "mapped_bytes", mapped_bytes, UINT),
	{NULL, 0, 0, false},
};

static const struct nve_field kind_fields[] = {
	ROW(nve_view_kind, "kind", kind, TEXT),
	{NULL, 0, 0, false},
};

/* One process's sections on their way into the view. */
struct reading {
	struct nve_heat_view *heat;
	const struct nve_view_process *process;
	uint64_t bucket_ns; /* of this process */
	uint64_t after_ns;  /* its start after the first one's */
	uint64_t attributed_ns;
	const json_t *modules;
	char path[PLACE_BYTES];
	struct nve_field_place place;
};

static int refuse(struct reading *r, const char *key, int error)
{
	snprintf(r->place.why->text, sizeof(r->place.why->text), "%s: no whole report: %s%s: %s",
		 r->place.file, r->path, key,
		 error == -ENOMEM ? "no memory" : "not a value that reports have");
	return error;
}

/* A row more in an array of rows; NULL: no memory. */
static void *append(void **rows, size_t *count, size_t bytes)
{
	/* Room grows by powers of two. */
	if ((*count & (*count - 1)) == 0) {
		void *more = realloc(*rows, (*count ? 2 * *count : 1) * bytes);

		if (!more)
			return NULL;
		*rows = more;
	}
	return memset((char *)*rows + (*count)++ * bytes, 0, bytes);
}

static int read_over_time(struct reading *r, const json_t *list, struct nve_view_heat *v)
{
	const json_t *number;
	size_t i;

	v->over_time_ns = calloc(r->heat->buckets, sizeof(*v->over_time_ns));
	if (!v->over_time_ns)
		return refuse(r, "over_time_ns", -ENOMEM);
	if (!json_is_array(list))
		return refuse(r, "over_time_ns", -EINVAL);
	json_array_foreach(list, i, number)
	{
		uint64_t at = (r->after_ns + i * r->bucket_ns) / r->heat->bucket_ns;

		if (!json_is_number(number))
			return refuse(r, "over_time_ns", -EINVAL);
		v->over_time_ns[NVE_MIN(at, r->heat->buckets - 1)] += json_number_value(number);
	}
	return 0;
}

/* share_se becomes, until all are read, a standard error in nanoseconds. */
static int read_values(struct reading *r, const json_t *object, struct nve_view_heat *v)
{
	const json_t *se = json_object_get(object, "share_se");
	int err = nve_fields_read(object, value_fields, v, &r->place);

	v->share_se = json_is_number(se) ? json_number_value(se) * (double)r->attributed_ns : -1;
	return err ? err : read_over_time(r, json_object_get(object, "over_time_ns"), v);
}

static int read_frame(struct reading *r, const json_t *object, struct nve_view_frame *f)
{
	const json_t *number = json_object_get(object, "module");
	const json_t *offset = json_object_get(object, "offset");
	const json_t *module = json_array_get(r->modules, (size_t)json_integer_value(number));

	if (!json_is_integer(number) || !json_is_integer(offset) || !module)
		return refuse(r, "frames", -EINVAL);
	f->module = json_string_value(json_object_get(module, "path"));
	f->build_id = json_string_value(json_object_get(module, "build_id"));
	f->module = f->module ? f->module : "?";
	f->build_id = f->build_id ? f->build_id : "";
	f->offset = (uint64_t)json_integer_value(offset);
	return 0;
}

static int read_frames(struct reading *r, const json_t *list, struct nve_view_site *s)
{
	const json_t *object;
	int err = 0;
	size_t i;

	if (!json_is_array(list))
		return refuse(r, "frames", -EINVAL);
	s->frames = calloc(json_array_size(list) + 1, sizeof(*s->frames));
	if (!s->frames)
		return refuse(r, "frames", -ENOMEM);
	json_array_foreach(list, i, object)
	{
		if (!err)
			err = read_frame(r, object, &s->frames[i]);
		s->frame_count += !err;
	}
	return err;
}

/* Numbers of 64 bits are texts of hexadecimal digits; null is 0. */
static int read_hash(struct reading *r, const json_t *object, const char *key, uint64_t *hash)
{
	const json_t *text = json_object_get(object, key);
	char *end;

	*hash = 0;
	if (json_is_null(text))
		return 0;
	if (!json_is_string(text))
		return refuse(r, key, -EINVAL);
	*hash = strtoull(json_string_value(text), &end, 16);
	return *end ? refuse(r, key, -EINVAL) : 0;
}

static int read_site(struct reading *r, const json_t *object)
{
	struct nve_view_site *s =
		append((void **)&r->heat->sites, &r->heat->site_count, sizeof(*s));
	const json_t *resident = json_object_get(object, "resident_bytes");
	int err;

	if (!s)
		return refuse(r, "", -ENOMEM);
	err = nve_fields_read(object, site_fields, s, &r->place);
	if (!err)
		err = read_hash(r, object, "id", &s->hash);
	if (!err)
		err = read_frames(r, json_object_get(object, "frames"), s);
	if (!err)
		err = read_values(r, object, &s->heat);
	s->counted = json_is_object(json_object_get(object, "blocks"));
	s->resident_known = json_is_integer(resident);
	s->resident_bytes = (uint64_t)json_integer_value(resident);
	return err;
}

static int read_arena(struct reading *r, const json_t *object)
{
	struct nve_view_arena *a =
		append((void **)&r->heat->arenas, &r->heat->arena_count, sizeof(*a));
	int err;

	if (!a)
		return refuse(r, "", -ENOMEM);
	a->process = r->process;
	err = nve_fields_read(object, arena_fields, a, &r->place);
	if (!err)
		err = read_hash(r, object, "site", &a->site);
	return err ? err : read_values(r, object, &a->heat);
}

static int read_kind(struct reading *r, const json_t *object)
{
	struct nve_view_kind *k =
		append((void **)&r->heat->kinds, &r->heat->kind_count, sizeof(*k));
	int err;

	if (!k)
		return refuse(r, "", -ENOMEM);
	err = nve_fields_read(object, kind_fields, k, &r->place);
	return err ? err : read_values(r, object, &k->heat);
}

static int read_list(struct reading *r, const json_t *list, const char *name,
		     int (*read)(struct reading *r, const json_t *object))
{
	const json_t *object;
	int err = 0;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > ROWS_MOST) {
		r->path[0] = '\0';
		return refuse(r, name, -EINVAL);
	}
	json_array_foreach(list, i, object)
	{
		snprintf(r->path, sizeof(r->path), "%s[%zu].", name, i);
		if (!err)
			err = read(r, object);
	}
	return err;
}

static const json_t *section(const struct nve_view_process *p)
{
	const json_t *heat = json_object_get(p->document, "heat");

	return json_is_object(heat) ? heat : NULL;
}

/* Buckets as coarse as the coarsest process's, and as many as reach the end of the last one. */
static int plan_buckets(const struct nve_view *view, struct nve_heat_view *h,
			struct nve_read_message *why)
{
	uint64_t end_ns = 0, start_s = view->processes[0].started_at_s;

	for (size_t i = 0; i < view->count; i++) {
		const struct nve_view_process *p = &view->processes[i];
		const json_t *heat = section(p);
		json_int_t ns = json_integer_value(json_object_get(heat, "bucket_ns"));
		json_int_t n = json_integer_value(json_object_get(heat, "buckets"));
		uint64_t after_s = p->started_at_s > start_s ? p->started_at_s - start_s : 0;

		if (!heat)
			continue;
		if (ns < 1 || n < 1 || n > BUCKETS_MOST || ns > INT64_MAX / BUCKETS_MOST) {
			snprintf(why->text, sizeof(why->text),
				 "%s: no whole report: heat.buckets: not a value that reports have",
				 p->file);
			return -EINVAL;
		}
		h->processes++;
		h->bucket_ns = NVE_MAX(h->bucket_ns, (uint64_t)ns);
		end_ns = NVE_MAX(end_ns, after_s * 1000000000 + (uint64_t)(ns * n));
	}
	if (!h->processes)
		return 0;
	while (end_ns / h->bucket_ns >= BUCKETS_MOST)
		h->bucket_ns *= 2;
	h->buckets = (size_t)((end_ns + h->bucket_ns - 1) / h->bucket_ns);
	return 0;
}

static int read_process(const struct nve_view *view, const struct nve_view_process *p,
			struct nve_heat_view *h, struct nve_read_message *why)
{
	const json_t *heat = section(p);
	uint64_t start_s = view->processes[0].started_at_s;
	struct nve_heat_view own = {0};
	struct reading r = {.heat = h, .process = p, .place = {.file = p->file, .why = why}};
	int err;

	if (!heat)
		return 0;
	r.place.path = r.path;
	strcpy(r.path, "heat.");
	err = nve_fields_read(heat, heat_fields, &own, &r.place);
	if (err)
		return err;
	r.bucket_ns = own.bucket_ns;
	r.after_ns = p->started_at_s > start_s ? (p->started_at_s - start_s) * 1000000000 : 0;
	r.attributed_ns = own.attributed_ns;
	r.modules = json_object_get(heat, "modules");
	h->stall_ns += own.stall_ns;
	h->attributed_ns += own.attributed_ns;
	h->unattributed_ns += own.unattributed_ns;
	h->samples_lost += own.samples_lost;
	h->samples_no_answer += own.samples_no_answer;
	h->sites_not_listed += own.sites_not_listed;
	err = read_list(&r, json_object_get(heat, "kinds"), "heat.kinds", read_kind);
	if (!err)
		err = read_list(&r, json_object_get(heat, "arenas"), "heat.arenas", read_arena);
	if (!err)
		err = read_list(&r, json_object_get(p->document, "sites"), "sites", read_site);
	return err;
}

/* The errors of different processes have nothing to do with each other. */
static void add_values(struct nve_view_heat *to, const struct nve_view_heat *v, size_t buckets)
{
	to->stall_ns += v->stall_ns;
	to->stall_wb_ns += v->stall_wb_ns;
	to->reads += v->reads;
	to->writes += v->writes;
	to->lines += v->lines;
	to->share_se = to->share_se < 0 || v->share_se < 0 ? -1 : hypot(to->share_se, v->share_se);
	for (size_t i = 0; i < buckets; i++)
		to->over_time_ns[i] += v->over_time_ns[i];
}

static void free_site(struct nve_view_site *s)
{
	free(s->frames);
	free(s->heat.over_time_ns);
}

/* What belongs to several processes has no one arena. */
static void add_site(struct nve_view_site *to, struct nve_view_site *s, size_t buckets)
{
	add_values(&to->heat, &s->heat, buckets);
	to->arena = 0;
	to->counted |= s->counted;
	to->allocations += s->allocations;
	to->frees += s->frees;
	to->bytes += s->bytes;
	to->live_bytes += s->live_bytes;
	to->peak_bytes += s->peak_bytes;
	to->lifetimes += s->lifetimes;
	to->lifetime_ns += s->lifetime_ns;
	to->resident_known |= s->resident_known;
	to->resident_bytes += s->resident_bytes;
	free_site(s);
}

static int by_identity(const void *a, const void *b)
{
	const struct nve_view_site *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return strcmp(x->kind, y->kind);
}

static int by_stall(const void *a, const void *b)
{
	const struct nve_view_site *x = a, *y = b;

	if (x->heat.stall_ns != y->heat.stall_ns)
		return x->heat.stall_ns < y->heat.stall_ns ? 1 : -1;
	if (x->peak_bytes != y->peak_bytes)
		return x->peak_bytes < y->peak_bytes ? 1 : -1;
	return by_identity(a, b);
}

static void join_sites(struct nve_heat_view *h)
{
	size_t n = 0;

	if (!h->site_count)
		return;
	qsort(h->sites, h->site_count, sizeof(*h->sites), by_identity);
	for (size_t i = 1; i < h->site_count; i++) {
		if (!by_identity(&h->sites[n], &h->sites[i]))
			add_site(&h->sites[n], &h->sites[i], h->buckets);
		else
			h->sites[++n] = h->sites[i];
	}
	h->site_count = n + 1;
	qsort(h->sites, h->site_count, sizeof(*h->sites), by_stall);
}

static void join_kinds(struct nve_heat_view *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->kind_count; i++) {
		size_t same = 0;

		while (same < n && strcmp(h->kinds[same].kind, h->kinds[i].kind))
			same++;
		if (same < n) {
			add_values(&h->kinds[same].heat, &h->kinds[i].heat, h->buckets);
			free(h->kinds[i].heat.over_time_ns);
		} else {
			h->kinds[n++] = h->kinds[i];
		}
	}
	h->kind_count = n;
}

static void find_share(struct nve_view_heat *v, uint64_t attributed_ns)
{
	double all = (double)attributed_ns;

	v->share = all > 0 ? (double)v->stall_ns / all : 0;
	v->share_se = all > 0 && v->share_se >= 0 ? v->share_se / all : -1;
}

int nve_heat_view_read(const struct nve_view *view, struct nve_heat_view *h,
		       struct nve_read_message *why)
{
	int err;

	memset(h, 0, sizeof(*h));
	err = plan_buckets(view, h, why);
	for (size_t i = 0; !err && i < view->count; i++)
		err = read_process(view, &view->processes[i], h, why);
	if (err) {
		nve_heat_view_free(h);
		return err;
	}
	join_sites(h);
	join_kinds(h);
	for (size_t i = 0; i < h->site_count; i++)
		find_share(&h->sites[i].heat, h->attributed_ns);
	for (size_t i = 0; i < h->arena_count; i++)
		find_share(&h->arenas[i].heat, h->attributed_ns);
	for (size_t i = 0; i < h->kind_count; i++)
		find_share(&h->kinds[i].heat, h->attributed_ns);
	return 0;
}

void nve_heat_view_free(struct nve_heat_view *h)
{
	for (size_t i = 0; i < h->site_count; i++)
		free_site(&h->sites[i]);
	for (size_t i = 0; i < h->arena_count; i++)
		free(h->arenas[i].heat.over_time_ns);
	for (size_t i = 0; i < h->kind_count; i++)
		free(h->kinds[i].heat.over_time_ns);
	free(h->sites);
	free(h->arenas);
	free(h->kinds);
	memset(h, 0, sizeof(*h));
}
