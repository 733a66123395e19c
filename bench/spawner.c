/*
 * spawner BYTES ROUNDS: starts processes from one of so many bytes of data, all of them written,
 * and prints for each round what took how long, from the call until the child has been waited for:
 * "fork NS exec NS", a child that ends at once, and one that becomes /bin/true.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t take(int executes)
{
	uint64_t start = now_ns();
	int status;
	pid_t child = fork();

	if (!child) {
		if (executes)
			execl("/bin/true", "true", (char *)NULL);
		_exit(executes);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status) {
		perror("spawner: a child failed");
		exit(1);
	}
	return now_ns() - start;
}

int main(int argc, char **argv)
{
	size_t bytes = argc == 3 ? strtoull(argv[1], NULL, 10) : 0;
	long rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	char *data = bytes ? malloc(bytes) : NULL;

	if (!data || rounds <= 0) {
		fprintf(stderr, "usage: spawner BYTES ROUNDS\n");
		return 2;
	}
	memset(data, 1, bytes);
	take(0);
	take(1);
	for (long i = 0; i < rounds; i++) {
		unsigned long long forked = take(0), executed = take(1);

		printf("fork %llu exec %llu\n", forked, executed);
	}
	free(data);
	return 0;
}
