/* The command nvmemu: what its files share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/json.h"

enum cli_status {
	CLI_OK = 0,
	CLI_FAILED = 1,       /* it ran, and the answer is no; or the machine failed it */
	CLI_USAGE = 2,        /* wrong arguments */
	CLI_IMPOSSIBLE = 125, /* a bad NVM_ value, or emulation is impossible here */
	CLI_INTERRUPTED = 130,
};

/* Subcommands: each gets its own arguments, argv[0] being "nvmemu NAME". They return a status. */
int cli_env(int argc, char **argv);
int cli_calibrate(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_devices(int argc, char **argv);
int cli_predict(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_sweep(int argc, char **argv);
int cli_heat(int argc, char **argv);
int cli_validate(int argc, char **argv);

struct nve_calibration;
struct nve_calstore;

/* Measures this machine, without a message: 0 or -errno. *keep_error: 0, or why the figures could
 * not be kept. */
int cli_measure_calibration(struct nve_calstore *store, struct nve_calibration *calibration,
			    int *keep_error);

/* libpfm4, for events that a user names; NULL where the command is built without. */
struct nve_pfm;
const struct nve_pfm *cli_load_pfm(void);

/* Measures this machine and keeps the figures. 0 or -errno after a message. */
int cli_renew_calibration(struct nve_calibration *calibration);

/* A process that validate starts of this same binary; not for users. */
#define CLI_WORKER_NAME "--validate-worker"
int cli_worker_main(int argc, char **argv);

/* From here on SIGINT, SIGTERM and SIGHUP set the flag: every wait then ends with -EINTR. */
void cli_catch_interrupts(void);
extern volatile sig_atomic_t cli_interrupted;

/* One line on stderr: "nvmemu: error: text". */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A sink for reports that writes to a stdio stream. */
struct nve_report_sink cli_stream_sink(FILE *stream);

/* Numbers of command lines. Return 0, or -errno when text is not one or is out of range. */
int cli_parse_bytes(const char *text, uint64_t *bytes); /* 4096, 8M, 1G */
int cli_parse_uint(const char *text, uint64_t least, uint64_t most, uint64_t *value);
int cli_parse_positive(const char *text, double *value);
int cli_parse_switch(const char *text, bool *on);

/* "200,300,400": ascending or not; at least one, at most most. */
int cli_parse_list(const char *text, uint64_t *values, size_t most, size_t *count);

/* The option of a getopt_long loop whose value is wrong, or was not understood. Returns CLI_USAGE.
 */
int cli_bad_value(const char *command, const char *option, const char *value);

#endif
