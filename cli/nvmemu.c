/* The command nvmemu: finds the subcommand and starts it. */
#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

static const struct {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"calibrate", "measure this machine's memory and core anew", cli_calibrate},
	{"devices", "list devices that can be emulated by name, with sources", cli_devices},
	{"doctor", "tell whether this machine can emulate, and what from", cli_doctor},
	{"env", "list the variables, their values in force and their meaning", cli_env},
	{"heat", "tell on whose memory the stall time of a run fell", cli_heat},
	{"predict", "tell the run time at other latencies, from one recorded run", cli_predict},
	{"report", "show reports, merge them, turn them into other forms", cli_report},
	{"run", "run a program emulated, with checks before and a summary after", cli_run},
	{"sweep", "run a program at many latencies, and compare with native runs", cli_sweep},
	{"validate", "compare configured with measured latencies on this machine", cli_validate},
};

static void print_help(void)
{
	printf("usage: nvmemu COMMAND [OPTION]...\n"
	       "\n"
	       "Emulates slower memory under unmodified programs. A program runs emulated by\n"
	       "  LD_PRELOAD=libnvmemu.so NVM_WLAT=300 program\n"
	       "\n"
	       "Commands:\n");
	for (size_t i = 0; i < NVE_ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].summary);
	printf("\n"
	       "'nvmemu COMMAND --help' tells the options of one; 'nvmemu --version' the version.\n"
	       "Exit status: 0 success, 1 failure, 2 wrong arguments, 125 a bad value of a "
	       "variable,\n"
	       "or emulation is impossible here.\n");
}

static int run_command(int argc, char **argv)
{
	char name[32];

	for (size_t i = 0; i < NVE_ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "nvmemu %s", commands[i].name);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "nvmemu: no command '%s'\nTry 'nvmemu --help'.\n", argv[1]);
	return CLI_USAGE;
}

static int dispatch(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "nvmemu: which command?\nTry 'nvmemu --help'.\n");
		return CLI_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return CLI_OK;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("nvmemu %s\n", NVMEMU_VERSION);
		return CLI_OK;
	}
	if (!strcmp(argv[1], CLI_WORKER_NAME))
		return cli_worker_main(argc - 1, argv + 1);
	return run_command(argc, argv);
}

/*
 * Where one of the three is closed, no file of ours may take its place: messages would go into it.
 * What stands there fails as a closed one does, and is closed again for programs that are started.
 */
static void guard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_CLOEXEC | O_PATH);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	int status;

	guard_descriptors();
	status = dispatch(argc, argv);

	/* Output that did not reach its file is a failure, however well the command did. */
	if (fflush(stdout) || ferror(stdout)) {
		cli_error("cannot write to the standard output: %m");
		return status ? status : CLI_FAILED;
	}
	return status;
}
