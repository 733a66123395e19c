#include "count/calibrate_window.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/learned.h"
#include "count/ahead/window.h"

enum {
	STEPS = 24576, /* between windows, as in a program: what the handler uses has left the
			  caches */
	LIMIT = 2048,
	TURNS_LEAST = 2, /* of a pass, even when time is up */
	INTERRUPTED = 2, /* a turn of so many times the shortest one was interrupted */
};

/* rdi: node, rsi: steps. The loop that windows interpret; in assembly, since they start inside. */
__asm__(".text\n"
	".p2align 6\n"
	".type calibrate_chase, @function\n"
	"calibrate_chase:\n"
	"	mov (%rdi), %rdi\n"
	"	dec %rsi\n"
	"	jne calibrate_chase\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size calibrate_chase, .-calibrate_chase\n");
void *calibrate_chase(void *node, uint64_t steps) __asm__("calibrate_chase");

struct sums {
	double chase_ticks, window_ticks;
	uint64_t turns;
	uint64_t shortest;
};

static void look(struct nve_window *window, void *node, struct nve_window_result *r)
{
	ucontext_t uc;
	struct nve_window_plan plan = {.limit = LIMIT, .touch_max = LIMIT};

	getcontext(&uc);
	uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)calibrate_chase;
	uc.uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)node;
	uc.uc_mcontext.gregs[REG_RSI] = STEPS;
	plan.sample_ip = (uint64_t)(uintptr_t)calibrate_chase;
	nve_window_run(window, &uc, &plan, r);
}

static void *turn(struct nve_window *window, void *node, struct sums *s)
{
	struct nve_window_result r;
	uint64_t start = nve_tsc(), ticks;

	node = calibrate_chase(node, STEPS);
	_mm_lfence(); /* the chase's last load is complete before the clock is read */
	ticks = nve_tsc() - start;
	look(window, node, &r);
	node = calibrate_chase(node, LIMIT); /* past what the window has brought in */
	s->shortest = NVE_MIN(s->shortest, ticks);
	if (ticks > INTERRUPTED * s->shortest || !r.miss_timed)
		return node;
	s->chase_ticks += (double)ticks / STEPS;
	s->window_ticks += (double)r.miss_ticks / r.miss_timed;
	s->turns++;
	return node;
}

/* Once around the chase. No line twice: those of the last window are in the cache. */
static void pass(struct nve_window *window, void **node, size_t count, uint64_t deadline_ns,
		 struct sums *s)
{
	void *at = node[0];

	for (size_t i = 0; i < count; i++)
		_mm_clflush(node[i]);
	_mm_mfence();
	for (size_t i = 0; i + STEPS + LIMIT <= count; i += STEPS + LIMIT) {
		if (s->turns >= TURNS_LEAST && nve_clock_ns(CLOCK_MONOTONIC_RAW) >= deadline_ns)
			return;
		at = turn(window, at, s);
	}
}

int nve_calibrate_window(void **node, size_t count, const struct nve_window_machine *machine,
			 uint64_t deadline_ns, uint32_t *ratio_ppm)
{
	size_t window_bytes =
		(nve_window_bytes() + NVE_PAGE_BYTES - 1) / NVE_PAGE_BYTES * NVE_PAGE_BYTES;
	size_t bytes = window_bytes + nve_learned_bytes();
	struct sums s = {.shortest = UINT64_MAX};
	struct nve_window *window;
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return -ENOMEM;
	nve_interp_setup();
	nve_pages_refresh();
	window = nve_window_init(mem, machine, (void *)(mem + window_bytes), UINT64_MAX);
	/* The first windows find nothing decoded: they are for practice. */
	pass(window, node, count, 0, &s);
	s = (struct sums){.shortest = UINT64_MAX};
	do
		pass(window, node, count, deadline_ns, &s);
	while (nve_clock_ns(CLOCK_MONOTONIC_RAW) < deadline_ns);
	munmap(mem, bytes);
	if (!s.turns)
		return -ERANGE;
	*ratio_ppm = (uint32_t)(s.chase_ticks / s.window_ticks * 1e6);
	return 0;
}
