/*
 * OpenMP: loops, reductions, barriers, locks, tasks. Prints sums that do not depend on the order.
 * Argument: rounds.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 1 << 18, STEPS = 200, DEPTH = 16 };

static unsigned next[SIZE];

static long chase(unsigned rounds)
{
	long sum = 0;

#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 1)
	for (unsigned start = 0; start < 4 * rounds; start++) {
		unsigned at = start % SIZE;

		for (unsigned i = 0; i < 5000; i++)
			sum += at = next[at];
	}
	return sum;
}

/* Each step needs what the neighbours have done in the one before. */
static long step_together(unsigned rounds)
{
	static long row[2][64];

	for (int i = 0; i < 64; i++)
		row[0][i] = i;
#pragma omp parallel
	for (unsigned s = 0; s < STEPS * rounds; s++) {
#pragma omp for schedule(static)
		for (int i = 0; i < 64; i++)
			row[(s + 1) % 2][i] =
				(row[s % 2][(i + 1) % 64] * 3 + row[s % 2][(i + 63) % 64]) % 10007;
	}
	return row[0][7] * 31 + row[1][50];
}

static long count_locked(unsigned rounds)
{
	long counts[2] = {0, 0};
	omp_lock_t lock;

	omp_init_lock(&lock);
#pragma omp parallel for
	for (unsigned i = 0; i < 1000 * rounds; i++) {
		omp_set_lock(&lock);
		counts[0]++;
		omp_unset_lock(&lock);
#pragma omp critical
		counts[1] += i % 3;
	}
	omp_destroy_lock(&lock);
	return counts[0] * 7 + counts[1];
}

static long fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = fibonacci(n - 1);
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 20;
	long tasks = 0;

	for (unsigned i = 0; i < SIZE; i++)
		next[i] = (i * 40503u + 12345u) % SIZE;
	printf("chase %ld\n", chase(rounds));
	printf("steps %ld\n", step_together(rounds));
	printf("locks %ld\n", count_locked(rounds));
#pragma omp parallel
#pragma omp single
	tasks = fibonacci(DEPTH);
	printf("tasks %ld\n", tasks);
	return 0;
}
