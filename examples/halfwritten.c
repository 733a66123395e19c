/*
 * A pointer chase that writes every other node it visits: half of the lines that it brings into the
 * cache leave it modified. A plain program that knows nothing of the library; DESIGN.md tells what
 * the library should find here, and examples/run compares.
 *
 *   halfwritten [MEBIBYTES [MILLION_STEPS]]     the first a power of two
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct node {
	struct node *next;
	uint64_t visits;
	char rest_of_line[48];
};

/*
 * One cycle through all nodes, in the order of a linear congruential generator: no prefetcher can
 * follow it, and it is laid out front to back, without misses. count: a power of two.
 */
static void link_cycle(struct node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		nodes[i].next = &nodes[(i * 6364136223846793005u + 1442695040888963407u) % count];
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 256) << 20;
	uint64_t steps = (argc > 2 ? strtoul(argv[2], NULL, 10) : 10) * 1000000;
	size_t count = bytes / sizeof(struct node);
	struct node *nodes = count ? aligned_alloc(sizeof(struct node), bytes) : NULL;
	struct node *node = nodes;
	double start;

	if (!nodes || !steps || (count & (count - 1))) {
		fprintf(stderr, "usage: halfwritten [MEBIBYTES [MILLION_STEPS]]\n");
		return 2;
	}
	link_cycle(nodes, count);
	start = cpu_seconds();
	for (uint64_t i = 0; i < steps; i += 2) {
		node->visits = i;
		node = node->next->next;
	}
	printf("%.1f ns per step%s\n", (cpu_seconds() - start) / (double)steps * 1e9,
	       node ? "" : ", and the list is broken");
	free(nodes);
	return 0;
}
