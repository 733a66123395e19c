#include "outputs.h"

#include <string.h>

#include "base/log.h"
#include "report/report.h"

static struct nve_outfile out, record;

static void name_file(const char *variable, char *pattern, struct nve_outfile *file,
		      const struct nve_outfile_words *words)
{
	int rc;

	if (!pattern[0])
		return;
	rc = nve_outfile_name(file, pattern, words);
	if (!rc)
		return;
	nve_log(NVE_LOG_ERROR, "%s: %s", variable, strerror(-rc));
	pattern[0] = '\0';
}

void nve_outputs_name(struct nve_options *options, const struct nve_outfile_words *words)
{
	name_file("NVM_OUT", options->out, &out, words);
	name_file("NVM_RECORD", options->record, &record, words);
}

const struct nve_outfile *nve_outputs_record(void)
{
	return &record;
}

static int produce(void *ctx, const struct nve_report_sink *sink)
{
	return nve_report_write(ctx, sink);
}

void nve_outputs_report(struct nve_snapshot *s, const char *suffix, bool tell_moved, char *path)
{
	bool moved = false;
	int rc;

	out.suffix = suffix;
	rc = nve_outfile_write(&out, produce, s, path, &moved);
	out.suffix = NULL;
	if (rc)
		nve_log(NVE_LOG_WARN, "NVM_OUT: no report, %s: %s", s->options.out, strerror(-rc));
	else if (moved && tell_moved && !suffix)
		nve_log(NVE_LOG_WARN, "NVM_OUT: %s exists, the report is %s", s->options.out, path);
	if (rc)
		path[0] = '\0';
}
