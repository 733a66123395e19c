/* The program's own action on the signal that is ours. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "emu/action.h"

static volatile sig_atomic_t ours, theirs, mask_inside;

static void handler(int sig, siginfo_t *info, void *context)
{
	if (info->si_code == SI_QUEUE) { /* stands for a tick */
		ours++;
		return;
	}
	nve_action_pass_on(sig, info, context);
}

static void program_handler(int sig)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	mask_inside = sigismember(&mask, sig) + 2 * sigismember(&mask, SIGUSR1) +
		      4 * sigismember(&mask, SIGUSR2);
	theirs++;
}

static void tick(void)
{
	sigqueue(getpid(), SIGURG, (union sigval){0});
}

static int set_up(void **state)
{
	(void)state;
	return nve_action_setup(SIGURG, handler, sigaction);
}

static void nothing_set(void **state)
{
	struct sigaction got;

	(void)state;
	assert_int_equal(nve_action_change(NULL, &got), 0);
	assert_true(got.sa_handler == SIG_DFL);
	tick();
	raise(SIGURG);
	assert_int_equal(ours, 1);
	assert_int_equal(theirs, 0);
}

static void handler_set(void **state)
{
	struct sigaction set = {.sa_handler = program_handler}, got, kernel;

	(void)state;
	ours = theirs = 0;
	sigaddset(&set.sa_mask, SIGUSR1);
	assert_int_equal(nve_action_change(&set, &got), 0);
	assert_true(got.sa_handler == SIG_DFL);
	assert_int_equal(nve_action_change(NULL, &got), 0);
	assert_true(got.sa_handler == program_handler && sigismember(&got.sa_mask, SIGUSR1));
	tick();
	assert_int_equal(theirs, 0);
	raise(SIGURG);
	assert_int_equal(theirs, 1);
	assert_int_equal(mask_inside, 1 + 2);
	/* Calls that it would interrupt are so; ours alone would restart them. */
	sigaction(SIGURG, NULL, &kernel);
	assert_true(kernel.sa_sigaction == handler && !(kernel.sa_flags & SA_RESTART));
	set.sa_flags = SA_RESTART | SA_NODEFER;
	nve_action_change(&set, NULL);
	sigaction(SIGURG, NULL, &kernel);
	assert_true(kernel.sa_sigaction == handler && (kernel.sa_flags & SA_RESTART));
	raise(SIGURG);
	assert_int_equal(mask_inside, 2);
	assert_int_equal(ours, 1);
}

static void reset(void **state)
{
	struct sigaction set = {.sa_handler = program_handler, .sa_flags = (int)SA_RESETHAND}, got;

	(void)state;
	theirs = 0;
	nve_action_change(&set, NULL);
	raise(SIGURG);
	raise(SIGURG);
	assert_int_equal(theirs, 1);
	nve_action_change(NULL, &got);
	assert_true(got.sa_handler == SIG_DFL);
	set = (struct sigaction){.sa_handler = SIG_IGN};
	nve_action_change(&set, NULL);
	raise(SIGURG);
	nve_action_change(NULL, &got);
	assert_true(got.sa_handler == SIG_IGN && theirs == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_set),
		cmocka_unit_test(handler_set),
		cmocka_unit_test(reset),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
