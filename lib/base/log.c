#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { LINE_BYTES = 1024 };

static struct {
	enum nve_log_level level;
	int fd;
	bool known; /* device and inode say what fd was at setup */
	dev_t device;
	ino_t inode;
} state = {.level = NVE_LOG_WARN, .fd = STDERR_FILENO};

static const char *const level_names[] = {
	[NVE_LOG_ERROR] = "error",
	[NVE_LOG_WARN] = "warning",
	[NVE_LOG_INFO] = "info",
	[NVE_LOG_DEBUG] = "debug",
};

/* A descriptor that is closed now may be anything later. */
static void remember(int fd)
{
	struct stat st;

	state.known = !fstat(fd, &st);
	state.fd = state.known ? fd : -1;
	if (state.known) {
		state.device = st.st_dev;
		state.inode = st.st_ino;
	}
}

/* A program may close its stderr and get the number back for a file of its own. */
static bool descriptor_is_ours(void)
{
	struct stat st;

	if (!state.known)
		return state.fd >= 0;
	return !fstat(state.fd, &st) && st.st_dev == state.device && st.st_ino == state.inode;
}

static int open_log(const char *file)
{
	/* Not blocking: a pipe without a reader must not stop the program. */
	int fd =
		open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	return fd < 0 ? -errno : nve_file_move_high(fd);
}

int nve_log_setup(enum nve_log_level level, const char *file)
{
	int fd;

	if (state.fd != STDERR_FILENO && descriptor_is_ours())
		close(state.fd);
	state.level = level;
	remember(STDERR_FILENO);
	if (!file || !file[0])
		return 0;
	fd = open_log(file);
	if (fd < 0)
		return fd;
	remember(fd);
	return 0;
}

/* One entry, one line: what is not printable would break it, or the terminal. Ends it. */
static size_t finish_line(char *line, size_t length)
{
	static const char cut[] = "...";

	if (length > LINE_BYTES - 2) {
		length = LINE_BYTES - 2;
		for (size_t i = 0; i < sizeof(cut) - 1; i++)
			line[length - (sizeof(cut) - 1) + i] = cut[i];
	}
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	}
	line[length] = '\n';
	return length + 1;
}

void nve_log(enum nve_log_level level, const char *format, ...)
{
	int saved_errno = errno, prefix, text;
	char line[LINE_BYTES];
	va_list args;

	if (level > state.level)
		return;
	prefix = nve_format(line, sizeof(line), "nvmemu: %s: ", level_names[level]);
	errno = saved_errno;
	va_start(args, format);
	text = nve_vformat(line + prefix, sizeof(line) - (size_t)prefix, format, args);
	va_end(args);
	if (descriptor_is_ours())
		nve_file_write_all(state.fd, line, finish_line(line, (size_t)(prefix + text)));
	errno = saved_errno;
}
