/* A view of reports as text: of a whole report, and of the summary after a run. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/native.h"
#include "report/remarks.h"
#include "report/utc.h"
#include "report_parts.h"
#include "report_traffic.h"

enum { LABEL = 16, ROWS = 16, SUMMARY_ROWS = 4, NAME = 15, VALUE_BYTES = 64 };

/* A stretch of text is gathered, then copied: names in reports may hold anything. */
struct sheet {
	FILE *out, *stream;
	char *bytes;
	size_t size;
};

static int open_sheet(struct sheet *s, FILE *out)
{
	s->out = out;
	s->stream = open_memstream(&s->bytes, &s->size);
	return s->stream ? 0 : -ENOMEM;
}

static int close_sheet(struct sheet *s)
{
	int err = fclose(s->stream) ? -ENOMEM : 0;

	if (!err)
		report_put_clean(s->out, s->bytes, s->size);
	free(s->bytes);
	return err;
}

void report_put_clean(FILE *out, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0; i < size; i++) {
		bool escape = s[i] == 0xc2 && i + 1 < size && s[i + 1] >= 0x80 && s[i + 1] < 0xa0;

		if ((s[i] < 0x20 && s[i] != '\n') || s[i] == 0x7f || escape)
			putc('?', out);
		else
			putc(s[i], out);
		i += escape;
	}
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double nanoseconds(uint64_t ps)
{
	return (double)ps / 1e3;
}

static double share(uint32_t ppm)
{
	return ppm / 1e6;
}

/* A latency to emulate, as a user writes it. */
static const char *latency(uint64_t ps, char text[VALUE_BYTES])
{
	if (ps)
		snprintf(text, VALUE_BYTES, "%.15g ns", nanoseconds(ps));
	else
		snprintf(text, VALUE_BYTES, "as DRAM");
	return text;
}

static void put_emulated(FILE *f, const struct nve_view_process *p)
{
	char read[VALUE_BYTES], write[VALUE_BYTES];
	const char *origin = p->machine.dram_lat_origin;

	fprintf(f, "%-*s ", LABEL, "emulated");
	if (!p->emulated) {
		fprintf(f, "no: %s\n", p->why_not);
		return;
	}
	fprintf(f, "read %s, write %s", latency(p->rlat_ps, read), latency(p->wlat_ps, write));
	fprintf(f, "%s; DRAM %.1f ns (%s)\n", p->symmetric ? ", symmetric" : "",
		nanoseconds(p->machine.dram_lat_ps), origin);
}

static void put_sources(FILE *f, const struct nve_view_process *p)
{
	if (!p->emulated)
		return;
	fprintf(f, "%-*s ", LABEL, "sources");
	for (int q = 0; q <= NVE_QUANTITY_LATENCY; q++)
		fprintf(f, "%s: %s, ", nve_quantity_label((enum nve_quantity)q),
			p->sources.of[q].name);
	fprintf(f, "timer: %s\n", p->sources.timer);
	if (*p->replay)
		fprintf(f, "%-*s %s\n", LABEL, "replay of", p->replay);
}

static void put_source_note(FILE *f, const char *what, const char *text)
{
	if (text && *text)
		fprintf(f, "    %-*s %s\n", LABEL - 4, what, text);
}

/* Each quantity: how it was read, why not better, and what mends that. */
static void put_source_table(FILE *f, const struct nve_view_process *p)
{
	if (!p->emulated)
		return;
	fprintf(f, "\nwhere each quantity came from:\n");
	for (int q = 0; q < NVE_QUANTITIES; q++) {
		const struct nve_view_source *s = &p->sources.of[q];

		fprintf(f, "  %-*s %s\n", LABEL - 2, nve_quantity_label((enum nve_quantity)q),
			s->name && *s->name ? s->name : "none");
		put_source_note(f, "read", s->how);
		put_source_note(f, "no better", s->why);
		put_source_note(f, "mend", s->mend);
	}
}

static void put_times(FILE *f, const struct nve_view *v)
{
	struct nve_native n;

	nve_native_estimate(v, &n);
	fprintf(f, "%-*s %.3f s", LABEL, "run time", seconds(n.wall_ns));
	if (n.alone)
		fprintf(f, ", natively about %.3f s\n", seconds(n.native_ns));
	else
		fprintf(f, ", natively about %.3f s (%.3f to %.3f: threads overlap)\n",
			seconds(n.native_ns), seconds(n.least_ns), seconds(n.most_ns));
}

static void put_delay(FILE *f, const struct nve_totals *t)
{
	fprintf(f, "%-*s owed %.3f s, paid %.3f s", LABEL, "delay", seconds(t->delay_owed_ns),
		seconds(t->delay_paid_ns));
	if (t->delay_dropped_ns)
		fprintf(f, ", dropped %.3f s", seconds(t->delay_dropped_ns));
	fprintf(f, "\n");
}

static void put_shares(FILE *f, const struct nve_totals *t)
{
	fprintf(f, "%-*s %.3f +- %.3f of %.3f s CPU time\n", LABEL, "stall share",
		share(t->stall_share_ppm), share(t->stall_share_se_ppm), seconds(t->cpu_ns));
	fprintf(f, "%-*s %.3f +- %.3f of the stall time\n", LABEL, "dirty fraction",
		share(t->dirty_ppm), share(t->dirty_se_ppm));
}

static void put_details(FILE *f, const struct nve_totals *t)
{
	fprintf(f, "%-*s %" PRIu64 " read-only, %" PRIu64 " write-back\n", LABEL, "misses stalled",
		t->ma_ro, t->ma_wb);
	fprintf(f, "%-*s %.1f +- %.1f ns; DRAM's own %.1f ns\n", LABEL, "miss latency",
		nanoseconds(t->latency_ps), nanoseconds(t->latency_se_ps),
		nanoseconds(t->dram_lat_ps));
	if (t->handovers)
		fprintf(f, "%-*s %" PRIu64 ", before which %.3f s of delay was served\n", LABEL,
			"hand-overs", t->handovers, seconds(t->delay_handover_ns));
	fprintf(f,
		"%-*s %" PRIu64 ": %" PRIu64 " user, %" PRIu64 " kernel, %" PRIu64 " own; %" PRIu64
		" without an answer, %" PRIu64 " lost\n",
		LABEL, "samples", t->samples, t->samples_user, t->samples_kernel, t->samples_own,
		t->samples_no_answer, t->samples_lost);
	fprintf(f,
		"%-*s %" PRIu64 ", of %.0f instructions; %" PRIu64 " touches, %" PRIu64
		" misses, %" PRIu64 " of them written\n",
		LABEL, "windows", t->windows,
		t->windows ? (double)t->window_steps / (double)t->windows : 0.0, t->touches,
		t->misses, t->misses_written);
	fprintf(f, "%-*s %.3f s in the program, of which %.3f s was spared it; %.3f s beside it\n",
		LABEL, "own cost", seconds(t->handler_ns), seconds(t->saved_ns),
		seconds(t->monitor_ns));
}

static void put_row(FILE *f, int number, const char *name, const struct nve_totals *t)
{
	fprintf(f, "%8d %-*.*s %9.3f %9.3f %7.3f %7.3f %9.3f %9.3f\n", number, NAME, NAME, name,
		seconds(t->cpu_ns), seconds(t->stall_ns), share(t->stall_share_ppm),
		share(t->dirty_ppm), seconds(t->delay_owed_ns), seconds(t->delay_paid_ns));
}

static void put_row_head(FILE *f, const char *number, const char *name)
{
	fprintf(f, "%8s %-*s %9s %9s %7s %7s %9s %9s\n", number, NAME, name, "CPU s", "stall s",
		"stall", "dirty", "owed s", "paid s");
}

struct row {
	const struct nve_view_process *process;
	const struct nve_view_thread *thread; /* NULL: the process */
	size_t order;
};

static const struct nve_totals *totals_of(const struct row *r)
{
	return r->thread ? &r->thread->totals : &r->process->totals;
}

/* Most delay first, then most CPU time. */
static int compare_rows(const void *x, const void *y)
{
	const struct row *rx = x, *ry = y;
	const struct nve_totals *a = totals_of(rx), *b = totals_of(ry);

	if (a->delay_owed_ns != b->delay_owed_ns)
		return a->delay_owed_ns > b->delay_owed_ns ? -1 : 1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns > b->cpu_ns ? -1 : 1;
	return rx->order < ry->order ? -1 : 1;
}

static void put_rows(FILE *f, struct row *rows, size_t count, const char *what)
{
	size_t shown = NVE_MIN(count, (size_t)ROWS);

	fprintf(f, "\n%s", what);
	if (shown < count)
		fprintf(f, " (%zu of %zu, by delay)", shown, count);
	fprintf(f, "\n");
	qsort(rows, count, sizeof(rows[0]), compare_rows);
	put_row_head(f, rows[0].thread ? "tid" : "pid", rows[0].thread ? "name" : "program");
	for (size_t i = 0; i < shown; i++) {
		const struct row *r = &rows[i];

		put_row(f, r->thread ? r->thread->tid : r->process->pid,
			r->thread ? r->thread->name : r->process->program, totals_of(r));
	}
}

static int put_processes(FILE *f, const struct nve_view *v)
{
	struct row *rows = calloc(v->count, sizeof(rows[0]));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++)
		rows[i] = (struct row){.process = &v->processes[i], .order = i};
	put_rows(f, rows, v->count, "processes");
	free(rows);
	return 0;
}

static int put_threads(FILE *f, const struct nve_view *v)
{
	size_t count = 0, n = 0;
	struct row *rows;

	for (size_t i = 0; i < v->count; i++)
		count += v->processes[i].thread_count;
	if (count < 2 || count == v->count)
		return 0;
	rows = calloc(count, sizeof(rows[0]));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < v->count; i++) {
		const struct nve_view_process *p = &v->processes[i];

		for (size_t k = 0; k < p->thread_count; k++, n++)
			rows[n] = (struct row){p, &p->threads[k], n};
	}
	put_rows(f, rows, count, "threads");
	free(rows);
	return 0;
}

static void put_settings(FILE *f, const struct nve_view_process *p)
{
	fprintf(f, "\nsettings (others are at their defaults)\n");
	for (size_t i = 0; i < p->setting_count; i++)
		if (!nve_view_is_default(&p->settings[i]))
			fprintf(f, "  %-*s %s\n", LABEL - 2, p->settings[i].name,
				p->settings[i].value);
	fprintf(f, "\nmachine\n");
	fprintf(f, "  %-*s %s\n", LABEL - 2, "CPU", p->machine.cpu);
	fprintf(f, "  %-*s DRAM %.1f ns (%s), last-level cache %.1f ns (%s)\n", LABEL - 2,
		"latencies", nanoseconds(p->machine.dram_lat_ps), p->machine.dram_lat_origin,
		nanoseconds(p->machine.llc_lat_ps), p->machine.llc_lat_origin);
}

static void put_end(FILE *f, const struct nve_view *v)
{
	if (!v->run.known) {
		fprintf(f, "%-*s %s\n", LABEL, "ended by", v->processes[0].ended_by);
		return;
	}
	fprintf(f, "%-*s %s\n", LABEL, "command", v->run.command);
	if (v->run.status < 0)
		fprintf(f, "%-*s signal %d (%s)\n", LABEL, "ended by", -v->run.status,
			strsignal(-v->run.status));
	else
		fprintf(f, "%-*s exit status %d\n", LABEL, "ended by", v->run.status);
}

static void put_title(FILE *f, const struct nve_view *v)
{
	const struct nve_view_process *p = &v->processes[0];
	char started_at[NVE_UTC_BYTES];

	nve_utc_format(p->started_at_s, started_at);
	fprintf(f, "%s (process %d on %s), started at %s", p->program, p->pid, p->host, started_at);
	if (v->count > 1)
		fprintf(f, ", and %zu more", v->count - 1);
	fprintf(f, "\n");
}

static void put_remark(void *ctx, const char *text)
{
	fprintf(ctx, "%-*s %s\n", LABEL, "note", text);
}

/* Tables of what is in the reports. */
static int put_tables(FILE *f, const struct nve_view *view, const struct report_parts *parts)
{
	int err = view->count > 1 ? put_processes(f, view) : 0;

	if (!err)
		err = put_threads(f, view);
	if (!err)
		err = report_put_thread_traffic(f, view, ROWS);
	report_put_regions(f, parts, ROWS);
	report_put_sites(f, parts, ROWS);
	return err;
}

static int write_whole(FILE *out, const struct nve_view *view, const struct report_parts *parts)
{
	const struct nve_view_process *first = &view->processes[0];
	struct sheet s;
	int err = open_sheet(&s, out);

	if (err)
		return err;
	put_title(s.stream, view);
	put_end(s.stream, view);
	put_emulated(s.stream, first);
	put_sources(s.stream, first);
	report_put_placement(s.stream, parts, LABEL);
	put_times(s.stream, view);
	put_delay(s.stream, &view->totals);
	report_put_traffic(s.stream, view, LABEL);
	put_shares(s.stream, &view->totals);
	put_details(s.stream, &view->totals);
	nve_remarks(view, put_remark, s.stream);
	err = put_tables(s.stream, view, parts);
	put_source_table(s.stream, first);
	put_settings(s.stream, first);
	return close_sheet(&s) || err ? -ENOMEM : 0;
}

int report_write_text(FILE *out, const struct nve_view *view)
{
	struct report_parts parts;
	int err = report_parts_read(view, &parts);

	if (err)
		return err;
	err = write_whole(out, view, &parts);
	report_parts_free(&parts);
	return err;
}

static int write_summary(FILE *out, const struct nve_view *view, const struct report_parts *parts,
			 const char *file)
{
	struct sheet s;
	int err = open_sheet(&s, out);

	if (err)
		return err;
	fprintf(s.stream, "nvmemu: ");
	put_title(s.stream, view);
	put_emulated(s.stream, &view->processes[0]);
	put_sources(s.stream, &view->processes[0]);
	report_put_placement(s.stream, parts, LABEL);
	put_times(s.stream, view);
	put_delay(s.stream, &view->totals);
	report_put_traffic(s.stream, view, LABEL);
	put_shares(s.stream, &view->totals);
	nve_remarks(view, put_remark, s.stream);
	if (file)
		fprintf(s.stream, "%-*s %s\n", LABEL, "report", file);
	report_put_regions(s.stream, parts, SUMMARY_ROWS);
	report_put_sites(s.stream, parts, SUMMARY_ROWS);
	return close_sheet(&s);
}

int report_write_summary(FILE *out, const struct nve_view *view, const char *file)
{
	struct report_parts parts;
	int err = report_parts_read(view, &parts);

	if (err)
		return err;
	err = write_summary(out, view, &parts, file);
	report_parts_free(&parts);
	return err;
}
