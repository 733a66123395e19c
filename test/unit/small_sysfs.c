#include "small_sysfs.h"

#include "unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 256 };

static const char form[] = "/tmp/nvmemu-sysfs-XXXXXX";
char small_sysfs[sizeof(form)];

static void make_directories(char *path)
{
	for (char *at = path + sizeof(form); (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
}

void small_sysfs_make(const char *pmus)
{
	char words[PATH_BYTES], path[PATH_BYTES * 2], *rest = words, *word;

	strcpy(small_sysfs, form);
	assert_non_null(mkdtemp(small_sysfs));
	snprintf(words, sizeof(words), "%s", pmus);
	while ((word = strsep(&rest, " "))) {
		snprintf(path, sizeof(path), "%s/%s/", small_sysfs, word);
		make_directories(path);
	}
}

void small_sysfs_add(const char *name, const char *content)
{
	char path[PATH_BYTES];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", small_sysfs, name);
	make_directories(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void small_sysfs_remove(void)
{
	assert_int_equal(nftw(small_sysfs, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}
