#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/outfile.h"

static struct nve_outfile out;

static struct nve_outfile_words words_of(bool root)
{
	return (struct nve_outfile_words){
		.pid = 4711,
		.root = root,
		.program = "app",
		.host = "box",
		.started_at_s = 1582934400,
		.cwd = "/cwd",
	};
}

static void expect_name(const char *pattern, bool root, const char *name)
{
	struct nve_outfile_words words = words_of(root);

	assert_int_equal(nve_outfile_name(&out, pattern, &words), 0);
	assert_string_equal(out.name, name);
}

static void test_names(void **state)
{
	(void)state;
	expect_name("/tmp/r.json", true, "/tmp/r.json");
	expect_name("r.json", true, "/cwd/r.json");
	expect_name("../r.json", true, "/cwd/../r.json");
	expect_name("/o/%e-%h-%p-%t.json", true, "/o/app-box-4711-20200229T000000Z.json");
	expect_name("/o/100%%", true, "/o/100%%");
	expect_name("/o/%n.json", true, "/o/%n.json");
}

static void test_names_of_children(void **state)
{
	(void)state;
	expect_name("/o/r.json", false, "/o/r.json.4711");
	expect_name("/o/%e", false, "/o/app.4711");
	expect_name("/o/%p", false, "/o/4711");
	expect_name("/o/%n", false, "/o/%n");
	expect_name("/o/%%p", false, "/o/%%p.4711");
}

static void test_words_are_no_paths(void **state)
{
	struct nve_outfile_words words = words_of(true);

	(void)state;
	words.program = "../../etc/x%n";
	words.host = "";
	words.cwd = "/a%b";
	assert_int_equal(nve_outfile_name(&out, "%e.%h", &words), 0);
	assert_string_equal(out.name, "/a%%b/.._.._etc_x%%n.unknown");
	assert_false(out.numbered);
}

static void test_bad_patterns(void **state)
{
	static char longer[3 * NVE_PATH_BYTES];
	struct nve_outfile_words words = words_of(true);
	const char *bad = NULL, *pattern = "/o/%%%p%q";

	(void)state;
	assert_int_equal(nve_outfile_check(pattern, &bad), -EINVAL);
	assert_ptr_equal(bad, pattern + 7);
	assert_int_equal(nve_outfile_name(&out, pattern, &words), -EINVAL);
	assert_int_equal(nve_outfile_check("/o/%", &bad), -EINVAL);
	assert_int_equal(nve_outfile_check("/o/%p%e%h%t%n%%", &bad), 0);
	memset(longer, 'x', sizeof(longer) - 1);
	assert_int_equal(nve_outfile_name(&out, longer, &words), -ENAMETOOLONG);
}

/* A directory of its own for each test; files in it are counted by what their names begin with. */
static int make_directory(void **state)
{
	static char path[] = "/tmp/nvmemu-outfile-XXXXXX";

	strcpy(path + strlen(path) - 6, "XXXXXX");
	*state = mkdtemp(path);
	return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
	DIR *d = opendir(*state);
	struct dirent *e;

	while ((e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return rmdir(*state);
}

static int count_files(const char *directory)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	int count = 0;

	while ((e = readdir(d)))
		count += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(d);
	return count;
}

/* Content: many lines of one number, so that a mixed or half file shows. */
enum { LINES = 3000 };

static int produce_lines(void *ctx, const struct nve_report_sink *sink)
{
	const int *number = ctx;
	char line[16];
	int err = 0;

	snprintf(line, sizeof(line), "%09d\n", *number);
	for (int i = 0; i < LINES && !err; i++)
		err = sink->write(sink->ctx, line, 10);
	return err;
}

static int number_in(const char *path)
{
	FILE *f = fopen(path, "r");
	int first = -1, number, lines = 0;

	assert_non_null(f);
	while (fscanf(f, "%d\n", &number) == 1) {
		if (!lines++)
			first = number;
		assert_int_equal(number, first);
	}
	fclose(f);
	assert_int_equal(lines, LINES);
	return first;
}

static void name_in(const char *directory, const char *pattern)
{
	struct nve_outfile_words words = words_of(true);

	words.cwd = directory;
	assert_int_equal(nve_outfile_name(&out, pattern, &words), 0);
}

static void expect_written(int number, const char *directory, const char *name, bool moved)
{
	char path[NVE_FILE_PATH_BYTES], right[NVE_FILE_PATH_BYTES];
	bool was_moved = !moved;

	assert_int_equal(nve_outfile_write(&out, produce_lines, &number, path, &was_moved), 0);
	snprintf(right, sizeof(right), "%s/%s", directory, name);
	assert_string_equal(path, right);
	assert_int_equal(was_moved, moved);
	assert_int_equal(number_in(path), number);
}

static void test_never_replaces(void **state)
{
	char path[NVE_FILE_PATH_BYTES];

	name_in(*state, "r.json");
	expect_written(1, *state, "r.json", false);
	expect_written(2, *state, "r.json.1", true);
	expect_written(3, *state, "r.json.2", true);
	snprintf(path, sizeof(path), "%s/r.json", (char *)*state);
	assert_int_equal(number_in(path), 1);
	assert_int_equal(count_files(*state), 3);
}

static void test_counts_up(void **state)
{
	name_in(*state, "r%n-100%%");
	expect_written(1, *state, "r1-100%", false);
	expect_written(2, *state, "r2-100%", false);
	assert_int_equal(count_files(*state), 2);
}

/* Refuses the first two names. */
static int make_third(void *ctx, const char *path)
{
	unsigned *calls = ctx;

	(void)path;
	return ++*calls < 3 ? -EEXIST : 0;
}

static int make_none(void *ctx, const char *path)
{
	(void)ctx;
	(void)path;
	return -EROFS;
}

static void test_claims(void **state)
{
	char path[NVE_FILE_PATH_BYTES];
	bool moved = false;
	unsigned calls = 0;

	(void)state;
	name_in("/o", "r");
	assert_int_equal(nve_outfile_claim(&out, make_third, &calls, path, &moved), 0);
	assert_string_equal(path, "/o/r.2");
	assert_true(moved);
	assert_int_equal(nve_outfile_claim(&out, make_none, NULL, path, &moved), -EROFS);
	assert_string_equal(path, "/o/r");
	assert_false(moved);
	calls = 0;
	name_in("/o", "r%n");
	assert_int_equal(nve_outfile_claim(&out, make_third, &calls, path, &moved), 0);
	assert_string_equal(path, "/o/r3");
	assert_false(moved);
}

static void test_dangling_link_is_taken(void **state)
{
	char path[NVE_FILE_PATH_BYTES];

	snprintf(path, sizeof(path), "%s/r", (char *)*state);
	assert_int_equal(symlink("nowhere", path), 0);
	name_in(*state, "r");
	expect_written(1, *state, "r.1", true);
}

static void test_many_writers(void **state)
{
	enum { WRITERS = 20 };
	bool seen[WRITERS] = {false};
	char path[NVE_FILE_PATH_BYTES];
	bool moved;
	int status;

	name_in(*state, "r");
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			_exit(nve_outfile_write(&out, produce_lines, &i, path, &moved) ? 1 : 0);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_files(*state), WRITERS);
	for (int i = 0; i < WRITERS; i++) {
		int number;

		snprintf(path, sizeof(path), i ? "%s/r.%d" : "%s/r", (char *)*state, i);
		number = number_in(path);
		assert_in_range(number, 0, WRITERS - 1);
		assert_false(seen[number]);
		seen[number] = true;
	}
}

/* Runs write in a child, after prepare; its exit status is the error. */
static int error_in_child(void (*prepare)(void))
{
	char path[NVE_FILE_PATH_BYTES];
	int number = 1, status;
	bool moved;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prepare();
		_exit(-nve_outfile_write(&out, produce_lines, &number, path, &moved));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void become_nobody(void)
{
	if (!geteuid() && setuid(65534))
		_exit(255);
}

static void test_read_only_directory(void **state)
{
	name_in(*state, "r");
	assert_int_equal(chmod(*state, 0555), 0);
	assert_int_equal(error_in_child(become_nobody), -EACCES);
	assert_int_equal(count_files(*state), 0);
	chmod(*state, 0755);
}

static void limit_file_size(void)
{
	const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = 4096};

	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(255);
}

static void test_no_room(void **state)
{
	name_in(*state, "r");
	assert_int_equal(error_in_child(limit_file_size), -EFBIG);
	assert_int_equal(count_files(*state), 0);
}

static void test_no_directory(void **state)
{
	char path[NVE_FILE_PATH_BYTES];
	int number = 1;
	bool moved;

	name_in(*state, "none/r");
	assert_int_equal(nve_outfile_write(&out, produce_lines, &number, path, &moved), -ENOENT);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_of_children),
		cmocka_unit_test(test_words_are_no_paths),
		cmocka_unit_test(test_bad_patterns),
		cmocka_unit_test(test_claims),
		IN_DIRECTORY(test_never_replaces),
		IN_DIRECTORY(test_counts_up),
		IN_DIRECTORY(test_dangling_link_is_taken),
		IN_DIRECTORY(test_many_writers),
		IN_DIRECTORY(test_read_only_directory),
		IN_DIRECTORY(test_no_room),
		IN_DIRECTORY(test_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
