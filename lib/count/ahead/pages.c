#include "count/ahead/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"

#define GRANULE_BYTES ((uint64_t)NVE_PAGES_PER_GRANULE * NVE_PAGE_BYTES)

/* Programs with more mappings than this lose the rest to "unknown"; neighbours are merged first. */
enum { RANGES_MAX = 16384 };

struct range {
	uint64_t start, end;
};

struct snapshot {
	_Atomic uint32_t readers;
	uint32_t count;
	uint64_t heap_start; /* 0: none */
	struct range *range; /* sorted, RANGES_MAX long */
};

static struct {
	struct snapshot copy[2];
	_Atomic uint32_t epoch; /* the copy in force is epoch & 1; 0: none yet */
	_Atomic bool wanted;
	_Atomic bool refreshing;
} state;

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Mappings whose reading may have side effects, block, or show no ordinary memory. */
static bool name_is_memory(const char *name)
{
	if (starts_with(name, "/dev/"))
		return starts_with(name, "/dev/shm/") || starts_with(name, "/dev/zero") ||
		       starts_with(name, "/dev/hugepages/");
	if (starts_with(name, "/memfd:") || starts_with(name, "/SYSV"))
		return true;
	if (starts_with(name, "anon_inode:") || starts_with(name, "/sys/") ||
	    starts_with(name, "/proc/") || starts_with(name, "socket:"))
		return false;
	if (name[0] == '[')
		return starts_with(name, "[heap]") || starts_with(name, "[stack") ||
		       starts_with(name, "[anon") || starts_with(name, "[vdso]");
	return true;
}

static const char *parse_hex(const char *p, uint64_t *value)
{
	uint64_t v = 0;
	const char *start = p;

	for (;; p++) {
		if (*p >= '0' && *p <= '9')
			v = v << 4 | (uint64_t)(*p - '0');
		else if (*p >= 'a' && *p <= 'f')
			v = v << 4 | (uint64_t)(*p - 'a' + 10);
		else
			break;
	}
	*value = v;
	return p == start ? NULL : p;
}

static const char *skip_field(const char *p)
{
	while (*p && *p != ' ')
		p++;
	while (*p == ' ')
		p++;
	return p;
}

bool nve_pages_parse(const char *line, uint64_t *start, uint64_t *end)
{
	const char *p = parse_hex(line, start);

	if (!p || *p != '-')
		return false;
	p = parse_hex(p + 1, end);
	if (!p || *p != ' ' || p[1] != 'r')
		return false;
	p = skip_field(p + 1);                  /* permissions */
	for (int field = 0; field < 3; field++) /* offset, device, inode */
		p = skip_field(p);
	return name_is_memory(p);
}

static void add_range(struct snapshot *s, uint64_t start, uint64_t end)
{
	if (s->count && s->range[s->count - 1].end == start) {
		s->range[s->count - 1].end = end;
		return;
	}
	if (s->count < RANGES_MAX)
		s->range[s->count++] = (struct range){start, end};
}

/* Parses the complete lines in buf; returns how many bytes of an incomplete one are left. */
static size_t parse_lines(struct snapshot *s, char *buf, size_t have)
{
	char *line = buf;
	uint64_t start, end;

	for (;;) {
		char *newline = memchr(line, '\n', have - (size_t)(line - buf));

		if (!newline)
			break;
		*newline = '\0';
		if (nve_pages_parse(line, &start, &end)) {
			add_range(s, start, end);
			if (strstr(line, "[heap]"))
				s->heap_start = start;
		}
		line = newline + 1;
	}
	have -= (size_t)(line - buf);
	memmove(buf, line, have);
	return have;
}

static int read_maps(struct snapshot *s)
{
	static char buf[16384]; /* only the one refreshing thread is here */
	size_t have = 0;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	s->count = 0;
	s->heap_start = 0;
	for (;;) {
		ssize_t n = read(fd, buf + have, sizeof(buf) - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have = parse_lines(s, buf, have + (size_t)n);
		if (have == sizeof(buf))
			have = 0; /* a line longer than any path: not one of ours to read */
	}
	close(fd);
	return s->count ? 0 : -EIO;
}

static int snapshot_memory(struct snapshot *s)
{
	void *mem;

	if (s->range)
		return 0;
	mem = mmap(NULL, RANGES_MAX * sizeof(struct range), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	s->range = mem;
	return 0;
}

int nve_pages_refresh(void)
{
	uint32_t next = atomic_load(&state.epoch) + 1;
	struct snapshot *s = &state.copy[next & 1];
	int rc;

	if (atomic_exchange(&state.refreshing, true))
		return 0;
	atomic_store(&state.wanted, false);
	rc = snapshot_memory(s);
	/* A handler may still search the older copy; it does so for under a microsecond. */
	while (!rc && atomic_load(&s->readers))
		;
	if (!rc)
		rc = read_maps(s);
	if (!rc)
		atomic_store(&state.epoch, next);
	atomic_store(&state.refreshing, false);
	return rc;
}

bool nve_pages_wanted(void)
{
	return atomic_load_explicit(&state.wanted, memory_order_relaxed);
}

void nve_pages_after_fork(void)
{
	atomic_store(&state.refreshing, false);
	atomic_store(&state.copy[0].readers, 0);
	atomic_store(&state.copy[1].readers, 0);
}

/* The first range that ends above addr; count when there is none. */
static uint32_t find_range(const struct snapshot *s, uint64_t addr)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (s->range[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void fill_part(struct nve_pages_granule *g, uint64_t base, uint64_t start, uint64_t end)
{
	unsigned char vec[NVE_PAGES_PER_GRANULE];
	size_t first = (start - base) / NVE_PAGE_BYTES, n = (end - start) / NVE_PAGE_BYTES;

	/* A raw call: libc's wrapper would set errno, and may be the program's own. */
	if (syscall(SYS_mincore, start, end - start, vec) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (vec[i] & 1)
			g->resident[(first + i) / 64] |= 1ull << (first + i) % 64;
}

/* The heap may have grown since the snapshot; how far is known without another one. */
static bool fill_heap(struct nve_pages_granule *g, uint64_t base, const struct snapshot *s)
{
	uint64_t heap_end = (uint64_t)syscall(SYS_brk, 0);
	uint64_t start = NVE_MAX(s->heap_start, base);
	uint64_t end = NVE_MIN(heap_end / NVE_PAGE_BYTES * NVE_PAGE_BYTES, base + GRANULE_BYTES);

	if (!s->heap_start || start >= end)
		return false;
	fill_part(g, base, start, end);
	return true;
}

static bool fill(struct nve_pages_granule *g, uint64_t base, uint32_t epoch)
{
	struct snapshot *s = &state.copy[epoch & 1];
	bool any = false;

	atomic_fetch_add(&s->readers, 1);
	if (atomic_load(&state.epoch) !=
	    epoch) { /* renewed meanwhile: this copy may be rewritten */
		atomic_fetch_sub(&s->readers, 1);
		return false;
	}
	memset(g->resident, 0, sizeof(g->resident));
	for (uint32_t i = find_range(s, base); i < s->count; i++) {
		uint64_t start = NVE_MAX(s->range[i].start, base);
		uint64_t end = NVE_MIN(s->range[i].end, base + GRANULE_BYTES);

		if (start >= base + GRANULE_BYTES)
			break;
		fill_part(g, base, start, end);
		any = true;
	}
	any |= fill_heap(g, base, s);
	atomic_fetch_sub(&s->readers, 1);
	return any;
}

static bool bit(const struct nve_pages_granule *g, uint64_t addr)
{
	size_t page = addr / NVE_PAGE_BYTES % NVE_PAGES_PER_GRANULE;

	return g->resident[page / 64] >> page % 64 & 1;
}

bool nve_pages_readable(struct nve_pages *pages, uint64_t addr, uint64_t now_tsc)
{
	uint64_t id = addr / GRANULE_BYTES + 1;
	struct nve_pages_granule *g = &pages->granule[id % NVE_PAGES_GRANULES];
	uint32_t epoch = atomic_load(&state.epoch);

	if (nve_likely(g->id == id && now_tsc - g->filled_tsc < pages->ttl_ticks && bit(g, addr)))
		return true;
	if (g->id == id && g->epoch == epoch && now_tsc - g->filled_tsc < pages->ttl_ticks / 16)
		goto absent;
	g->id = id;
	g->epoch = epoch;
	g->filled_tsc = now_tsc;
	if (epoch == 0 || !fill(g, addr / GRANULE_BYTES * GRANULE_BYTES, epoch)) {
		g->id = 0;
		goto absent;
	}
	if (bit(g, addr))
		return true;
absent:
	atomic_store_explicit(&state.wanted, true, memory_order_relaxed);
	return false;
}

void nve_pages_forget(struct nve_pages *pages, uint64_t addr)
{
	struct nve_pages_granule *g =
		&pages->granule[(addr / GRANULE_BYTES + 1) % NVE_PAGES_GRANULES];

	g->id = 0;
	atomic_store_explicit(&state.wanted, true, memory_order_relaxed);
}
