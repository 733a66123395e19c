#include "count/pmu/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"

enum { PATH_BYTES = 512, TEXT_BYTES = 256, CPUS_BYTES = 4096, LISTING_BYTES = 4096 };

/* What getdents64 gives: no opendir, which allocates. */
struct entry {
	uint64_t inode;
	int64_t offset;
	unsigned short size;
	unsigned char type;
	char name[];
};

/* The number behind "prefix_"; 0 for the prefix itself; -1 for another name. */
static long box_of(const char *name, const char *prefix)
{
	size_t length = strlen(prefix), digits;
	const char *number = name + length + 1;

	if (strncmp(name, prefix, length))
		return -1;
	if (!name[length])
		return 0;
	digits = name[length] == '_' ? strspn(number, "0123456789") : 0;
	return digits > 0 && digits < 9 && !number[digits] ? atol(number) : -1;
}

static void keep(const char *name, const char *prefix, struct nve_pmu_names *names)
{
	if (name[0] == '.' || (prefix && box_of(name, prefix) < 0))
		return;
	if (names->count == NVE_ARRAY_SIZE(names->names) || strlen(name) >= NVE_PMU_NAME_BYTES) {
		names->more++;
		return;
	}
	strcpy(names->names[names->count++], name);
}

static bool is_before(const char *a, const char *b, const char *prefix)
{
	return prefix ? box_of(a, prefix) < box_of(b, prefix) : strcmp(a, b) < 0;
}

static void sort(struct nve_pmu_names *names, const char *prefix)
{
	char moved[NVE_PMU_NAME_BYTES];

	for (size_t i = 1; i < names->count; i++) {
		size_t at = i;

		memcpy(moved, names->names[i], sizeof(moved));
		for (; at > 0 && is_before(moved, names->names[at - 1], prefix); at--)
			memcpy(names->names[at], names->names[at - 1], sizeof(moved));
		memcpy(names->names[at], moved, sizeof(moved));
	}
}

int nve_pmu_sysfs_list(const char *root, const char *prefix, struct nve_pmu_names *names)
{
	_Alignas(struct entry) char listing[LISTING_BYTES];
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	long n;

	names->count = names->more = 0;
	if (fd < 0)
		return -errno;
	while ((n = syscall(SYS_getdents64, fd, listing, sizeof(listing))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *entry = (const struct entry *)(listing + at);

			keep(entry->name, prefix, names);
			at += entry->size;
		}
	}
	if (n < 0)
		err = -errno;
	close(fd);
	sort(names, prefix);
	return err;
}

/* The file root/pmu/name, or root/pmu/directory/name; ends at its first newline. */
static int read_line(const char *root, const char *pmu, const char *directory, const char *name,
		     char *text, size_t size)
{
	char path[PATH_BYTES];
	size_t length;
	int n = nve_format(path, sizeof(path), "%s/%s/%s%s%s", root, pmu,
			   directory ? directory : "", directory ? "/" : "", name),
	    err;

	if ((size_t)n >= sizeof(path) || strchr(name, '/'))
		return -ENAMETOOLONG;
	err = nve_file_read(path, text, size, &length);
	if (err)
		return err;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int nve_pmu_sysfs_type(const char *root, const char *pmu, uint32_t *type)
{
	char text[TEXT_BYTES], *end;
	unsigned long value;
	int err = read_line(root, pmu, NULL, "type", text, sizeof(text));

	if (err)
		return err;
	value = strtoul(text, &end, 10);
	if (end == text || *end || value > UINT32_MAX)
		return -EINVAL;
	*type = (uint32_t)value;
	return 0;
}

/* "0,24" or "0-3,8": a list of CPUs. */
static int parse_cpus(const char *text, uint64_t *mask, size_t words)
{
	const char *at = text;

	for (;; at++) {
		char *end;
		unsigned long first, last;

		if (*at < '0' || *at > '9')
			return -EINVAL;
		first = last = strtoul(at, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first > last || last >= words * 64)
			return -ERANGE;
		for (; first <= last; first++)
			mask[first / 64] |= UINT64_C(1) << first % 64;
		at = end;
		if (*at != ',')
			return *at ? -EINVAL : 0;
	}
}

int nve_pmu_sysfs_cpus(const char *root, const char *pmu, uint64_t *mask, size_t words)
{
	char text[CPUS_BYTES];
	int err = read_line(root, pmu, NULL, "cpumask", text, sizeof(text));

	if (err == -ENOENT)
		err = read_line(root, pmu, NULL, "cpus", text, sizeof(text));
	if (err)
		return err;
	memset(mask, 0, words * sizeof(*mask));
	return parse_cpus(text, mask, words);
}

struct formats {
	const char *root, *pmu;
	char text[TEXT_BYTES];
};

static const char *read_format(void *ctx, const char *name)
{
	struct formats *formats = ctx;

	if (read_line(formats->root, formats->pmu, "format", name, formats->text,
		      sizeof(formats->text)))
		return NULL;
	return formats->text;
}

int nve_pmu_sysfs_encode(const char *root, const char *pmu, const char *terms,
			 struct nve_pmu_code *code)
{
	struct formats formats = {.root = root, .pmu = pmu};
	struct nve_pmu_code result = {0};
	int err = nve_pmu_sysfs_type(root, pmu, &result.type);

	if (!err)
		err = nve_pmu_encode_terms(terms, read_format, &formats, result.config);
	if (!err)
		*code = result;
	return err;
}

int nve_pmu_sysfs_published(const char *root, const char *pmu, const char *event,
			    struct nve_pmu_code *code)
{
	char terms[TEXT_BYTES];
	int err = read_line(root, pmu, "events", event, terms, sizeof(terms));

	return err ? err : nve_pmu_sysfs_encode(root, pmu, terms, code);
}

bool nve_pmu_sysfs_has(const char *root, const char *pmu)
{
	char path[PATH_BYTES];
	struct stat st;
	int n = nve_format(path, sizeof(path), "%s/%s", root, pmu);

	return (size_t)n < sizeof(path) && !stat(path, &st) && S_ISDIR(st.st_mode);
}
