#include "string_calls.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#define BUFFER_BYTES 16384u

static volatile uint64_t sink; /* keeps results, so that no call is optimized away */

/* A buffer that ends at a page which cannot be read. */
static char *guarded(void)
{
	char *at = mmap(NULL, BUFFER_BYTES + 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + BUFFER_BYTES, 4096, PROT_NONE))
		_exit(1);
	return at;
}

static size_t random_size(void)
{
	size_t most = (size_t[]){16, 64, 256, 1024, 5000}[rand() % 5];

	return (size_t)rand() % most;
}

/* Somewhere in a buffer with size + 1 bytes after it, often at its very end. */
static char *place(char *buffer, size_t size)
{
	size_t last = BUFFER_BYTES - size - 1;

	return buffer + (rand() % 3 ? (size_t)rand() % last : last - (size_t)rand() % 3);
}

static void fill(char *at, size_t size)
{
	memset(at, 'a' + rand() % 2, size);
	for (unsigned i = 0; size && i < 3; i++)
		at[(size_t)rand() % size] = (char)('a' + rand() % 26);
	at[size] = 0;
}

static void call_strings(char *a, char *b, size_t size)
{
	sink += strlen(a) + strnlen(a, size / 2) + (size_t)strcmp(a, b) +
		(size_t)strncmp(a, b, size);
	sink += (size_t)strchr(a, 'z') + (size_t)strrchr(a, 'a') + (size_t)strstr(a, "ab");
	sink += (size_t)strcasecmp(a, b) + strspn(a, "abc") + strcspn(a, "xyz");
	sink += (size_t)strchrnul(a, 'q') + (size_t)strpbrk(a, "yz");
	strcpy(b, a);
	strncpy(b, a, size);
	sink += (size_t)stpcpy(b, a);
	b[size / 2] = 0;
	strncat(b, a, size - size / 2);
}

static void call_memory(char *a, char *b, size_t size)
{
	sink += (size_t)memchr(a, 'z', size) + (size_t)memrchr(a, 'z', size);
	sink += (size_t)rawmemchr(a, 0) + (size_t)memcmp(a, b, size) + (size_t)bcmp(a, b, size);
	memcpy(b, a, size);
	memmove(a, a + size / 8, size - size / 8);
	memmove(a + size / 8, a, size - size / 8);
	sink += (size_t)mempcpy(b, a, size);
	sink += (size_t)memmem(a, size, "zz", 2);
	memset(b, 'x', size);
	b[size] = 0;
}

static void call_wide(char *a, char *b, size_t size)
{
	size_t count = size / sizeof(wchar_t);
	wchar_t *wide = (wchar_t *)(((uintptr_t)a + 3) & ~3ul);

	if (count < 2)
		return;
	count--;
	wmemset(wide, L'w', count);
	wide[count - 1] = 0;
	sink += wcslen(wide) + (size_t)wcschr(wide, L'q') + (size_t)wmemchr(wide, L'z', count);
	memcpy(b, wide, count * sizeof(wchar_t));
}

void string_calls(void)
{
	char *first = guarded(), *second = guarded();

	for (;;) {
		size_t size = random_size();
		char *a = place(first, size), *b = place(second, size);

		fill(a, size);
		fill(b, size);
		call_strings(a, b, size);
		call_memory(a, b, size);
		call_wide(a, b, size);
	}
}
