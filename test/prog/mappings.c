/* mappings: chases pointers through memory that comes and goes, and that may not be read. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

enum { SLOTS = 32, SLOT_BYTES = 256 << 10, NODE_BYTES = 64, NODES = SLOT_BYTES / NODE_BYTES };

struct slot {
	pthread_mutex_t lock;
	char *memory; /* NULL: none now */
};

static struct slot slots[SLOTS];
static volatile int stop;
static uint64_t visits, forbidden[8];
static int forbidden_count;

static void *visit(void *unused)
{
	uint32_t x = 1;

	(void)unused;
	while (!stop) {
		struct slot *s = &slots[x % SLOTS];

		x = x * 1664525u + 1013904223u;
		pthread_mutex_lock(&s->lock);
		if (s->memory) {
			char *p = s->memory + x % NODES * NODE_BYTES;

			for (int i = 0; i < 2000; i++) {
				++*(uint64_t *)(p + 8);
				p = *(char **)p;
			}
			visits++;
		}
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

/* A random cycle over all nodes. */
static void fill(char *memory, uint32_t seed)
{
	static uint32_t order[NODES];

	for (uint32_t i = 0; i < NODES; i++)
		order[i] = i;
	for (uint32_t i = NODES - 1; i > 0; i--) {
		uint32_t j, swap = order[i];

		seed = seed * 1664525u + 1013904223u;
		j = (seed >> 8) % i;
		order[i] = order[j];
		order[j] = swap;
	}
	for (uint32_t i = 0; i < NODES; i++)
		*(char **)(memory + order[i] * NODE_BYTES) =
			memory + order[(i + 1) % NODES] * NODE_BYTES;
}

static void change(struct slot *s, uint32_t how)
{
	char *fresh;

	pthread_mutex_lock(&s->lock);
	if (s->memory && how % 3 == 0) {
		munmap(s->memory, SLOT_BYTES);
		s->memory = NULL;
	} else if (s->memory && how % 3 == 1) {
		mprotect(s->memory, SLOT_BYTES, PROT_NONE);
		madvise(s->memory, SLOT_BYTES, MADV_DONTNEED);
		mprotect(s->memory, SLOT_BYTES, PROT_READ | PROT_WRITE);
		fill(s->memory, how);
	} else if (!s->memory) {
		fresh = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		CHECK(fresh != MAP_FAILED);
		fill(fresh, how);
		s->memory = fresh;
	}
	pthread_mutex_unlock(&s->lock);
}

static void come_and_go(void)
{
	pthread_t thread[2];
	uint32_t x = 7;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 1200000000;

	for (int i = 0; i < SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&thread[i], NULL, visit, NULL));
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		x = x * 1664525u + 1013904223u;
		change(&slots[(x >> 8) % SLOTS], x >> 20);
	}
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	CHECK(visits > 100);
}

static void forbid(void *memory)
{
	if (memory != MAP_FAILED)
		forbidden[forbidden_count++] = (uint64_t)(uintptr_t)memory;
}

/* Memory that ends in a fault, or in something worse, for whoever reads it. */
static void map_forbidden(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	char name[] = "/tmp/mappings-XXXXXX";
	int file = mkstemp(name), zero = open("/dev/zero", O_RDWR),
	    mem = open("/dev/mem", O_RDONLY);
	int perf = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	CHECK(file >= 0 && !unlink(name) && !ftruncate(file, 1 << 20));
	forbid(mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	forbid(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, zero, 0));
	forbid(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
	if (perf >= 0)
		forbid(mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, perf, 0));
	if (mem >= 0)
		forbid(mmap(NULL, 4096, PROT_READ, MAP_SHARED, mem, 0));
	memset((char *)(uintptr_t)forbidden[2], 1, 1 << 20);
	CHECK(!ftruncate(file, 0));
}

/*
 * A branch that is never taken, though whoever follows the code without knowing the future must
 * think that it may be: the addresses behind it are real, what lies there is not to be read.
 */
static void pass_by(void)
{
	volatile uint64_t never = 0;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 500000000, sum = 0;
	uint32_t x = 1;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		for (int i = 0; i < 1000; i++) {
			x = x * 1664525u + 1013904223u;
			if (__builtin_expect(never, 1))
				sum += *(volatile uint8_t *)(uintptr_t)
					       forbidden[x % (unsigned)forbidden_count];
		}
		work_ms(1);
	}
	CHECK(sum == 0);
}

static sigjmp_buf back;
static volatile int faults;

static void jump(int sig)
{
	(void)sig;
	faults++;
	siglongjmp(back, 1);
}

/* The truncated file: the program itself meets SIGBUS, and lives. */
static void touch_truncated(void)
{
	struct sigaction act = {.sa_handler = jump};

	CHECK(!sigaction(SIGBUS, &act, NULL));
	for (volatile int i = 0; i < 50; i++) {
		if (!sigsetjmp(back, 1))
			CHECK(*(volatile char *)(uintptr_t)forbidden[2] && 0);
		work_ms(2);
	}
	CHECK(faults == 50);
}

int main(void)
{
	come_and_go();
	map_forbidden();
	pass_by();
	touch_truncated();
	puts("done");
	return 0;
}
