/* System calls by number: one with six arguments, one that is hooked by name, and the last one. */
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

enum { BYTES = 65536, STATUS = 7 };

int main(int argc, char **argv)
{
	FILE *self = fopen(argv[0], "rb");
	char name[16], head[16];
	void *first, *other;

	(void)argc;
	CHECK(self && fread(head, sizeof(head), 1, self) == 1);
	first = (void *)syscall(SYS_mmap, NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				0);
	CHECK(first != MAP_FAILED);
	other = (void *)syscall(SYS_mmap, first, BYTES, PROT_READ, MAP_PRIVATE | MAP_FIXED,
				fileno(self), 0);
	CHECK(other == first && !memcmp(other, head, sizeof(head)));
	CHECK(syscall(SYS_mmap, NULL, BYTES, PROT_READ, MAP_PRIVATE, fileno(self), 1) == -1);
	CHECK(!syscall(SYS_prctl, PR_SET_NAME, "by number", 0, 0, 0));
	CHECK(!prctl(PR_GET_NAME, name, 0, 0, 0) && !strcmp(name, "by number"));
	work_ms(20);
	syscall(SYS_exit_group, STATUS);
	return 1;
}
