#include "report_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "heat.h"

int report_parts_read(const struct nve_view *view, struct report_parts *parts)
{
	struct nve_read_message why = {.text = "no memory"};
	int err;

	*parts = (struct report_parts){.symbols = symbols_new(true)};
	err = parts->symbols ? nve_view_read_regions(view, &parts->regions, &why) : -ENOMEM;
	if (!err)
		err = nve_heat_view_read(view, &parts->heat, &why);
	if (!err)
		err = nve_view_read_placement(view, &parts->placement, &why);
	if (err) {
		cli_error("%s", why.text);
		report_parts_free(parts);
	}
	return err;
}

void report_parts_free(struct report_parts *parts)
{
	nve_view_free_regions(&parts->regions);
	nve_heat_view_free(&parts->heat);
	symbols_free(parts->symbols);
	parts->symbols = NULL;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* What the table below is of; how much of it, if not all. */
static void put_head(FILE *out, const char *what, size_t shown, size_t count)
{
	fprintf(out, "\n%s", what);
	if (shown < count)
		fprintf(out, " (%zu of %zu, by time)", shown, count);
	fputc('\n', out);
}

static void put_region(FILE *out, const char *name, const char *calls,
		       const struct nve_view_region_figures *f)
{
	fprintf(out, "%10s %9.3f %9.3f %9.3f %9.3f %9.3f  %s\n", calls, seconds(f->wall_ns),
		seconds(f->cpu_ns), seconds(f->stall_ns), seconds(f->delay_owed_ns),
		seconds(f->delay_paid_ns), name);
}

void report_put_regions(FILE *out, const struct report_parts *parts, size_t rows)
{
	const struct nve_view_regions *r = &parts->regions;
	size_t shown = NVE_MIN(r->count, rows);

	if (!r->count)
		return;
	put_head(out, "regions, without those within", shown, r->count);
	fprintf(out, "%10s %9s %9s %9s %9s %9s  %s\n", "calls", "wall s", "CPU s", "stall s",
		"owed s", "paid s", "name");
	for (size_t i = 0; i < shown; i++) {
		char calls[24];

		snprintf(calls, sizeof(calls), "%" PRIu64, r->list[i].calls);
		put_region(out, r->list[i].name, calls, &r->list[i].exclusive);
	}
	put_region(out, "outside of all", "", &r->outside);
}

void report_put_sites(FILE *out, const struct report_parts *parts, size_t rows)
{
	const struct nve_heat_view *h = &parts->heat;
	size_t hot = 0, shown;

	while (hot < h->site_count && h->sites[hot].heat.stall_ns)
		hot++;
	if (!hot)
		return;
	shown = NVE_MIN(hot, rows);
	put_head(out, "memory by allocation site", shown, hot);
	fprintf(out, "%9s %7s %12s %12s %9s  %s\n", "stall s", "share", "reads", "writes",
		"peak MiB", "site");
	for (size_t i = 0; i < shown; i++) {
		const struct nve_view_site *s = &h->sites[i];
		char name[HEAT_TEXT_BYTES], peak[32] = "-";

		heat_site_text(parts->symbols, s, name);
		if (s->counted)
			snprintf(peak, sizeof(peak), "%.1f", (double)s->peak_bytes / (1 << 20));
		fprintf(out, "%9.3f %7.3f %12" PRIu64 " %12" PRIu64 " %9s  %s\n",
			seconds(s->heat.stall_ns), s->heat.share, s->heat.reads, s->heat.writes,
			peak, name);
	}
	fprintf(out, "%9.3f %7s %12s %12s %9s  %s\n", seconds(h->unattributed_ns), "", "", "", "",
		"not attributed");
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

void report_put_placement(FILE *out, const struct report_parts *parts, int label)
{
	const struct nve_view_placement *p = &parts->placement;

	if (!p->processes)
		return;
	fprintf(out, "%-*s ", label, "placement");
	if (p->node >= 0)
		fprintf(out, "%.1f MiB bound to node %d", (double)p->bound_bytes / (1 << 20),
			p->node);
	else
		fprintf(out, "on NVM %.1f %% of reads, %.1f %% of writes",
			percent(p->nvm_reads, p->reads), percent(p->nvm_writes, p->writes));
	fprintf(out, "; %s: %zu lines with a path", p->file, p->lines);
	if (p->unmatched)
		fprintf(out, ", %zu of them fit no site", p->unmatched);
	if (p->ambiguous_sites)
		fprintf(out, "; lines disagree on %" PRIu64 " sites", p->ambiguous_sites);
	if (p->bind_failures)
		fprintf(out, "; %" PRIu64 " pieces could not be bound", p->bind_failures);
	fputc('\n', out);
}
