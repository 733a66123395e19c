#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"

enum { RACERS = 32, NOBODY = 65534 };

static char directory[] = "/tmp/nvmemu-file-XXXXXX";
static char path[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(strrchr(directory, '-') + 1, "XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/a", directory);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static void assert_holds(const char *name, const char *text)
{
	char buf[256];
	size_t length;

	assert_int_equal(nve_file_read(name, buf, sizeof(buf), &length), 0);
	assert_string_equal(buf, text);
	assert_int_equal(length, strlen(text));
}

/* Files in the test's directory, temporary ones included. */
static int count_files(void)
{
	char command[64], text[32];
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", directory);
	pipe = popen(command, "r");
	assert_non_null(fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return atoi(text);
}

static void reads_whole_or_not(void **state)
{
	char buf[8];
	size_t length = 4711;

	(void)state;
	assert_int_equal(nve_file_read(path, buf, sizeof(buf), &length), -ENOENT);
	assert_int_equal(nve_file_write(path, "1234567", 7, 0600), 0);
	assert_int_equal(nve_file_read(path, buf, sizeof(buf), &length), 0);
	assert_int_equal(length, 7);
	assert_string_equal(buf, "1234567");
	assert_int_equal(nve_file_write(path, "12345678", 8, 0600), 0);
	length = 4711;
	assert_int_equal(nve_file_read(path, buf, sizeof(buf), &length), -EFBIG);
	assert_int_equal(nve_file_read(directory, buf, sizeof(buf), &length), -EISDIR);
	assert_int_equal(length, 4711);
	assert_int_equal(nve_file_write(path, "", 0, 0600), 0);
	assert_int_equal(nve_file_read(path, buf, sizeof(buf), &length), 0);
	assert_int_equal(length, 0);
	assert_string_equal(buf, "");
}

static void write_replaces(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(nve_file_write(path, "one", 3, 0600), 0);
	assert_holds(path, "one");
	assert_int_equal(nve_file_write(path, "three", 5, 0640), 0);
	assert_holds(path, "three");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_int_equal(count_files(), 1);
}

static void write_new_does_not_replace(void **state)
{
	(void)state;
	assert_int_equal(nve_file_write_new(path, "one", 3, 0600), 0);
	assert_int_equal(nve_file_write_new(path, "two", 3, 0600), -EEXIST);
	assert_holds(path, "one");
	assert_int_equal(count_files(), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(nve_file_write_new(path, "two", 3, 0600), -EEXIST);
	assert_int_equal(count_files(), 1);
}

static void nothing_shows_before_the_commit(void **state)
{
	struct nve_file file;

	(void)state;
	assert_int_equal(nve_file_create(&file, path, 0600), 0);
	assert_int_equal(fcntl(file.fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(nve_file_append(&file, "one ", 4), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(nve_file_append(&file, "two", 3), 0);
	assert_int_equal(nve_file_commit(&file, false), 0);
	assert_holds(path, "one two");
	assert_int_equal(nve_file_create(&file, path, 0600), 0);
	assert_int_equal(nve_file_append(&file, "never", 5), 0);
	nve_file_discard(&file);
	nve_file_discard(&file);
	assert_holds(path, "one two");
	assert_int_equal(count_files(), 1);
}

static void names_without_directory(void **state)
{
	char before[512];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(nve_file_write("plain", "x", 1, 0600), 0);
	assert_int_equal(nve_file_write_new("plain", "x", 1, 0600), -EEXIST);
	assert_holds("plain", "x");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(count_files(), 1);
}

static void bad_names(void **state)
{
	char longest[NVE_FILE_PATH_BYTES + 1], name[300];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(nve_file_write("", "x", 1, 0600), -ENOENT);
	assert_int_equal(nve_file_write("/tmp/", "x", 1, 0600), -EISDIR);
	assert_int_equal(nve_file_write("/nonexistent/a", "x", 1, 0600), -ENOENT);
	assert_int_equal(nve_file_write("/etc/passwd/a", "x", 1, 0600), -ENOTDIR);
	assert_int_equal(nve_file_write(longest, "x", 1, 0600), -ENAMETOOLONG);
	assert_int_equal(nve_file_make_dirs(longest, 0700), -ENAMETOOLONG);
	assert_int_equal(nve_file_write(directory, "x", 1, 0600), -EISDIR);
	snprintf(name, sizeof(name), "%s/%.250s", directory, longest);
	assert_int_equal(nve_file_write(name, "x", 1, 0600), 0);
	snprintf(name, sizeof(name), "%s/%.256s", directory, longest);
	assert_int_equal(nve_file_write(name, "x", 1, 0600), -ENAMETOOLONG);
	assert_int_equal(count_files(), 1);
}

static void one_of_many_creates(void **state)
{
	int created = 0;

	(void)state;
	for (int i = 0; i < RACERS; i++) {
		if (!fork())
			_exit(-nve_file_write_new(path, "text", 4, 0600));
	}
	for (int i = 0; i < RACERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(status == 0 || WEXITSTATUS(status) == EEXIST);
		created += !status;
	}
	assert_int_equal(created, 1);
	assert_holds(path, "text");
	assert_int_equal(count_files(), 1);
}

static void makes_directories(void **state)
{
	char deep[128];
	struct stat st;

	(void)state;
	snprintf(deep, sizeof(deep), "%s/b//c/d/", directory);
	assert_int_equal(nve_file_make_dirs(deep, 0700), 0);
	assert_int_equal(nve_file_make_dirs(deep, 0700), 0);
	assert_int_equal(stat(deep, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(nve_file_make_dirs("/", 0700), 0);
	assert_int_equal(nve_file_make_dirs("/proc/self", 0700), 0);
	assert_int_equal(nve_file_make_dirs("", 0700), -ENOENT);
	assert_int_equal(nve_file_write(path, "x", 1, 0600), 0);
	assert_int_equal(nve_file_make_dirs(path, 0700), -ENOTDIR);
	snprintf(deep, sizeof(deep), "%s/below", path);
	assert_int_equal(nve_file_make_dirs(deep, 0700), -ENOTDIR);
}

/* Runs body in a child; returns its wait status. */
static int in_child(int (*body)(void))
{
	pid_t child = fork();
	int status;

	if (!child)
		_exit(body());
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int write_as_nobody(void)
{
	char deep[128];

	if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
		return 1;
	if (nve_file_write(path, "x", 1, 0600) != -EACCES)
		return 2;
	if (nve_file_write_new(path, "x", 1, 0600) != -EACCES)
		return 3;
	snprintf(deep, sizeof(deep), "%s/b/c", directory);
	return nve_file_make_dirs(deep, 0700) == -EACCES ? 0 : 4;
}

static void unwritable_directory(void **state)
{
	(void)state;
	assert_int_equal(chmod(directory, 0500), 0);
	assert_int_equal(in_child(write_as_nobody), 0);
	assert_int_equal(chmod(directory, 0700), 0);
	assert_int_equal(count_files(), 0);
}

static int write_past_the_limit(void)
{
	struct rlimit limit = {10, 10};
	sigset_t pending;

	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	if (nve_file_write(path, "more than ten bytes", 19, 0600) != -EFBIG)
		return 2;
	sigpending(&pending);
	if (!sigisemptyset(&pending))
		return 3;
	return nve_file_write(path, "ten bytes.", 10, 0600) ? 4 : 0;
}

static void no_room(void **state)
{
	(void)state;
	assert_int_equal(in_child(write_past_the_limit), 0);
	assert_holds(path, "ten bytes.");
	assert_int_equal(count_files(), 1);
	assert_int_equal(nve_file_write_all(open("/dev/full", O_WRONLY), "x", 1), -ENOSPC);
}

/* A signal that the program had blocked and pending before is still there after. */
static int keep_the_programs_signal(void)
{
	sigset_t set;
	int ends[2];

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGPIPE);
	if (pipe(ends) || close(ends[0]))
		return 1;
	if (nve_file_write_all(ends[1], "x", 1) != -EPIPE)
		return 2;
	sigpending(&set);
	if (!sigismember(&set, SIGPIPE))
		return 3;
	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGPIPE) ? 0 : 4;
}

static void signals_of_the_program_stay(void **state)
{
	(void)state;
	assert_int_equal(in_child(keep_the_programs_signal), 0);
}

static int move_with_few_descriptors(void)
{
	struct rlimit few = {16, 16};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), high;

	high = nve_file_move_high(fd);
	if (high <= 900 || fcntl(high, F_GETFD) != FD_CLOEXEC || fcntl(fd, F_GETFD) != -1)
		return 1;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (setrlimit(RLIMIT_NOFILE, &few) || nve_file_move_high(fd) != fd)
		return 2;
	return fcntl(fd, F_GETFD) == FD_CLOEXEC ? 0 : 3;
}

static void descriptors_move_out_of_the_way(void **state)
{
	struct rlimit limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 1024)
		skip();
	assert_int_equal(in_child(move_with_few_descriptors), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(reads_whole_or_not),          TEST(write_replaces),
		TEST(write_new_does_not_replace),  TEST(nothing_shows_before_the_commit),
		TEST(names_without_directory),     TEST(bad_names),
		TEST(one_of_many_creates),         TEST(makes_directories),
		TEST(unwritable_directory),        TEST(no_room),
		TEST(signals_of_the_program_stay), TEST(descriptors_move_out_of_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
