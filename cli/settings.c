#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "cli.h"

enum { NAME_BYTES = 32, ROWS = 64, COLUMN = 22, WIDTH = 78 };

static char names[ROWS][NAME_BYTES];

/* "NVM_DRAM_LAT" as "dram-lat" */
static const char *name_of(size_t i)
{
	const char *variable = nve_options_row(i)->name + strlen("NVM_");
	char *name = names[i];

	snprintf(name, NAME_BYTES, "%s", variable);
	for (; *name; name++)
		*name = *name == '_' ? '-' : (char)tolower((unsigned char)*name);
	return names[i];
}

static size_t count_rows(void)
{
	size_t n = 0;

	while (nve_options_row(n) && n < ROWS)
		n++;
	return n;
}

struct option *cli_settings_options(const struct option *own, size_t count)
{
	size_t rows = count_rows();
	struct option *all = calloc(count + rows + 1, sizeof(*all));

	if (!all)
		return NULL;
	memcpy(all, own, count * sizeof(*own));
	for (size_t i = 0; i < rows; i++)
		all[count + i] = (struct option){
			.name = name_of(i),
			.has_arg = nve_options_is_switch(i) ? optional_argument : required_argument,
			.val = CLI_SETTINGS_LETTER + (int)i,
		};
	return all;
}

int cli_settings_take(int letter, const char *value)
{
	const struct nve_option_row *row = nve_options_row((size_t)(letter - CLI_SETTINGS_LETTER));
	int err;

	if (!setenv(row->name, value ? value : "on", 1))
		return 0;
	err = -errno;
	cli_error("cannot set %s: %s", row->name, strerror(-err));
	return err;
}

/* Words of text, in lines that begin at the column. */
static void print_words(FILE *out, const char *text)
{
	int at = COLUMN;

	while (*text) {
		int length = (int)strcspn(text, " ");

		if (at > COLUMN && at + 1 + length > WIDTH) {
			fprintf(out, "\n%*s", COLUMN, "");
			at = COLUMN;
		}
		at += fprintf(out, "%s%.*s", at > COLUMN ? " " : "", length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void cli_settings_print_help(FILE *out)
{
	for (size_t i = 0; i < count_rows(); i++) {
		const struct nve_option_row *row = nve_options_row(i);
		char text[512];
		int used = fprintf(out, "  --%s%s", name_of(i),
				   nve_options_is_switch(i) ? "[=on]" : " ...");

		fprintf(out, used < COLUMN ? "%*s" : "\n%*s",
			used < COLUMN ? COLUMN - used : COLUMN, "");
		snprintf(text, sizeof(text), "%s (%s); %s", row->help, row->fallback, row->form);
		print_words(out, text);
	}
}
