#include "cgroup.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"

enum { TEXT_BYTES = 64 };

static bool read_text(const char *directory, const char *name, char text[TEXT_BYTES])
{
	char path[PATH_MAX + TEXT_BYTES];
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !nve_file_read(path, text, TEXT_BYTES, &length);
}

/* Of one directory; 0: no limit. */
static uint64_t limit_of(const char *directory)
{
	unsigned long long quota = 0, period = 0;
	char text[TEXT_BYTES], second[TEXT_BYTES];

	if (read_text(directory, "cpu.max", text)) {
		/* "max 100000" where there is none */
		if (sscanf(text, "%llu %llu", &quota, &period) != 2)
			return 0;
	} else if (!read_text(directory, "cpu.cfs_quota_us", text) ||
		   !read_text(directory, "cpu.cfs_period_us", second) || text[0] == '-' ||
		   sscanf(text, "%llu", &quota) != 1 || sscanf(second, "%llu", &period) != 1) {
		return 0;
	}
	return period && quota ? NVE_MAX(quota * 1000 / period, 1ull) : 0;
}

static uint64_t tighter(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* From the group up to the mount's root. */
static uint64_t tightest(const char *mount, const char *group)
{
	char path[PATH_MAX];
	size_t root = strlen(mount);
	uint64_t limit = 0;

	if ((size_t)snprintf(path, sizeof(path), "%s%s", mount, group) >= sizeof(path))
		return 0;
	for (;;) {
		char *slash = strrchr(path, '/');

		limit = tighter(limit, limit_of(path));
		if (!slash || slash < path + root)
			return limit;
		*slash = '\0';
	}
}

static bool has_controller(const char *list, size_t length, const char *name)
{
	size_t name_length = strlen(name);
	const char *end = list + length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t)(end - list));
		size_t n = (size_t)((comma ? comma : end) - list);

		if (n == name_length && !memcmp(list, name, n))
			return true;
		list += n + 1;
	}
	return false;
}

uint64_t cli_cgroup_quota_milli(const char *membership, const char *root)
{
	uint64_t limit = 0;

	/* lines "ID:CONTROLLERS:PATH"; version 2 has no controllers */
	for (const char *line = membership; *line;) {
		const char *end = line + strcspn(line, "\n");
		const char *controllers = memchr(line, ':', (size_t)(end - line));
		const char *path =
			controllers ? memchr(controllers + 1, ':', (size_t)(end - controllers - 1))
				    : NULL;
		char group[PATH_MAX], mount[PATH_MAX];

		if (path) {
			size_t length = (size_t)(path - controllers - 1);
			bool unified = length == 0;

			snprintf(group, sizeof(group), "%.*s", (int)(end - path - 1), path + 1);
			snprintf(mount, sizeof(mount), "%s%s", root, unified ? "" : "/cpu");
			if (unified || has_controller(controllers + 1, length, "cpu"))
				limit = tighter(limit, tightest(mount, group));
		}
		line = *end ? end + 1 : end;
	}
	return limit;
}
