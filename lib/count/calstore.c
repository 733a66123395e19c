#include "count/calstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

enum {
	CONTENT_BYTES = 2048,
	LOCK_WAIT_NS = 300000000,
	LOCK_RETRY_NS = 3000000,
};

static const char version_line[] = "nvmemu-calibration 4\n";
static const char boot_id_path[] = "/proc/sys/kernel/random/boot_id";

struct row {
	const char *key;
	size_t member, bytes;
	uint64_t min, max;
	bool timed; /* needs timed reads, and is 0 without */
};

#define MEMBER(field)                                                                              \
#field, offsetof(struct nve_calibration, field),                                           \
		sizeof(((struct nve_calibration *)0)->field)
#define ROW(field, least, most)                                                                    \
	{                                                                                          \
		MEMBER(field), least, most, false                                                  \
	}
#define TIMED(field, least, most)                                                                  \
	{                                                                                          \
		MEMBER(field), least, most, true                                                   \
	}

/* A change to this list, or to how its values are measured, is a new version. */
static const struct row rows[] = {
	ROW(tsc_khz, NVE_ARCH_TICKS_KHZ_MIN, 10000000),
	ROW(dram_lat_ps, 5000, 10000000),
	ROW(llc_lat_ps, 500, 1000000),
	ROW(timed_reads, 0, 1),
	TIMED(timed_dram_cycles_milli, 10000, 100000000),
	TIMED(timed_llc_cycles_milli, 1000, 10000000),
	TIMED(timed_l1_cycles_milli, 1000, 10000000),
	ROW(timed_translated_cycles_milli, 0, 100000000),
	TIMED(probe_cycles_milli, 10000, 100000000),
	TIMED(fence_cycles, 1, 10000),
	TIMED(threshold_cycles, 1, 100000),
	TIMED(run_ahead_instructions, 0, 100000),
	TIMED(run_ahead_writers, 16, 100000),
	ROW(signal_ns, 0, 100000000),
	ROW(huge_pages, 0, 1),
	TIMED(cycle_ticks_milli, 50, 20000),
	TIMED(read_gap_ticks_milli, 100, 10000000),
	TIMED(write_gap_ticks_milli, 100, 10000000),
	ROW(tries, 0, 1000),
	ROW(pmu_plan, 0, UINT64_MAX),
	ROW(pmu_rate, 0, UINT64_MAX),
	ROW(pmu_rate_second, 0, UINT64_MAX),
	ROW(read_bytes_per_s, 0, UINT64_C(1) << 50),
	ROW(write_bytes_per_s, 0, UINT64_C(1) << 50),
	ROW(all_read_bytes_per_s, 0, UINT64_C(1) << 50),
	ROW(all_write_bytes_per_s, 0, UINT64_C(1) << 50),
	ROW(footprint_bytes, 1 << 20, UINT64_C(1) << 40),
	ROW(llc_bytes, 0, UINT64_C(1) << 40),
	ROW(measured_at_s, 1, UINT64_C(1) << 40),
};

static uint64_t get_member(const struct nve_calibration *calibration, const struct row *row)
{
	const char *member = (const char *)calibration + row->member;

	switch (row->bytes) {
	case sizeof(bool): return *(const bool *)member;
	case sizeof(uint32_t): return *(const uint32_t *)member;
	default: return *(const uint64_t *)member;
	}
}

/* value is at most the row's, which the member holds. */
static void set_member(struct nve_calibration *calibration, const struct row *row, uint64_t value)
{
	char *member = (char *)calibration + row->member;

	switch (row->bytes) {
	case sizeof(bool): *(bool *)member = value; break;
	case sizeof(uint32_t): *(uint32_t *)member = (uint32_t)value; break;
	default: *(uint64_t *)member = value; break;
	}
}

static bool is_possible(const struct nve_calibration *calibration, const struct row *row)
{
	uint64_t value = get_member(calibration, row);

	if (row->timed && !calibration->timed_reads)
		return !value;
	return value >= row->min && value <= row->max;
}

int nve_calibration_check(const struct nve_calibration *calibration, const char **field)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		*field = rows[i].key;
		if (!is_possible(calibration, &rows[i]))
			return -ERANGE;
	}
	*field = "llc_lat_ps";
	if (calibration->llc_lat_ps >= calibration->dram_lat_ps)
		return -ERANGE;
	*field = "timed_llc_cycles_milli";
	if (calibration->timed_reads &&
	    calibration->timed_llc_cycles_milli >= calibration->timed_dram_cycles_milli)
		return -ERANGE;
	/* A line of memory, too, page walk or not: its net reading is divided by. */
	*field = "timed_translated_cycles_milli";
	if (calibration->timed_translated_cycles_milli &&
	    calibration->timed_translated_cycles_milli <= calibration->timed_llc_cycles_milli)
		return -ERANGE;
	*field = NULL;
	return 0;
}

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *data, size_t size)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++) {
		value ^= (unsigned char)data[i];
		value *= UINT64_C(0x100000001b3);
	}
	return value;
}

/* Blanks around, and twice in a row, are fill; bytes that are no text would break a line. */
static void tidy(const char *from, char *buf, size_t size)
{
	size_t length = 0;

	for (; *from && length + 1 < size; from++) {
		char c = *from > ' ' && *from < 0x7f ? *from : ' ';

		if (c != ' ' || (length && buf[length - 1] != ' '))
			buf[length++] = c;
	}
	while (length && buf[length - 1] == ' ')
		length--;
	buf[length] = '\0';
}

void nve_calstore_cpu_name(char *buf, size_t size)
{
	char name[64];

	nve_arch_cpu_name(name, sizeof(name));
	tidy(name, buf, size);
	if (!buf[0])
		nve_format(buf, size, "unknown");
}

static const char *lookup(char *const envp[], const char *name)
{
	size_t length = strlen(name);

	for (; *envp; envp++) {
		if (!strncmp(*envp, name, length) && (*envp)[length] == '=')
			return *envp + length + 1;
	}
	return NULL;
}

/* A directory of ours that nobody else can write to, and no link that leads elsewhere. */
static bool is_private(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       !faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS);
}

/*
 * Under sudo HOME may be another user's: leave no directory of root's there. A link to one's own
 * directory is fine.
 */
static bool is_own(const char *path)
{
	struct stat st;

	return !stat(path, &st) && st.st_uid == geteuid();
}

struct place {
	char path[NVE_CALSTORE_PATH_BYTES - 80]; /* room for the file's own name */
};

static bool try_place(struct place *place, const char *base, const char *below)
{
	int length = nve_format(place->path, sizeof(place->path), "%s%s", base, below);

	if ((size_t)length >= sizeof(place->path))
		return false;
	return !nve_file_make_dirs(place->path, 0700) && is_private(place->path);
}

static bool find_place(struct place *place, char *const envp[])
{
	const char *cache = lookup(envp, "XDG_CACHE_HOME"), *home = lookup(envp, "HOME");
	char base[64];

	if (cache && cache[0] == '/') {
		if ((access(cache, F_OK) || is_own(cache)) && try_place(place, cache, "/nvmemu"))
			return true;
	} else if (home && home[0] == '/' && is_own(home) &&
		   try_place(place, home, "/.cache/nvmemu")) {
		return true;
	}
	nve_format(base, sizeof(base), "/run/user/%u", geteuid());
	if (is_own(base) && try_place(place, base, "/nvmemu"))
		return true;
	nve_format(base, sizeof(base), "/tmp/nvmemu-%u", geteuid());
	return try_place(place, base, "");
}

static int read_boot_id(char *buf, size_t size)
{
	size_t length;
	int result = nve_file_read(boot_id_path, buf, size, &length);

	if (result)
		return result;
	buf[strcspn(buf, "\n")] = '\0';
	return strlen(buf) == 36 ? 0 : -EINVAL;
}

int nve_calstore_setup(struct nve_calstore *store, char *const envp[])
{
	struct place place;

	store->path[0] = '\0';
	store->lock_fd = -1;
	nve_calstore_cpu_name(store->cpu, sizeof(store->cpu));
	if (read_boot_id(store->boot_id, sizeof(store->boot_id))) {
		store->boot_id[0] = '\0';
		return -ENOENT;
	}
	if (!find_place(&place, envp))
		return -ENOENT;
	nve_format(store->path, sizeof(store->path), "%s/calibration-%016llx-%.8s", place.path,
		   (unsigned long long)hash(store->cpu, strlen(store->cpu)), store->boot_id);
	return 0;
}

/* The line that ends the file, for all that stands before it. */
static int write_checksum(const char *content, size_t length, char *buf, size_t size)
{
	return nve_format(buf, size, "checksum %016llx\n",
			  (unsigned long long)hash(content, length));
}

static bool checksum_holds(const char *content, size_t length)
{
	char line[40];
	size_t line_length = (size_t)write_checksum(content, 0, line, sizeof(line));

	if (length < line_length)
		return false;
	length -= line_length;
	write_checksum(content, length, line, sizeof(line));
	return !strcmp(content + length, line);
}

/* Steps over text at *at if it stands there. */
static bool skip(const char **at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*at, text, length))
		return false;
	*at += length;
	return true;
}

static bool skip_line(const char **at, const char *key, const char *value)
{
	return skip(at, key) && skip(at, " ") && skip(at, value) && skip(at, "\n");
}

static bool read_number(const char **at, uint64_t *value)
{
	const char *start = *at;

	*value = 0;
	for (; **at >= '0' && **at <= '9'; ++*at) {
		if (__builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
			return false;
	}
	return *at != start;
}

static bool read_row(const char **at, const struct row *row, struct nve_calibration *calibration)
{
	uint64_t value;

	if (!skip(at, row->key) || !skip(at, " ") || !read_number(at, &value) || !skip(at, "\n"))
		return false;
	if (value > row->max)
		return false;
	set_member(calibration, row, value);
	return true;
}

static int parse_content(const struct nve_calstore *store, const char *at, size_t length,
			 struct nve_calibration *calibration, const char **reason)
{
	const char *field;

	*reason = "of another version";
	if (!skip(&at, version_line))
		return -ESTALE;
	*reason = "damaged";
	if (!checksum_holds(at - strlen(version_line), length))
		return -EINVAL;
	*reason = "of another processor";
	if (!skip_line(&at, "cpu", store->cpu))
		return -ESTALE;
	*reason = "of another boot";
	if (!skip_line(&at, "boot_id", store->boot_id))
		return -ESTALE;
	*reason = "not possible";
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		if (!read_row(&at, &rows[i], calibration))
			return -EINVAL;
	}
	if (!skip(&at, "checksum ") || nve_calibration_check(calibration, &field))
		return -EINVAL;
	*reason = NULL;
	return 0;
}

int nve_calstore_load(const struct nve_calstore *store, struct nve_calibration *calibration,
		      const char **reason)
{
	struct nve_calibration read;
	char content[CONTENT_BYTES];
	size_t length;
	int result;

	*reason = "not there";
	if (!store->path[0])
		return -ENOENT;
	result = nve_file_read(store->path, content, sizeof(content), &length);
	if (result) {
		*reason = result == -ENOENT ? *reason : "not readable";
		return result;
	}
	memset(&read, 0, sizeof(read));
	result = parse_content(store, content, length, &read, reason);
	if (!result)
		*calibration = read;
	return result;
}

static size_t write_content(const struct nve_calstore *store,
			    const struct nve_calibration *calibration, char *buf, size_t size)
{
	size_t length = (size_t)nve_format(buf, size, "%scpu %s\nboot_id %s\n", version_line,
					   store->cpu, store->boot_id);

	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++)
		length += (size_t)nve_format(buf + length, size - length, "%s %llu\n", rows[i].key,
					     (unsigned long long)get_member(calibration, &rows[i]));
	return length + (size_t)write_checksum(buf, length, buf + length, size - length);
}

int nve_calstore_save(const struct nve_calstore *store, const struct nve_calibration *calibration)
{
	char content[CONTENT_BYTES];
	const char *field;
	int result = nve_calibration_check(calibration, &field);

	if (result)
		return result;
	if (!store->path[0])
		return -ENOENT;
	return nve_file_write(store->path, content,
			      write_content(store, calibration, content, sizeof(content)), 0600);
}

static int open_lock(const struct nve_calstore *store)
{
	char path[NVE_CALSTORE_PATH_BYTES + 8];
	int fd;

	if (!store->path[0])
		return -ENOENT;
	nve_format(path, sizeof(path), "%s.lock", store->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	return fd < 0 ? -errno : nve_file_move_high(fd);
}

int nve_calstore_lock(struct nve_calstore *store)
{
	static const struct timespec pause = {0, LOCK_RETRY_NS};
	uint64_t deadline = nve_clock_ns(CLOCK_MONOTONIC) + LOCK_WAIT_NS - LOCK_RETRY_NS;
	int fd = open_lock(store), result = 0;

	if (fd < 0)
		return fd;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		result = errno == EWOULDBLOCK || errno == EINTR ? 0 : -errno;
		if (!result && nve_clock_ns(CLOCK_MONOTONIC) >= deadline)
			result = -ETIMEDOUT;
		if (result) {
			close(fd);
			return result;
		}
		nanosleep(&pause, NULL);
	}
	store->lock_fd = fd;
	return 0;
}

void nve_calstore_unlock(struct nve_calstore *store)
{
	if (store->lock_fd < 0)
		return;
	/* A child forked meanwhile holds the same lock: closing alone would leave it locked. */
	flock(store->lock_fd, LOCK_UN);
	close(store->lock_fd);
	store->lock_fd = -1;
}
