#include "report/run.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/utc.h"

struct text {
	char *start;
	size_t size;
};

static int append(void *ctx, const void *data, size_t size)
{
	struct text *t = ctx;
	char *more = realloc(t->start, t->size + size);

	if (!more)
		return -ENOMEM;
	memcpy(more + t->size, data, size);
	t->start = more;
	t->size += size;
	return 0;
}

static void put_head(struct nve_json *j, const struct nve_view *view)
{
	char started_at[NVE_UTC_BYTES];

	nve_json_string(j, "schema", NVE_RUN_SCHEMA);
	nve_json_uint(j, "version", NVE_RUN_VERSION);
	if (view->run.known) {
		nve_utc_format(view->run.started_at_s, started_at);
		nve_json_object(j, "run");
		nve_json_string(j, "command", view->run.command);
		nve_json_string(j, "started_at", started_at);
		nve_json_uint(j, "wall_ns", view->run.wall_ns);
		nve_json_decimal(j, "status", view->run.status, 0);
		nve_json_close(j);
	}
	nve_json_object(j, "totals");
	nve_report_put_totals(j, &view->totals);
	nve_json_close(j);
}

/* What is not copied is written as in the library's reports, and read back. */
static json_t *make_head(const struct nve_view *view)
{
	struct text text = {NULL, 0};
	const struct nve_report_sink sink = {.write = append, .ctx = &text};
	json_t *head = NULL;
	struct nve_json j;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	put_head(&j, view);
	nve_json_close(&j);
	if (!nve_json_finish(&j))
		head = json_loadb(text.start, text.size, 0, NULL);
	free(text.start);
	return head;
}

struct dump {
	const struct nve_report_sink *sink;
	int error;
};

static int dump_part(const char *data, size_t size, void *ctx)
{
	struct dump *d = ctx;

	d->error = d->sink->write(d->sink->ctx, data, size);
	return d->error ? -1 : 0;
}

int nve_run_write(const struct nve_view *view, const struct nve_report_sink *sink)
{
	/* Shares have six decimals: fifteen digits give them back as they were. */
	const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
	struct dump dump = {.sink = sink};
	json_t *head = make_head(view), *list = json_array();
	int err = -ENOMEM;

	if (!head || json_object_set(head, "processes", list))
		goto out_free;
	for (size_t i = 0; i < view->count; i++)
		if (json_array_append(list, view->processes[i].document))
			goto out_free;
	err = json_dump_callback(head, dump_part, &dump, flags) ? -ENOMEM : 0;
	if (dump.error)
		err = dump.error;
	if (!err)
		err = sink->write(sink->ctx, "\n", 1);
out_free:
	json_decref(list);
	json_decref(head);
	return err;
}
