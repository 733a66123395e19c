/* Sweeps: rows of the file of runs, files that are none, pairs and what is made of them. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "sweep.h"

static char *const command[] = {"./app", "two words", "it's", "say \"x\"", "", "a\nb", NULL};
static const char command_end[] =
	"\"he,re\",\"./app 'two words' 'it'\\''s' 'say \"\"x\"\"' '' 'a?b'\"\n";
static char path[] = "/tmp/nvmemu-unit-sweep-XXXXXX";

static void rows_there_and_back(void **state)
{
	const struct sweep_run runs[] = {
		{.round = 1, .wall_ns = 5, .cpu_ns = 0},
		{.round = 12,
		 .emulated = true,
		 .point = {122500, 0},
		 .wall_ns = 1234567890123,
		 .cpu_ns = 77,
		 .status = 143},
		{.round = 3, .emulated = true, .point = {300000, 1000000}, .wall_ns = 1},
	};
	char *end = sweep_row_end("he,re", command);

	(void)state;
	assert_string_equal(end, command_end);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(runs); i++) {
		struct sweep_run back;
		char *row = sweep_format_run(&runs[i], end);

		assert_int_equal(sweep_parse_run(row, end, &back), 0);
		assert_memory_equal(&back, &runs[i], sizeof(back));
		assert_int_equal(sweep_parse_run(row, "\"there\",\"./app\"\n", &back), -EXDEV);
		free(row);
	}
	free(end);
}

static void no_rows(void **state)
{
	static const char *const wrong[] = {
		"",
		"\n",
		"1\n",
		"0,native,,,5,5,0,e\n",
		"1,natively,,,5,5,0,e\n",
		"1,emulated,x,,5,5,0,e\n",
		"1,emulated,200:300:50,,5,5,0,e\n",
		"1,emulated,300,,0,5,0,e\n",
		"1,emulated,300,,-5,5,0,e\n",
		"1,emulated,300,,5,5,256,e\n",
		"1,emulated,300,,5,5,0",
		"99999999999999999999999999999999999999,native,,,5,5,0,e\n",
	};
	struct sweep_run run;

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(wrong); i++)
		if (sweep_parse_run(wrong[i], "e\n", &run) != -EINVAL)
			fail_msg("row %zu was taken", i);
}

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int open_file(struct sweep_runs *runs)
{
	int fd = -1, rc = sweep_open_runs(path, "e\n", runs, &fd);

	assert_true((rc == 0) == (fd >= 0));
	if (!rc)
		close(fd);
	return rc;
}

static void files(void **state)
{
	struct sweep_runs runs = {0};
	char head[200] = "";
	FILE *f;

	(void)state;
	/* made, with its head; then found empty */
	unlink(path);
	assert_int_equal(open_file(&runs), 0);
	assert_int_equal(open_file(&runs), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(head, sizeof(head), f));
	assert_string_equal(head, SWEEP_RUNS_HEAD);
	assert_null(fgets(head, sizeof(head), f));
	fclose(f);
	/* a row that was cut off goes */
	write_file(SWEEP_RUNS_HEAD "1,native,,,5,5,0,e\n2,native,,,6,6,0,e\n3,nati");
	assert_int_equal(open_file(&runs), 0);
	assert_int_equal(runs.count, 2);
	assert_int_equal(runs.runs[1].wall_ns, 6);
	sweep_free_runs(&runs);
	assert_int_equal(open_file(&runs), 0);
	assert_int_equal(runs.count, 2);
	sweep_free_runs(&runs);
	/* others' files stay as they are */
	write_file("something else\n");
	assert_int_equal(open_file(&runs), -EINVAL);
	write_file("no end of line");
	assert_int_equal(open_file(&runs), -EINVAL);
	f = fopen(path, "r");
	assert_non_null(fgets(head, sizeof(head), f));
	assert_string_equal(head, "no end of line");
	fclose(f);
	write_file(SWEEP_RUNS_HEAD "1,native,,,5,5,0,other\n");
	assert_int_equal(open_file(&runs), -EXDEV);
	write_file(SWEEP_RUNS_HEAD "rubbish\n");
	assert_int_equal(open_file(&runs), -EINVAL);
	sweep_free_runs(&runs);
}

static void two_sweeps(void **state)
{
	struct sweep_runs runs = {0};
	int one = -1, two = -1;

	(void)state;
	unlink(path);
	assert_int_equal(sweep_open_runs(path, "e\n", &runs, &one), 0);
	assert_int_equal(sweep_open_runs(path, "e\n", &runs, &two), -EBUSY);
	assert_int_equal(two, -1);
	close(one);
	assert_int_equal(open_file(&runs), 0);
	sweep_free_runs(&runs);
}

static void add(struct sweep_runs *runs, uint64_t round, uint64_t wlat_ns, uint64_t wall_ns)
{
	const struct sweep_run run = {.round = round,
				      .emulated = wlat_ns,
				      .point = {0, wlat_ns * 1000},
				      .wall_ns = wall_ns,
				      .cpu_ns = wall_ns / 2};

	assert_int_equal(sweep_add_run(runs, &run), 0);
}

/* The machine gets slower from round to round: pairs do not see it. */
static void pairs(void **state)
{
	const struct cli_point point = {0, 300000}, other = {0, 400000};
	struct sweep_runs runs = {0};
	struct sweep_row row;

	(void)state;
	for (uint64_t round = 1; round <= 5; round++) {
		add(&runs, round, 0, 100 * round);
		add(&runs, round, 300, 150 * round);
	}
	/* of a round that was interrupted before its native run */
	add(&runs, 6, 300, 9999);
	assert_int_equal(sweep_count_pairs(&runs, point), 5);
	assert_int_equal(sweep_count_pairs(&runs, other), 0);
	assert_int_equal(sweep_point_row(&runs, point, &row), 0);
	assert_int_equal(row.rounds, 5);
	assert_true(fabs(row.wall.median - 1.5) < 1e-9);
	assert_true(fabs(row.wall.low - 1.5) < 1e-6 && fabs(row.wall.high - 1.5) < 1e-6);
	assert_true(fabs(row.wall_ns - 450) < 1e-9 && fabs(row.cpu_ns - 225) < 1e-9);
	assert_int_equal(sweep_native_row(&runs, &row), 0);
	assert_int_equal(row.rounds, 5);
	assert_true(fabs(row.wall_ns - 300) < 1e-9);
	assert_int_equal(sweep_point_row(&runs, other, &row), 0);
	assert_int_equal(row.rounds, 0);
	assert_true(isnan(row.wall.median));
	sweep_free_runs(&runs);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* Two read latencies are two lines over the write latency. */
static void drawing(void **state)
{
	struct sweep_row rows[6] = {0};
	struct sweep_table table = {.command = "a<b", .rows = rows, .count = 6};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		rows[i].point = (struct cli_point){i < 3 ? 0 : 300000, 300000 + i % 3 * 100000};
		rows[i].rounds = 1;
		rows[i].wall = (struct cli_ratio){1 + (double)i, NAN, NAN};
	}
	sweep_print_svg(out, &table);
	fclose(out);
	assert_int_equal(count(text, "<circle"), 6);
	assert_int_equal(count(text, ">read DRAM's<"), 1);
	assert_int_equal(count(text, ">read 300 ns<"), 1);
	assert_int_equal(count(text, "write latency (ns)"), 1);
	assert_int_equal(count(text, "a&lt;b"), 2);
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_there_and_back),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(files),
		cmocka_unit_test(two_sweeps),
		cmocka_unit_test(pairs),
		cmocka_unit_test(drawing),
	};
	int failed, fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
