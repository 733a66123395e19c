/* A report: read, merged with itself, shown in every form. */
#include <stdio.h>

#include "cli.h"
#include "fuzz.h"
#include "report.h"
#include "report/html/page.h"
#include "report/run.h"

static int swallow(void *ctx, const void *data, size_t size)
{
	(void)data;
	*(size_t *)ctx += size;
	return 0;
}

/* Why a form is not written; nobody reads it here. */
void cli_error(const char *format, ...)
{
	(void)format;
}

static void show(const struct nve_view *view)
{
	static FILE *nowhere;
	size_t written = 0;
	struct nve_read_message why;
	const struct nve_report_sink sink = {.write = swallow, .ctx = &written};

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		return;
	report_write_text(nowhere, view);
	report_write_csv(nowhere, view);
	nve_run_write(view, &sink);
	nve_html_write(view, &(struct nve_html_options){.version = "fuzz"}, &sink, &why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct nve_read_message why;
	struct nve_view view;

	nve_view_start(&view);
	if (!nve_view_add_text(&view, "one", text, size, &why) && !nve_view_finish(&view, &why))
		show(&view);
	nve_view_free(&view);

	nve_view_start(&view);
	if (!nve_view_add_text(&view, "one", text, size, &why) &&
	    !nve_view_add_text(&view, "two", text, size, &why))
		nve_view_finish(&view, &why);
	nve_view_free(&view);
	return 0;
}
