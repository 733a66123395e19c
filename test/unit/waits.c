/* What a window has waited for, told line by line. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "count/ahead/waits.h"

enum { IP = 0x401000, STEPS = 1024 };

static struct {
	double accesses, dirty, share;
	uint64_t addresses;
	int waits, windows;
} told;

static void hear_wait(uint64_t addr, double accesses, double dirty)
{
	told.addresses += addr;
	told.accesses += accesses;
	told.dirty += accesses * dirty;
	told.waits++;
}

static void hear_end(double stall_share)
{
	told.share += stall_share;
	told.windows++;
}

static const struct nve_waits_sink sink = {hear_wait, hear_end};
static struct nve_lines lines;
static struct nve_wait wait[STEPS];
static struct nve_dirty_table *dirty;

static int set_up(void **state)
{
	(void)state;
	memset(&told, 0, sizeof(told));
	memset(wait, 0, sizeof(wait));
	nve_lines_clear(&lines, STEPS);
	dirty = calloc(1, nve_dirty_table_bytes());
	return dirty == NULL;
}

static int tear_down(void **state)
{
	(void)state;
	free(dirty);
	return 0;
}

static struct nve_line *add(size_t i, float cycles, bool missed)
{
	bool fresh;
	struct nve_line *line = nve_lines_touch(&lines, 100 + i, &fresh);

	line->first_ip = IP;
	line->first_step = STEPS - 100;
	line->latency = 200;
	line->missed = missed;
	wait[i] = (struct nve_wait){
		.cycles = cycles, .missed = true, .line = (uint16_t)(line - lines.line)};
	return line;
}

static void tell(size_t count)
{
	const struct nve_waits_window w = {wait, count, &lines, STEPS, 0.5};

	nve_waits_tell(&sink, &w, dirty);
}

static void in_parts_of_the_latency(void **state)
{
	(void)state;
	add(0, 200, true);
	add(1, 50, true);
	add(2, 1000, false); /* a cache's */
	tell(3);
	assert_int_equal(told.waits, 2);
	assert_int_equal(told.addresses, (100 + 101) * NVE_LINE_BYTES);
	assert_true(fabs(told.accesses - 1.25) < 1e-9);
	assert_true(told.dirty == 0 && told.share == 0.5 && told.windows == 1);
	/* a window without waits ends, too */
	tell(0);
	assert_int_equal(told.windows, 2);
	assert_int_equal(told.waits, 2);
}

/* Half of the lines of this instruction are written after 40 to 60 instructions: one followed for
 * 100 and not written is clean, one followed for 20 may go either way. */
static void written_later(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		nve_dirty_learn(dirty, IP, 600, i % 2, 50);
	add(0, 200, true)->written = true;
	tell(1);
	assert_true(told.dirty == 1);
	tear_down(state);
	set_up(state);
	for (int i = 0; i < 1000; i++)
		nve_dirty_learn(dirty, IP, 600, i % 2, 50);
	add(0, 200, true);
	tell(1);
	assert_true(told.dirty < 0.02);
	lines.line[0].first_step = STEPS - 20;
	tell(1);
	assert_true(fabs(told.dirty - 0.5) < 0.03);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(in_parts_of_the_latency, set_up, tear_down),
		cmocka_unit_test_setup_teardown(written_later, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
