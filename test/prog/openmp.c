/* Loops, barriers, critical sections and tasks of OpenMP. */
#include "work.h"

int main(void)
{
	long sum = 0, inside = 0;

#pragma omp parallel for num_threads(4) reduction(+ : sum)
	for (int i = 0; i < 200; i++) {
		work_ms(1);
		sum += i;
	}
#pragma omp parallel num_threads(4)
	{
		for (int i = 0; i < 20; i++) {
			work_ms(1);
#pragma omp barrier
#pragma omp critical
			inside++;
		}
#pragma omp single
		for (int i = 0; i < 50; i++) {
#pragma omp task
			{
				work_ms(1);
#pragma omp atomic
				inside++;
			}
		}
	}
	printf("%ld %ld\n", sum, inside);
	return 0;
}
