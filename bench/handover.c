/*
 * nvmemu-handover KIND: threads that hand work to each other, and each of them alone; prints the
 * wall-clock time of both, in turns, as one line of JSON; with them, what of the time together all
 * chases took, and the work of the thread that had most. Which run time is right follows from how
 * they depend on each other: see handover.py.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chase.h"

enum { WORKERS = 4, TURNS_MAX = 64, QUEUE = 4, FOOTPRINT_LLCS = 4 };

static struct {
	uint64_t nodes, rounds, ops; /* chased and computed in a round */
	unsigned turns;
} request = {.nodes = 1000, .rounds = 1000, .ops = 1000, .turns = 3};

struct worker {
	pthread_t thread;
	sem_t go;
	void (*role)(struct worker *self);
	struct bench_node *node;
	uint64_t sum;
	uint64_t section_ns, chase_ns; /* wall-clock time at work; of that, in chases */
};

static struct worker workers[WORKERS];
static sem_t done;
static struct bench_chase list;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned queued;
static uint64_t left; /* items that nobody has taken from the queue */
static int there[2], back[2];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void chase(struct worker *w)
{
	uint64_t start = now_ns(), took;

	w->node = bench_chase_read(w->node, request.nodes);
	took = now_ns() - start;
	w->section_ns += took;
	w->chase_ns += took;
}

static void compute(struct worker *w)
{
	uint64_t x = w->sum, start = now_ns();

	for (uint64_t i = 0; i < request.ops; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	w->sum = x;
	w->section_ns += now_ns() - start;
}

static void chase_alone(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++)
		chase(w);
}

static void compute_alone(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++)
		compute(w);
}

static void chase_locked(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		pthread_mutex_lock(&lock);
		chase(w);
		pthread_mutex_unlock(&lock);
	}
}

static void compute_then_chase_locked(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		compute(w);
		pthread_mutex_lock(&lock);
		chase(w);
		pthread_mutex_unlock(&lock);
	}
}

static void chase_to_barrier(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		chase(w);
		pthread_barrier_wait(&barrier);
	}
}

static void compute_to_barrier(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		compute(w);
		pthread_barrier_wait(&barrier);
	}
}

static void produce(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		chase(w);
		pthread_mutex_lock(&lock);
		while (queued == QUEUE)
			pthread_cond_wait(&emptied, &lock);
		queued++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&lock);
	}
}

/* Takes an item from the queue; false: there are none and will be none. */
static bool take(void)
{
	bool some;

	pthread_mutex_lock(&lock);
	while (!queued && left)
		pthread_cond_wait(&filled, &lock);
	some = queued > 0;
	if (some) {
		queued--;
		left--;
		pthread_cond_signal(&emptied);
	}
	if (!left)
		pthread_cond_broadcast(&filled);
	pthread_mutex_unlock(&lock);
	return some;
}

static void consume(struct worker *w)
{
	while (take())
		compute(w);
}

static void must(ssize_t got)
{
	if (got == 1)
		return;
	perror("nvmemu-handover: pipe");
	exit(1);
}

static void chase_and_send(struct worker *w)
{
	for (uint64_t i = 0; i < request.rounds; i++) {
		chase(w);
		must(write(there[1], "x", 1));
	}
}

static void receive_and_chase(struct worker *w)
{
	char byte;

	for (uint64_t i = 0; i < request.rounds; i++) {
		must(read(there[0], &byte, 1));
		chase(w);
	}
}

static void ask(struct worker *w)
{
	char byte;

	for (uint64_t i = 0; i < request.rounds; i++) {
		chase(w);
		must(write(there[1], "x", 1));
		must(read(back[0], &byte, 1));
	}
}

static void reply(struct worker *w)
{
	char byte;

	for (uint64_t i = 0; i < request.rounds; i++) {
		must(read(there[0], &byte, 1));
		chase(w);
		must(write(back[1], "x", 1));
	}
}

#ifdef _OPENMP
enum { HAS_OPENMP = 1 };

/* A team of two; each chases, from where the worker of its number stands. */
static void chase_as_team(struct worker *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < request.rounds; i++) {
#pragma omp parallel for num_threads(2) schedule(static, 1)
		for (int k = 0; k < 2; k++)
			chase(&workers[k]);
	}
}
#define OPENMP_KIND {"openmp", {chase_as_team}, chase_alone, NULL},
#else
enum { HAS_OPENMP = 0 };
#define OPENMP_KIND
#endif

typedef void (*role)(struct worker *w);

static const struct kind {
	const char *name;
	role together[WORKERS], alone, other; /* other: NULL where both do the same */
} kinds[] = {
	{"lock", {chase_locked, chase_locked}, chase_alone, NULL},
	{"mixed", {compute_then_chase_locked, compute_then_chase_locked}, chase_alone, NULL},
	{"barrier", {chase_to_barrier, compute_to_barrier}, chase_alone, compute_alone},
	{"barrier-even", {chase_to_barrier, chase_to_barrier}, chase_alone, NULL},
	OPENMP_KIND{"queue", {produce, consume, consume, consume}, chase_alone, NULL},
	{"pipe", {chase_and_send, receive_and_chase}, chase_alone, NULL},
	{"ask", {ask, reply}, chase_alone, NULL},
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		sem_wait(&w->go);
		w->role(w);
		sem_post(&done);
	}
	return NULL;
}

/* The first role goes to worker number first. */
static uint64_t time_roles(const role *roles, unsigned count, unsigned first)
{
	uint64_t start = now_ns();

	left = request.rounds;
	for (unsigned i = 0; i < WORKERS; i++)
		workers[i].section_ns = workers[i].chase_ns = 0;
	for (unsigned i = 0; i < count; i++) {
		workers[first + i].role = roles[i];
		sem_post(&workers[first + i].go);
	}
	for (unsigned i = 0; i < count; i++)
		while (sem_wait(&done))
			;
	return now_ns() - start;
}

static void print_times(const char *name, const uint64_t *ns, bool last)
{
	printf("\"%s\": [", name);
	for (unsigned i = 0; i < request.turns; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)ns[i]);
	printf("]%s", last ? "}\n" : ", ");
}

/* Of two runs the second is timed: so what a run leaves owing is paid in one like it. */
static uint64_t time_second(const role *roles, unsigned count, unsigned first)
{
	time_roles(roles, count, first);
	return time_roles(roles, count, first);
}

static void run(const struct kind *kind)
{
	uint64_t together[TURNS_MAX], alone[TURNS_MAX], other[TURNS_MAX] = {0};
	uint64_t chases[TURNS_MAX], longest[TURNS_MAX] = {0};
	unsigned count = 0;

	while (count < WORKERS && kind->together[count])
		count++;
	pthread_barrier_init(&barrier, NULL, count);
	for (unsigned i = 0; i < request.turns; i++) {
		alone[i] = time_second(&kind->alone, 1, 0);
		if (kind->other)
			other[i] = time_second(&kind->other, 1, 1);
		together[i] = time_second(kind->together, count, 0);
		chases[i] = 0;
		for (unsigned k = 0; k < WORKERS; k++) {
			chases[i] += workers[k].chase_ns;
			if (workers[k].section_ns > longest[i])
				longest[i] = workers[k].section_ns;
		}
	}
	printf("{");
	print_times("together_ns", together, false);
	print_times("chases_ns", chases, false);
	print_times("longest_ns", longest, false);
	print_times("alone_ns", alone, false);
	print_times("other_ns", other, true);
}

/* Nanoseconds a node and an operation. */
static void measure(void)
{
	const role roles[] = {chase_alone, compute_alone};
	double n = (double)request.rounds;

	printf("{\"openmp\": %s, \"node_ns\": %.3f, \"op_ns\": %.5f}\n",
	       HAS_OPENMP ? "true" : "false",
	       (double)time_roles(roles, 1, 0) / n / (double)request.nodes,
	       (double)time_roles(roles + 1, 1, 1) / n / (double)request.ops);
}

/* Nanoseconds of CPU time for taking and leaving a lock that nobody else wants; the least of many
 * tries, since what is asked is the price of the path. */
static double pair_ns(void)
{
	enum { TRIES = 200, PAIRS = 20000 };
	double best = 1e9;
	struct timespec start, end;

	for (int i = 0; i < TRIES; i++) {
		double ns;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
		for (int k = 0; k < PAIRS; k++) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		ns = (double)(end.tv_sec - start.tv_sec) * 1e9 +
		     (double)(end.tv_nsec - start.tv_nsec);
		best = ns / PAIRS < best ? ns / PAIRS : best;
	}
	return best;
}

static void price_after_chase(struct worker *w)
{
	w->node = bench_chase_read(w->node, 2000000);
	printf("\"owing_ns\": %.3f}\n", pair_ns());
}

static void *idle(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* In a process of one thread; in one of several; in a thread that has waited for memory. */
static int price(int (*start_workers)(void))
{
	const role owing = price_after_chase;
	pthread_t thread;
	int err;

	printf("{\"single_ns\": %.3f, ", pair_ns());
	err = pthread_create(&thread, NULL, idle, NULL);
	if (err)
		return -err;
	printf("\"threaded_ns\": %.3f, ", pair_ns());
	err = start_workers();
	if (!err)
		time_roles(&owing, 1, 0);
	return err;
}

static int prepare(void)
{
	size_t bytes = FOOTPRINT_LLCS * bench_llc_bytes();
	struct bench_node *node;
	int err;

	if (bytes < (size_t)128 << 20)
		bytes = (size_t)128 << 20;
	err = bench_chase_make(&list, bytes, true, 1);
	if (err)
		return err;
	if (pipe(there) || pipe(back))
		return -errno;
	sem_init(&done, 0, 0);
	node = list.nodes;
	for (unsigned i = 0; i < WORKERS; i++) {
		workers[i].node = node;
		node = bench_chase_read(node, list.count / WORKERS);
		sem_init(&workers[i].go, 0, 0);
		err = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (err)
			return -err;
	}
	return 0;
}

static bool take_option(int code, const char *value)
{
	char *end;
	unsigned long long n = strtoull(value, &end, 10);

	if (*end || end == value || !n)
		return false;
	switch (code) {
	case 'n': request.nodes = n; return true;
	case 'r': request.rounds = n; return true;
	case 'o': request.ops = n; return true;
	case 't': request.turns = (unsigned)n; return n <= TURNS_MAX;
	}
	return false;
}

static int usage(void)
{
	fputs("usage: nvmemu-handover measure|locks|", stderr);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(stderr, "%s%s", i ? "|" : "", kinds[i].name);
	fputs(" [--nodes N] [--rounds N] [--ops N] [--turns N]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"nodes", required_argument, NULL, 'n'},
		{"rounds", required_argument, NULL, 'r'},
		{"ops", required_argument, NULL, 'o'},
		{"turns", required_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	const struct kind *kind = NULL;
	int code, err;

	while ((code = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_option(code, optarg ? optarg : ""))
			return usage();
	if (optind != argc - 1)
		return usage();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[optind]))
			kind = &kinds[i];
	if (!kind && strcmp(argv[optind], "measure") != 0 && strcmp(argv[optind], "locks") != 0)
		return usage();
	if (!strcmp(argv[optind], "locks"))
		return price(prepare) != 0;
	err = prepare();
	if (err) {
		fprintf(stderr, "nvmemu-handover: %s\n", strerror(-err));
		return 1;
	}
	if (kind)
		run(kind);
	else
		measure();
	return 0;
}
