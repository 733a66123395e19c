/*
 * nvmemu heat: as a file of DHAT, version 2, for the viewer that comes with valgrind. Its reads and
 * writes are bytes of the lines of accesses that stalled; what it wants to know of the moment with
 * the most memory is told of the end.
 */
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"
#include "heat.h"

enum { ROOT_FRAMES = 1 };

/* Texts of frames, each of them once. */
struct table {
	void *tree;
	const char **text; /* by number, from ROOT_FRAMES on */
	size_t count, room;
	bool failed;
};

struct frame_text {
	size_t number;
	char text[];
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct frame_text *)a)->text, ((const struct frame_text *)b)->text);
}

static size_t add(struct table *t, const char *text)
{
	struct frame_text *e = malloc(sizeof(*e) + strlen(text) + 1), **found;
	const char **more = NULL;

	if (!e || (t->count == t->room &&
		   !(more = realloc(t->text, (2 * t->room + 64) * sizeof(*more))))) {
		free(e);
		t->failed = true;
		return 0;
	}
	if (t->count == t->room) {
		t->text = more;
		t->room = 2 * t->room + 64;
	}
	strcpy(e->text, text);
	found = tsearch(e, &t->tree, compare);
	if (!found || *found != e) {
		free(e);
		t->failed |= !found;
		return found ? (*found)->number : 0;
	}
	e->number = ROOT_FRAMES + t->count;
	t->text[t->count++] = e->text;
	return e->number;
}

/* "0x1234: function (file.c:12)", as valgrind has them. */
static size_t add_frame(struct table *t, const struct heat_frame *f)
{
	char text[HEAT_TEXT_BYTES], line[HEAT_TEXT_BYTES + 32];

	heat_frame_text(f, text);
	snprintf(line, sizeof(line), "0x%llx: %s", (unsigned long long)f->offset, text);
	return add(t, line);
}

static void put_frames(struct nve_json *j, struct table *t, const struct heat_source *source,
		       const struct heat_row *r)
{
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t n = r->site ? heat_stack(source->symbols, r->site, frames) : 0;

	nve_json_array(j, "fs");
	if (!r->site || !n || strcmp(r->site->kind, "heap"))
		nve_json_uint(j, NULL, add(t, r->label));
	for (size_t i = 0; i < n; i++)
		nve_json_uint(j, NULL, add_frame(t, &frames[i]));
	nve_json_close(j);
}

static void put_point(struct nve_json *j, struct table *t, const struct heat_source *source,
		      const struct heat_row *r)
{
	double mean = r->allocations ? (double)r->bytes / (double)r->allocations : 0;
	double life_us = r->lifetimes ? (double)r->lifetime_ns / (double)r->lifetimes / 1e3 : 0;
	uint64_t live = r->allocations - NVE_MIN(r->frees, r->allocations);

	nve_json_object(j, NULL);
	nve_json_uint(j, "tb", r->bytes);
	nve_json_uint(j, "tbk", r->allocations);
	nve_json_uint(j, "tl", (uint64_t)(life_us * (double)r->allocations));
	nve_json_uint(j, "mb", r->peak_bytes);
	nve_json_uint(j, "mbk", mean > 0 ? (uint64_t)llround((double)r->peak_bytes / mean) : 0);
	nve_json_uint(j, "gb", r->live_bytes);
	nve_json_uint(j, "gbk", live);
	nve_json_uint(j, "eb", r->live_bytes);
	nve_json_uint(j, "ebk", live);
	nve_json_uint(j, "rb", (r->reads + r->writes) * NVE_LINE_BYTES);
	nve_json_uint(j, "wb", r->writes * NVE_LINE_BYTES);
	put_frames(j, t, source, r);
	nve_json_close(j);
}

static void put_head(struct nve_json *j, const struct heat_source *source)
{
	const struct nve_view_process *p = &source->view.processes[0];
	const struct nve_view_run *run = &source->view.run;
	uint64_t wall_ns = run->known ? run->wall_ns : p->wall_ns;

	nve_json_uint(j, "dhatFileVersion", 2);
	nve_json_string(j, "mode",
			"nvmemu heat (reads and writes: 64 bytes for each that stalled; "
			"t-gmax is the end)");
	nve_json_string(j, "verb", "Allocated");
	nve_json_bool(j, "bklt", true);
	nve_json_bool(j, "bkacc", true);
	nve_json_string(j, "tu", "us");
	nve_json_string(j, "Mtu", "s");
	nve_json_uint(j, "tuth", 10);
	nve_json_string(j, "cmd", run->known ? run->command : p->program);
	nve_json_decimal(j, "pid", p->pid, 0);
	nve_json_uint(j, "te", NVE_MAX(wall_ns / 1000, (uint64_t)1));
	nve_json_uint(j, "tg", NVE_MAX(wall_ns / 1000, (uint64_t)1));
}

int heat_write_dhat(FILE *out, const struct heat_source *source, const struct heat_rows *rows)
{
	const struct nve_report_sink sink = cli_stream_sink(out);
	struct table t = {0};
	struct nve_json j;
	int err;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	put_head(&j, source);
	nve_json_array(&j, "pps");
	for (size_t i = 0; i < rows->count; i++)
		put_point(&j, &t, source, &rows->row[i]);
	nve_json_close(&j);
	nve_json_array(&j, "ftbl");
	nve_json_string(&j, NULL, "[root]");
	for (size_t i = 0; i < t.count; i++)
		nve_json_string(&j, NULL, t.text[i]);
	nve_json_close(&j);
	nve_json_close(&j);
	err = nve_json_finish(&j);
	fputc('\n', out);
	tdestroy(t.tree, free);
	free(t.text);
	return t.failed ? -ENOMEM : err;
}
