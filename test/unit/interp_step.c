/*
 * The interpreter against the processor, over real programs: registers, flags, addresses and memory
 * after every instruction of windows taken at random moments.
 *
 * With arguments: interp_step [-a] WINDOWS LIMIT PROGRAM [ARGUMENT...] does the same to any program
 * (-a: interpret only, for the length of windows).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep.h"
#include "string_calls.h"
#include "unit.h"

#define COMPARED_WINDOWS 120u
#define COMPARED_LIMIT   1000u
#define MEASURED_WINDOWS 200u
#define MEASURED_LIMIT   1200u
#define ASLEEP_MOST      1000u

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

/* Windows at random moments of one life of the program. -ECHILD when it has ended, -EAGAIN when it
 * does nothing. */
static int follow(struct tracee *t, const struct job *job, struct lockstep_totals *totals)
{
	unsigned asleep = 0;

	while (totals->windows < job->windows) {
		int err = tracee_run(t, (unsigned)(rand() % 3000));

		if (!err && is_after_syscall(t)) {
			if (asleep++ > ASLEEP_MOST)
				return -EAGAIN;
			continue;
		}
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

static struct lockstep_totals run_or_skip(const char *name, const struct job *job)
{
	struct lockstep_totals totals = {0};

	if (access(job->argv[0], X_OK))
		skip();
	assert_int_equal(run_job(job, &totals), 0);
	lockstep_print(name, &totals);
	return totals;
}

/* Every instruction of the windows must leave what the processor leaves. */
static void compare(const char *name, char *const argv[], char *const env[])
{
	struct job job = {argv, env, COMPARED_WINDOWS, COMPARED_LIMIT, false};
	struct lockstep_totals totals = run_or_skip(name, &job);

	assert_int_equal(totals.mismatches, 0);
	assert_true(totals.compared > (uint64_t)COMPARED_WINDOWS * COMPARED_LIMIT / 4);
	assert_true(totals.known_registers * 100 > totals.all_registers * 95);
}

/* Windows must reach four fifths of their limit. */
static void measure(const char *name, char *const argv[])
{
	char *env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};
	struct job job = {argv, env, MEASURED_WINDOWS, MEASURED_LIMIT, true};
	struct lockstep_totals totals = run_or_skip(name, &job);

	assert_true(totals.steps * 5 >= (uint64_t)MEASURED_WINDOWS * MEASURED_LIMIT * 4);
}

static void compare_and_measure(const char *name, char *const argv[])
{
	char *env[] = {"PATH=/usr/bin:/bin", "LC_ALL=C", NULL};

	compare(name, argv, env);
	measure(name, argv);
}

static void python(void **state)
{
	char *argv[] = {
		"/usr/bin/python3", "-c",
		"import json, re\nd = {}\n"
		"for i in range(10**7):\n"
		"  d[str(i % 977)] = d.get(str(i % 977), 0) + i * 0.5\n"
		"  if i % 500 == 0: json.loads(json.dumps(d)); re.sub('[1-3]+', 'x', str(d))\n",
		NULL};

	(void)state;
	compare_and_measure("python3", argv);
}

static void sqlite(void **state)
{
	char *argv[] = {
		"/usr/bin/sqlite3", ":memory:",
		"create table t(a, b, c); create index i on t(b);"
		"with recursive n(x) as (select 1 union all select x + 1 from n where x < 500000)"
		" insert into t select x, hex(x * 7919 % 10007), x / 3.0 from n;"
		"select b, count(*), sum(c), max(a) from t where b like '3%' group by b order by "
		"3;",
		NULL};

	(void)state;
	compare_and_measure("sqlite3", argv);
}

static void perl(void **state)
{
	char *argv[] = {
		"/usr/bin/perl", "-e",
		"for (1..1e8) { $h{$_ % 1000} .= chr(65 + $_ % 26); $s += length($h{7}) / 3;"
		" @a = sort map { $_ * 7 % 11 } 1..20 if $_ % 50 == 0; $s =~ s/0+$// }",
		NULL};

	(void)state;
	compare_and_measure("perl", argv);
}

/* The compiler proper, on one of this project's sources. */
static void compiler(void **state)
{
	static char cc1[4096];
	char *argv[] = {cc1,         "-quiet",        "-O2",       "-o",
			"/dev/null", "-D_GNU_SOURCE", SOURCE_FILE, NULL};
	FILE *pipe = popen("gcc -print-prog-name=cc1 2>/dev/null", "r");

	(void)state;
	if (!pipe || !fgets(cc1, sizeof(cc1), pipe))
		cc1[0] = 0;
	if (pipe)
		pclose(pipe);
	cc1[strcspn(cc1, "\n")] = 0;
	compare_and_measure("cc1", argv);
}

/* Clients of a server that listens at the socket, until killed. */
static pid_t start_clients(char *socket)
{
	char *argv[] = {"/usr/bin/redis-benchmark",
			"-q",
			"-s",
			socket,
			"-n",
			"100000000",
			"-r",
			"100000",
			"-t",
			"set,get,zadd",
			NULL};
	pid_t pid = fork();

	if (pid)
		return pid;
	while (access(socket, F_OK))
		usleep(1000);
	if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
		execv(argv[0], argv);
	_exit(127);
}

static void stop_clients(pid_t pid, const char *socket)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(socket);
}

static void redis(void **state)
{
	static char socket[64];
	char *argv[] = {"/usr/bin/redis-server", "--port", "0", "--save", "",
			"--unixsocket",          socket,   NULL};

	(void)state;
	if (access(argv[0], X_OK) || access("/usr/bin/redis-benchmark", X_OK))
		skip();
	snprintf(socket, sizeof(socket), "/tmp/nvmemu-step-%d.sock", (int)getpid());
	pid_t clients = start_clients(socket);
	struct job compared = {argv, environ, COMPARED_WINDOWS, COMPARED_LIMIT, false};
	struct job measured = {argv, environ, MEASURED_WINDOWS, MEASURED_LIMIT, true};
	struct lockstep_totals stepped = {0}, ahead = {0};
	int err = run_job(&compared, &stepped);

	stop_clients(clients, socket);
	clients = start_clients(socket);
	if (!err || err == -EAGAIN)
		err = run_job(&measured, &ahead);
	stop_clients(clients, socket);
	lockstep_print("redis-server", &stepped);
	lockstep_print("redis-server", &ahead);
	assert_true(!err || err == -EAGAIN);
	assert_int_equal(stepped.mismatches, 0);
	assert_true(stepped.compared > 0 && ahead.windows > 0);
	/* Its windows are as long as its way to the next system call. */
	assert_true((ahead.stops[NVE_STOP_LIMIT] + ahead.stops[NVE_STOP_SYSCALL]) * 10 >=
		    ahead.windows * 9);
}

static void sort(void **state)
{
	char *argv[] = {"/usr/bin/sort", "--parallel=1",  "-r", "/usr/bin/perl",
			"/usr/bin/perl", "/usr/bin/perl", NULL};
	char *env[] = {"LC_ALL=C.UTF-8", NULL};

	(void)state;
	compare("sort", argv, env);
}

static void gzip(void **state)
{
	char *argv[] = {"/usr/bin/gzip", "-9", "-c", "/usr/bin/perl", NULL}, *env[] = {NULL};

	(void)state;
	compare("gzip", argv, env);
}

static void awk(void **state)
{
	char *argv[] =
		{"/usr/bin/awk",
		 "BEGIN { for (i = 0; i < 1e8; i++) { s += sqrt(i) * sin(i) / (1 + i % 7);"
		 " a[i % 500] = a[(i * 7) % 500] i % 10; if (length(a[3]) > 90) delete a } }",
		 NULL},
	     *env[] = {NULL};

	(void)state;
	compare("awk", argv, env);
}

/* libc's functions as it chooses them for this processor, and as for lesser ones. */
static void strings(const char *name, char *tunables)
{
	char *argv[] = {"/proc/self/exe", "--string-calls", NULL}, *env[] = {tunables, NULL};

	compare(name, argv, env);
}

static void strings_best(void **state)
{
	(void)state;
	strings("strings", "GLIBC_TUNABLES=");
}

static void strings_avx2(void **state)
{
	(void)state;
	strings("strings, AVX2", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,-AVX512F");
}

static void strings_sse2(void **state)
{
	(void)state;
	strings("strings, SSE2",
		"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,-AVX512F,-AVX2,-AVX,"
		"-AVX_Fast_Unaligned_Load,-SSE4_2,-SSE4_1,-SSSE3,-ERMS,-FSRM,-BMI2");
}

static void strings_erms(void **state)
{
	(void)state;
	strings("strings, rep", "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=512:"
				"glibc.cpu.x86_rep_stosb_threshold=512");
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

	if (argc - ahead < 4 || atoi(arg[1]) > (int)LOCKSTEP_MAX)
		return 2;
	uint32_t limit = (uint32_t)atoi(arg[1]);
	struct job job = {arg + 2, environ, (unsigned)atoi(arg[0]), limit, ahead};
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
		cmocka_unit_test(strings_best), cmocka_unit_test(strings_avx2),
		cmocka_unit_test(strings_sse2), cmocka_unit_test(strings_erms),
		cmocka_unit_test(python),       cmocka_unit_test(sqlite),
		cmocka_unit_test(perl),         cmocka_unit_test(compiler),
		cmocka_unit_test(sort),         cmocka_unit_test(gzip),
		cmocka_unit_test(awk),          cmocka_unit_test(redis),
	};

	if (argc > 1 && !strcmp(argv[1], "--string-calls"))
		string_calls();
	if (!is_ptrace_allowed())
		return 77;
	if (argc > 1)
		return by_hand(argc, argv);
	return cmocka_run_group_tests(tests, setup, NULL);
}
