#include "gather.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "launch.h"

int cli_gather_begin(struct cli_gather *gather)
{
	const char *parent = cli_variable("TMPDIR");

	memset(gather, 0, sizeof(*gather));
	if (!parent || *parent != '/' || strchr(parent, '%'))
		parent = "/tmp";
	snprintf(gather->directory, sizeof(gather->directory), "%s/nvmemu-run.XXXXXX", parent);
	if (!mkdtemp(gather->directory)) {
		int err = -errno;

		cli_error("cannot make a directory in %s: %s", parent, strerror(-err));
		return err;
	}
	/* A service of root's may give its rights up; its report must find the way in then. */
	if (!geteuid())
		chmod(gather->directory, 01733);
	snprintf(gather->pattern, sizeof(gather->pattern), "%s/%%p.json", gather->directory);
	return 0;
}

/* Others may have put things there: none but plain files are read. NULL: it is none. */
static FILE *open_report(int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	FILE *stream = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		stream = fdopen(fd, "r");
	if (!stream)
		close(fd);
	return stream;
}

static const char *keep_name(struct cli_gather *g, const char *name)
{
	char **names = realloc(g->names, (g->count + 1) * sizeof(names[0]));

	if (!names)
		return NULL;
	g->names = names;
	if (asprintf(&names[g->count], "%s/%s", g->directory, name) < 0)
		return NULL;
	return names[g->count++];
}

static void read_all(struct cli_gather *g, DIR *dir, struct nve_view *view)
{
	struct nve_read_message why;
	const struct dirent *entry;

	while ((entry = readdir(dir))) {
		/* a name with a dot is of a file in the making */
		FILE *f = *entry->d_name == '.' ? NULL : open_report(dirfd(dir), entry->d_name);
		const char *path = f ? keep_name(g, entry->d_name) : NULL;

		if (path && nve_view_add_stream(view, path, f, &why))
			cli_note("%s", why.text);
		if (f)
			fclose(f);
	}
}

/* Does the process write its report into the directory, too? */
static bool reports_here(const char *pid, const char *setting)
{
	char path[NAME_MAX + 32], *text = NULL;
	size_t size = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && getdelim(&text, &size, 0, f) > 0)
		found = !strcmp(text, setting);
	free(text);
	fclose(f);
	return found;
}

/* Processes that have outlived the first one. */
static size_t count_running(const struct cli_gather *g)
{
	char setting[sizeof(g->pattern) + 16];
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	size_t n = 0;

	if (!dir)
		return 0;
	snprintf(setting, sizeof(setting), "NVM_OUT=%s", g->pattern);
	while ((entry = readdir(dir)))
		n += isdigit((unsigned char)entry->d_name[0]) &&
		     reports_here(entry->d_name, setting);
	closedir(dir);
	return n;
}

int cli_gather_read(struct cli_gather *gather, struct nve_view *view, struct nve_read_message *why)
{
	DIR *dir;

	/* first: one that ends meanwhile is counted and read, not neither */
	gather->running = count_running(gather);
	dir = opendir(gather->directory);
	if (dir) {
		read_all(gather, dir, view);
		closedir(dir);
	}
	return nve_view_finish(view, why);
}

static void remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

void cli_gather_end(struct cli_gather *gather, bool keep)
{
	for (size_t i = 0; i < gather->count; i++)
		free(gather->names[i]);
	free(gather->names);
	if (!keep)
		remove_directory(gather->directory);
}
