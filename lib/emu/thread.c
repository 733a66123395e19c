#include "emu/thread.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

__thread struct nve_thread *nve_thread_self;
void (*nve_thread_on_end)(const struct nve_thread *t);

static struct {
	pthread_mutex_t lock;
	struct nve_thread *first;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct nve_thread *nve_thread_new(void)
{
	struct nve_thread *t =
		mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (t == MAP_FAILED)
		return NULL;
	pthread_mutex_lock(&registry.lock);
	t->next = registry.first;
	if (t->next)
		t->next->previous = t;
	registry.first = t;
	pthread_mutex_unlock(&registry.lock);
	return t;
}

static void release(struct nve_thread *t)
{
	if (t->ahead)
		nve_ahead_delete(t->ahead);
	nve_pmu_end(&t->pmu);
	if (t->heat)
		munmap(t->heat, t->heat_bytes);
	munmap(t, sizeof(*t));
}

void nve_thread_delete(struct nve_thread *t)
{
	pthread_mutex_lock(&registry.lock);
	if (nve_thread_on_end)
		nve_thread_on_end(t);
	if (t->previous)
		t->previous->next = t->next;
	else
		registry.first = t->next;
	if (t->next)
		t->next->previous = t->previous;
	pthread_mutex_unlock(&registry.lock);
	release(t);
}

int nve_thread_lock(void)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec++;
	return -pthread_mutex_timedlock(&registry.lock, &limit);
}

void nve_thread_unlock(void)
{
	pthread_mutex_unlock(&registry.lock);
}

void nve_thread_each(void (*visit)(struct nve_thread *t, void *arg), void *arg)
{
	for (struct nve_thread *t = registry.first; t; t = t->next)
		visit(t, arg);
}

void nve_thread_before_fork(void)
{
	pthread_mutex_lock(&registry.lock);
}

void nve_thread_after_fork(bool child)
{
	struct nve_thread *t = registry.first, *next;

	if (child) {
		registry.first = NULL;
		for (; t; t = next) {
			next = t->next;
			nve_pmu_forget(&t->pmu);
			release(t);
		}
		nve_thread_self = NULL;
		pthread_mutex_init(&registry.lock, NULL);
		return;
	}
	pthread_mutex_unlock(&registry.lock);
}
