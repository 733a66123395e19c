/* signals WHAT: uses the signals that an emulator may want for itself, and checks its own view. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

static volatile sig_atomic_t seen, blocked_inside, last_code;

static void count(int sig)
{
	(void)sig;
	seen++;
}

static void count_info(int sig, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)context;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	blocked_inside = sigismember(&mask, sig) * 2 + sigismember(&mask, SIGUSR1);
	last_code = info->si_code;
	seen++;
}

static void check_own(void)
{
	struct sigaction set = {.sa_sigaction = count_info, .sa_flags = SA_SIGINFO}, got;

	sigaddset(&set.sa_mask, SIGUSR1);
	CHECK(!sigaction(SIGURG, NULL, &got) && got.sa_handler == SIG_DFL);
	CHECK(!sigaction(SIGURG, &set, &got) && got.sa_handler == SIG_DFL);
	CHECK(!sigaction(SIGURG, NULL, &got) && got.sa_sigaction == count_info);
	CHECK(sigismember(&got.sa_mask, SIGUSR1) && !sigismember(&got.sa_mask, SIGUSR2));
	CHECK(!(got.sa_flags & (SA_RESTART | SA_ONSTACK)));
	work_ms(100);
	CHECK(seen == 0);
	CHECK(!raise(SIGURG) && seen == 1 && blocked_inside == 3 && last_code == SI_TKILL);
	CHECK(!kill(getpid(), SIGURG) && seen == 2 && last_code == SI_USER);
	CHECK(signal(SIGURG, count) != SIG_ERR && signal(SIGURG, SIG_IGN) == count);
	CHECK(!raise(SIGURG) && seen == 2);
	set.sa_flags |= (int)SA_RESETHAND;
	CHECK(!sigaction(SIGURG, &set, &got) && got.sa_handler == SIG_IGN);
	CHECK(!raise(SIGURG) && !raise(SIGURG) && seen == 3);
	work_ms(50);
	CHECK(seen == 3);
}

/* As language runtimes do at their start. */
static void check_reset(void)
{
	struct sigaction set = {.sa_handler = SIG_DFL};

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &set, NULL);
	work_ms(60);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, count);
	work_ms(60);
	CHECK(seen == 0);
}

static void check_reset_raw(void)
{
	struct kernel_sigaction set, old;

	signal(SIGUSR1, count);
	CHECK(!syscall(SYS_rt_sigaction, SIGUSR1, NULL, &set, sizeof(set.mask)));
	for (int sig = 1; sig < NSIG; sig++)
		syscall(SYS_rt_sigaction, sig, &set, NULL, sizeof(set.mask));
	CHECK(!syscall(SYS_rt_sigaction, SIGURG, NULL, &old, sizeof(old.mask)));
	CHECK(old.handler == count);
	work_ms(60);
	CHECK(seen == 0);
	CHECK(!kill(getpid(), SIGURG) && seen == 1);
}

/* A thread has its mask from the one that made it. */
static void *inherit(void *unused)
{
	sigset_t mask, some;

	CHECK(!pthread_sigmask(SIG_SETMASK, NULL, &mask) && sigismember(&mask, SIGURG));
	work_ms(30);
	sigemptyset(&some);
	sigaddset(&some, SIGURG);
	CHECK(!pthread_sigmask(SIG_UNBLOCK, &some, &mask) && sigismember(&mask, SIGURG));
	CHECK(!pthread_sigmask(SIG_SETMASK, &mask, &some) && !sigismember(&some, SIGURG));
	return unused;
}

static void check_wait(void)
{
	struct timespec short_time = {0, 30000000};
	struct signalfd_siginfo record;
	sigset_t all, pending;
	pthread_t thread;
	siginfo_t info;
	int fd, sig;

	sigfillset(&all);
	CHECK(!pthread_sigmask(SIG_BLOCK, &all, &pending));
	CHECK(!sigismember(&pending, SIGURG));
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &pending) && sigismember(&pending, SIGURG));
	CHECK(!pthread_create(&thread, NULL, inherit, NULL) && !pthread_join(thread, NULL));
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	CHECK(fd >= 0);
	for (int i = 0; i < 5; i++) {
		work_ms(20);
		CHECK(!sigpending(&pending) && sigisemptyset(&pending));
		CHECK(read(fd, &record, sizeof(record)) < 0 && errno == EAGAIN);
		CHECK(sigtimedwait(&all, &info, &short_time) < 0 && errno == EAGAIN);
	}
	work_ms(20);
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(!sigwait(&all, &sig) && sig == SIGUSR1);
	work_ms(20);
	CHECK(!kill(getpid(), SIGURG));
	CHECK(sigwaitinfo(&all, &info) == SIGURG && info.si_code == SI_USER);
	CHECK(!kill(getpid(), SIGUSR2));
	CHECK(read(fd, &record, sizeof(record)) == sizeof(record) && record.ssi_signo == SIGUSR2);
	work_ms(20);
	CHECK(!raise(SIGURG));
	CHECK(!sigpending(&pending) && sigismember(&pending, SIGURG));
	CHECK(read(fd, &record, sizeof(record)) == sizeof(record) && record.ssi_signo == SIGURG);
}

/* Every signal but ours is blocked, faults too. */
static void check_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGURG);
	CHECK(!pthread_sigmask(SIG_SETMASK, &all, NULL));
	work_ms(150);
	CHECK(!raise(SIGSEGV));
	work_ms(50);
	CHECK(!sigpending(&all) && sigismember(&all, SIGSEGV));
}

/* Names that are older than POSIX, and still used: each shows what the others set. */
static void check_old(void)
{
	const int bit = 1 << (SIGURG - 1);
	struct sigaction got;
	sigset_t mask;

	CHECK(sigblock(bit) == 0 && sigblock(0) == bit);
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &mask) && sigismember(&mask, SIGURG));
	work_ms(50);
	CHECK(sigsetmask(0) == bit && sigblock(0) == 0);
	CHECK(!sigprocmask(SIG_BLOCK, NULL, &mask) && !sigismember(&mask, SIGURG));
	CHECK(!sighold(SIGURG) && sigblock(0) == bit && !sigrelse(SIGURG) && sigblock(0) == 0);
	CHECK(sigset(SIGURG, count) == SIG_DFL && sigset(SIGURG, SIG_HOLD) == count);
	CHECK(sigblock(0) == bit && sigset(SIGURG, count) == SIG_HOLD && sigblock(0) == 0);
	work_ms(50);
	CHECK(seen == 0 && !raise(SIGURG) && seen == 1);
	CHECK(!siginterrupt(SIGURG, 1) && !sigaction(SIGURG, NULL, &got));
	CHECK(got.sa_handler == count && !(got.sa_flags & SA_RESTART));
	CHECK(!siginterrupt(SIGURG, 0) && !sigaction(SIGURG, NULL, &got));
	CHECK(got.sa_flags & SA_RESTART);
	CHECK(!sigignore(SIGURG) && !raise(SIGURG) && seen == 1);
	work_ms(50);
	CHECK(sigset(SIGURG, SIG_DFL) == SIG_IGN && seen == 1);
}

static sigjmp_buf back;
static char *volatile page;

static void jump(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (sig == SIGSEGV && info->si_code == SEGV_ACCERR && info->si_addr == page)
		siglongjmp(back, 1);
	_exit(98);
}

static void *busy(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED))
		work_ms(5);
	return NULL;
}

/* Real faults of the program, while others are looked at. */
static void check_faults(void)
{
	struct sigaction set = {.sa_sigaction = jump, .sa_flags = SA_SIGINFO}, got;
	volatile int faults = 0;
	pthread_t thread;
	int stop = 0;
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 700000000;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!sigaction(SIGSEGV, &set, NULL));
	CHECK(!pthread_create(&thread, NULL, busy, &stop));
	while (clock_ns(CLOCK_MONOTONIC) < end) {
		volatile int before = faults;

		if (!sigsetjmp(back, 1)) {
			*page = 1;
			_exit(97);
		}
		faults = before + 1;
		CHECK(!sigaction(SIGSEGV, &set, &got) && got.sa_sigaction == jump);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK(faults > 100);
	/* One that was sent is no fault: it comes once. */
	set.sa_sigaction = count_info;
	CHECK(!sigaction(SIGSEGV, &set, NULL));
	for (int i = 1; i <= 50; i++) {
		CHECK(!raise(SIGSEGV) && seen == i && last_code == SI_TKILL);
		work_ms(1);
	}
}

static void check_errno(void)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 200000000;

	errno = 1234;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		CHECK(errno == 1234);
}

/* A stack too small for a handler is none of the program's problem until it uses it. */
static void check_small_stack(void)
{
	enum { BYTES = 5120 /* the least that every kernel accepts */ };
	static char memory[3 * BYTES];
	stack_t small = {.ss_sp = memory + BYTES, .ss_size = BYTES}, got;

	memset(memory, 0x5a, sizeof(memory));
	CHECK(!sigaltstack(&small, NULL));
	work_ms(100);
	for (size_t i = 0; i < BYTES; i++)
		CHECK(memory[i] == 0x5a && memory[2 * BYTES + i] == 0x5a);
	CHECK(!sigaltstack(NULL, &got));
	CHECK(got.ss_sp == small.ss_sp && got.ss_size == small.ss_size && got.ss_flags == 0);
	small.ss_flags = SS_DISABLE;
	CHECK(!sigaltstack(&small, &got) && got.ss_sp == memory + BYTES);
	CHECK(!sigaltstack(NULL, &got) && got.ss_flags == SS_DISABLE);
	work_ms(20);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*check)(void);
	} checks[] = {
		{"own", check_own},
		{"old", check_old},
		{"reset", check_reset},
		{"reset-raw", check_reset_raw},
		{"wait", check_wait},
		{"blocked", check_blocked},
		{"faults", check_faults},
		{"errno", check_errno},
		{"small-stack", check_small_stack},
	};

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		if (argc > 1 && strcmp(argv[1], checks[i].name))
			continue;
		work_ms(20);
		checks[i].check();
		return 0;
	}
	return 2;
}
