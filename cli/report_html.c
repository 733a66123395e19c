/* nvmemu report --format html. */
#include <errno.h>

#include "cli.h"
#include "heat.h"
#include "report.h"
#include "report/html/page.h"

_Static_assert((int)HEAT_TEXT_BYTES == (int)NVE_HTML_NAME_BYTES, "names of the same room");

/* The page asks for the frames of a site one after the other. */
struct names {
	struct symbols *symbols;
	const struct nve_view_site *site; /* that the frames are of */
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t count;
};

static void name_site(void *ctx, const struct nve_view_site *site, char text[NVE_HTML_NAME_BYTES])
{
	const struct names *n = ctx;

	heat_site_text(n->symbols, site, text);
}

static bool name_frame(void *ctx, const struct nve_view_site *site, size_t i,
		       char text[NVE_HTML_NAME_BYTES])
{
	struct names *n = ctx;

	if (n->site != site)
		n->count = heat_stack(n->symbols, site, n->frames);
	n->site = site;
	if (i < n->count)
		heat_frame_text(&n->frames[i], text);
	return i < n->count;
}

int report_write_html(FILE *out, const struct nve_view *view)
{
	const struct nve_report_sink sink = cli_stream_sink(out);
	struct names names = {.symbols = symbols_new(true)};
	const struct nve_html_options options = {
		.version = NVMEMU_VERSION, .ctx = &names, .site = name_site, .frame = name_frame};
	struct nve_read_message why;
	int err = names.symbols ? nve_html_write(view, &options, &sink, &why) : -ENOMEM;

	if (err == -EINVAL || err == -ENOENT)
		cli_error("%s", why.text);
	symbols_free(names.symbols);
	return err;
}
