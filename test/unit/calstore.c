#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/file.h"
#include "count/calstore.h"

enum { WRITERS = 32, NOBODY = 65534 };

static char directory[] = "/tmp/nvmemu-calstore-XXXXXX";
static char variable[128];
static char *environment[] = {variable, NULL};
static struct nve_calstore store;

static const struct nve_calibration sample = {
	.tsc_khz = 2445404,
	.dram_lat_ps = 122500,
	.llc_lat_ps = 18250,
	.timed_reads = true,
	.timed_dram_cycles_milli = 390125,
	.timed_llc_cycles_milli = 110250,
	.timed_l1_cycles_milli = 70500,
	.timed_translated_cycles_milli = 395000,
	.probe_cycles_milli = 401000,
	.fence_cycles = 66,
	.threshold_cycles = 200,
	.run_ahead_instructions = 320,
	.signal_ns = 2100,
	.huge_pages = true,
	.footprint_bytes = 134217728,
	.run_ahead_writers = 192,
	.cycle_ticks_milli = 650,
	.read_gap_ticks_milli = 25000,
	.write_gap_ticks_milli = 8000,
	.tries = 1,
	.read_bytes_per_s = 12345678901,
	.write_bytes_per_s = 9876543210,
	.all_read_bytes_per_s = 45678901234,
	.all_write_bytes_per_s = 34567890123,
	.llc_bytes = 33554432,
	.measured_at_s = 1700000000,
};

/* The two may differ in padding alone. */
static bool same(const struct nve_calibration *a, const struct nve_calibration *b)
{
	return a->tsc_khz == b->tsc_khz && a->dram_lat_ps == b->dram_lat_ps &&
	       a->llc_lat_ps == b->llc_lat_ps && a->timed_reads == b->timed_reads &&
	       a->timed_dram_cycles_milli == b->timed_dram_cycles_milli &&
	       a->timed_llc_cycles_milli == b->timed_llc_cycles_milli &&
	       a->timed_l1_cycles_milli == b->timed_l1_cycles_milli &&
	       a->fence_cycles == b->fence_cycles && a->threshold_cycles == b->threshold_cycles &&
	       a->run_ahead_instructions == b->run_ahead_instructions &&
	       a->signal_ns == b->signal_ns && a->huge_pages == b->huge_pages &&
	       a->timed_translated_cycles_milli == b->timed_translated_cycles_milli &&
	       a->probe_cycles_milli == b->probe_cycles_milli &&
	       a->footprint_bytes == b->footprint_bytes && a->tries == b->tries &&
	       a->cycle_ticks_milli == b->cycle_ticks_milli &&
	       a->run_ahead_writers == b->run_ahead_writers &&
	       a->read_gap_ticks_milli == b->read_gap_ticks_milli &&
	       a->write_gap_ticks_milli == b->write_gap_ticks_milli &&
	       a->read_bytes_per_s == b->read_bytes_per_s &&
	       a->write_bytes_per_s == b->write_bytes_per_s &&
	       a->all_read_bytes_per_s == b->all_read_bytes_per_s &&
	       a->all_write_bytes_per_s == b->all_write_bytes_per_s &&
	       a->llc_bytes == b->llc_bytes && a->measured_at_s == b->measured_at_s;
}

/* A fresh, empty place; every test starts with one. */
static int set_up(void **state)
{
	(void)state;
	strcpy(strrchr(directory, '-') + 1, "XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(variable, sizeof(variable), "XDG_CACHE_HOME=%s", directory);
	return nve_calstore_setup(&store, environment);
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	nve_calstore_unlock(&store);
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -r %s", directory, directory);
	return system(command);
}

static void kept_and_found(void **state)
{
	struct nve_calibration found;
	struct nve_calstore other;
	const char *reason;
	struct stat st;

	(void)state;
	assert_int_equal(nve_calstore_load(&store, &found, &reason), -ENOENT);
	assert_string_equal(reason, "not there");
	assert_int_equal(nve_calstore_save(&store, &sample), 0);
	assert_int_equal(nve_calstore_setup(&other, environment), 0);
	assert_int_equal(nve_calstore_load(&other, &found, &reason), 0);
	assert_true(same(&found, &sample));
	assert_null(reason);
	assert_int_equal(stat(store.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_memory_equal(store.path, directory, strlen(directory));
	assert_memory_equal(store.path + strlen(directory), "/nvmemu/calibration-", 20);
}

static void extremes_survive(void **state)
{
	struct nve_calibration odd = sample, found;
	const char *reason;

	(void)state;
	odd.huge_pages = false;
	odd.llc_bytes = 0;
	odd.dram_lat_ps = 10000000;
	odd.measured_at_s = UINT64_C(1) << 40;
	odd.run_ahead_instructions = 0;
	assert_int_equal(nve_calstore_save(&store, &odd), 0);
	assert_int_equal(nve_calstore_load(&store, &found, &reason), 0);
	assert_true(same(&found, &odd));
}

/* Where there is no look-ahead, what it needs is 0, and nothing else. */
static void without_timed_reads(void **state)
{
	struct nve_calibration bare = sample, found;
	const char *reason, *field;

	(void)state;
	bare.timed_reads = false;
	assert_int_equal(nve_calibration_check(&bare, &field), -ERANGE);
	assert_string_equal(field, "timed_dram_cycles_milli");
	bare.timed_dram_cycles_milli = bare.timed_llc_cycles_milli = bare.timed_l1_cycles_milli = 0;
	bare.fence_cycles = bare.threshold_cycles = bare.probe_cycles_milli = 0;
	bare.run_ahead_instructions = bare.run_ahead_writers = 0;
	bare.cycle_ticks_milli = bare.read_gap_ticks_milli = bare.write_gap_ticks_milli = 0;
	assert_int_equal(nve_calibration_check(&bare, &field), 0);
	assert_int_equal(nve_calstore_save(&store, &bare), 0);
	assert_int_equal(nve_calstore_load(&store, &found, &reason), 0);
	assert_true(same(&found, &bare));
	bare.timed_reads = true;
	assert_int_equal(nve_calibration_check(&bare, &field), -ERANGE);
}

static size_t read_kept(char *content, size_t size)
{
	size_t length;

	assert_int_equal(nve_file_read(store.path, content, size, &length), 0);
	return length;
}

static void write_kept(const char *content, size_t length)
{
	assert_int_equal(nve_file_write(store.path, content, length, 0600), 0);
}

static void damage_in_any_byte_shows(void **state)
{
	static const unsigned char flips[] = {0x01, 0x20, 0x80, 0xff};
	struct nve_calibration found = {.tsc_khz = 4711};
	char content[2048];
	const char *reason;
	size_t length;

	(void)state;
	assert_int_equal(nve_calstore_save(&store, &sample), 0);
	length = read_kept(content, sizeof(content));
	for (size_t i = 0; i < length; i++) {
		for (size_t j = 0; j < NVE_ARRAY_SIZE(flips); j++) {
			int result;

			content[i] = (char)(content[i] ^ flips[j]);
			write_kept(content, length);
			content[i] = (char)(content[i] ^ flips[j]);
			reason = NULL;
			result = nve_calstore_load(&store, &found, &reason);
			if (result != -EINVAL && result != -ESTALE)
				fail_msg("byte %zu: %d", i, result);
			assert_non_null(reason);
		}
	}
	assert_int_equal(found.tsc_khz, 4711);
}

static void any_other_length_shows(void **state)
{
	struct nve_calibration found;
	char content[4096];
	const char *reason;
	size_t length;

	(void)state;
	assert_int_equal(nve_calstore_save(&store, &sample), 0);
	length = read_kept(content, sizeof(content));
	for (size_t i = 0; i < length; i++) {
		int result;

		write_kept(content, i);
		result = nve_calstore_load(&store, &found, &reason);
		assert_true(result == -EINVAL || result == -ESTALE);
	}
	content[length] = '\n';
	write_kept(content, length + 1);
	assert_int_equal(nve_calstore_load(&store, &found, &reason), -EINVAL);
	content[length] = '\0';
	write_kept(content, length + 1);
	assert_int_equal(nve_calstore_load(&store, &found, &reason), -EINVAL);
	memset(content, ' ', sizeof(content));
	write_kept(content, sizeof(content));
	assert_int_equal(nve_calstore_load(&store, &found, &reason), -EFBIG);
	assert_string_equal(reason, "not readable");
}

static void of_another_machine(void **state)
{
	struct nve_calibration found;
	struct nve_calstore other = store;
	const char *reason;

	(void)state;
	assert_int_equal(nve_calstore_save(&store, &sample), 0);
	other.boot_id[9] = other.boot_id[9] == 'a' ? 'b' : 'a';
	assert_int_equal(nve_calstore_load(&other, &found, &reason), -ESTALE);
	assert_string_equal(reason, "of another boot");
	other = store;
	strcpy(other.cpu, "Z80");
	assert_int_equal(nve_calstore_load(&other, &found, &reason), -ESTALE);
	assert_string_equal(reason, "of another processor");
	strcpy(other.cpu, store.cpu);
	assert_int_equal(nve_calstore_load(&other, &found, &reason), 0);
}

static void of_another_version(void **state)
{
	static const char text[] = "nvmemu-calibration 0\ncpu x\n";
	struct nve_calibration found;
	const char *reason;

	(void)state;
	write_kept(text, sizeof(text) - 1);
	assert_int_equal(nve_calstore_load(&store, &found, &reason), -ESTALE);
	assert_string_equal(reason, "of another version");
}

struct impossible {
	const char *field;
	size_t offset, bytes;
	uint64_t value;
};

#define IMPOSSIBLE(field, value)                                                                   \
	{                                                                                          \
#field, offsetof(struct nve_calibration, field),                                   \
			sizeof(((struct nve_calibration *)0)->field), value                        \
	}

/* A valid checksum does not make a value possible: some one may have written it by hand. */
static void impossible_values(void **state)
{
	static const struct impossible values[] = {
		IMPOSSIBLE(tsc_khz, NVE_ARCH_TICKS_KHZ_MIN - 1),
		IMPOSSIBLE(tsc_khz, 10000001),
		IMPOSSIBLE(dram_lat_ps, 0),
		IMPOSSIBLE(dram_lat_ps, 10000001),
		IMPOSSIBLE(dram_lat_ps, 18250),
		IMPOSSIBLE(llc_lat_ps, 0),
		IMPOSSIBLE(llc_lat_ps, 122500),
		IMPOSSIBLE(timed_dram_cycles_milli, 0),
		IMPOSSIBLE(timed_llc_cycles_milli, 390125),
		IMPOSSIBLE(timed_llc_cycles_milli, 0),
		IMPOSSIBLE(timed_l1_cycles_milli, 0),
		IMPOSSIBLE(fence_cycles, 0),
		IMPOSSIBLE(fence_cycles, 10001),
		IMPOSSIBLE(threshold_cycles, 0),
		IMPOSSIBLE(threshold_cycles, 100001),
		IMPOSSIBLE(run_ahead_instructions, 100001),
		IMPOSSIBLE(signal_ns, 100000001),
		IMPOSSIBLE(llc_bytes, (UINT64_C(1) << 40) + 1),
		IMPOSSIBLE(measured_at_s, 0),
	};
	const char *field;

	(void)state;
	assert_int_equal(nve_calibration_check(&sample, &field), 0);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(values); i++) {
		struct nve_calibration wrong = sample;

		memcpy((char *)&wrong + values[i].offset, &values[i].value, values[i].bytes);
		assert_int_equal(nve_calibration_check(&wrong, &field), -ERANGE);
		assert_int_equal(nve_calstore_save(&store, &wrong), -ERANGE);
	}
	assert_int_equal(access(store.path, F_OK), -1);
}

/* None at all, or one of memory: not the last-level cache's. */
static void translated_reads(void **state)
{
	struct nve_calibration c = sample;
	const char *field;

	(void)state;
	c.timed_translated_cycles_milli = 0;
	assert_int_equal(nve_calibration_check(&c, &field), 0);
	c.timed_translated_cycles_milli = c.timed_llc_cycles_milli;
	assert_int_equal(nve_calibration_check(&c, &field), -ERANGE);
	assert_string_equal(field, "timed_translated_cycles_milli");
}

static uint64_t fnv(const char *data, size_t size)
{
	uint64_t value = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < size; i++)
		value = (value ^ (unsigned char)data[i]) * UINT64_C(1099511628211);
	return value;
}

/* Replaces one text by another in what is kept, and makes the checksum right again. */
static void forge(const char *from, const char *to)
{
	char content[2048], forged[4096], *at;
	size_t length;

	assert_int_equal(nve_calstore_save(&store, &sample), 0);
	read_kept(content, sizeof(content));
	at = strstr(content, from);
	assert_non_null(at);
	*strstr(content, "checksum ") = '\0';
	length = (size_t)snprintf(forged, sizeof(forged), "%.*s%s%s", (int)(at - content), content,
				  to, at + strlen(from));
	length += (size_t)snprintf(forged + length, sizeof(forged) - length, "checksum %016llx\n",
				   (unsigned long long)fnv(forged, length));
	write_kept(forged, length);
}

static void forged_values(void **state)
{
	static const char *const forgeries[][2] = {
		{"dram_lat_ps 122500", "dram_lat_ps 0"},
		{"dram_lat_ps 122500", "dram_lat_ps 4294967296122500"},
		{"dram_lat_ps 122500", "dram_lat_ps 18446744073709551616"},
		{"dram_lat_ps 122500", "dram_lat_ps"},
		{"dram_lat_ps 122500", "dram_lat_ps -1"},
		{"dram_lat_ps 122500", "dram_lat_ps 18000"},
		{"huge_pages 1", "huge_pages 2"},
		{"signal_ns 2100\n", ""},
		{"signal_ns 2100\n", "signal_ns 2100\nsignal_ns 2100\n"},
		{"measured_at_s 1700000000\n", "measured_at_s 1700000000\nmore 1\n"},
	};
	struct nve_calibration found;
	const char *reason;

	(void)state;
	forge("signal_ns 2100", "signal_ns 2200");
	assert_int_equal(nve_calstore_load(&store, &found, &reason), 0);
	assert_int_equal(found.signal_ns, 2200);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(forgeries); i++) {
		forge(forgeries[i][0], forgeries[i][1]);
		if (nve_calstore_load(&store, &found, &reason) != -EINVAL)
			fail_msg("%s", forgeries[i][1]);
		assert_string_equal(reason, "not possible");
	}
}

/* One of many that start at once: whatever it reads is missing or whole. */
static int start_up(unsigned number)
{
	struct nve_calibration mine = sample, found;
	struct nve_calstore own;
	const char *reason;

	mine.signal_ns = number;
	if (nve_calstore_setup(&own, environment))
		return 1;
	for (int i = 0; i < 40; i++) {
		int result = nve_calstore_load(&own, &found, &reason);

		if (result && result != -ENOENT)
			return 2;
		if (!result && found.signal_ns >= WRITERS)
			return 3;
		found.signal_ns = mine.signal_ns;
		if (!result && !same(&found, &mine))
			return 4;
		if (nve_calstore_save(&own, &mine))
			return 5;
	}
	return 0;
}

static unsigned count_files(const char *path)
{
	char command[256], text[32];
	FILE *pipe;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", path);
	pipe = popen(command, "r");
	assert_non_null(fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return (unsigned)atoi(text);
}

static void many_writers(void **state)
{
	struct nve_calibration found;
	char path[128];
	const char *reason;

	(void)state;
	for (unsigned i = 0; i < WRITERS; i++) {
		if (!fork())
			_exit(start_up(i));
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(nve_calstore_load(&store, &found, &reason), 0);
	assert_in_range(found.signal_ns, 0, WRITERS - 1);
	snprintf(path, sizeof(path), "%s/nvmemu", directory);
	assert_int_equal(count_files(path), 1);
}

/* Of many that start at once one measures; the others wait for it and find what it kept. */
static int measure_or_load(void)
{
	struct nve_calibration found;
	struct nve_calstore own;
	const char *reason;
	int result;

	if (nve_calstore_setup(&own, environment))
		return 1;
	/* A busy machine may keep the lock's holder from running. */
	while ((result = nve_calstore_lock(&own)) == -ETIMEDOUT)
		;
	if (result)
		return 3;
	if (!nve_calstore_load(&own, &found, &reason))
		return 0;
	if (nve_calstore_save(&own, &sample))
		return 2;
	nve_calstore_unlock(&own);
	return 100;
}

static void one_of_many_measures(void **state)
{
	int measured = 0;

	(void)state;
	for (unsigned i = 0; i < WRITERS; i++) {
		if (!fork())
			_exit(measure_or_load());
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_true(status == 0 || WEXITSTATUS(status) == 100);
		measured += status != 0;
	}
	assert_int_equal(measured, 1);
}

static void lock_is_given_up_in_time(void **state)
{
	struct nve_calstore other = store;
	uint64_t start;

	(void)state;
	assert_int_equal(nve_calstore_lock(&store), 0);
	assert_int_equal(fcntl(store.lock_fd, F_GETFD), FD_CLOEXEC);
	assert_true(store.lock_fd > 100);
	start = nve_clock_ns(CLOCK_MONOTONIC);
	assert_int_equal(nve_calstore_lock(&other), -ETIMEDOUT);
	assert_true(nve_clock_ns(CLOCK_MONOTONIC) - start >= 200000000);
	assert_int_equal(other.lock_fd, -1);
	nve_calstore_unlock(&store);
	assert_int_equal(nve_calstore_lock(&other), 0);
	nve_calstore_unlock(&other);
	nve_calstore_unlock(&other);
}

static void killed_holder_leaves_no_lock(void **state)
{
	int status;

	(void)state;
	if (!fork()) {
		if (!nve_calstore_lock(&store))
			raise(SIGKILL);
		_exit(1);
	}
	assert_true(wait(&status) > 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(nve_calstore_lock(&store), 0);
}

/* A child that lives on, forked while its parent held the lock, does not hold it too. */
static void fork_does_not_keep_the_lock(void **state)
{
	struct nve_calstore other = store;
	pid_t child;

	(void)state;
	assert_int_equal(nve_calstore_lock(&store), 0);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	nve_calstore_unlock(&store);
	assert_int_equal(nve_calstore_lock(&other), 0);
	nve_calstore_unlock(&other);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void strange_lock_files_do_not_block(void **state)
{
	char path[NVE_CALSTORE_PATH_BYTES + 8];

	(void)state;
	snprintf(path, sizeof(path), "%s.lock", store.path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(nve_calstore_lock(&store), -ELOOP);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(nve_calstore_lock(&store), -EISDIR);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	nve_calstore_lock(&store);
	nve_calstore_unlock(&store);
	unlink(path);
	assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(nve_calstore_lock(&store), 0);
}

/* Body runs in a child as an ordinary user; returns its exit status. */
static int as_nobody(int (*body)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(99);
		_exit(body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int expect_fallback(void)
{
	struct nve_calstore own;
	char expected[64];

	if (nve_calstore_setup(&own, environment))
		return 1;
	snprintf(expected, sizeof(expected), "/run/user/%u/nvmemu/", geteuid());
	if (!strncmp(own.path, expected, strlen(expected)))
		return 0;
	snprintf(expected, sizeof(expected), "/tmp/nvmemu-%u/", geteuid());
	return strncmp(own.path, expected, strlen(expected)) ? 2 : 0;
}

static int save_and_load(void)
{
	struct nve_calstore own;
	struct nve_calibration found;
	const char *reason;

	if (nve_calstore_setup(&own, environment))
		return 1;
	if (nve_calstore_save(&own, &sample))
		return 2;
	if (nve_calstore_load(&own, &found, &reason))
		return 3;
	/* It is the user's own place: leave no made-up calibration there. */
	return unlink(own.path) ? 4 : 0;
}

static void no_home_at_all(void **state)
{
	(void)state;
	snprintf(variable, sizeof(variable), "TERM=dumb");
	assert_int_equal(as_nobody(expect_fallback), 0);
	assert_int_equal(as_nobody(save_and_load), 0);
}

static void relative_names_do_not_count(void **state)
{
	(void)state;
	snprintf(variable, sizeof(variable), "XDG_CACHE_HOME=%s", directory + 1);
	assert_int_equal(as_nobody(expect_fallback), 0);
	snprintf(variable, sizeof(variable), "HOME=%s", directory + 1);
	assert_int_equal(as_nobody(expect_fallback), 0);
	snprintf(variable, sizeof(variable), "XDG_CACHE_HOME=");
	assert_int_equal(as_nobody(expect_fallback), 0);
}

static void unwritable_and_foreign_directories(void **state)
{
	(void)state;
	if (geteuid())
		assert_int_equal(chmod(directory, 0500), 0);
	else
		assert_int_equal(chmod(directory, 0755), 0);
	strcat(variable, "/x");
	assert_int_equal(as_nobody(expect_fallback), 0);
	snprintf(variable, sizeof(variable), "XDG_CACHE_HOME=/proc/self/nothing");
	assert_int_equal(as_nobody(expect_fallback), 0);
	snprintf(variable, sizeof(variable), "HOME=/proc");
	assert_int_equal(as_nobody(expect_fallback), 0);
}

static void home_of_another_user(void **state)
{
	struct nve_calstore own;
	char path[64];

	(void)state;
	if (geteuid())
		skip();
	snprintf(path, sizeof(path), "%s/home", directory);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(variable, sizeof(variable), "HOME=%s", path);
	assert_int_equal(nve_calstore_setup(&own, environment), 0);
	assert_non_null(strstr(own.path, "/home/.cache/nvmemu/calibration-"));
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	assert_int_equal(nve_calstore_setup(&own, environment), 0);
	assert_null(strstr(own.path, "/home/"));
}

static void open_or_linked_places_are_refused(void **state)
{
	struct nve_calstore own;
	char place[64], target[64];

	(void)state;
	snprintf(place, sizeof(place), "%s/nvmemu", directory);
	snprintf(target, sizeof(target), "%s/elsewhere", directory);
	assert_int_equal(chmod(place, 0777), 0);
	nve_calstore_setup(&own, environment);
	assert_null(strstr(own.path, directory));
	assert_int_equal(rename(place, target), 0);
	assert_int_equal(chmod(target, 0700), 0);
	assert_int_equal(symlink(target, place), 0);
	nve_calstore_setup(&own, environment);
	assert_null(strstr(own.path, directory));
	assert_int_equal(unlink(place), 0);
	assert_int_equal(close(open(place, O_CREAT | O_WRONLY, 0600)), 0);
	nve_calstore_setup(&own, environment);
	assert_null(strstr(own.path, directory));
}

static int save_without_room(void)
{
	struct rlimit tiny = {100, 100};
	struct nve_calstore own;
	struct nve_calibration found;
	const char *reason;

	if (nve_calstore_setup(&own, environment) || setrlimit(RLIMIT_FSIZE, &tiny))
		return 1;
	if (nve_calstore_save(&own, &sample) != -EFBIG)
		return 2;
	return nve_calstore_load(&own, &found, &reason) == -ENOENT ? 0 : 3;
}

static void no_room_leaves_nothing(void **state)
{
	char path[128];
	int status;

	(void)state;
	if (!fork())
		_exit(save_without_room());
	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	snprintf(path, sizeof(path), "%s/nvmemu", directory);
	assert_int_equal(count_files(path), 0);
}

static void no_place_is_no_crash(void **state)
{
	struct nve_calstore nowhere = store;
	struct nve_calibration found;
	const char *reason;

	(void)state;
	nowhere.path[0] = '\0';
	assert_int_equal(nve_calstore_load(&nowhere, &found, &reason), -ENOENT);
	assert_int_equal(nve_calstore_save(&nowhere, &sample), -ENOENT);
	assert_int_equal(nve_calstore_lock(&nowhere), -ENOENT);
	nve_calstore_unlock(&nowhere);
}

static void cpu_has_a_name(void **state)
{
	char name[64], brief[5], model[256] = "";
	FILE *info = fopen("/proc/cpuinfo", "r");
	char line[256];

	(void)state;
	nve_calstore_cpu_name(name, sizeof(name));
	while (fgets(line, sizeof(line), info) && !model[0])
		sscanf(line, "model name : %255[^\n]", model);
	fclose(info);
	/* Arm has numbers for a name; an emulator shows the file of its host. */
	if (!strcmp(NVE_ARCH_NAME, "aarch64"))
		strcpy(model, "Arm implementer");
	if (!model[0])
		skip();
	assert_memory_equal(name, model, 5);
	assert_true(name[strlen(name) - 1] != ' ');
	nve_calstore_cpu_name(brief, sizeof(brief));
	assert_in_range(strlen(brief), 1, 4);
	assert_memory_equal(name, brief, strlen(brief));
}

/* Places outside of the tests' own directory, made where that was refused. */
static int remove_fallbacks(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/nvmemu-%u", geteuid());
	rmdir(path);
	snprintf(path, sizeof(path), "/tmp/nvmemu-%u", NOBODY);
	rmdir(path);
	return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(kept_and_found),
		TEST(extremes_survive),
		TEST(without_timed_reads),
		TEST(translated_reads),
		TEST(damage_in_any_byte_shows),
		TEST(any_other_length_shows),
		TEST(of_another_machine),
		TEST(of_another_version),
		TEST(impossible_values),
		TEST(forged_values),
		TEST(many_writers),
		TEST(one_of_many_measures),
		TEST(lock_is_given_up_in_time),
		TEST(killed_holder_leaves_no_lock),
		TEST(fork_does_not_keep_the_lock),
		TEST(strange_lock_files_do_not_block),
		TEST(no_home_at_all),
		TEST(relative_names_do_not_count),
		TEST(unwritable_and_foreign_directories),
		TEST(home_of_another_user),
		TEST(open_or_linked_places_are_refused),
		TEST(no_room_leaves_nothing),
		TEST(no_place_is_no_crash),
		TEST(cpu_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, remove_fallbacks);
}
