#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

enum { TRIES = 16, HIGH_DESCRIPTOR = 1024, HIGH_ROOM = 32 };

int nve_file_read(const char *path, char *buf, size_t size, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), result = 0;
	size_t have = 0;

	if (fd < 0)
		return -errno;
	while (have < size) {
		ssize_t got = read(fd, buf + have, size - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			result = -errno;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	close(fd);
	if (result)
		return result;
	if (have >= size)
		return -EFBIG;
	buf[have] = '\0';
	*length = have;
	return 0;
}

/*
 * Signal sets in the kernel's own form: straight system calls, since the library's functions may be
 * replaced by the program or by us.
 */
static uint64_t bit_of(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

static uint64_t block_signals(uint64_t set)
{
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, &before, sizeof(set));
	return before;
}

static uint64_t pending_signals(void)
{
	uint64_t set = 0;

	syscall(SYS_rt_sigpending, &set, sizeof(set));
	return set;
}

static void take_signals(uint64_t set)
{
	static const struct timespec now = {0, 0};

	while (set && syscall(SYS_rt_sigtimedwait, &set, NULL, &now, sizeof(set)) > 0)
		;
}

/* By a straight system call: write() could end a thread that has been cancelled. */
static int write_bytes(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t put = syscall(SYS_write, fd, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		data += put;
		size -= (size_t)put;
	}
	return 0;
}

int nve_file_write_all(int fd, const void *data, size_t size)
{
	uint64_t ours = bit_of(SIGPIPE) | bit_of(SIGXFSZ);
	uint64_t mask = block_signals(ours);
	uint64_t earlier = pending_signals();
	int result = write_bytes(fd, data, size);

	if (result == -EPIPE || result == -EFBIG)
		take_signals(ours & ~earlier);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, sizeof(mask));
	return result;
}

static uint64_t random_number(void)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = nve_tsc() * UINT64_C(0x9e3779b97f4a7c15);
	return number;
}

static int open_temp(struct nve_file *file, mode_t mode)
{
	const char *slash = strrchr(file->path, '/');
	int directory = slash ? (int)(slash - file->path + 1) : 0;

	for (int i = 0; i < TRIES; i++) {
		int length = nve_format(file->temp, sizeof(file->temp), "%.*s.nvmemu-%d-%016llx",
					directory, file->path, getpid(),
					(unsigned long long)random_number());

		if ((size_t)length >= sizeof(file->temp))
			return -ENAMETOOLONG;
		file->fd =
			open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
		if (file->fd >= 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int nve_file_create(struct nve_file *file, const char *path, mode_t mode)
{
	size_t length = strlen(path);

	file->fd = -1;
	if (length >= sizeof(file->path))
		return -ENAMETOOLONG;
	if (!length || path[length - 1] == '/')
		return length ? -EISDIR : -ENOENT;
	memcpy(file->path, path, length + 1);
	return open_temp(file, mode);
}

int nve_file_append(struct nve_file *file, const void *data, size_t size)
{
	return nve_file_write_all(file->fd, data, size);
}

/* Some file systems (NFS) know no renaming without replacing; a second name does the same there. */
static int rename_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (link(from, to))
		return -errno;
	unlink(from);
	return 0;
}

int nve_file_commit(struct nve_file *file, bool replace)
{
	int result = 0;

	/* Network file systems tell at close that the data had no room. */
	if (close(file->fd) && errno != EINTR)
		result = -errno;
	file->fd = -1;
	if (!result && !replace)
		result = rename_new(file->temp, file->path);
	else if (!result && rename(file->temp, file->path))
		result = -errno;
	if (result)
		unlink(file->temp);
	return result;
}

void nve_file_discard(struct nve_file *file)
{
	if (file->fd < 0)
		return;
	close(file->fd);
	file->fd = -1;
	unlink(file->temp);
}

static int write_whole(const char *path, const void *data, size_t size, mode_t mode, bool replace)
{
	struct nve_file file;
	int result = nve_file_create(&file, path, mode);

	if (result)
		return result;
	result = nve_file_append(&file, data, size);
	if (!result)
		return nve_file_commit(&file, replace);
	nve_file_discard(&file);
	return result;
}

int nve_file_write(const char *path, const void *data, size_t size, mode_t mode)
{
	return write_whole(path, data, size, mode, true);
}

int nve_file_write_new(const char *path, const void *data, size_t size, mode_t mode)
{
	return write_whole(path, data, size, mode, false);
}

static int make_dir(const char *path, mode_t mode)
{
	struct stat st;
	int result;

	if (!mkdir(path, mode))
		return 0;
	result = -errno;
	/* A read-only or forbidding parent is no obstacle where the directory is there already. */
	if (stat(path, &st))
		return result;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int nve_file_make_dirs(const char *path, mode_t mode)
{
	char part[NVE_FILE_PATH_BYTES];
	size_t length = strlen(path);

	if (!length)
		return -ENOENT;
	if (length >= sizeof(part))
		return -ENAMETOOLONG;
	for (size_t i = 1; i < length; i++) {
		int result;

		if (path[i] != '/' || path[i - 1] == '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		result = make_dir(part, mode);
		if (result)
			return result;
	}
	return make_dir(path, mode);
}

int nve_file_move_high(int fd)
{
	struct rlimit limit;
	rlim_t top = HIGH_DESCRIPTOR;
	int high;

	/* Below FD_SETSIZE on purpose: nothing that counts descriptors has to grow for ours. */
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < top)
		top = limit.rlim_cur;
	if (top <= 2 * HIGH_ROOM)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, (int)top - HIGH_ROOM);
	if (high < 0)
		return fd;
	close(fd);
	return high;
}
