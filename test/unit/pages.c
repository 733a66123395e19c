/* Which memory may be read: the parser of /proc/PID/maps by table, the rest on this process. */
#include "unit.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "count/ahead/pages.h"

enum { PAGE = 4096 };

static struct nve_pages pages = {.ttl_ticks = 1000000};
static uint64_t now = 1;

static void parser(void **state)
{
	static const struct {
		const char *name;
		enum nve_pages_kind kind;
	} names[] = {
		{"", NVE_PAGES_ANONYMOUS},
		{"/usr/lib/libc.so.6", NVE_PAGES_FILE},
		{"/home/a name with blanks/x (deleted)", NVE_PAGES_FILE},
		{"/tmp/gone (deleted)", NVE_PAGES_FILE},
		{"/device/no", NVE_PAGES_FILE},
		{"[heap]", NVE_PAGES_ANONYMOUS},
		{"[stack]", NVE_PAGES_ANONYMOUS},
		{"[stack:123]", NVE_PAGES_ANONYMOUS},
		{"[anon:guile]", NVE_PAGES_ANONYMOUS},
		{"[anon_shmem:x]", NVE_PAGES_ANONYMOUS},
		{"[vdso]", NVE_PAGES_ANONYMOUS},
		{"[vvar]", NVE_PAGES_NOT},
		{"[vvar_vclock]", NVE_PAGES_NOT},
		{"[vsyscall]", NVE_PAGES_NOT},
		{"[uprobes]", NVE_PAGES_NOT},
		{"/memfd:a name (deleted)", NVE_PAGES_FILE},
		{"/SYSV00000000 (deleted)", NVE_PAGES_FILE},
		{"/dev/zero (deleted)", NVE_PAGES_FILE},
		{"/dev/zero", NVE_PAGES_FILE},
		{"/dev/shm/x", NVE_PAGES_FILE},
		{"/dev/hugepages/x", NVE_PAGES_FILE},
		{"/dev/mem", NVE_PAGES_NOT},
		{"/dev/dri/card0", NVE_PAGES_NOT},
		{"/dev/nvidia0", NVE_PAGES_NOT},
		{"/dev/uio0", NVE_PAGES_NOT},
		{"anon_inode:[perf_event]", NVE_PAGES_NOT},
		{"anon_inode:[io_uring]", NVE_PAGES_NOT},
		{"/anon_hugepage (deleted)", NVE_PAGES_FILE},
		{"/sys/devices/pci0000:00/0000:00:02.0/resource0", NVE_PAGES_NOT},
		{"/proc/bus/pci/00/02.0", NVE_PAGES_NOT},
		{"socket:[12345]", NVE_PAGES_NOT},
	};
	uint64_t start, end;
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(line, sizeof(line),
			 "7f0000001000-7f0000003000 rw-p 00000000 00:01 1234%s%s",
			 names[i].name[0] ? "                       " : " ", names[i].name);
		if (nve_pages_parse(line, &start, &end) != names[i].kind)
			fail_msg("%s", line);
		assert_true(start == 0x7f0000001000 && end == 0x7f0000003000);
	}
}

static void parser_refuses(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"7f0000001000",
		"7f0000001000-",
		"7f0000001000-7f0000003000",
		"7f0000001000 7f0000003000 rw-p 00000000 00:00 0",
		"-7f0000003000 rw-p 00000000 00:00 0",
		"7f0000001000-7f0000003000 ---p 00000000 00:00 0",
		"7f0000001000-7f0000003000 -w-p 00000000 00:00 0",
		"7f0000001000-7f0000003000 --xp 00000000 00:00 0 /lib/x",
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
		"nonsense",
	};
	uint64_t start, end;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (nve_pages_parse(lines[i], &start, &end))
			fail_msg("%s", lines[i]);
}

static enum nve_page page(const void *memory)
{
	return nve_pages_at(&pages, (uint64_t)(uintptr_t)memory, now);
}

static bool readable(const void *memory)
{
	return page(memory) == NVE_PAGE_RESIDENT;
}

static char *map(size_t bytes, int protection, int flags, int fd)
{
	void *mem = mmap(NULL, bytes, protection, flags, fd, 0);

	assert_true(mem != MAP_FAILED);
	return mem;
}

/* At once, as in a forked child: otherwise not more often than every few milliseconds. */
static void renew(void)
{
	nve_pages_after_fork();
	now += pages.ttl_ticks;
	assert_int_equal(nve_pages_refresh(), 0);
}

/* Unknown until somebody looks; then what is mapped, readable and resident. */
static void snapshot(void **state)
{
	char *mem = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1), *late;
	static const char code[] = "constant";
	int local = 1;

	(void)state;
	mem[0] = mem[2 * PAGE] = 1;
	assert_false(readable(mem));
	assert_true(nve_pages_wanted());
	renew();
	assert_false(nve_pages_wanted());
	assert_true(readable(mem) && readable(mem + 2 * PAGE + PAGE - 1));
	assert_true(readable(&local) && readable(code) && readable((void *)(uintptr_t)snapshot));
	/* never touched: reading it would make it resident; where there is swap, nobody knows */
	assert_true(page(mem + PAGE) != NVE_PAGE_RESIDENT);
	assert_int_equal(page(NULL), NVE_PAGE_ABSENT);
	assert_false(readable((void *)(uintptr_t)0x800000000000)); /* no address of a program */
	assert_false(readable((void *)UINTPTR_MAX));
	late = map(8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	memset(late, 1, 8 << 20);
	munmap(mem, 4 * PAGE);
	nve_pages_forget(&pages, (uint64_t)(uintptr_t)mem);
	assert_true(nve_pages_wanted());
	renew();
	assert_false(readable(mem));
	assert_true(readable(late) && readable(late + (4 << 20)));
	munmap(late, 8 << 20);
}

static void not_memory(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int perf = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	int mem = open("/dev/mem", O_RDONLY | O_CLOEXEC);
	char *none = map(PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	void *ring = MAP_FAILED, *device = MAP_FAILED;

	(void)state;
	if (perf >= 0)
		ring = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, perf, 0);
	if (mem >= 0)
		device = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, mem, 0);
	none[0] = 1;
	assert_int_equal(mprotect(none, PAGE, PROT_NONE), 0);
	renew();
	assert_false(readable(none));
	assert_true(ring == MAP_FAILED || !readable(ring));
	assert_true(device == MAP_FAILED || !readable(device));
}

/* More mappings than a buffer of the reader holds, each next to one that may not be read. */
static void many(void **state)
{
	enum { COUNT = 1200 };
	char *mem = map(2 * COUNT * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)state;
	memset(mem, 1, 2 * COUNT * PAGE);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(mprotect(mem + (2 * i + 1) * PAGE, PAGE, PROT_NONE), 0);
	renew();
	for (int i = 0; i < COUNT; i++) {
		assert_true(readable(mem + 2 * i * PAGE));
		assert_false(readable(mem + (2 * i + 1) * PAGE));
	}
	munmap(mem, 2 * COUNT * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parser),   cmocka_unit_test(parser_refuses),
		cmocka_unit_test(snapshot), cmocka_unit_test(not_memory),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
