#include "lineage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

enum { GENERATIONS = 32 };

static const char library[] = "libnvmemu.so";

/* Searches a file of any length for a text. */
static bool file_contains(const char *path, const char *text)
{
	char buf[4096];
	size_t kept = 0, length = strlen(text);
	bool found = false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	while (!found) {
		ssize_t n = read(fd, buf + kept, sizeof(buf) - kept);

		if (n <= 0)
			break;
		kept += (size_t)n;
		found = memmem(buf, kept, text, length) != NULL;
		/* A match may span two reads. */
		if (kept >= length) {
			memmove(buf, buf + kept - (length - 1), length - 1);
			kept = length - 1;
		}
	}
	close(fd);
	return found;
}

static int parent_of(int pid)
{
	char path[64], text[2048];
	const char *line;
	size_t length;

	nve_format(path, sizeof(path), "/proc/%d/status", pid);
	if (nve_file_read(path, text, sizeof(text), &length))
		return 0;
	line = strstr(text, "\nPPid:");
	return line ? atoi(line + sizeof("\nPPid:") - 1) : 0;
}

bool nve_lineage_is_root(void)
{
	int pid = getppid();
	char path[64];

	for (int i = 0; i < GENERATIONS && pid > 1; i++) {
		nve_format(path, sizeof(path), "/proc/%d/maps", pid);
		if (file_contains(path, library))
			return false;
		pid = parent_of(pid);
	}
	return true;
}
