/* nvmemu validate: command line and flow. */
#include "validate.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/options.h"
#include "bench/chase.h"
#include "cli.h"
#include "compare.h"
#include "count/calibration.h"
#include "launch.h"
#include "output.h"
#include "worker.h"

enum { COMPARE_MS = 2000 };

static const struct validate_settings usual = {
	.huge = true,
	.latencies_ns = {200, 300, 400, 500, 1000},
	.latency_count = 5,
	.rounds = 40,
	.slice_ms = 130,
};

/* Of --device: its turns are as many times longer as the device is slower. */
static const struct validate_settings usual_device = {.huge = true, .rounds = 8, .slice_ms = 60};
static const struct validate_settings quick_device = {.huge = true, .rounds = 3, .slice_ms = 30};

static const struct validate_settings quick = {
	.huge = true,
	.latencies_ns = {200, 300, 400, 500, 1000},
	.latency_count = 5,
	.rounds = 8,
	.slice_ms = 80,
};

static void print_help(void)
{
	printf("usage: nvmemu validate [OPTION]...\n"
	       "\n"
	       "Shows how exact the emulation is on this machine. Two programs walk a\n"
	       "random cyclic list, each step a miss of the last-level cache: robench only\n"
	       "reads, wbbench writes each node first. They run natively and emulated, in\n"
	       "turns, and the time per step is compared with the latency asked for:\n"
	       "wbbench must take the write latency, robench the read latency, and robench\n"
	       "must not notice a write latency.\n"
	       "\n"
	       "  --latencies LIST  in ns, at most %d; default: 200,300,400,500,1000\n"
	       "  --rounds N        turns of each program; default: 40\n"
	       "  --slice MS        length of a native turn; default: 130\n"
	       "  --quick           fewer and shorter turns, for a first look\n"
	       "  --bytes N[K|M|G]  size of each list; default: 8 times the last-level\n"
	       "                    cache, or down to twice where memory is short\n"
	       "  --huge on|off     huge pages for the lists; default: on\n"
	       "  --target PERCENT  error that is still good; default: 1.1, and 1.5 where\n"
	       "                    robench is given a write latency\n"
	       "  --lib FILE        the library; default: the one of this installation\n"
	       "  --csv FILE        write the figures to FILE too\n"
	       "  --json            print JSON instead of the table\n"
	       "  --compare         instead: run workloads with hardware counters and look-ahead\n"
	       "                    side by side, nothing injected, --slice (default 2000) each,\n"
	       "                    and print how far look-ahead is off; 125 without counters\n"
	       "  --device ...      instead: what both programs and STREAM's kernels see of a "
	       "device,\n"
	       "                    against what it asks for here, with --rounds (default 8), "
	       "--slice\n"
	       "                    (60), --quick, --bytes, --huge, --target (1.1, of bandwidth 5) "
	       "and\n"
	       "                    --lib; one of nvmemu devices, or all\n"
	       "\n"
	       "Delay is spun (NVM_INJECT=spin), since CPU time is measured; other NVM_\n"
	       "variables apply as they are set. A latency not 10 %% above the native one,\n"
	       "or below DRAM's, is skipped. The machine is calibrated anew first. The figures are "
	       "means over\n"
	       "the turns without outliers, beside their 95 %% confidence.\n"
	       "\n"
	       "Exit status: 0 all rows are within their targets, 1 not, 2 wrong arguments,\n"
	       "125 emulation is impossible here, 130 interrupted.\n",
	       VALIDATE_LATENCIES);
}

static int parse_value(int letter, const char *text, struct validate_settings *s)
{
	switch (letter) {
	case 'b':
		s->bytes_given = true;
		return cli_parse_bytes(text, &s->bytes) || s->bytes < 4096 ? -EINVAL : 0;
	case 'u': return cli_parse_switch(text, &s->huge);
	case 'l':
		return cli_parse_list(text, s->latencies_ns, VALIDATE_LATENCIES, &s->latency_count);
	case 'r': return cli_parse_uint(text, 1, 100000, &s->rounds);
	case 's': s->slice_given = true; return cli_parse_uint(text, 1, 10000, &s->slice_ms);
	case 't': return cli_parse_positive(text, &s->target_percent);
	case 'c': s->csv = text; return 0;
	case 'i': s->library = text; return 0;
	case 'C': s->compare = true; return 0;
	case 'd': s->device = text; return 0;
	default: s->json = true; return 0;
	}
}

static void choose_defaults(int argc, char **argv, struct validate_settings *s)
{
	bool is_quick = false, has_device = false;

	for (int i = 1; i < argc; i++) {
		is_quick |= !strcmp(argv[i], "--quick");
		has_device |= !strncmp(argv[i], "--device", strlen("--device"));
	}
	if (has_device)
		*s = is_quick ? quick_device : usual_device;
	else
		*s = is_quick ? quick : usual;
}

/* Returns -1 to go on, else the exit status. */
static int parse_arguments(int argc, char **argv, struct validate_settings *s)
{
	static const struct option options[] = {
		{"bytes", required_argument, NULL, 'b'},
		{"huge", required_argument, NULL, 'u'},
		{"latencies", required_argument, NULL, 'l'},
		{"rounds", required_argument, NULL, 'r'},
		{"slice", required_argument, NULL, 's'},
		{"target", required_argument, NULL, 't'},
		{"csv", required_argument, NULL, 'c'},
		{"lib", required_argument, NULL, 'i'},
		{"json", no_argument, NULL, 'j'},
		{"compare", no_argument, NULL, 'C'},
		{"device", required_argument, NULL, 'd'},
		{"quick", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int letter, index = 0;

	choose_defaults(argc, argv, s);
	while ((letter = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (letter == 'h') {
			print_help();
			return CLI_OK;
		}
		if (letter == '?')
			return CLI_USAGE;
		if (letter != 'q' && parse_value(letter, optarg, s))
			return cli_bad_value(argv[0], options[index].name, optarg);
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[optind]);
		return CLI_USAGE;
	}
	if (s->device && (s->compare || s->csv || s->json || s->latency_count)) {
		fprintf(stderr,
			"%s: --device goes without --compare, --csv, --json and --latencies\n",
			argv[0]);
		return CLI_USAGE;
	}
	return -1;
}

/* All of one bench's lists are there at once. */
static uint64_t choose_bytes(const struct validate_settings *s)
{
	uint64_t llc = bench_llc_bytes(), least = NVE_MAX(2 * llc, (uint64_t)32 << 20);
	uint64_t bytes = NVE_MAX(8 * llc, (uint64_t)128 << 20);
	uint64_t available = validate_available_bytes();

	while (bytes / 2 >= least && (2 * s->latency_count + 1) * bytes > available / 10 * 9)
		bytes /= 2;
	return bytes;
}

/* The one of NVM_DRAM_LAT, or of a new calibration, which the workers will use: the quick one that
 * a program makes at its start is over a smaller footprint than theirs. */
static int find_dram_latency(struct validate_settings *s)
{
	struct nve_options_message error, warning;
	struct nve_calibration calibration;
	struct nve_options options;
	int err = nve_options_parse(&options, environ, &error, &warning);

	if (err) {
		cli_error("%s", error.text);
		return err;
	}
	s->dram_lat_ns = (double)options.dram_lat_ps / 1000;
	if (options.dram_lat_ps)
		return 0;
	err = cli_renew_calibration(&calibration);
	if (!err)
		s->dram_lat_ns = (double)calibration.dram_lat_ps / 1000;
	return err;
}

static void catch_signals(void)
{
	const struct sigaction ignoring = {.sa_handler = SIG_IGN};

	cli_catch_interrupts();
	sigaction(SIGPIPE, &ignoring, NULL);
}

/* The workloads stand beside the command as it was built. */
static int compare(const struct validate_settings *s)
{
	char self[PATH_MAX];

	if (!realpath("/proc/self/exe", self))
		return CLI_FAILED;
	*strrchr(self, '/') = 0;
	catch_signals();
	return compare_run(s->library, self, s->slice_given ? s->slice_ms : COMPARE_MS);
}

static int run_device(const struct validate_settings *s)
{
	size_t targets = 0, met = 0;
	int err;

	catch_signals();
	err = validate_run_device(s, &targets, &met);
	if (targets)
		printf("validate: %zu of %zu targets met\n", met, targets);
	switch (err) {
	case 0: return targets && met == targets ? CLI_OK : CLI_FAILED;
	case -EINTR: return CLI_INTERRUPTED;
	case -ENOTSUP:
	case -EINVAL:
	case -ERANGE: return CLI_IMPOSSIBLE;
	default: return CLI_FAILED;
	}
}

static int write_csv(const char *path, const struct validate_result *result)
{
	struct cli_output output;
	int err = cli_output_open(&output, path, true), close_err;

	if (err)
		return err;
	err = validate_write_csv(output.stream, result);
	close_err = cli_output_close(&output, !err);
	return err ? err : close_err;
}

static int print_result(const struct validate_settings *s, const struct validate_result *result)
{
	int err = 0;

	if (s->csv)
		err = write_csv(s->csv, result);
	if (s->json)
		return validate_write_json(stdout, s, result) || err ? -EIO : 0;
	validate_print_text(stdout, s, result);
	printf("validate: %zu of %zu targets met\n", result->met, result->targets);
	return err;
}

static int status_of(int err, int print_err, const struct validate_result *result)
{
	if (err == -EINTR)
		return CLI_INTERRUPTED;
	if (err == -ENOTSUP)
		return CLI_IMPOSSIBLE;
	/* No target at all was met by nothing: that is no success. */
	if (err || print_err || !result->targets || result->met < result->targets)
		return CLI_FAILED;
	return CLI_OK;
}

int cli_validate(int argc, char **argv)
{
	static struct validate_result result;
	struct validate_settings s;
	char library[PATH_MAX];
	int err, print_err = 0, status = parse_arguments(argc, argv, &s);

	if (status >= 0)
		return status;
	if (cli_find_library(s.library, library))
		return CLI_IMPOSSIBLE;
	s.library = library;
	if (s.compare)
		return compare(&s);
	if (find_dram_latency(&s))
		return CLI_IMPOSSIBLE;
	if (!s.bytes_given)
		s.bytes = choose_bytes(&s);
	if (s.device)
		return run_device(&s);
	catch_signals();
	err = validate_run_bench(&s, true, &result);
	if (!err)
		err = validate_run_bench(&s, false, &result);
	validate_judge(&result, s.target_percent);
	if (result.small_pages)
		cli_note("huge pages were not to be had for all lists; small ones are slower");
	if (!err || (err == -EINTR && result.targets))
		print_err = print_result(&s, &result);
	return status_of(err, print_err, &result);
}
