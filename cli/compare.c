#include "compare.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli.h"
#include "worker.h"

enum {
	TRIES = 5,
	KERNELS_MAX = 128,
	NAME_BYTES = 64,
	REPORT_BYTES = 8 << 20,
	LIST_BYTES = 1 << 16
};

/* Number of the first key after a section's head, in a report of our own writing. */
static int find_number(const char *report, const char *section, const char *key, uint64_t *value)
{
	char pattern[64];
	const char *at;

	snprintf(pattern, sizeof(pattern), "\"%s\": {", section);
	at = strstr(report, pattern);
	snprintf(pattern, sizeof(pattern), "\"%s\": ", key);
	at = at ? strstr(at, pattern) : NULL;
	if (!at)
		return -EBADMSG;
	*value = strtoull(at + strlen(pattern), NULL, 10);
	return 0;
}

int compare_parse(const char *report, struct compare_figures *f)
{
	struct compare_figures read = {0};
	int rc = find_number(report, "totals", "cpu_ns", &read.cpu_ns);

	if (!rc)
		rc = find_number(report, "totals", "stall_ns", &read.stall_ns);
	if (!rc)
		rc = find_number(report, "totals", "stall_wb_ns", &read.stall_wb_ns);
	if (!rc)
		rc = find_number(report, "counters", "ahead_stall_ns", &read.ahead_stall_ns);
	if (!rc)
		rc = find_number(report, "counters", "ahead_stall_wb_ns", &read.ahead_stall_wb_ns);
	if (!rc)
		rc = find_number(report, "counters", "epochs", &read.counted_epochs);
	if (rc)
		return rc;
	read.dirty_counted = strstr(report, "\"dirty_fraction\": \"socket-wide counters\"") != NULL;
	*f = read;
	return 0;
}

static void set_environment(const char *library, const char *out)
{
	setenv("LD_PRELOAD", library, 1);
	setenv("NVM_COUNTERS", "pmu", 1);
	setenv("NVM_STRICT", "on", 1);
	setenv("NVM_INJECT", "off", 1);
	setenv("NVM_RLAT", "1ms", 1);
	setenv("NVM_OUT", out, 1);
	unsetenv("NVM_WLAT");
}

/* Runs a program; its output goes to /dev/null or, with out_fd, there. Returns its exit status, or
 * -1. library: it runs under it. */
static int run(char *const argv[], const char *library, const char *report, int out_fd)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (library)
			set_environment(library, report);
		if (out_fd < 0 ? !freopen("/dev/null", "w", stdout) : dup2(out_fd, 1) < 0)
			_exit(CLI_FAILED);
		execv(argv[0], argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* "name" of each line whose stall time is known. Returns how many. */
static size_t parse_kernels(char *list, char names[KERNELS_MAX][NAME_BYTES])
{
	static const char key[] = "\"name\": \"";
	size_t n = 0;

	for (char *line = strtok(list, "\n"); line && n < KERNELS_MAX; line = strtok(NULL, "\n")) {
		const char *name = strstr(line, key);

		if (!name || strstr(line, "\"stall_origin\": \"none\""))
			continue;
		name += strlen(key);
		snprintf(names[n++], NAME_BYTES, "%.*s", (int)strcspn(name, "\""), name);
	}
	return n;
}

static size_t list_kernels(const char *workload, char names[KERNELS_MAX][NAME_BYTES])
{
	char *const argv[] = {(char *)workload, "--list-json", NULL};
	static char list[LIST_BYTES];
	FILE *file = tmpfile();
	size_t n = 0;

	if (!file)
		return 0;
	if (!run(argv, NULL, NULL, fileno(file))) {
		rewind(file);
		list[fread(list, 1, sizeof(list) - 1, file)] = '\0';
		n = parse_kernels(list, names);
	}
	fclose(file);
	return n;
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static void print_pair(double counted, double looked)
{
	if (isnan(counted) || isnan(looked))
		printf("  %8s  %10s  %6s", "-", "-", "-");
	else
		printf("  %8.3f  %10.3f  %+6.3f", counted, looked, looked - counted);
}

/* Returns the absolute difference of the stall shares. */
static double print_row(const char *name, const struct compare_figures *f)
{
	double counted = ratio(f->stall_ns, f->cpu_ns),
	       looked = ratio(f->ahead_stall_ns, f->cpu_ns);
	double dirty = f->dirty_counted ? ratio(f->stall_wb_ns, f->stall_ns) : NAN;

	printf("%-17s", name);
	print_pair(counted, looked);
	print_pair(dirty, ratio(f->ahead_stall_wb_ns, f->ahead_stall_ns));
	printf("\n");
	fflush(stdout);
	return fabs(looked - counted);
}

static int measure_once(const char *library, char *const argv[], const char *report,
			struct compare_figures *f)
{
	static char text[REPORT_BYTES];
	size_t length;
	int rc;

	unlink(report);
	rc = run(argv, library, report, -1);
	if (rc == CLI_IMPOSSIBLE)
		return -ENOTSUP;
	if (rc)
		return -EIO;
	rc = nve_file_read(report, text, sizeof(text), &length);
	return rc ? rc : compare_parse(text, f);
}

/* On a busy machine a short run may be over before its monitor has read any counter. */
static int measure(const char *library, char *const argv[], const char *report,
		   struct compare_figures *f)
{
	for (int i = 0; i < TRIES; i++) {
		int rc = measure_once(library, argv, report, f);

		if (rc || f->counted_epochs)
			return rc;
	}
	return -ENODATA;
}

static int compare_all(const char *library, const char *workload, const char *report,
		       uint64_t slice_ms)
{
	static char names[KERNELS_MAX][NAME_BYTES];
	size_t n = list_kernels(workload, names);
	char seconds[32];
	double sum = 0;
	int rc = n ? 0 : -ENOENT;

	snprintf(seconds, sizeof(seconds), "%.3f", (double)slice_ms / 1000);
	for (size_t i = 0; !rc && i < n && !cli_interrupted; i++) {
		char *const argv[] = {(char *)workload, names[i], "--seconds", seconds, NULL};
		struct compare_figures f;

		rc = measure(library, argv, report, &f);
		if (!rc && i == 0)
			printf("%-17s  %8s  %10s  %6s  %8s  %10s  %6s\n", "kernel",
			       "stall:", "look-ahead", "diff", "dirty:", "look-ahead", "diff");
		if (!rc)
			sum += print_row(names[i], &f);
	}
	if (!rc && !cli_interrupted)
		printf("compare: look-ahead's stall share is off by %.3f on average over %zu "
		       "workloads\n",
		       sum / (double)n, n);
	return rc ? rc : cli_interrupted ? -EINTR : 0;
}

int compare_run(const char *library, const char *directory, uint64_t slice_ms)
{
	char workload[PATH_MAX], folder[] = "/tmp/nvmemu-compare-XXXXXX", report[64];
	int rc;

	snprintf(workload, sizeof(workload), "%s/nvmemu-workload", directory);
	if (access(workload, X_OK)) {
		cli_error("no %s: it is built with the benchmarks (NVMEMU_BENCH)", workload);
		return CLI_FAILED;
	}
	if (!mkdtemp(folder)) {
		cli_error("no directory in /tmp: %m");
		return CLI_FAILED;
	}
	snprintf(report, sizeof(report), "%s/report", folder);
	rc = compare_all(library, workload, report, slice_ms);
	unlink(report);
	rmdir(folder);
	if (rc == -EINTR)
		return CLI_INTERRUPTED;
	/* The library has said which piece is missing. */
	if (rc == -ENOTSUP)
		return CLI_IMPOSSIBLE;
	if (rc)
		cli_error("the workloads could not be compared: %s", strerror(-rc));
	return rc ? CLI_FAILED : CLI_OK;
}
