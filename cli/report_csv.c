/*
 * A view of reports as comma-separated values (RFC 4180, but lines end as Unix has them): one row
 * for the run, each process and each thread, told apart by the column "level". Columns of figures
 * are named as in the reports, with '_' for the levels of the document.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report/fields.h"

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

int report_write_csv(FILE *out, const struct nve_view *view)
{
	put_head(out);
	put_run(out, view);
	for (size_t i = 0; i < view->count; i++) {
		const struct nve_view_process *p = &view->processes[i];

		put_process(out, "process", p, NULL);
		for (size_t k = 0; k < p->thread_count; k++)
			put_process(out, "thread", p, &p->threads[k]);
	}
	return ferror(out) ? -EIO : 0;
}
