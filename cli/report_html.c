/* nvmemu report --format html. */
#include <errno.h>

#include "cli.h"
#include "report.h"
#include "report/html/page.h"

int report_write_html(FILE *out, const struct nve_view *view)
{
	const struct nve_report_sink sink = cli_stream_sink(out);
	const struct nve_html_options options = {.version = NVMEMU_VERSION};
	struct nve_read_message why;
	int err = nve_html_write(view, &options, &sink, &why);

	if (err == -EINVAL || err == -ENOENT)
		cli_error("%s", why.text);
	return err;
}
