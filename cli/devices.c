/* nvmemu devices: presets by name, with the source of each figure, and what they are here. */
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "base/options.h"
#include "base/preset.h"
#include "count/calstore.h"

/* The user's file, and this machine. */
struct devices {
	char path[PATH_MAX], file[NVE_PRESET_FILE_BYTES];
	bool has_file;
	uint64_t dram_lat_ps; /* 0: not known */
};

enum { FIGURE_BYTES = 48, NAME = 13, KEY = 6, FIGURE = 14 };

static void print_help(void)
{
	printf("usage: nvmemu devices [--json] [NAME]\n"
	       "\n"
	       "Lists the devices that --device and NVM_DEVICE take, or one of them: what each "
	       "figure\n"
	       "is and where it comes from, and the latencies that come out on this machine.\n"
	       "\n"
	       "  --json  print JSON instead of text\n"
	       "\n"
	       "Your own devices stand in $XDG_CONFIG_HOME/nvmemu/devices (else\n"
	       "~/.config/nvmemu/devices), one a line; they come before those of the same name:\n"
	       "\n"
	       "  my-cxl  read=x2.5 write=+180ns rbw=20GB/s wbw=40%%   # prototype, our lab\n"
	       "\n"
	       "read and write are 305ns, x2.5 (times this machine's DRAM latency), +80ns (on top "
	       "of\n"
	       "it) or array:120ns (the array of cells alone, in place of DRAM's 13.75 ns); rbw "
	       "and\n"
	       "wbw are 20GB/s or 40%% (of DRAM's). What is not given is as DRAM's. A write-back "
	       "miss\n"
	       "fetches a line first, so writes never take less than reads.\n"
	       "\n"
	       "Exit status: 0, 1 no such device, 2 wrong arguments, 125 a bad value of a variable "
	       "or\n"
	       "in the file.\n");
}

/* As set, or as kept by a calibration; none is made for this. */
static uint64_t find_dram_latency(const struct nve_options *options)
{
	static struct nve_calstore store;
	struct nve_calibration calibration;
	const char *reason;

	if (options->dram_lat_ps)
		return options->dram_lat_ps;
	if (nve_calstore_setup(&store, environ) || nve_calstore_load(&store, &calibration, &reason))
		return 0;
	return calibration.dram_lat_ps;
}

static int set_up(struct devices *d)
{
	struct nve_options_message error, warning;
	struct nve_preset_text text;
	struct nve_options options;
	int err = nve_options_parse(&options, environ, &error, &warning);

	if (!err)
		d->dram_lat_ps = find_dram_latency(&options);
	d->has_file = !err && !nve_preset_path(environ, d->path, sizeof(d->path));
	if (d->has_file)
		err = nve_preset_read(d->path, d->file, &text, &error);
	if (err)
		cli_error("%s", error.text);
	return err;
}

static double nanoseconds(uint64_t ps)
{
	return (double)ps / 1e3;
}

static void print_latency(const char *name, uint64_t ps, uint64_t dram_lat_ps)
{
	if (!ps)
		printf("%s as DRAM", name);
	else
		printf("%s %.1f ns%s", name, nanoseconds(ps),
		       ps < dram_lat_ps ? " (below DRAM's: not to be emulated)" : "");
}

static void print_here(const struct devices *d, const struct nve_preset *p)
{
	uint64_t rlat_ps, wlat_ps;

	if (!d->dram_lat_ps)
		return;
	nve_preset_latencies(p, d->dram_lat_ps, &rlat_ps, &wlat_ps);
	printf("  %-*s ", KEY, "here");
	print_latency("read", rlat_ps, d->dram_lat_ps);
	print_latency(", write", wlat_ps, d->dram_lat_ps);
	printf("; DRAM %.1f ns\n", nanoseconds(d->dram_lat_ps));
}

static void print_device(const struct devices *d, const struct nve_preset *p)
{
	printf("%-*s %s\n", NAME, p->name, p->about);
	for (size_t i = 0; i < NVE_PRESET_KEYS; i++) {
		const struct nve_preset_figure *f = &p->figure[i];
		char text[FIGURE_BYTES];

		if (f->kind == NVE_PRESET_NONE)
			continue;
		nve_preset_format(f, text, sizeof(text));
		printf("  %-*s %-*s ", KEY, nve_preset_key_name(i), FIGURE, text);
		if (f->source)
			printf("%s\n", f->source);
		else
			printf("%s:%u\n", d->path, p->line);
	}
	print_here(d, p);
}

static void json_device(struct nve_json *j, const struct devices *d, const struct nve_preset *p)
{
	uint64_t rlat_ps, wlat_ps;

	nve_json_object(j, NULL);
	nve_json_string(j, "name", p->name);
	nve_json_string(j, "about", p->about);
	nve_json_string(j, "file", p->line ? d->path : NULL);
	for (size_t i = 0; i < NVE_PRESET_KEYS; i++) {
		const struct nve_preset_figure *f = &p->figure[i];
		char text[FIGURE_BYTES];

		nve_preset_format(f, text, sizeof(text));
		if (f->kind == NVE_PRESET_NONE) {
			nve_json_null(j, nve_preset_key_name(i));
			continue;
		}
		nve_json_object(j, nve_preset_key_name(i));
		nve_json_string(j, "figure", text);
		nve_json_string(j, "source", f->source);
		nve_json_close(j);
	}
	nve_preset_latencies(p, d->dram_lat_ps, &rlat_ps, &wlat_ps);
	if (d->dram_lat_ps) {
		nve_json_decimal(j, "read_ns", (int64_t)rlat_ps, 3);
		nve_json_decimal(j, "write_ns", (int64_t)wlat_ps, 3);
	}
	nve_json_close(j);
}

/* A device of the file hides one that is built in. */
static bool is_hidden(struct devices *d, const char *name)
{
	struct nve_preset_text text = {.path = d->path, .at = d->file};
	struct nve_options_message error;
	struct nve_preset preset;

	while (d->has_file && nve_preset_next(&text, &preset, &error) > 0)
		if (!strcmp(preset.name, name))
			return true;
	return false;
}

static void visit(struct nve_json *j, struct devices *d, const struct nve_preset *p)
{
	if (j)
		json_device(j, d, p);
	else
		print_device(d, p);
}

/* j: NULL for text. 0, or -EINVAL after a message. */
static int visit_all(struct nve_json *j, struct devices *d)
{
	struct nve_preset_text text = {.path = d->path, .at = d->file};
	struct nve_options_message error;
	const struct nve_preset *builtin;
	struct nve_preset preset;
	int more = 0;

	for (size_t i = 0; (builtin = nve_preset_builtin(i)); i++)
		if (!is_hidden(d, builtin->name))
			visit(j, d, builtin);
	while (d->has_file && (more = nve_preset_next(&text, &preset, &error)) > 0)
		visit(j, d, &preset);
	if (more < 0)
		cli_error("%s", error.text);
	return more;
}

/* A wrong file is told before anything is printed. */
static int check_file(struct devices *d)
{
	struct nve_preset_text text = {.path = d->path, .at = d->file};
	struct nve_options_message error;
	struct nve_preset preset;
	int more = d->has_file;

	while (more > 0)
		more = nve_preset_next(&text, &preset, &error);
	if (more < 0)
		cli_error("%s", error.text);
	return more;
}

static int visit_one(struct nve_json *j, struct devices *d, const char *name)
{
	struct nve_preset_text text = {.path = d->path, .at = d->file};
	struct nve_options_message error;
	struct nve_preset preset;
	int err = nve_preset_find(name, d->has_file ? &text : NULL, &preset, &error);

	if (err)
		cli_error("%s", error.text);
	else
		visit(j, d, &preset);
	return err;
}

static int list_json(struct devices *d, const char *name)
{
	const struct nve_report_sink sink = cli_stream_sink(stdout);
	struct nve_json j;
	int err;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", "nvmemu-devices");
	nve_json_uint(&j, "version", 1);
	if (d->dram_lat_ps)
		nve_json_decimal(&j, "dram_lat_ns", (int64_t)d->dram_lat_ps, 3);
	else
		nve_json_null(&j, "dram_lat_ns");
	nve_json_array(&j, "devices");
	err = name ? visit_one(&j, d, name) : visit_all(&j, d);
	if (err)
		return err;
	nve_json_close(&j);
	nve_json_close(&j);
	return nve_json_finish(&j);
}

static int status_of(int err)
{
	if (!err)
		return CLI_OK;
	return err == -EINVAL ? CLI_IMPOSSIBLE : CLI_FAILED;
}

int cli_devices(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static struct devices devices;
	const char *name;
	bool json = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'j': json = true; break;
		case 'h': print_help(); return CLI_OK;
		default: return CLI_USAGE;
		}
	}
	name = optind < argc ? argv[optind++] : NULL;
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[optind]);
		return CLI_USAGE;
	}
	if (set_up(&devices) || check_file(&devices))
		return CLI_IMPOSSIBLE;
	if (json)
		return status_of(list_json(&devices, name));
	return status_of(name ? visit_one(NULL, &devices, name) : visit_all(NULL, &devices));
}
