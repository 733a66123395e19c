#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

static void print_line(const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "nvmemu: %s: ", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void cli_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("error", format, args);
	va_end(args);
}

void cli_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line("note", format, args);
	va_end(args);
}

volatile sig_atomic_t cli_interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	cli_interrupted = 1;
}

void cli_catch_interrupts(void)
{
	/* Without SA_RESTART: a wait ends at once. */
	const struct sigaction catching = {.sa_handler = note_interrupt};
	struct sigaction before;

	sigaction(SIGINT, &catching, NULL);
	sigaction(SIGTERM, &catching, NULL);
	/* nohup has it ignored. */
	sigaction(SIGHUP, NULL, &before);
	if (before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &catching, NULL);
}

static int write_stream(void *ctx, const void *data, size_t size)
{
	return fwrite(data, 1, size, ctx) == size ? 0 : -EIO;
}

struct nve_report_sink cli_stream_sink(FILE *stream)
{
	return (struct nve_report_sink){.write = write_stream, .ctx = stream};
}

int cli_parse_bytes(const char *text, uint64_t *bytes)
{
	static const struct nve_unit units[] = {
		{"", 1},
		{"K", (uint64_t)1 << 10},
		{"M", (uint64_t)1 << 20},
		{"G", (uint64_t)1 << 30},
		{NULL, 0},
	};

	return nve_quantity_parse(text, units, bytes);
}

int cli_parse_uint(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	static const struct nve_unit units[] = {{"", 1}, {NULL, 0}};
	uint64_t n;
	int err = nve_quantity_parse(text, units, &n);

	if (err)
		return err;
	if (n < least || n > most)
		return -ERANGE;
	*value = n;
	return 0;
}

int cli_parse_positive(const char *text, double *value)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !isfinite(n) || n <= 0)
		return -EINVAL;
	*value = n;
	return 0;
}

int cli_parse_switch(const char *text, bool *on)
{
	bool yes = !strcmp(text, "on");

	if (!yes && strcmp(text, "off"))
		return -EINVAL;
	*on = yes;
	return 0;
}

int cli_parse_list(const char *text, uint64_t *values, size_t most, size_t *count)
{
	size_t n = 0;

	while (n < most) {
		char item[24];
		size_t length = strcspn(text, ",");

		if (length >= sizeof(item))
			return -EINVAL;
		memcpy(item, text, length);
		item[length] = 0;
		if (cli_parse_uint(item, 1, 1000000, &values[n++]))
			return -EINVAL;
		if (!text[length]) {
			*count = n;
			return 0;
		}
		text += length + 1;
	}
	return -E2BIG;
}

int cli_bad_value(const char *command, const char *option, const char *value)
{
	fprintf(stderr, "%s: bad value '%s' of --%s\nTry '%s --help'.\n", command, value, option,
		command);
	return CLI_USAGE;
}
