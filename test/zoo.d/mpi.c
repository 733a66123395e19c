/*
 * MPI: a ring, reductions, barriers, one-sided writes, large messages. The first process prints
 * sums that do not depend on the time. Argument: rounds; negative: ends by MPI_Abort.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGE = 1 << 19, ABORTED = 9 };

static int rank, ranks;

static long pass_round(int rounds)
{
	long token = 1;

	for (int i = 0; i < 100 * rounds; i++) {
		if (rank == 0)
			MPI_Send(&token, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&token, 1, MPI_LONG, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		token = (token * 31 + rank) % 1000003;
		if (rank != 0)
			MPI_Send(&token, 1, MPI_LONG, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
	}
	return token;
}

static long reduce(int rounds)
{
	long mine = rank + 1, all = 0;

	for (int i = 0; i < 20 * rounds; i++) {
		MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		mine = (all * 7 + rank) % 10007;
	}
	return all;
}

static long exchange(int rounds)
{
	int *out = malloc(LARGE * sizeof(*out)), *in = malloc(LARGE * sizeof(*in));
	long sum = 0;

	for (int i = 0; i < rounds / 10 + 1; i++) {
		for (int k = 0; k < LARGE; k++)
			out[k] = rank * i + k;
		MPI_Sendrecv(out, LARGE, MPI_INT, (rank + 1) % ranks, 1, in, LARGE, MPI_INT,
			     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int k = 0; k < LARGE; k++)
			sum += in[k] % 13;
	}
	free(out);
	free(in);
	return sum;
}

static long put(int rounds)
{
	long *shared, mine, sum = 0;
	MPI_Win window;

	MPI_Win_allocate(ranks * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &shared, &window);
	for (int i = 0; i < rounds; i++) {
		mine = rank * 1000 + i;
		MPI_Win_fence(0, window);
		for (int to = 0; to < ranks; to++)
			MPI_Put(&mine, 1, MPI_LONG, to, rank, 1, MPI_LONG, window);
		MPI_Win_fence(0, window);
		for (int k = 0; k < ranks; k++)
			sum += shared[k];
	}
	MPI_Win_free(&window);
	return sum;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	long results[4];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rounds < 0 && rank == ranks - 1)
		MPI_Abort(MPI_COMM_WORLD, ABORTED);
	results[0] = pass_round(abs(rounds));
	results[1] = reduce(abs(rounds));
	results[2] = exchange(abs(rounds));
	results[3] = put(abs(rounds));
	if (rank == 0)
		printf("%ld %ld %ld %ld\n", results[0], results[1], results[2], results[3]);
	MPI_Finalize();
	return 0;
}
