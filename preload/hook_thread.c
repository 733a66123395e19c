/* Birth and death of threads. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "preload/real.h"
#include "runtime.h"

struct start {
	void *(*function)(void *);
	void *arg;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key;

/* A key's destructor runs however the thread ends: by return, pthread_exit or cancellation. */
static void on_end(void *unused)
{
	(void)unused;
	nve_runtime_thread_end();
}

static void make_key(void)
{
	pthread_key_create(&end_key, on_end);
}

static void *begin(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	pthread_setspecific(end_key, &end_key);
	nve_runtime_thread_begin();
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
	*start = (struct start){function, arg};
	pthread_once(&once, make_key);
	rc = nve_real.pthread_create(thread, attr, begin, start);
	if (rc)
		free(start);
	return rc;
}
