/* Blocking calls of a thread that is busy between them: none may fail with EINTR, or end early. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "work.h"

enum { ROUNDS = 25, WAIT_MS = 1 };

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

int main(void)
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
	return 0;
}
