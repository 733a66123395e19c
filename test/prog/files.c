/*
 * files: prints which descriptors it has open, as a child and a thread see them too, and opens all
 * that its limit allows: nobody else takes numbers from it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

/* By asking for each: a listing would need one more. */
static void print_open(const char *who)
{
	printf("%s:", who);
	for (int fd = 0; fd < 4096; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			printf(" %d", fd);
	}
	printf("\n");
	fflush(stdout);
}

static void *in_thread(void *unused)
{
	work_ms(60);
	print_open("thread");
	return unused;
}

static void print_in_child(void)
{
	pid_t child = fork();

	if (!child) {
		work_ms(30);
		print_open("child");
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(void)
{
	struct rlimit limit = {64, 64};
	pthread_t thread;
	int opened = 0, last = -1, fd;

	work_ms(60);
	print_open("main");
	CHECK(!pthread_create(&thread, NULL, in_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	print_in_child();
	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		opened++;
		last = fd;
	}
	printf("%d opened, the last one %d\n", opened, last);
	/* A thread that is born now has its counters all the same. */
	CHECK(!pthread_create(&thread, NULL, in_thread, NULL));
	CHECK(!pthread_join(thread, NULL));
	while (opened--)
		CHECK(!close(last--));
	return 0;
}
