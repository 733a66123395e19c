#include "emu/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

/* Which file it is. The numbers of one that is gone are given to others: hence the time. */
struct identity {
	uint32_t major, minor;
	uint64_t inode;
	int64_t born_s; /* 0 where the file system does not know */
	uint32_t born_ns;
};

static struct {
	_Atomic bool on;
	_Atomic int error; /* that ended the record early, until it is told */
	int descriptor;    /* in the program's table, with a high number; -1: none */
	struct identity file;
	uint64_t started_ns;
	char path[NVE_FILE_PATH_BYTES];
} state = {.descriptor = -1};

static int identify(int descriptor, struct identity *id)
{
	struct statx st;

	if (statx(descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st))
		return -errno;
	*id = (struct identity){
		.major = st.stx_dev_major, .minor = st.stx_dev_minor, .inode = st.stx_ino};
	if (st.stx_mask & STATX_BTIME) {
		id->born_s = st.stx_btime.tv_sec;
		id->born_ns = st.stx_btime.tv_nsec;
	}
	return 0;
}

static bool is_ours(int descriptor)
{
	struct identity id;

	return descriptor >= 0 && !identify(descriptor, &id) && id.major == state.file.major &&
	       id.minor == state.file.minor && id.inode == state.file.inode &&
	       id.born_s == state.file.born_s && id.born_ns == state.file.born_ns;
}

static int open_record(void)
{
	/* Raw calls: libc's are cancellation points. */
	int fd = (int)syscall(SYS_openat, AT_FDCWD, state.path,
			      O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);

	if (fd < 0 || is_ours(fd))
		return fd;
	syscall(SYS_close, fd);
	errno = ESTALE;
	return -1;
}

/* A thread with a file table of its own has no stderr: the next with the program's tells. */
static void give_up(int error)
{
	if (atomic_exchange(&state.on, false))
		atomic_store(&state.error, error);
}

void nve_recorder_tell(void)
{
	int error = atomic_exchange(&state.error, 0);

	if (!error)
		return;
	errno = error;
	nve_log(NVE_LOG_WARN, "NVM_RECORD: %s: the record ends early: %m", state.path);
}

/* Does the file hold but the header of a program that this process was before? */
static bool is_former(int fd, const struct nve_record_header *header)
{
	uint8_t bytes[NVE_RECORD_HEADER_BYTES + 1];
	struct nve_record_header former;
	uint32_t version;
	size_t at;
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);

	return size == NVE_RECORD_HEADER_BYTES &&
	       !nve_record_get_header(bytes, (size_t)size, &former, &at, &version) &&
	       former.pid == header->pid && former.born_ticks == header->born_ticks &&
	       former.born_ticks && !strcmp(former.host, header->host);
}

static int take_over(const char *path, const struct nve_record_header *header)
{
	int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return -EEXIST;
	if (is_former(fd, header) && ftruncate(fd, 0) == 0)
		return fd;
	close(fd);
	return -EEXIST;
}

int nve_recorder_create(const char *path, const struct nve_record_header *header,
			uint64_t started_ns)
{
	uint8_t bytes[NVE_RECORD_HEADER_BYTES];
	struct identity id;
	int fd, rc;

	if (path[strlen(path) - 1] == '/')
		return -EISDIR;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
	if (fd < 0)
		fd = errno == EEXIST ? take_over(path, header) : -errno;
	if (fd < 0)
		return fd;
	nve_record_put_header(bytes, header);
	rc = identify(fd, &id);
	if (!rc)
		rc = nve_file_write_all(fd, bytes, sizeof(bytes));
	if (rc) {
		close(fd);
		unlink(path);
		return rc;
	}
	state.descriptor = nve_file_move_high(fd);
	state.file = id;
	state.started_ns = started_ns;
	strncpy(state.path, path, sizeof(state.path) - 1);
	atomic_store(&state.on, true);
	return 0;
}

bool nve_recorder_on(void)
{
	return atomic_load(&state.on);
}

uint64_t nve_recorder_when_ns(uint64_t now_ns)
{
	return now_ns - state.started_ns;
}

static void close_descriptor(void)
{
	if (is_ours(state.descriptor))
		syscall(SYS_close, state.descriptor);
	state.descriptor = -1;
}

void nve_recorder_end(void)
{
	atomic_store(&state.on, false);
	close_descriptor();
}

void nve_recorder_after_fork(void)
{
	atomic_store(&state.on, false);
	close_descriptor();
}

int nve_recorder_descriptor(void)
{
	if (!nve_recorder_on())
		return -1;
	return is_ours(state.descriptor) ? state.descriptor : open_record();
}

bool nve_recorder_add(struct nve_recorder_buffer *b, const struct nve_record *record)
{
	if (sizeof(b->bytes) - b->used < NVE_RECORD_MAX_BYTES) {
		b->lost += record->type == NVE_RECORD_EPOCH;
		return false;
	}
	b->used += (uint32_t)nve_record_put(b->bytes + b->used, record);
	return true;
}

/* A write that ends half done is followed by none: what came after it could not be read. */
static void write_out(struct nve_recorder_buffer *b, int descriptor)
{
	int rc = nve_file_write_all(descriptor, b->bytes, b->used);

	b->used = 0;
	if (rc)
		give_up(-rc);
}

void nve_recorder_flush(struct nve_recorder_buffer *b, int descriptor, bool may_open)
{
	if (!b->used || !nve_recorder_on())
		return;
	if (descriptor < 0 && is_ours(state.descriptor))
		descriptor = state.descriptor;
	if (descriptor >= 0) {
		write_out(b, descriptor);
		return;
	}
	if (!may_open)
		return;
	descriptor = open_record();
	if (descriptor < 0) {
		give_up(errno);
		return;
	}
	write_out(b, descriptor);
	syscall(SYS_close, descriptor);
}
