/* Birth and death of threads. */
#include "preload/hook_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "preload/hook_altstack.h"
#include "preload/hook_mask.h"
#include "preload/real.h"
#include "runtime.h"

struct start {
	void *(*function)(void *);
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

static void *begin(void *arg)
{
	struct start start = *(struct start *)arg;
	int cancel;

	free(arg);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	nve_hook_thread_watch_end();
	nve_runtime_thread_begin(start.number);
	nve_hook_mask_begin(start.blocked);
	pthread_setcancelstate(cancel, NULL);
	return start.function(start.arg);
}

NVE_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*function)(void *), void *arg)
{
	struct start *start;
	int rc;

	nve_real_setup();
	if (!nve_runtime_follows_threads())
		return nve_real.pthread_create(thread, attr, function, arg);
	start = malloc(sizeof(*start));
	if (!start)
		return EAGAIN;
	*start = (struct start){function, arg, nve_action_blocked, nve_runtime_thread_number()};
	rc = nve_real.pthread_create(thread, attr, begin, start);
	if (rc)
		free(start);
	return rc;
}
