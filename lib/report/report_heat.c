#include "base/base.h"
#include "base/log.h"
#include "report/heat.h"

static void put_ppm(struct nve_json *j, const char *key, uint64_t ppm)
{
	nve_json_decimal(j, key, (int64_t)ppm, 6);
}

/* Whole nanoseconds, up to the last bucket that is not zero. */
static void put_over_time(struct nve_json *j, const struct nve_heat_values *v, uint32_t buckets)
{
	while (buckets && (!v->bucket_ns || v->bucket_ns[buckets - 1] < 0.5f))
		buckets--;
	nve_json_array(j, "over_time_ns");
	for (uint32_t i = 0; i < buckets; i++)
		nve_json_uint(j, NULL, (uint64_t)((double)v->bucket_ns[i] + 0.5));
	nve_json_close(j);
}

static void put_values(struct nve_json *j, const struct nve_heat_values *v, uint32_t buckets)
{
	nve_json_uint(j, "stall_ns", v->stall_ns);
	nve_json_uint(j, "stall_wb_ns", v->stall_wb_ns);
	nve_json_uint(j, "reads", v->reads);
	nve_json_uint(j, "writes", v->writes);
	nve_json_uint(j, "lines", v->lines);
	put_ppm(j, "share", v->share_ppm);
	if (v->share_se_ppm < 0)
		nve_json_null(j, "share_se");
	else
		put_ppm(j, "share_se", (uint64_t)v->share_se_ppm);
	put_over_time(j, v, buckets);
}

/* More digits than a number can have in every reader of JSON. */
static void put_hex(struct nve_json *j, const char *key, uint64_t value)
{
	char text[24];

	nve_format(text, sizeof(text), "%016llx", (unsigned long long)value);
	nve_json_string(j, key, text);
}

static void put_hash(struct nve_json *j, const char *key, uint64_t hash)
{
	if (hash)
		put_hex(j, key, hash);
	else
		nve_json_null(j, key);
}

static void write_frames(struct nve_json *j, const struct nve_heat_site *s)
{
	nve_json_array(j, "frames");
	for (uint32_t i = 0; i < s->frames; i++) {
		nve_json_object(j, NULL);
		nve_json_uint(j, "module", s->frame[i].module);
		nve_json_uint(j, "offset", s->frame[i].offset);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void write_blocks(struct nve_json *j, const struct nve_heat_site *s)
{
	if (!s->counted) {
		nve_json_null(j, "blocks");
		return;
	}
	nve_json_object(j, "blocks");
	nve_json_uint(j, "allocations", s->allocations);
	nve_json_uint(j, "frees", s->frees);
	nve_json_uint(j, "bytes", s->bytes);
	nve_json_uint(j, "live_bytes", s->live_bytes);
	nve_json_uint(j, "peak_bytes", s->peak_bytes);
	nve_json_uint(j, "lifetimes", s->lifetimes);
	nve_json_uint(j, "lifetime_ns", s->lifetime_ns);
	nve_json_close(j);
}

static void write_resident(struct nve_json *j, const struct nve_heat_site *s)
{
	if (s->resident_known)
		nve_json_uint(j, "resident_bytes", s->resident_bytes);
	else
		nve_json_null(j, "resident_bytes");
}

static void write_site(struct nve_json *j, const struct nve_heat_site *s, uint32_t buckets)
{
	nve_json_object(j, NULL);
	put_hash(j, "id", s->hash);
	nve_json_string(j, "kind", s->kind);
	nve_json_uint(j, "depth", s->frames);
	write_frames(j, s);
	nve_json_uint(j, "arena", s->arena);
	put_values(j, &s->heat, buckets);
	write_blocks(j, s);
	write_resident(j, s);
	nve_json_close(j);
}

static void write_sites(struct nve_json *j, const struct nve_heat_snapshot *s)
{
	nve_json_array(j, "sites");
	for (size_t i = 0; i < s->sites; i++) {
		struct nve_heat_site site = {0};

		s->site(i, &site);
		write_site(j, &site, s->buckets);
	}
	nve_json_close(j);
}

static void write_kinds(struct nve_json *j, const struct nve_heat_snapshot *s)
{
	nve_json_array(j, "kinds");
	for (size_t i = 0; i < s->kinds; i++) {
		struct nve_heat_kind kind = {0};

		s->kind(i, &kind);
		nve_json_object(j, NULL);
		nve_json_string(j, "kind", kind.kind);
		put_values(j, &kind.heat, s->buckets);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void write_arenas(struct nve_json *j, const struct nve_heat_snapshot *s)
{
	nve_json_array(j, "arenas");
	for (size_t i = 0; i < s->arenas; i++) {
		struct nve_heat_arena arena = {0};

		s->arena(i, &arena);
		nve_json_object(j, NULL);
		nve_json_uint(j, "arena", arena.arena);
		nve_json_string(j, "kind", arena.kind);
		put_hash(j, "site", arena.site);
		nve_json_uint(j, "mapped_bytes", arena.mapped_bytes);
		put_values(j, &arena.heat, s->buckets);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void put_build_id(struct nve_json *j, const struct nve_heat_module *m)
{
	char text[2 * 64 + 1] = "";
	size_t bytes = NVE_MIN(m->build_id_bytes, (size_t)64);

	for (size_t i = 0; i < bytes; i++)
		nve_format(text + 2 * i, 3, "%02x", m->build_id[i]);
	nve_json_string(j, "build_id", bytes ? text : NULL);
}

static void write_modules(struct nve_json *j, const struct nve_heat_snapshot *s)
{
	nve_json_array(j, "modules");
	for (size_t i = 0; i < s->modules; i++) {
		struct nve_heat_module module = {0};

		s->module(i, &module);
		nve_json_object(j, NULL);
		nve_json_string(j, "path", module.path);
		put_build_id(j, &module);
		nve_json_close(j);
	}
	nve_json_close(j);
}

void nve_report_heat(struct nve_json *j, const struct nve_heat_snapshot *s)
{
	if (!s->on) {
		nve_json_null(j, "heat");
		nve_json_null(j, "sites");
		return;
	}
	nve_json_object(j, "heat");
	nve_json_uint(j, "stall_ns", s->stall_ns);
	nve_json_uint(j, "attributed_ns", s->attributed_ns);
	nve_json_uint(j, "unattributed_ns", s->stall_ns - s->attributed_ns);
	nve_json_uint(j, "samples_lost", s->samples_lost);
	nve_json_uint(j, "samples_no_answer", s->samples_no_answer);
	nve_json_uint(j, "sites_total", s->sites_total);
	nve_json_uint(j, "sites_not_listed", s->sites_total - NVE_MIN(s->sites_total, s->sites));
	if (s->resident_every)
		nve_json_uint(j, "resident_every_pages", s->resident_every);
	else
		nve_json_null(j, "resident_every_pages");
	nve_json_uint(j, "bucket_ns", s->bucket_ns);
	nve_json_uint(j, "buckets", s->buckets);
	write_kinds(j, s);
	write_arenas(j, s);
	write_modules(j, s);
	nve_json_close(j);
	write_sites(j, s);
}
