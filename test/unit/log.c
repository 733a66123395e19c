#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/log.h"

static char directory[] = "/tmp/nvmemu-log-XXXXXX";
static char log_path[64];

/* Called where the compiler cannot see what is cut short. */
static int (*volatile reference)(char *, size_t, const char *, ...) = snprintf;

/* Runs the same call through both formatters, with room, cut short, and with no room at all. */
#define SAME(...)                                                                                  \
	do {                                                                                       \
		char ours[256], theirs[256];                                                       \
                                                                                                   \
		for (size_t size = 0; size < sizeof(ours); size += size < 40 ? 1 : 53) {           \
			memset(ours, 'x', sizeof(ours));                                           \
			memset(theirs, 'x', sizeof(theirs));                                       \
			errno = ENOSPC;                                                            \
			assert_int_equal(nve_format(ours, size, __VA_ARGS__),                      \
					 reference(theirs, size, __VA_ARGS__));                    \
			assert_memory_equal(ours, theirs, sizeof(ours));                           \
		}                                                                                  \
	} while (0)

static const long long numbers[] = {
	0,    1,     -1,      9,       10,       -10,       255,       256,
	4095, 65536, INT_MAX, INT_MIN, UINT_MAX, LLONG_MAX, LLONG_MIN,
};

static void integers(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(numbers); i++) {
		long long n = numbers[i];

		SAME("%d %5d|%05d|%-5d|%12d|%012d|%-12d", (int)n, (int)n, (int)n, (int)n, (int)n,
		     (int)n, (int)n);
		SAME("%u %x %5u|%08x|%-9x|%3x", (unsigned)n, (unsigned)n, (unsigned)n, (unsigned)n,
		     (unsigned)n, (unsigned)n);
		SAME("%ld %lu %lx|%24ld|%024ld", (long)n, (unsigned long)n, (unsigned long)n,
		     (long)n, (long)n);
		SAME("%lld %llu %llx %016llx|%-30lld|%i", n, (unsigned long long)n,
		     (unsigned long long)n, (unsigned long long)n, n, (int)n);
		SAME("%zu %3zu|%020zu|%zd|%zx", (size_t)n, (size_t)n, (size_t)n, (ssize_t)n,
		     (size_t)n);
		SAME("%p %20p|%-20p|", (void *)(intptr_t)n, (void *)(intptr_t)n,
		     (void *)(intptr_t)n);
	}
}

static void random_integers(void **state)
{
	char ours[64], theirs[64];

	(void)state;
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		long n = (long)((uint64_t)random() << 33 ^ (uint64_t)random()) >> random() % 64;

		nve_format(ours, sizeof(ours), "%ld %lx %012ld", n, (unsigned long)n, n);
		snprintf(theirs, sizeof(theirs), "%ld %lx %012ld", n, (unsigned long)n, n);
		assert_string_equal(ours, theirs);
	}
}

static void strings(void **state)
{
	static const char *const texts[] = {"", "a", "seven b", "caf\xc3\xa9", "100%"};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(texts); i++) {
		SAME("%s", texts[i]);
		SAME("<%s|%10s|%-10s|%3s>", texts[i], texts[i], texts[i], texts[i]);
		SAME("<%.3s|%.0s|%8.2s|%.*s|%.*s>", texts[i], texts[i], texts[i], 2, texts[i], -1,
		     texts[i]);
	}
	SAME("plain");
	SAME("%c%c|%3c|%-3c|", 'a', '\t', 'b', 'c');
	SAME("100%%, %m");
	SAME("%s %d %s %lu", "mixed", -3, "text", 4ul);
}

static void errors_have_names(void **state)
{
	char text[64];

	(void)state;
	errno = EAGAIN;
	nve_format(text, sizeof(text), "%m");
	assert_string_equal(text, "Resource temporarily unavailable");
	errno = 12345;
	nve_format(text, sizeof(text), "%m");
	assert_string_equal(text, "error 12345");
}

static void what_is_not_known_ends_it(void **state)
{
	const char *volatile nothing = NULL;
	char text[64];

	(void)state;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
	assert_int_equal(nve_format(text, sizeof(text), "a %d %g %s", 1, 2.0, "b"), 9);
	assert_string_equal(text, "a 1 %g %s");
	nve_format(text, sizeof(text), "a %");
	assert_string_equal(text, "a %");
	nve_format(text, sizeof(text), "%s", nothing);
	assert_string_equal(text, "(null)");
#pragma GCC diagnostic pop
}

static size_t read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	assert_true(fd >= 0);
	got = read(fd, buf, size - 1);
	assert_true(got >= 0);
	buf[got] = '\0';
	close(fd);
	return (size_t)got;
}

static void lines_go_to_the_file(void **state)
{
	char text[4096], stat_path[64];
	int flags = 0, last = 0;

	(void)state;
	assert_int_equal(nve_log_setup(NVE_LOG_INFO, log_path), 0);
	errno = EBUSY;
	nve_log(NVE_LOG_ERROR, "no %s: %m", "timer");
	assert_int_equal(errno, EBUSY);
	nve_log(NVE_LOG_WARN, "one");
	nve_log(NVE_LOG_INFO, "two");
	nve_log(NVE_LOG_DEBUG, "three");
	read_file(log_path, text, sizeof(text));
	assert_string_equal(text, "nvmemu: error: no timer: Device or resource busy\n"
				  "nvmemu: warning: one\nnvmemu: info: two\n");
	for (int fd = 3; fd < 1024; fd++) {
		snprintf(stat_path, sizeof(stat_path), "/proc/self/fd/%d", fd);
		if (readlink(stat_path, text, sizeof(text)) == (ssize_t)strlen(log_path) &&
		    !memcmp(text, log_path, strlen(log_path))) {
			flags = fcntl(fd, F_GETFD);
			last = fd;
		}
	}
	assert_int_equal(flags, FD_CLOEXEC);
	assert_true(last > 100);
	/* A second setup appends, and leaves no descriptor behind. */
	assert_int_equal(nve_log_setup(NVE_LOG_ERROR, log_path), 0);
	nve_log(NVE_LOG_WARN, "silent");
	nve_log(NVE_LOG_ERROR, "four");
	assert_true(read_file(log_path, text, sizeof(text)) > 40);
	assert_non_null(strstr(text, "two\nnvmemu: error: four\n"));
	assert_int_equal(nve_log_setup(NVE_LOG_WARN, NULL), 0);
	assert_int_equal(fcntl(last, F_GETFD), -1);
	unlink(log_path);
}

static void a_line_stays_one_line(void **state)
{
	char text[4096], longest[3000];
	size_t length;

	(void)state;
	assert_int_equal(nve_log_setup(NVE_LOG_WARN, log_path), 0);
	nve_log(NVE_LOG_WARN, "a\nb\033[31m %s", "\t.\x7f");
	read_file(log_path, text, sizeof(text));
	assert_string_equal(text, "nvmemu: warning: a?b?[31m ?.?\n");
	memset(longest, 'y', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	unlink(log_path);
	assert_int_equal(nve_log_setup(NVE_LOG_WARN, log_path), 0);
	nve_log(NVE_LOG_WARN, "%s", longest);
	length = read_file(log_path, text, sizeof(text));
	assert_in_range(length, 512, 1024);
	assert_string_equal(text + length - 6, "yy...\n");
	assert_ptr_equal(strchr(text, '\n'), text + length - 1);
	nve_log_setup(NVE_LOG_WARN, NULL);
	unlink(log_path);
}

/* What a child says on its stderr, whose number here is fd 2 of a pipe. */
static void in_child(void (*body)(void), char *said, size_t size, int *status)
{
	int ends[2];
	ssize_t got;
	size_t have = 0;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		body();
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + have, size - 1 - have)) > 0)
		have += (size_t)got;
	said[have] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(child, status, 0), child);
}

static void complain_to_a_bad_file(void)
{
	if (nve_log_setup(NVE_LOG_WARN, "/nonexistent/log") != -ENOENT)
		_exit(1);
	nve_log(NVE_LOG_ERROR, "still heard");
}

static void stderr_where_the_file_fails(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(complain_to_a_bad_file, said, sizeof(said), &status);
	assert_int_equal(status, 0);
	assert_string_equal(said, "nvmemu: error: still heard\n");
}

static void complain_before_setup(void)
{
	nve_log(NVE_LOG_INFO, "not asked for");
	nve_log(NVE_LOG_WARN, "early");
}

static void works_before_setup(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(complain_before_setup, said, sizeof(said), &status);
	assert_string_equal(said, "nvmemu: warning: early\n");
}

static void reuse_stderr_for_data(void)
{
	int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	nve_log(NVE_LOG_WARN, "into the data");
	if (fd != STDERR_FILENO || write(fd, "data", 4) != 4)
		_exit(1);
}

static void reuse_stderr(void)
{
	nve_log_setup(NVE_LOG_WARN, NULL);
	nve_log(NVE_LOG_WARN, "mine");
	close(STDERR_FILENO);
	nve_log(NVE_LOG_WARN, "to nobody");
	reuse_stderr_for_data();
}

static void data_of_the_program_is_spared(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(reuse_stderr, said, sizeof(said), &status);
	assert_int_equal(status, 0);
	assert_string_equal(said, "nvmemu: warning: mine\n");
	read_file(log_path, said, sizeof(said));
	assert_string_equal(said, "data");
	unlink(log_path);
}

static void start_without_stderr(void)
{
	close(STDERR_FILENO);
	nve_log_setup(NVE_LOG_WARN, NULL);
	reuse_stderr_for_data();
}

static void closed_stderr_stays_closed(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(start_without_stderr, said, sizeof(said), &status);
	assert_int_equal(status, 0);
	read_file(log_path, said, sizeof(said));
	assert_string_equal(said, "data");
	unlink(log_path);
}

static void write_to_a_broken_pipe(void)
{
	int ends[2];
	sigset_t pending;

	if (pipe(ends))
		_exit(1);
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	nve_log_setup(NVE_LOG_WARN, NULL);
	nve_log(NVE_LOG_WARN, "nobody listens");
	sigpending(&pending);
	if (!sigisemptyset(&pending))
		_exit(2);
	/* The program's own writes go on to raise it. */
	if (write(STDERR_FILENO, "x", 1) < 0)
		_exit(3);
}

static void broken_pipe_is_no_signal(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(write_to_a_broken_pipe, said, sizeof(said), &status);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGPIPE);
}

static void write_past_the_limit(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_FSIZE, &none);
	if (nve_log_setup(NVE_LOG_WARN, log_path))
		_exit(1);
	nve_log(NVE_LOG_WARN, "no room");
}

static void file_size_limit_is_no_signal(void **state)
{
	char said[256];
	int status;

	(void)state;
	in_child(write_past_the_limit, said, sizeof(said), &status);
	assert_int_equal(status, 0);
	unlink(log_path);
}

static void a_pipe_without_reader_does_not_block(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(log_path, 0600), 0);
	alarm(20);
	assert_int_equal(nve_log_setup(NVE_LOG_WARN, log_path), -ENXIO);
	alarm(0);
	unlink(log_path);
}

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(log_path, sizeof(log_path), "%s/log", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(works_before_setup),
		cmocka_unit_test(integers),
		cmocka_unit_test(random_integers),
		cmocka_unit_test(strings),
		cmocka_unit_test(errors_have_names),
		cmocka_unit_test(what_is_not_known_ends_it),
		cmocka_unit_test(lines_go_to_the_file),
		cmocka_unit_test(a_line_stays_one_line),
		cmocka_unit_test(stderr_where_the_file_fails),
		cmocka_unit_test(data_of_the_program_is_spared),
		cmocka_unit_test(closed_stderr_stays_closed),
		cmocka_unit_test(broken_pipe_is_no_signal),
		cmocka_unit_test(file_size_limit_is_no_signal),
		cmocka_unit_test(a_pipe_without_reader_does_not_block),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
