/* Drawings: ticks, lines of equal value where they belong, nothing that is no number. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

static void steps(void **state)
{
	static const double cases[][3] = {{1, 5, 0.2},  {100, 5, 20},    {99, 5, 10},
					  {250, 5, 50}, {0.03, 3, 0.01}, {7, 8, 0.5}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		double step = plot_step(cases[i][0], cases[i][1]);

		if (fabs(step / cases[i][2] - 1) > 1e-9)
			fail_msg("%g in %g parts: %g", cases[i][0], cases[i][1], step);
	}
}

static char *drawn(void (*draw)(FILE *out, const void *what), const void *what)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	draw(out, what);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strncmp(text, "<svg ", 5), 0);
	assert_string_equal(text + size - 7, "</svg>\n");
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	return text;
}

static void draw_lines(FILE *out, const void *what)
{
	plot_write_lines(out, what);
}

static void draw_field(FILE *out, const void *what)
{
	plot_write_field(out, what);
}

/* None, one, all the same, intervals that are not known. */
static void lines(void **state)
{
	const struct plot_point points[] = {{200, 2, NAN, NAN}, {300, 2, NAN, 3}};
	struct plot_series series = {.name = "a & b", .points = points};
	struct plot_lines plot = {"title", "x", "y", &series, 0};

	(void)state;
	free(drawn(draw_lines, &plot));
	plot.count = 1;
	for (series.count = 0; series.count <= 2; series.count++) {
		char *text = drawn(draw_lines, &plot);

		assert_non_null(strstr(text, "a &amp; b"));
		free(text);
	}
}

static double sum(void *ctx, double x, double y)
{
	(void)ctx;
	return 1 + (x + y) / 1000;
}

static double flat(void *ctx, double x, double y)
{
	(void)ctx;
	(void)x;
	(void)y;
	return 1;
}

/* Of x + y lines of equal value fall at 45 degrees of the data: all ends of a line have one sum. */
static void field(void **state)
{
	struct plot_field plot = {"title", "x", "y", "value", 100, 500, 100, 500, sum, NULL};
	char *text = drawn(draw_field, &plot), *at = text;
	size_t levels = 0;

	(void)state;
	while ((at = strstr(at, "class=\"level\" d=\""))) {
		double x, y, first = NAN;
		int used;

		levels++;
		at += strlen("class=\"level\" d=\"");
		while (sscanf(at, "%*[ML]%lf %lf%n", &x, &y, &used) == 2) {
			/* the axes begin at 70 and 384, and are 500 and 340 long */
			double value = (x - 70) / 500 + (384 - y) / 340;

			first = isnan(first) ? value : first;
			assert_true(fabs(value - first) < 0.002);
			at += used;
		}
		assert_false(isnan(first));
	}
	assert_in_range(levels, 6, 16);
	free(text);
	plot.value = flat;
	text = drawn(draw_field, &plot);
	assert_null(strstr(text, "class=\"level\" d"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps),
		cmocka_unit_test(lines),
		cmocka_unit_test(field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
