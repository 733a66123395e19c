#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli.h"

bool cli_output_is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int tell(const char *path, int err)
{
	if (err == -EEXIST)
		cli_error("%s exists; --force replaces it", path);
	else
		cli_error("cannot write %s: %s", path, strerror(-err));
	return err;
}

int cli_output_open(struct cli_output *output, const char *path, bool replace)
{
	struct stat st;

	*output = (struct cli_output){.replace = replace, .stream = stdout};
	if (!path || !strcmp(path, "-"))
		return 0;
	/* It is asked again when the file is there; here it saves the work. */
	if (!lstat(path, &st) && !cli_output_is_special(path) && (!replace || S_ISDIR(st.st_mode)))
		return tell(path, S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST);
	output->path = path;
	output->stream = open_memstream(&output->bytes, &output->size);
	return output->stream ? 0 : tell(path, -errno);
}

static int write_special(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return -errno;
	err = nve_file_write_all(fd, data, size);
	if (close(fd) && !err)
		err = -errno;
	return err;
}

static int write_out(const struct cli_output *o)
{
	if (cli_output_is_special(o->path))
		return write_special(o->path, o->bytes, o->size);
	if (o->replace)
		return nve_file_write(o->path, o->bytes, o->size, 0666);
	return nve_file_write_new(o->path, o->bytes, o->size, 0666);
}

int cli_output_close(struct cli_output *output, bool keep)
{
	int err = 0;

	if (!output->path)
		return 0;
	if (fclose(output->stream))
		err = -errno;
	if (keep && !err)
		err = write_out(output);
	free(output->bytes);
	return err ? tell(output->path, err) : 0;
}
