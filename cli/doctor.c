/* nvmemu doctor: what this machine has and lacks for emulation, and what will be emulated how. */
#include "cli.h"

#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/options.h"
#include "count/assess.h"
#include "facts.h"

enum { COLUMN = 16, WHAT_COLUMN = 26, EVENT_COLUMN = 44 };

static void print_help(void)
{
	printf("usage: nvmemu doctor [--json]\n"
	       "\n"
	       "Tells what this machine has for emulation and what it lacks: timers, threads,\n"
	       "hardware counters (each event is tried), look-ahead, calibration (measured where "
	       "none\n"
	       "is kept), sources of error; what mends what is missing; and of each quantity what "
	       "it\n"
	       "will come from, how that is read, why from nothing better and what mends that, "
	       "with\n"
	       "the NVM_ variables as they are.\n"
	       "\n"
	       "  --json  print JSON instead of text\n"
	       "\n"
	       "Exit status: 0 where emulation is possible, 1 where it is but a piece that could "
	       "be\n"
	       "there is missing (degraded), 125 where it is impossible or a variable has a bad\n"
	       "value, 2 for wrong arguments.\n");
}

static void print_findings(const struct nve_assessment *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct nve_finding *f = &a->findings[i];
		bool fine = f->severity == NVE_SEVERITY_FINE;

		printf("%-*s %s%s%s\n", COLUMN, f->subject,
		       fine ? "" : nve_severity_name(f->severity), fine ? "" : ": ", f->text);
		if (f->mend[0])
			printf("%-*s mend: %s\n", COLUMN, "", f->mend);
	}
}

static void print_events(const struct cli_facts *facts)
{
	if (!facts->trial_count)
		return;
	printf("\nevents of %s, each tried; stall time would be %s:\n", facts->machine.rows[0],
	       facts->formula);
	for (size_t i = 0; i < facts->trial_count; i++) {
		const struct nve_pmu_trial *t = &facts->trials[i];

		printf("  %-*s %-*s %s/%#" PRIx64 "/%#" PRIx64 ": %s\n", WHAT_COLUMN, t->what,
		       EVENT_COLUMN, t->event, t->pmu, t->code.config[0], t->code.config[1],
		       t->error ? strerrorname_np(-t->error) : "opens");
	}
}

static void print_note(const char *what, const char *text)
{
	if (*text)
		printf("    %-*s %s\n", COLUMN - 4, what, text);
}

static void print_choices(const struct nve_assessment *a)
{
	printf("\nwhat will be emulated how:\n");
	for (size_t i = 0; i < NVE_CHOICES; i++) {
		const struct nve_source *s = &a->choices[i].source;

		printf("  %-*s %s\n", COLUMN - 2, a->choices[i].quantity, s->name);
		print_note("read", s->how);
		print_note("no better", s->no_better.why);
		print_note("mend", s->no_better.mend);
	}
}

static void print_verdict(const struct nve_assessment *a)
{
	static const char *const verdicts[] = {
		[NVE_SEVERITY_FINE] = "possible",
		[NVE_SEVERITY_NOTE] = "possible",
		[NVE_SEVERITY_DEGRADED] = "possible, degraded by what is marked so above",
		[NVE_SEVERITY_IMPOSSIBLE] = "impossible",
	};

	printf("\nemulation is %s\n", verdicts[a->severity]);
}

static void json_findings(struct nve_json *j, const struct nve_assessment *a)
{
	nve_json_array(j, "findings");
	for (size_t i = 0; i < a->count; i++) {
		const struct nve_finding *f = &a->findings[i];

		nve_json_object(j, NULL);
		nve_json_string(j, "subject", f->subject);
		nve_json_string(j, "severity", nve_severity_name(f->severity));
		nve_json_string(j, "text", f->text);
		nve_json_string(j, "mend", f->mend[0] ? f->mend : NULL);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void json_events(struct nve_json *j, const struct cli_facts *facts)
{
	char code[64];

	nve_json_array(j, "events");
	for (size_t i = 0; i < facts->trial_count; i++) {
		const struct nve_pmu_trial *t = &facts->trials[i];

		snprintf(code, sizeof(code), "%u/%#" PRIx64 "/%#" PRIx64, t->code.type,
			 t->code.config[0], t->code.config[1]);
		nve_json_object(j, NULL);
		nve_json_string(j, "for", t->what);
		nve_json_string(j, "event", t->event);
		nve_json_string(j, "pmu", t->pmu);
		nve_json_string(j, "code", code);
		nve_json_bool(j, "opens", !t->error);
		nve_json_string(j, "error", t->error ? strerrorname_np(-t->error) : NULL);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void json_text(struct nve_json *j, const char *key, const char *text)
{
	nve_json_string(j, key, *text ? text : NULL);
}

static void json_choices(struct nve_json *j, const struct nve_assessment *a)
{
	nve_json_array(j, "sources");
	for (size_t i = 0; i < NVE_CHOICES; i++) {
		const struct nve_source *s = &a->choices[i].source;

		nve_json_object(j, NULL);
		nve_json_string(j, "quantity", a->choices[i].quantity);
		nve_json_string(j, "source", s->name);
		json_text(j, "how", s->how);
		json_text(j, "why_no_better", s->no_better.why);
		json_text(j, "mend", s->no_better.mend);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static int print_json(const struct cli_facts *facts, const struct nve_assessment *a)
{
	const struct nve_report_sink sink = cli_stream_sink(stdout);
	struct nve_json j;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", "nvmemu-doctor");
	nve_json_uint(&j, "version", 1);
	nve_json_string(&j, "verdict",
			a->severity <= NVE_SEVERITY_NOTE ? "possible"
							 : nve_severity_name(a->severity));
	nve_json_string(&j, "row", facts->machine.rows[0]);
	nve_json_string(&j, "formula", facts->formula);
	json_findings(&j, a);
	json_events(&j, facts);
	json_choices(&j, a);
	nve_json_close(&j);
	return nve_json_finish(&j);
}

static int status_of(enum nve_severity severity)
{
	switch (severity) {
	case NVE_SEVERITY_DEGRADED: return CLI_FAILED;
	case NVE_SEVERITY_IMPOSSIBLE: return CLI_IMPOSSIBLE;
	default: return CLI_OK;
	}
}

static int examine(bool json)
{
	static struct cli_facts facts;
	static struct nve_assessment assessment;
	struct nve_options_message error, warning;
	struct nve_options options;

	if (nve_options_parse(&options, environ, &error, &warning)) {
		cli_error("%s", error.text);
		return CLI_IMPOSSIBLE;
	}
	if (*warning.text)
		cli_note("%s", warning.text);
	cli_facts_gather(&options, &facts);
	nve_assess(&facts.machine, &assessment);
	if (json) {
		/* what was not written, the caller tells */
		print_json(&facts, &assessment);
		return status_of(assessment.severity);
	}
	print_findings(&assessment);
	print_events(&facts);
	print_choices(&assessment);
	print_verdict(&assessment);
	return status_of(assessment.severity);
}

int cli_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	bool json = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'j': json = true; break;
		case 'h': print_help(); return CLI_OK;
		default: return CLI_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[optind]);
		return CLI_USAGE;
	}
	return examine(json);
}
