/*
 * A program that marks its phases: a table that does not fit into caches is updated and looked up
 * in an order that nothing foresees, and something is computed between. Each phase also takes its
 * own time, so that it can be seen what the marks tell: examples/regions compares.
 *
 *   phases [MEBIBYTES [THOUSAND_STEPS [ROUNDS]]]     the first a power of two; steps of each phase
 *
 * Linked with the library (-lnvmemu), which does nothing unless NVM_RLAT or NVM_WLAT is set.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nvmemu.h>

struct row {
	uint64_t next;
	uint64_t visits;
	char rest_of_line[48];
};

static struct row *table;
static uint64_t at;

static void update(uint64_t steps)
{
	while (steps--) {
		table[at].visits++;
		at = table[at].next;
	}
}

static void look_up(uint64_t steps)
{
	while (steps--)
		at = table[at].next;
}

static void compute(uint64_t steps)
{
	static volatile double result = 1;
	double x = result;

	for (uint64_t i = 0; i < 25 * steps; i++)
		x = x * 0.9999999 + 1e-7;
	result = x;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static const struct phase {
	const char *name;
	void (*run)(uint64_t steps);
} phases[] = {{"update", update}, {"look up", look_up}, {"compute", compute}};

enum { PHASES = sizeof(phases) / sizeof(*phases) };

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
	uint64_t steps = (argc > 2 ? strtoul(argv[2], NULL, 10) : 50) * 1000;
	unsigned rounds = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 60;
	size_t count = bytes / sizeof(struct row);
	double took[PHASES] = {0};

	table = count ? aligned_alloc(sizeof(struct row), bytes) : NULL;
	if (!table || !steps || !rounds || (count & (count - 1))) {
		fprintf(stderr, "usage: phases [MEBIBYTES [THOUSAND_STEPS [ROUNDS]]]\n");
		return 2;
	}
	/* One cycle through all rows; laid out front to back, without misses. */
	for (size_t i = 0; i < count; i++)
		table[i].next = (i * 6364136223846793005u + 1442695040888963407u) % count;
	for (unsigned round = 0; round < rounds; round++) {
		nvmemu_region_begin("round");
		for (unsigned i = 0; i < PHASES; i++) {
			double start = seconds();

			nvmemu_region_begin(phases[i].name);
			phases[i].run(steps);
			nvmemu_region_end();
			took[i] += seconds() - start;
		}
		nvmemu_region_end();
	}
	for (unsigned i = 0; i < PHASES; i++)
		printf("%s: %.3f s\n", phases[i].name, took[i]);
	free(table);
	return 0;
}
