/* Birth and death of threads. */
#include "preload/hook_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "preload/hook_altstack.h"
#include "preload/hook_mask.h"
#include "preload/real.h"
#include "runtime.h"

struct start {
	union {
		void *(*posix)(void *);
		thrd_start_t c11;
	} function;
	void *arg;
	bool blocked; /* our signal, in the creator's view */
	uint64_t number;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key;

/* A key's destructor runs however the thread ends: by return, pthread_exit or cancellation. */
static void on_end(void *unused)
{
	int cancel;

	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	nve_runtime_thread_end();
	nve_hook_altstack_end();
	pthread_setcancelstate(cancel, NULL);
}

static void make_key(void)
{
	pthread_key_create(&end_key, on_end);
}

void nve_hook_thread_watch_end(void)
{
	if (!nve_runtime_follows_threads())
		return;
	pthread_once(&once, make_key);
	pthread_setspecific(end_key, &end_key);
}

static struct start begin(struct start *given)
{
	struct start start = *given;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	free(given);
	nve_hook_thread_watch_end();
	nve_runtime_thread_begin(start.number);
	nve_hook_mask_begin(start.blocked);
	pthread_setcancelstate(cancel, NULL);
	return start;
}

static void *begin_posix(void *arg)
{
	struct start start = begin(arg);

	return start.function.posix(start.arg);
}

static int begin_c11(void *arg)
{
	struct start start = begin(arg);

	return start.function.c11(start.arg);
}

/* For the thread that is about to be made; NULL: no memory. */
static struct start *prepare(void *arg)
{
	struct start *start = malloc(sizeof(*start));

	if (!start)
		return NULL;
	*start = (struct start){
		.arg = arg, .blocked = nve_action_blocked, .number = nve_runtime_before_thread()};
	return start;
}

NVE_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*function)(void *), void *arg)
{
	struct start *start;
	int rc;

	nve_real_setup();
	if (!nve_runtime_follows_threads())
		return nve_real.pthread_create(thread, attr, function, arg);
	start = prepare(arg);
	if (!start)
		return EAGAIN;
	start->function.posix = function;
	rc = nve_real.pthread_create(thread, attr, begin_posix, start);
	if (rc)
		free(start);
	return rc;
}

NVE_EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *arg)
{
	struct start *start;
	int rc;

	nve_real_setup();
	if (!nve_runtime_follows_threads())
		return nve_real.thrd_create(thread, function, arg);
	start = prepare(arg);
	if (!start)
		return thrd_nomem;
	start->function.c11 = function;
	rc = nve_real.thrd_create(thread, begin_c11, start);
	if (rc != thrd_success)
		free(start);
	return rc;
}
