/* The recorder's file: made once, never another's, and what happens when it goes away. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "emu/recorder.h"

static char directory[] = "/tmp/nvmemu-recorder-XXXXXX", path[64], messages[64];
static struct nve_recorder_buffer buffer;

static struct nve_record_header header(void)
{
	return (struct nve_record_header){
		.pid = 7, .born_ticks = 8, .host = "box", .program = "app"};
}

static int create(void)
{
	struct nve_record_header h = header();

	return nve_recorder_create(path, &h, 1000);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory + strlen(directory) - 6, "XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/record", directory);
	snprintf(messages, sizeof(messages), "%s/log", directory);
	memset(&buffer, 0, sizeof(buffer));
	return nve_log_setup(NVE_LOG_WARN, messages);
}

static int tear_down(void **state)
{
	(void)state;
	nve_recorder_end();
	unlink(path);
	unlink(messages);
	return rmdir(directory);
}

static void add_epoch(uint64_t number)
{
	struct nve_record r = {.type = NVE_RECORD_EPOCH, .epoch = {.when_ns = number}};

	nve_recorder_add(&buffer, &r);
}

static size_t read_file(const char *name, uint8_t *bytes, size_t size)
{
	int fd = open(name, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, bytes, size);

	assert_true(got >= 0);
	if (fd >= 0)
		close(fd);
	return (size_t)got;
}

/* How many epochs the file holds, numbered from 1. */
static uint64_t epochs_in_file(void)
{
	static uint8_t bytes[1 << 16];
	size_t size = read_file(path, bytes, sizeof(bytes)), at;
	struct nve_record_header h;
	struct nve_record r;
	uint64_t count = 0;
	uint32_t version;

	assert_int_equal(nve_record_get_header(bytes, size, &h, &at, &version), 0);
	while (nve_record_get(bytes, size, &at, &r) == 1)
		assert_int_equal(r.epoch.when_ns, ++count);
	assert_int_equal(at, size);
	return count;
}

static unsigned lines_logged(void)
{
	static uint8_t text[4096];
	size_t size = read_file(messages, text, sizeof(text));
	unsigned lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	return lines;
}

static void writes(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	assert_false(nve_recorder_on());
	assert_int_equal(nve_recorder_descriptor(), -1);
	assert_int_equal(create(), 0);
	assert_true(nve_recorder_on());
	assert_int_equal(nve_recorder_when_ns(1234), 234);
	assert_int_equal(epochs_in_file(), 0);
	fd = nve_recorder_descriptor();
	assert_true(fd > 100);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	add_epoch(1);
	add_epoch(2);
	nve_recorder_flush(&buffer, -1, false);
	assert_int_equal(buffer.used, 0);
	add_epoch(3);
	nve_recorder_flush(&buffer, fd, false);
	assert_int_equal(epochs_in_file(), 3);
	assert_int_equal(stat(path, &st), 0);
	nve_recorder_end();
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	add_epoch(4);
	nve_recorder_flush(&buffer, -1, true);
	assert_int_equal(epochs_in_file(), 3);
	assert_int_equal(lines_logged(), 0);
}

static void replaces_nothing(void **state)
{
	uint8_t bytes[8] = {0};

	(void)state;
	assert_int_equal(symlink("nowhere", path), 0);
	assert_int_equal(create(), -EEXIST);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(create(), -EEXIST);
	unlink(path);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(create(), -EEXIST);
	assert_int_equal(truncate(path, NVE_RECORD_HEADER_BYTES), 0);
	assert_int_equal(create(), -EEXIST);
	assert_int_equal(read_file(path, bytes, sizeof(bytes)), 8);
	assert_memory_equal(bytes, "\0\0\0\0\0\0\0\0", 8);
	assert_false(nve_recorder_on());
	strcpy(path + strlen(path) - 6, "no/dir");
	assert_int_equal(create(), -ENOENT);
	strcpy(path + strlen(path) - 6, "new/");
	assert_int_equal(create(), -EISDIR);
	snprintf(path, sizeof(path), "%s/record", directory);
}

/* The file of a program that this process was before it executed this one, where nothing is in it.
 */
static void takes_over(void **state)
{
	struct nve_record_header h = header(), other = header();

	(void)state;
	assert_int_equal(create(), 0);
	nve_recorder_end();
	other.pid++;
	assert_int_equal(nve_recorder_create(path, &other, 0), -EEXIST);
	other = h;
	other.born_ticks++;
	assert_int_equal(nve_recorder_create(path, &other, 0), -EEXIST);
	other = h;
	strcpy(other.host, "fox");
	assert_int_equal(nve_recorder_create(path, &other, 0), -EEXIST);
	strcpy(h.program, "next");
	assert_int_equal(nve_recorder_create(path, &h, 0), 0);
	assert_int_equal(epochs_in_file(), 0);
	add_epoch(1);
	nve_recorder_flush(&buffer, -1, false);
	nve_recorder_end();
	assert_int_equal(nve_recorder_create(path, &h, 0), -EEXIST);
	assert_int_equal(epochs_in_file(), 1);
}

/* The program closes descriptors that it does not know, and opens others in their place. */
static void descriptor_lost(void **state)
{
	char other[64];
	struct stat st;
	int fd, file;

	(void)state;
	assert_int_equal(create(), 0);
	fd = nve_recorder_descriptor();
	snprintf(other, sizeof(other), "%s/other", directory);
	file = open(other, O_RDWR | O_CREAT, 0600);
	assert_int_equal(dup2(file, fd), fd);
	add_epoch(1);
	nve_recorder_flush(&buffer, -1, false);
	assert_true(buffer.used > 0);
	nve_recorder_flush(&buffer, -1, true);
	assert_int_equal(buffer.used, 0);
	assert_int_equal(epochs_in_file(), 1);
	close(nve_recorder_descriptor());
	nve_recorder_end();
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
	close(file);
	unlink(other);
	assert_int_equal(lines_logged(), 0);
}

/* The name now belongs to another file, and the descriptor is gone: told once. */
static void file_lost(void **state)
{
	uint8_t bytes[16];

	(void)state;
	assert_int_equal(create(), 0);
	close(nve_recorder_descriptor());
	unlink(path);
	usleep(20000); /* a file system's clock may tick slowly */
	close(open(path, O_WRONLY | O_CREAT, 0600));
	add_epoch(1);
	nve_recorder_flush(&buffer, -1, true);
	assert_false(nve_recorder_on());
	add_epoch(2);
	nve_recorder_flush(&buffer, -1, true);
	assert_int_equal(read_file(path, bytes, sizeof(bytes)), 0);
	nve_recorder_tell();
	nve_recorder_tell();
	assert_int_equal(lines_logged(), 1);
}

static void file_full(void **state)
{
	struct rlimit before, limit;

	(void)state;
	assert_int_equal(create(), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = NVE_RECORD_HEADER_BYTES + 30;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	add_epoch(1);
	nve_recorder_flush(&buffer, -1, true);
	assert_true(nve_recorder_on());
	add_epoch(2);
	nve_recorder_flush(&buffer, -1, true);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_false(nve_recorder_on());
	add_epoch(3);
	nve_recorder_flush(&buffer, -1, true);
	nve_recorder_tell();
	nve_recorder_tell();
	assert_int_equal(lines_logged(), 1);
}

static void buffer_full(void **state)
{
	uint64_t added = 0, lost = 3;

	(void)state;
	assert_int_equal(create(), 0);
	while (sizeof(buffer.bytes) - buffer.used >= NVE_RECORD_MAX_BYTES)
		add_epoch(++added);
	for (uint64_t i = 0; i < lost; i++)
		add_epoch(0);
	assert_int_equal(buffer.lost, lost);
	nve_recorder_flush(&buffer, -1, false);
	assert_int_equal(epochs_in_file(), added);
}

static void child(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(create(), 0);
	fd = nve_recorder_descriptor();
	nve_recorder_after_fork();
	assert_false(nve_recorder_on());
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes),    TEST(replaces_nothing), TEST(takes_over),  TEST(descriptor_lost),
		TEST(file_lost), TEST(file_full),        TEST(buffer_full), TEST(child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
