/* blocking [CALLS]: blocking calls of a thread that is busy between them: none may fail with EINTR,
 * or end early. So many of them last. */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "work.h"

enum { ROUNDS = 25, WAIT_MS = 1, LARGE = 1000000 };

static int empty[2], listener, events;
static sem_t never;

static struct timespec soon(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += WAIT_MS * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static void wait_all_ways(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct pollfd poll_empty = {.fd = empty[0], .events = POLLIN};
	struct timespec length = {0, WAIT_MS * 1000000}, end, left = {0};
	struct timeval short_time = {0, WAIT_MS * 1000};
	struct epoll_event event;
	fd_set set;
	char byte;

	CHECK(poll(&poll_empty, 1, WAIT_MS) == 0);
	CHECK(ppoll(&poll_empty, 1, &length, NULL) == 0);
	CHECK(epoll_wait(events, &event, 1, WAIT_MS) == 0);
	CHECK(nanosleep(&length, &left) == 0);
	CHECK(clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL) == 0);
	FD_ZERO(&set);
	FD_SET(empty[0], &set);
	CHECK(select(empty[0] + 1, &set, NULL, NULL, &short_time) == 0);
	end = soon();
	CHECK(sem_timedwait(&never, &end) < 0 && errno == ETIMEDOUT);
	end = soon();
	pthread_mutex_lock(&mutex);
	CHECK(pthread_cond_timedwait(&condition, &mutex, &end) == ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
	CHECK(recv(listener, &byte, 1, MSG_DONTWAIT) < 0 && errno != EINTR);
	CHECK(accept(listener, NULL, NULL) < 0 && errno == EAGAIN);
}

static void *write_slowly(void *fd)
{
	for (int i = 0; i < ROUNDS; i++) {
		usleep(WAIT_MS * 1000);
		CHECK(write(*(int *)fd, "x", 1) == 1);
	}
	return NULL;
}

static void read_from_thread(void)
{
	pthread_t thread;
	int pipe_ends[2];
	char byte;

	CHECK(!pipe(pipe_ends));
	CHECK(!pthread_create(&thread, NULL, write_slowly, &pipe_ends[1]));
	for (int i = 0; i < ROUNDS; i++) {
		work_ms(1);
		CHECK(read(pipe_ends[0], &byte, 1) == 1);
	}
	pthread_join(thread, NULL);
}

/* Two ends that wake each other in turn: each call of one blocks until the other's. */
struct pair {
	int to[2], from[2], events, listener;
	struct sockaddr_un name;
	socklen_t name_length;
	sem_t ask, answer;
	long calls;
};

static void wake(const struct pair *p)
{
	CHECK(write(p->to[1], "x", 1) == 1);
}

static void take(const struct pair *p)
{
	char byte;

	CHECK(read(p->from[0], &byte, 1) == 1);
}

static void *echo(void *pair)
{
	struct pair *p = pair;
	char byte;

	while (read(p->to[0], &byte, 1) == 1)
		CHECK(write(p->from[1], "x", 1) == 1);
	return NULL;
}

static void *echo_semaphore(void *pair)
{
	struct pair *p = pair;

	for (long i = 0; i < p->calls; i++) {
		CHECK(!sem_wait(&p->ask));
		CHECK(!sem_post(&p->answer));
	}
	return NULL;
}

static void *connect_often(void *pair)
{
	struct pair *p = pair;

	for (long i = 0; i < p->calls; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		CHECK(!connect(fd, (struct sockaddr *)&p->name, p->name_length));
		close(fd);
	}
	return NULL;
}

static void by_read(struct pair *p)
{
	wake(p);
	take(p);
}

static void by_poll(struct pair *p)
{
	struct pollfd fd = {.fd = p->from[0], .events = POLLIN};

	wake(p);
	CHECK(poll(&fd, 1, -1) == 1);
	take(p);
}

static void by_select(struct pair *p)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(p->from[0], &set);
	wake(p);
	CHECK(select(p->from[0] + 1, &set, NULL, NULL, NULL) == 1);
	take(p);
}

static void by_epoll(struct pair *p)
{
	struct epoll_event event;

	wake(p);
	CHECK(epoll_wait(p->events, &event, 1, -1) == 1);
	take(p);
}

static void by_nanosleep(struct pair *p)
{
	const struct timespec shortest = {0, 1};

	(void)p;
	CHECK(!nanosleep(&shortest, NULL));
}

static void by_semaphore(struct pair *p)
{
	CHECK(!sem_post(&p->ask));
	CHECK(!sem_wait(&p->answer));
}

static void by_futex(struct pair *p)
{
	static uint32_t word;
	const struct timespec shortest = {0, 1};

	(void)p;
	CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &shortest, NULL, 0) < 0);
	CHECK(errno == ETIMEDOUT);
}

static void by_accept(struct pair *p)
{
	int fd = accept(p->listener, NULL, NULL);

	CHECK(fd >= 0 && !close(fd));
}

/* Very many calls that block shortly. */
static void call_often(long calls)
{
	static struct pair p;
	static const struct {
		void (*call)(struct pair *p);
		void *(*other)(void *p);
	} ways[] = {{by_read, echo},
		    {by_poll, echo},
		    {by_select, echo},
		    {by_epoll, echo},
		    {by_futex, NULL},
		    {by_nanosleep, NULL},
		    {by_semaphore, echo_semaphore},
		    {by_accept, connect_often}};
	enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
	struct epoll_event event = {.events = EPOLLIN};
	pthread_t thread;

	CHECK(!pipe(p.to) && !pipe(p.from) && !sem_init(&p.ask, 0, 0));
	CHECK(!sem_init(&p.answer, 0, 0));
	p.events = epoll_create1(0);
	CHECK(!epoll_ctl(p.events, EPOLL_CTL_ADD, p.from[0], &event));
	p.name = (struct sockaddr_un){.sun_family = AF_UNIX};
	p.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	/* A name of the kernel's choice. */
	CHECK(!bind(p.listener, (struct sockaddr *)&p.name, sizeof(p.name.sun_family)));
	p.name_length = sizeof(p.name);
	CHECK(!getsockname(p.listener, (struct sockaddr *)&p.name, &p.name_length));
	CHECK(!listen(p.listener, 64) && !prctl(PR_SET_TIMERSLACK, 1ul));
	p.calls = calls / WAYS;
	CHECK(!pthread_create(&thread, NULL, echo, &p));
	for (int w = 0; w < WAYS; w++) {
		pthread_t other;
		int own = ways[w].other && ways[w].other != echo;

		CHECK(!own || !pthread_create(&other, NULL, ways[w].other, &p));
		for (long i = 0; i < p.calls; i++)
			ways[w].call(&p);
		CHECK(!own || !pthread_join(other, NULL));
	}
	close(p.to[1]);
	pthread_join(thread, NULL);
}

/* A sleep that nobody interrupts, and a write that is not cut short. */
static void *take_slowly(void *fd)
{
	static char buffer[65536];
	size_t taken = 0;
	ssize_t n;

	usleep(20000);
	while (taken < LARGE && (n = read(*(int *)fd, buffer, sizeof(buffer))) > 0) {
		taken += (size_t)n;
		usleep(1000);
	}
	return NULL;
}

static void write_much(void)
{
	static char data[LARGE];
	pthread_t thread;
	int ends[2];

	CHECK(!pipe(ends));
	for (int i = 0; i < 5; i++) {
		CHECK(!pthread_create(&thread, NULL, take_slowly, &ends[0]));
		work_ms(5);
		CHECK(write(ends[1], data, LARGE) == LARGE);
		CHECK(!pthread_join(thread, NULL));
	}
}

static void sleep_fully(void)
{
	const struct timespec length = {0, 50000000};
	uint64_t start;

	for (int i = 0; i < 5; i++) {
		work_ms(10);
		start = clock_ns(CLOCK_MONOTONIC);
		CHECK(!nanosleep(&length, NULL));
		CHECK(clock_ns(CLOCK_MONOTONIC) - start >= 50000000);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	struct timeval limit = {0, WAIT_MS * 1000};
	struct epoll_event event = {.events = EPOLLIN};

	CHECK(!pipe(empty) && !sem_init(&never, 0, 0));
	events = epoll_create1(0);
	CHECK(!epoll_ctl(events, EPOLL_CTL_ADD, empty[0], &event));
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(!setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
	CHECK(!bind(listener, (struct sockaddr *)&name, sizeof(name.sun_family)));
	CHECK(!listen(listener, 1));
	for (int i = 0; i < ROUNDS; i++) {
		work_ms(4);
		wait_all_ways();
	}
	read_from_thread();
	write_much();
	sleep_fully();
	call_often(argc > 1 ? atol(argv[1]) : 20000);
	return 0;
}
