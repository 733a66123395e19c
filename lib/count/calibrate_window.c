#include "count/calibrate_window.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"
#include "count/ahead/learned.h"
#include "count/ahead/window.h"

#ifndef SA_RESTORER
#define SA_RESTORER 0x04000000
#endif

enum {
	STEPS = 40000, /* of one turn: more than fit a tick of 4 ms */
	LIMIT = 2048,
	SIGNAL = SIGURG, /* ignored by default: a late one does no harm */
	TICK_NS = 1000000,
	TURNS_LEAST = 3, /* even when time is up */
	INTERRUPTED = 2, /* a turn of so many times the fastest step was interrupted */
};

/* rdi: node, rsi: steps. The loop that windows interpret; in assembly, so that the registers of the
 * interrupted loop are known. Below it, where the kernel returns from our handler to. */
__asm__(".text\n"
	".p2align 6\n"
	".type calibrate_chase, @function\n"
	"calibrate_chase:\n"
	"	mov (%rdi), %rdi\n"
	"	dec %rsi\n"
	"	jne calibrate_chase\n"
	"calibrate_chase_end:\n"
	"	mov %rdi, %rax\n"
	"	ret\n"
	".size calibrate_chase, .-calibrate_chase\n"
	".type calibrate_return, @function\n"
	"	nop\n"
	"calibrate_return:\n"
	"	mov $15, %eax\n"
	"	syscall\n"
	".size calibrate_return, .-calibrate_return\n");
void *calibrate_chase(void *node, uint64_t steps) __asm__("calibrate_chase");
extern const char calibrate_chase_end[] __asm__("calibrate_chase_end");
void calibrate_return(void) __asm__("calibrate_return");

/* The kernel's own form. libc's sigaction() may be the program's view of it (a hook). */
struct kernel_action {
	void (*handler)(int sig, siginfo_t *info, void *context);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

struct sums {
	double chase_ticks, window_ticks;
	uint64_t turns;
	double fastest; /* ticks per step */
};

/* Of the turn that runs; one calibration at a time. */
static struct {
	struct nve_window *window;
	uint64_t start_tsc, ticks, steps;
	struct nve_window_result result;
	bool looked;
} now;

static void look(const ucontext_t *uc)
{
	struct nve_window_plan plan = {.limit = LIMIT, .touch_max = LIMIT};

	plan.sample_ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
	nve_window_run(now.window, uc, &plan, &now.result);
	now.looked = true;
}

/* In the loop: a window, from where it was interrupted. Anywhere else: not this time. */
static void on_tick(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	if (ip < (uintptr_t)calibrate_chase || ip >= (uintptr_t)calibrate_chase_end)
		return;
	now.ticks = nve_tsc() - now.start_tsc;
	now.steps = STEPS - (uint64_t)uc->uc_mcontext.gregs[REG_RSI];
	if (now.steps > STEPS / 16)
		look(uc);
}

static void add_turn(struct sums *s)
{
	double per_step = (double)now.ticks / (double)now.steps;

	s->fastest = fmin(s->fastest, per_step);
	if (per_step > INTERRUPTED * s->fastest || !now.result.miss_timed)
		return;
	s->chase_ticks += per_step;
	s->window_ticks += (double)now.result.miss_ticks / now.result.miss_timed;
	s->turns++;
}

/* A stretch of the chase with a window at the tick that falls into it. Without a tick (no timer to
 * be had, or its signal blocked by force) the window starts at the end. */
static void *turn(int timer, void *node, struct sums *s)
{
	struct itimerspec spec = {.it_value = {.tv_nsec = TICK_NS}};
	ucontext_t uc;

	now.looked = false;
	if (timer >= 0)
		syscall(SYS_timer_settime, timer, 0, &spec, NULL);
	now.start_tsc = nve_tsc();
	node = calibrate_chase(node, STEPS);
	_mm_lfence(); /* the last load is complete before the clock is read */
	if (!now.looked) {
		now.ticks = nve_tsc() - now.start_tsc;
		now.steps = STEPS;
		getcontext(&uc);
		uc.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)calibrate_chase;
		uc.uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)node;
		uc.uc_mcontext.gregs[REG_RSI] = STEPS;
		look(&uc);
		node = calibrate_chase(node, LIMIT); /* past what the window has brought in */
	}
	add_turn(s);
	return node;
}

static int make_timer(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGNAL};
	int id;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	return syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id) ? -1 : id;
}

static void turns(void *node, uint64_t deadline_ns, struct sums *s)
{
	struct kernel_action ours = {on_tick, SA_SIGINFO | SA_ONSTACK | SA_RESTORER,
				     calibrate_return, ~0ull};
	struct kernel_action before;
	uint64_t unblock = 1ull << (SIGNAL - 1), blocked;
	int timer = make_timer();

	syscall(SYS_rt_sigaction, SIGNAL, &ours, &before, sizeof(uint64_t));
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &unblock, &blocked, sizeof(uint64_t));
	/* The first window finds nothing decoded: it is for practice. */
	node = turn(timer, node, s);
	*s = (struct sums){.fastest = HUGE_VAL};
	do
		node = turn(timer, node, s);
	while (s->turns < TURNS_LEAST || nve_clock_ns(CLOCK_MONOTONIC_RAW) < deadline_ns);
	if (timer >= 0)
		syscall(SYS_timer_delete, timer);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof(uint64_t));
	syscall(SYS_rt_sigaction, SIGNAL, &before, NULL, sizeof(uint64_t));
}

int nve_calibrate_window(void *node, const struct nve_window_machine *machine, uint64_t deadline_ns,
			 uint32_t *ratio_ppm)
{
	size_t window_bytes =
		(nve_window_bytes() + NVE_PAGE_BYTES - 1) / NVE_PAGE_BYTES * NVE_PAGE_BYTES;
	size_t bytes = window_bytes + nve_learned_bytes();
	struct sums s = {.fastest = HUGE_VAL};
	char *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		return -ENOMEM;
	nve_interp_setup();
	nve_pages_refresh();
	now.window = nve_window_init(mem, machine, (void *)(mem + window_bytes), UINT64_MAX);
	turns(node, deadline_ns, &s);
	munmap(mem, bytes);
	if (!s.turns)
		return -ERANGE;
	*ratio_ppm = (uint32_t)(s.chase_ticks / s.window_ticks * 1e6);
	return 0;
}
