/* nvmemu env: the table of variables, with the values that the environment gives them. */
#include "cli.h"

#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"

static void print_help(void)
{
	printf("usage: nvmemu env [--markdown]\n"
	       "\n"
	       "Lists the variables that the library reads: the value in force, whether it is the\n"
	       "default or the environment's, and what it means.\n"
	       "\n"
	       "  --markdown  name, default and meaning as rows of a Markdown table\n"
	       "\n"
	       "Exit status: 0, or 125 when a variable has a bad value.\n");
}

static bool is_set(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			return true;
	return false;
}

static void print_markdown(void)
{
	const struct nve_option_row *row;

	printf("| variable | default | meaning |\n| --- | --- | --- |\n");
	for (size_t i = 0; (row = nve_options_row(i)); i++)
		printf("| %s | %s | %s |\n", row->name, row->fallback, row->help);
}

static void print_values(const struct nve_options *o)
{
	const struct nve_option_row *row;
	char value[NVE_PATH_BYTES];

	printf("%-14s %-14s %-11s %s\n", "variable", "value", "from", "meaning");
	for (size_t i = 0; (row = nve_options_row(i)); i++) {
		nve_options_format(o, i, value, sizeof(value));
		printf("%-14s %-14s %-11s %s\n", row->name, *value ? value : "-",
		       is_set(row->name) ? "environment" : "default", row->help);
	}
}

int cli_env(int argc, char **argv)
{
	static const struct option options[] = {
		{"markdown", no_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct nve_options_message error, warning;
	struct nve_options o;
	bool markdown = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (letter) {
		case 'm': markdown = true; break;
		case 'h': print_help(); return CLI_OK;
		default: return CLI_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: unexpected argument '%s'\n", argv[0], argv[optind]);
		return CLI_USAGE;
	}
	if (markdown) {
		print_markdown();
		return CLI_OK;
	}
	if (nve_options_parse(&o, environ, &error, &warning)) {
		cli_error("%s", error.text);
		return CLI_IMPOSSIBLE;
	}
	if (*warning.text)
		fprintf(stderr, "nvmemu: warning: %s\n", warning.text);
	print_values(&o);
	return CLI_OK;
}
