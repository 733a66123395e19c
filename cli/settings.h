/* The library's variables as options of a command line: NVM_DRAM_LAT as --dram-lat. One option for
 * each row of the table of variables; what a row takes, checks and means stands there alone. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

enum { CLI_SETTINGS_LETTER = 0x1000 }; /* option values from here on are rows */

/*
 * Options for getopt_long: those of the command (count of them, without an end), then one for each
 * variable. To be freed; NULL: no memory.
 */
struct option *cli_settings_options(const struct option *own, size_t count);

/* Puts the option's value into this command's environment, as the variable's. value: NULL stands
 * for "on". 0, or -errno after a message. */
int cli_settings_take(int letter, const char *value);

/* The options as lines of a help text. */
void cli_settings_print_help(FILE *out);

#endif
