/*
 * A view of reports as comma-separated values (RFC 4180, but lines end as Unix has them): one row
 * for the run, each process and each thread, then for each marked region, each allocation site with
 * stall time and what is placed, told apart by the column "level". Columns of figures are named as
 * in the reports, with '_' for the levels of the document.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "heat.h"
#include "report/fields.h"
#include "report_parts.h"

static void put_text(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void put_column(FILE *out, const char *path)
{
	putc(',', out);
	for (; *path; path++)
		putc(*path == '.' ? '_' : *path, out);
}

static void put_head(FILE *out)
{
	fputs("level,file,host,program,pid,tid,name,started_at_s,wall_ns,emulated,rlat_ns,wlat_ns",
	      out);
	for (const struct nve_field *f = nve_fields_totals; f->path; f++)
		put_column(out, f->path);
	fputs("\n", out);
}

/* The latencies to emulate; empty: DRAM's own. */
static void put_latency(FILE *out, uint64_t ps)
{
	putc(',', out);
	if (ps)
		fprintf(out, "%.15g", (double)ps / 1e3);
}

static void put_totals(FILE *out, const struct nve_totals *t)
{
	for (const struct nve_field *f = nve_fields_totals; f->path; f++) {
		const void *member = (const char *)t + f->offset;

		if (f->kind == NVE_FIELD_PPM)
			fprintf(out, ",%.6f", *(const uint32_t *)member / 1e6);
		else if (f->kind == NVE_FIELD_MILLI)
			fprintf(out, ",%.3f", (double)*(const uint64_t *)member / 1e3);
		else
			fprintf(out, ",%" PRIu64, *(const uint64_t *)member);
	}
	putc('\n', out);
}

static void put_process(FILE *out, const char *level, const struct nve_view_process *p,
			const struct nve_view_thread *t)
{
	fprintf(out, "%s,", level);
	put_text(out, p->file);
	putc(',', out);
	put_text(out, p->host);
	putc(',', out);
	put_text(out, p->program);
	fprintf(out, ",%d,", p->pid);
	if (t)
		fprintf(out, "%d", t->tid);
	putc(',', out);
	put_text(out, t ? t->name : "");
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%s", p->started_at_s, p->wall_ns,
		p->emulated ? "yes" : "no");
	put_latency(out, p->rlat_ps);
	put_latency(out, p->wlat_ps);
	put_totals(out, t ? &t->totals : &p->totals);
}

/* What is of all processes; the rest stays empty. */
static void put_run(FILE *out, const struct nve_view *view)
{
	fputs("run,,,,,,,", out);
	if (view->run.known)
		fprintf(out, "%" PRIu64, view->run.started_at_s);
	putc(',', out);
	if (view->run.known)
		fprintf(out, "%" PRIu64, view->run.wall_ns);
	fputs(",,,", out);
	put_totals(out, &view->totals);
}

/* A figure of a row that has but few. */
struct figure {
	const char *path; /* as in nve_fields_totals */
	uint64_t value;
};

static void put_figures(FILE *out, const struct figure *figures, size_t count)
{
	for (const struct nve_field *f = nve_fields_totals; f->path; f++) {
		putc(',', out);
		for (size_t i = 0; i < count; i++)
			if (!strcmp(figures[i].path, f->path))
				fprintf(out, "%" PRIu64, figures[i].value);
	}
	putc('\n', out);
}

/* Of all processes: nothing but a name and figures. wall_ns: 0 for none. */
static void put_part(FILE *out, const char *level, const char *name, uint64_t wall_ns)
{
	fprintf(out, "%s,,,,,,", level);
	put_text(out, name);
	fputs(",,", out);
	if (wall_ns)
		fprintf(out, "%" PRIu64, wall_ns);
	fputs(",,,", out);
}

/* Without the regions within. */
static void put_region(FILE *out, const struct nve_view_region *r)
{
	const struct nve_view_region_figures *f = &r->exclusive;
	const struct figure figures[] = {
		{"cpu_ns", f->cpu_ns},
		{"stall_ns", f->stall_ns},
		{"stall_wb_ns", f->stall_wb_ns},
		{"ma_ro", f->ma_ro},
		{"ma_wb", f->ma_wb},
		{"delay_owed_ns", f->delay_owed_ns},
		{"delay_paid_ns", f->delay_paid_ns},
	};

	put_part(out, "region", r->name, f->wall_ns);
	put_figures(out, figures, NVE_ARRAY_SIZE(figures));
}

static void put_site(FILE *out, struct symbols *symbols, const struct nve_view_site *s)
{
	const struct figure figures[] = {
		{"stall_ns", s->heat.stall_ns},
		{"stall_wb_ns", s->heat.stall_wb_ns},
		{"ma_ro", s->heat.reads},
		{"ma_wb", s->heat.writes},
	};
	char name[HEAT_TEXT_BYTES];

	heat_site_text(symbols, s, name);
	put_part(out, "site", name, 0);
	put_figures(out, figures, NVE_ARRAY_SIZE(figures));
}

/* By the guidance file: the accesses on NVM. */
static void put_placement(FILE *out, const struct nve_view_placement *p)
{
	const struct figure figures[] = {{"ma_ro", p->nvm_reads}, {"ma_wb", p->nvm_writes}};

	if (!p->processes)
		return;
	put_part(out, "placement", p->file, 0);
	put_figures(out, figures, NVE_ARRAY_SIZE(figures));
}

static void put_parts(FILE *out, const struct report_parts *parts)
{
	for (size_t i = 0; i < parts->regions.count; i++)
		put_region(out, &parts->regions.list[i]);
	for (size_t i = 0; i < parts->heat.site_count; i++)
		if (parts->heat.sites[i].heat.stall_ns)
			put_site(out, parts->symbols, &parts->heat.sites[i]);
	put_placement(out, &parts->placement);
}

int report_write_csv(FILE *out, const struct nve_view *view)
{
	struct report_parts parts;
	int err = report_parts_read(view, &parts);

	if (err)
		return err;
	put_head(out);
	put_run(out, view);
	for (size_t i = 0; i < view->count; i++) {
		const struct nve_view_process *p = &view->processes[i];

		put_process(out, "process", p, NULL);
		for (size_t k = 0; k < p->thread_count; k++)
			put_process(out, "thread", p, &p->threads[k]);
	}
	put_parts(out, &parts);
	report_parts_free(&parts);
	return ferror(out) ? -EIO : 0;
}
