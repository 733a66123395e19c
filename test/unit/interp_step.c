/*
 * The interpreter against the processor, over real programs: registers, flags, addresses and memory
 * after every instruction of windows taken at random moments.
 *
 * With arguments: interp_step [-a] WINDOWS LIMIT PROGRAM [ARGUMENT...] does the same to any program
 * (-a: interpret only, for the length of windows).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lockstep.h"

#define WINDOW_LIMIT 1000u

struct job {
	char *const *argv;
	char *const *env;
	unsigned windows;
	uint32_t limit;
	bool ahead_only;
};

static int one_window(struct tracee *t, const struct job *job, struct lockstep_totals *totals)
{
	if (job->ahead_only) {
		lockstep_ahead(t, job->limit, totals);
		return 0;
	}
	return lockstep_window(t, job->limit, totals);
}

/* A signal that interrupted a system call leaves registers that the kernel will still change. */
static bool is_after_syscall(struct tracee *t)
{
	struct nve_cpu cpu;
	uint8_t code[2];

	tracee_get(t, &cpu);
	return !tracee_read_now(t, cpu.rip - 2, code, 2) && code[0] == 0x0f && code[1] == 0x05;
}

/* Windows at random moments of one life of the program. -ECHILD when it has ended. */
static int follow(struct tracee *t, const struct job *job, struct lockstep_totals *totals)
{
	while (totals->windows < job->windows) {
		int err = tracee_run(t, (unsigned)(rand() % 3000));

		if (!err && is_after_syscall(t))
			continue;
		if (!err)
			err = one_window(t, job, totals);
		if (err && err != -EINTR)
			return err;
	}
	return 0;
}

static int run_job(const struct job *job, struct lockstep_totals *totals)
{
	int err = -ECHILD;

	for (unsigned lives = 0; err == -ECHILD && lives < job->windows; lives++) {
		static struct tracee t;

		err = tracee_start(&t, job->argv, job->env);
		if (err)
			return err;
		err = follow(&t, job, totals);
		tracee_kill(&t);
	}
	return err == -ECHILD ? 0 : err;
}

static void check(const char *name, char *const argv[], unsigned windows)
{
	char *env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	struct job job = {argv, env, windows, WINDOW_LIMIT, false};
	struct lockstep_totals totals = {0};

	if (access(argv[0], X_OK))
		skip();
	assert_int_equal(run_job(&job, &totals), 0);
	lockstep_print(name, &totals);
	assert_int_equal(totals.mismatches, 0);
	assert_true(totals.compared > 0);
}

static void perl(void **state)
{
	char *argv[] = {"/usr/bin/perl", "-e",
			"for (1..3e6) { $h{$_ % 1000} .= chr(65 + $_ % 26); $s += length($h{7}) / 3;"
			" @a = sort map { $_ * 7 % 11 } 1..20 if $_ % 50 == 0; $s =~ s/0+$// }",
			NULL};
	(void)state;
	check("perl", argv, 60);
}

static int setup(void **state)
{
	(void)state;
	srand(20);
	nve_interp_setup();
	return lockstep_init();
}

static bool is_ptrace_allowed(void)
{
	static struct tracee t;
	char *argv[] = {"/bin/true", NULL}, *env[] = {NULL};
	int err = tracee_start(&t, argv, env);

	tracee_kill(&t);
	return !err;
}

static int by_hand(int argc, char **argv)
{
	bool ahead = argc > 1 && !strcmp(argv[1], "-a");
	char **arg = argv + 1 + ahead;
	struct lockstep_totals totals = {0};
	extern char **environ;

	if (argc - ahead < 4)
		return 2;
	struct job job = {arg + 2, environ, (unsigned)atoi(arg[0]), (uint32_t)atoi(arg[1]), ahead};
	int err;

	if (setup(NULL))
		return 2;
	err = run_job(&job, &totals);
	lockstep_print(arg[2], &totals);
	return err != 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perl),
	};

	if (!is_ptrace_allowed())
		return 77;
	if (argc > 1)
		return by_hand(argc, argv);
	return cmocka_run_group_tests(tests, setup, NULL);
}
