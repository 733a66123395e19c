#include "enter.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { HEAD_BYTES = 4096 };

static bool has_loader(const char *head, size_t size)
{
	ElfW(Ehdr) elf;
	ElfW(Phdr) part;

	memcpy(&elf, head, sizeof(elf));
	if (elf.e_phentsize != sizeof(part))
		return false;
	for (size_t i = 0; i < elf.e_phnum; i++) {
		size_t at = elf.e_phoff + i * sizeof(part);

		if (at > size || size - at < sizeof(part))
			return true; /* further down: nothing is known */
		memcpy(&part, head + at, sizeof(part));
		if (part.p_type == PT_INTERP)
			return true;
	}
	return false;
}

bool nve_enter_may(const void *head, size_t size)
{
	const unsigned char *byte = head;

	if (size < sizeof(ElfW(Ehdr)) || memcmp(byte, ELFMAG, SELFMAG))
		return true;
	return byte[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
	       has_loader(head, size);
}

bool nve_enter_file(const char *path)
{
	char head[HEAD_BYTES];
	struct stat st;
	bool may = true;
	ssize_t n;
	int fd;

	if (!strchr(path, '/'))
		return true;
	/* Raw calls: libc's are cancellation points. */
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return true;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		n = syscall(SYS_pread64, fd, head, sizeof(head), 0L);
		may = !(st.st_mode & (S_ISUID | S_ISGID)) &&
		      fgetxattr(fd, "security.capability", NULL, 0) <= 0 &&
		      (n < 0 || nve_enter_may(head, (size_t)n));
	}
	syscall(SYS_close, fd);
	return may;
}
