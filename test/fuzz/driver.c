/* driver DIRECTORY: the target on each file there, whole and cut at every eighth. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { MOST_BYTES = 1 << 20, CUTS = 8 };

static size_t read_file(const char *directory, const char *name, uint8_t *data)
{
	char path[4096];
	size_t size;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "re");
	if (!f) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, MOST_BYTES, f);
	fclose(f);
	return size;
}

/* In a block of its own size, so that a read beyond its end shows under sanitizers. */
static void try_part(const uint8_t *data, size_t size)
{
	uint8_t *part = malloc(size ? size : 1);

	if (!part)
		exit(1);
	memcpy(part, data, size);
	LLVMFuzzerTestOneInput(part, size);
	free(part);
}

int main(int argc, char **argv)
{
	static uint8_t data[MOST_BYTES];
	const struct dirent *entry;
	size_t files = 0;
	DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

	if (!dir) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		size_t size;

		if (entry->d_name[0] == '.')
			continue;
		size = read_file(argv[1], entry->d_name, data);
		for (size_t cut = 1; cut <= CUTS; cut++)
			try_part(data, size * cut / CUTS);
		files++;
	}
	closedir(dir);
	printf("%zu files\n", files);
	return files ? 0 : 1;
}
