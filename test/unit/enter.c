/* Which programs a preloaded library gets into. */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enter.h"

static struct {
	ElfW(Ehdr) elf;
	ElfW(Phdr) part[3];
} head;

static bool may(unsigned char class, uint32_t type)
{
	memset(&head, 0, sizeof(head));
	memcpy(head.elf.e_ident, ELFMAG, SELFMAG);
	head.elf.e_ident[EI_CLASS] = class;
	head.elf.e_phoff = sizeof(head.elf);
	head.elf.e_phentsize = sizeof(head.part[0]);
	head.elf.e_phnum = 3;
	head.part[0].p_type = PT_PHDR;
	head.part[2].p_type = type;
	return nve_enter_may(&head, sizeof(head));
}

static void heads(void **state)
{
	(void)state;
	assert_true(may(ELFCLASS64, PT_INTERP));
	assert_false(may(ELFCLASS64, PT_LOAD));
	assert_false(may(ELFCLASS32, PT_INTERP));
	/* Unknown: further down than what was read. */
	assert_false(may(ELFCLASS64, PT_LOAD));
	head.elf.e_phoff = 1 << 20;
	assert_true(nve_enter_may(&head, sizeof(head)));
	head.elf.e_phentsize = 1;
	assert_false(nve_enter_may(&head, sizeof(head)));
	assert_true(nve_enter_may("#!/bin/sh\n", 10));
	assert_true(nve_enter_may("", 0));
	assert_true(nve_enter_may(ELFMAG, SELFMAG));
}

static void files(void **state)
{
	char path[] = "/tmp/enter-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_true(nve_enter_file("/proc/self/exe"));
	assert_true(nve_enter_file("/none/at/all"));
	assert_true(nve_enter_file("sh"));
	assert_true(nve_enter_file("/dev/null"));
	assert_false(may(ELFCLASS64, PT_LOAD));
	assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
	assert_false(nve_enter_file(path));
	assert_true(may(ELFCLASS64, PT_INTERP));
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_true(nve_enter_file(path));
	assert_int_equal(fchmod(fd, 04755), 0);
	assert_false(nve_enter_file(path));
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads),
		cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
