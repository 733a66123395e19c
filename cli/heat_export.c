/* nvmemu heat: CSV, JSON and folded stacks. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "heat.h"

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* Empty: not known. */
static void put_number(FILE *out, const char *format, double value)
{
	fputc(',', out);
	if (!isnan(value))
		fprintf(out, format, value);
}

int heat_write_csv(FILE *out, const struct heat_source *source, const struct heat_rows *rows)
{
	fprintf(out, "rank,site,id,kind,heat_percent,heat_se_percent");
	for (size_t i = 0; heat_column_at(i); i++)
		fprintf(out, ",%s%s%s", heat_column_at(i)->name,
			heat_column_at(i)->unit[0] ? "_" : "",
			strcmp(heat_column_at(i)->unit, "ns/byte") ? heat_column_at(i)->unit
								   : "ns_per_byte");
	fputc('\n', out);
	for (size_t i = 0; i < rows->count; i++) {
		const struct heat_row *r = &rows->row[i];

		fprintf(out, "%zu,", i + 1);
		put_quoted(out, r->label);
		fputc(',', out);
		if (r->site && r->site->hash)
			fprintf(out, "%016llx", (unsigned long long)r->site->hash);
		fprintf(out, ",%s", r->site ? r->site->kind : "");
		put_number(out, "%.4f", 100 * r->share);
		put_number(out, "%.4f", r->share_se < 0 ? NAN : 100 * r->share_se);
		for (size_t k = 0; heat_column_at(k); k++)
			put_number(out,
				   strcmp(heat_column_at(k)->name, "density") ? "%.0f" : "%.6g",
				   heat_column_at(k)->value(r));
		fputc('\n', out);
	}
	fprintf(out, ",[unattributed],,,,,%llu\n",
		(unsigned long long)source->heat.unattributed_ns);
	return ferror(out) ? -EIO : 0;
}

/* Six decimals are finer than anything that is measured here. */
static void put_double(struct nve_json *j, const char *key, double value)
{
	if (isfinite(value) && fabs(value) < 1e12)
		nve_json_decimal(j, key, llround(value * 1e6), 6);
	else
		nve_json_null(j, key);
}

static void put_hex(struct nve_json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)value);
	nve_json_string(j, key, text);
}

static void put_stack(struct nve_json *j, const struct heat_source *source,
		      const struct nve_view_site *site)
{
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t n = heat_stack(source->symbols, site, frames);

	nve_json_array(j, "stack");
	for (size_t i = 0; i < n; i++) {
		const struct heat_frame *f = &frames[i];

		nve_json_object(j, NULL);
		nve_json_string(j, "function", f->symbol.function);
		nve_json_string(j, "file", f->symbol.file);
		nve_json_uint(j, "line", (uint64_t)NVE_MAX(f->symbol.line, 0));
		nve_json_bool(j, "inlined", f->inlined);
		nve_json_string(j, "module", f->module);
		nve_json_uint(j, "offset", f->offset);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void put_row(struct nve_json *j, const struct heat_source *source, size_t rank,
		    const struct heat_row *r)
{
	nve_json_object(j, NULL);
	nve_json_uint(j, "rank", rank);
	nve_json_string(j, "label", r->label);
	if (r->site) {
		if (r->site->hash)
			put_hex(j, "id", r->site->hash);
		else
			nve_json_null(j, "id");
		nve_json_string(j, "kind", r->site->kind);
	}
	put_double(j, "share", r->share);
	put_double(j, "share_se", r->share_se < 0 ? NAN : r->share_se);
	for (size_t i = 0; heat_column_at(i); i++) {
		double value = heat_column_at(i)->value(r);

		if (isnan(value))
			nve_json_null(j, heat_column_at(i)->name);
		else if (!strcmp(heat_column_at(i)->name, "density"))
			put_double(j, "density", value);
		else
			nve_json_uint(j, heat_column_at(i)->name, (uint64_t)value);
	}
	if (r->site)
		put_stack(j, source, r->site);
	nve_json_array(j, "over_time");
	for (size_t i = 0; r->over_time_ns && i < source->heat.buckets; i++)
		nve_json_uint(j, NULL, (uint64_t)r->over_time_ns[i]);
	nve_json_close(j);
	nve_json_close(j);
}

int heat_write_json(FILE *out, const struct heat_source *source, const struct heat_rows *rows)
{
	const struct nve_report_sink sink = cli_stream_sink(out);
	const struct nve_heat_view *h = &source->heat;
	struct nve_json j;
	int err;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", "nvmemu-heat");
	nve_json_uint(&j, "version", 1);
	nve_json_uint(&j, "stall_ns", h->stall_ns);
	nve_json_uint(&j, "unattributed_ns", h->unattributed_ns);
	nve_json_uint(&j, "samples_lost", h->samples_lost);
	nve_json_uint(&j, "samples_no_answer", h->samples_no_answer);
	nve_json_uint(&j, "sites_not_listed", h->sites_not_listed);
	nve_json_uint(&j, "bucket_ns", h->bucket_ns);
	nve_json_array(&j, "rows");
	for (size_t i = 0; i < rows->count; i++)
		put_row(&j, source, i + 1, &rows->row[i]);
	nve_json_close(&j);
	nve_json_close(&j);
	err = nve_json_finish(&j);
	fputc('\n', out);
	return err;
}

/* ';' parts frames. */
static void put_folded(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' ? ':' : *text, out);
}

int heat_write_folded(FILE *out, const struct heat_source *source, const struct heat_rows *rows,
		      const struct heat_column *weight)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct heat_row *r = &rows->row[i];
		struct heat_frame frames[HEAT_STACK_MOST];
		size_t n = r->site ? heat_stack(source->symbols, r->site, frames) : 0;
		double value = weight->value(r);
		char text[HEAT_TEXT_BYTES];

		if (!(value >= 0.5))
			continue;
		if (!n)
			put_folded(out, r->label);
		for (size_t k = n; k-- > 0;) {
			heat_frame_text(&frames[k], text);
			put_folded(out, text);
			if (k)
				fputc(';', out);
		}
		if (n && r->site && strcmp(r->site->kind, "heap"))
			fprintf(out, ";[%s]", r->site->kind);
		fprintf(out, " %.0f\n", value);
	}
	if (!strcmp(weight->name, "stall") && source->heat.unattributed_ns)
		fprintf(out, "[unattributed] %llu\n",
			(unsigned long long)source->heat.unattributed_ns);
	return ferror(out) ? -EIO : 0;
}
