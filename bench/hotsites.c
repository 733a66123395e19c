/*
 * hotsites PATTERN SECONDS [MIB]: a program of known heat. Eight blocks of memory, each allocated
 * by a function of its own (site0 to site7), are read at random lines, one access after another;
 * site0 gets half of the accesses, site1 a quarter, and so on, site7 the same as site6. Those of
 * odd number are written, too.
 *
 * mixed   each access goes to a site at random, all by the same instruction; blocks are as large as
 *         their share of the accesses, so that caches treat them alike
 * phases  each site has its turns of some 30 ms, by the same instruction
 * loops   likewise, but each site has a loop of its own
 *
 * Prints the accesses to each site, the truth, as JSON.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITES = 8, LINE = 64, MIXED_STEPS = 100000, TURN_STEPS = 200000, MIB_USUAL = 512 };

struct site {
	char *block;
	uint64_t lines, steps;
	bool written;
};

static struct site sites[SITES];
static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* 1/2, 1/4, ..., 1/128, 1/128. */
static int random_site(uint64_t random)
{
	int site = __builtin_ctzll(random | 1u << (SITES - 1));

	return site;
}

/* One allocation function for all, as programs have them: only the call path tells sites apart. */
static __attribute__((noinline)) char *allocate(size_t bytes)
{
	char *block = malloc(bytes);

	if (!block) {
		perror("hotsites");
		exit(1);
	}
	memset(block, 1, bytes);
	return block;
}

#define MAKE(n)                                                                                    \
	static __attribute__((noinline)) void site##n(size_t bytes)                                \
	{                                                                                          \
		sites[n].block = allocate(bytes);                                                  \
		sites[n].lines = bytes / LINE;                                                     \
		sites[n].written = n % 2 != 0;                                                     \
	}
MAKE(0)
MAKE(1)
MAKE(2)
MAKE(3)
MAKE(4)
MAKE(5)
MAKE(6)
MAKE(7)

/* The line depends on what was read before: misses do not overlap. */
static inline __attribute__((always_inline)) uint64_t step(const struct site *s, uint64_t key)
{
	uint64_t line = (uint64_t)((unsigned __int128)(key * 0x9e3779b97f4a7c15u) * s->lines >> 64);
	uint64_t *word = (uint64_t *)(void *)(s->block + line * LINE);
	uint64_t value = *word;

	if (s->written)
		*word = value + 2;
	return key * 6364136223846793005u + (value | 1);
}

static __attribute__((noinline)) uint64_t walk_mixed(uint64_t key, uint64_t steps)
{
	while (steps--) {
		struct site *s = &sites[random_site(key >> 40)];

		s->steps++;
		key = step(s, key);
	}
	return key;
}

static __attribute__((noinline)) uint64_t walk_one(const struct site *s, uint64_t key,
						   uint64_t steps)
{
	while (steps--)
		key = step(s, key);
	return key;
}

#define WALK(n)                                                                                    \
	static __attribute__((noinline))                                                           \
	uint64_t walk##n(const struct site *s, uint64_t key, uint64_t steps)                       \
	{                                                                                          \
		__asm__("# walk " #n); /* not to be folded into the others */                      \
		while (steps--)                                                                    \
			key = step(s, key);                                                        \
		return key;                                                                        \
	}
WALK(0)
WALK(1)
WALK(2)
WALK(3)
WALK(4)
WALK(5)
WALK(6)
WALK(7)

static uint64_t (*const walks[])(const struct site *s, uint64_t key, uint64_t steps) = {
	walk0, walk1, walk2, walk3, walk4, walk5, walk6, walk7,
};

static void make_sites(size_t bytes, bool alike)
{
	static void (*const make[])(size_t bytes) = {site0, site1, site2, site3,
						     site4, site5, site6, site7};

	for (int i = 0; i < SITES; i++) {
		int halvings = i < SITES - 1 ? i + 1 : i;

		make[i](alike ? bytes / SITES : bytes >> halvings);
	}
}

static void walk(const char *pattern, uint64_t end_ns)
{
	uint64_t key = 1;
	bool loops = !strcmp(pattern, "loops");

	while (cpu_ns() < end_ns) {
		int site = random_site(next_random() >> 20);

		if (!strcmp(pattern, "mixed")) {
			key = walk_mixed(key, MIXED_STEPS);
			continue;
		}
		key = (loops ? walks[site] : walk_one)(&sites[site], key, TURN_STEPS);
		sites[site].steps += TURN_STEPS;
	}
	if (!key)
		puts("");
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
	size_t mib = argc > 3 ? strtoul(argv[3], NULL, 10) : MIB_USUAL;

	if (seconds <= 0 || mib < SITES ||
	    (strcmp(argv[1], "mixed") && strcmp(argv[1], "phases") && strcmp(argv[1], "loops"))) {
		fprintf(stderr, "usage: hotsites mixed|phases|loops SECONDS [MIB]\n");
		return 2;
	}
	make_sites(mib << 20, strcmp(argv[1], "mixed") != 0);
	walk(argv[1], cpu_ns() + (uint64_t)(seconds * 1e9));
	printf("{\"pattern\": \"%s\", \"sites\": [", argv[1]);
	for (int i = 0; i < SITES; i++)
		printf("%s{\"name\": \"site%d\", \"steps\": %llu, \"written\": %s}", i ? ", " : "",
		       i, (unsigned long long)sites[i].steps, sites[i].written ? "true" : "false");
	printf("]}\n");
	return 0;
}
