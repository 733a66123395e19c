#include "count/ahead/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/base.h"
#include "base/clock.h"

#define GRANULE_BYTES ((uint64_t)NVE_PAGES_PER_GRANULE * NVE_PAGE_BYTES)

/* Programs with more mappings than this lose the rest to "unknown"; neighbours are merged first. */
enum { RANGES_MAX = 16384, REFRESH_NS = 50000000, ASK_PAGES = 16 };

/* So many times as long as it took pass until the next snapshot: half a per cent of one core. */
enum { REFRESH_REST = 200, WAIT_READERS = 10000 };

struct range {
	uint64_t start, end;
	enum nve_pages_kind kind;
};

struct snapshot {
	_Atomic uint32_t readers;
	uint32_t count;
	uint64_t heap_start; /* 0: none */
	bool swapped;        /* something is swapped out, perhaps of ours */
	struct range vvar;   /* the kernel's clock pages, which clock_gettime reads */
	struct range *range; /* sorted, RANGES_MAX long */
};

static struct {
	struct snapshot copy[2];
	_Atomic uint32_t epoch; /* the copy in force is epoch & 1; 0: none yet */
	_Atomic bool wanted;
	_Atomic bool refreshing;
	uint64_t next_ns; /* not before; by who is refreshing */
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

enum nve_pages_kind nve_pages_parse(const char *line, uint64_t *start, uint64_t *end)
{
	const char *p = parse_hex(line, start);

	if (!p || *p != '-')
		return NVE_PAGES_NOT;
	p = parse_hex(p + 1, end);
	if (!p || *p != ' ' || p[1] != 'r')
		return NVE_PAGES_NOT;
	p = skip_field(p + 1);                  /* permissions */
	for (int field = 0; field < 3; field++) /* offset, device, inode */
		p = skip_field(p);
	if (!name_is_memory(p))
		return NVE_PAGES_NOT;
	return *p == '\0' || *p == '[' ? NVE_PAGES_ANONYMOUS : NVE_PAGES_FILE;
}

static void add_range(struct snapshot *s, struct range r)
{
	struct range *last = s->count ? &s->range[s->count - 1] : NULL;

	if (last && last->end == r.start && last->kind == r.kind)
		last->end = r.end;
	else if (s->count < RANGES_MAX)
		s->range[s->count++] = r;
}

/* Ordinary memory, whatever its flags say, but mincore() knows nothing of it. */
static void add_vvar(struct snapshot *s, uint64_t start, uint64_t end)
{
	if (s->vvar.end != start)
		s->vvar.start = start;
	s->vvar.end = end;
}

/* Parses the complete lines in buf; returns how many bytes of an incomplete one are left. */
static size_t parse_lines(struct snapshot *s, char *buf, size_t have)
{
	char *line = buf;
	struct range r = {0};

	for (;;) {
		char *newline = memchr(line, '\n', have - (size_t)(line - buf));

		if (!newline)
			break;
		*newline = '\0';
		r.kind = nve_pages_parse(line, &r.start, &r.end);
		if (r.end > r.start)
			add_range(s, r);
		if (strstr(line, "[heap]"))
			s->heap_start = r.start;
		else if (strstr(line, "[vvar"))
			add_vvar(s, r.start, r.end);
		line = newline + 1;
	}
	have -= (size_t)(line - buf);
	memmove(buf, line, have);
	return have;
}

static bool something_is_swapped(void)
{
	struct sysinfo info;

	return sysinfo(&info) || info.freeswap != info.totalswap;
}

static int read_maps(struct snapshot *s)
{
	static char buf[16384]; /* only the one refreshing thread is here */
	size_t have = 0;
	/* Raw calls: libc's are cancellation points. The main thread may have left the process. */
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	s->count = 0;
	s->heap_start = 0;
	s->vvar = (struct range){0};
	s->swapped = something_is_swapped();
	for (;;) {
		ssize_t n = syscall(SYS_read, fd, buf + have, sizeof(buf) - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have = parse_lines(s, buf, have + (size_t)n);
		if (have == sizeof(buf))
			have = 0; /* a line longer than any path: not one of ours to read */
	}
	syscall(SYS_close, fd);
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

/* A handler may still search the older copy, which takes it under a microsecond while it has a core
 * to run on. */
static int wait_for_readers(const struct snapshot *s)
{
	for (int i = 0; atomic_load(&s->readers); i++) {
		if (i == WAIT_READERS)
			return -EBUSY;
	}
	return 0;
}

static int take_snapshot(uint64_t start_ns)
{
	uint32_t next = atomic_load(&state.epoch) + 1;
	struct snapshot *s = &state.copy[next & 1];
	int rc = snapshot_memory(s);

	if (!rc)
		rc = wait_for_readers(s);
	if (rc)
		return rc;
	atomic_store(&state.wanted, false);
	rc = read_maps(s);
	if (!rc)
		atomic_store(&state.epoch, next);
	state.next_ns =
		start_ns + NVE_MAX((uint64_t)REFRESH_NS,
				   (nve_clock_ns(CLOCK_MONOTONIC) - start_ns) * REFRESH_REST);
	return rc;
}

int nve_pages_refresh(void)
{
	uint64_t now_ns;
	int rc = 0;

	if (atomic_exchange(&state.refreshing, true))
		return 0;
	now_ns = nve_clock_ns(CLOCK_MONOTONIC);
	if (now_ns >= state.next_ns)
		rc = take_snapshot(now_ns);
	atomic_store(&state.refreshing, false);
	return rc;
}

bool nve_pages_known(void)
{
	return atomic_load(&state.epoch) != 0;
}

void nve_pages_want(void)
{
	atomic_store_explicit(&state.wanted, true, memory_order_relaxed);
}

bool nve_pages_wanted(void)
{
	return atomic_load_explicit(&state.wanted, memory_order_relaxed);
}

void nve_pages_after_fork(void)
{
	atomic_store(&state.refreshing, false);
	state.next_ns = 0;
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

static void set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= 1ull << i % 64;
}

static void fill_part(struct nve_pages_granule *g, uint64_t base, const struct range *r,
		      bool swapped)
{
	unsigned char vec[NVE_PAGES_PER_GRANULE];
	uint64_t start = NVE_MAX(r->start, base), end = NVE_MIN(r->end, base + GRANULE_BYTES);
	size_t first = (start - base) / NVE_PAGE_BYTES, n = (end - start) / NVE_PAGE_BYTES;

	for (uint64_t a = start; a < end; a += NVE_PAGE_BYTES)
		set(g->known, (a - base) / NVE_PAGE_BYTES);
	/* A raw call: libc's wrapper would set errno, and may be the program's own. */
	if (start >= end || r->kind == NVE_PAGES_NOT ||
	    syscall(SYS_mincore, start, end - start, vec) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (vec[i] & 1)
			set(g->resident, first + i);
		else if (r->kind == NVE_PAGES_ANONYMOUS && !swapped)
			set(g->fresh, first + i);
	}
}

/* The heap may have grown since the snapshot; how far is known without another one. */
static void fill_heap(struct nve_pages_granule *g, uint64_t base, const struct snapshot *s)
{
	uint64_t heap_end = (uint64_t)syscall(SYS_brk, 0);
	struct range heap = {s->heap_start, heap_end / NVE_PAGE_BYTES * NVE_PAGE_BYTES,
			     NVE_PAGES_ANONYMOUS};

	if (s->heap_start)
		fill_part(g, base, &heap, s->swapped);
}

static void fill_vvar(struct nve_pages_granule *g, uint64_t base, const struct snapshot *s)
{
	for (uint64_t a = s->vvar.start; a < s->vvar.end; a += NVE_PAGE_BYTES)
		if (a - base < GRANULE_BYTES)
			set(g->resident, (a - base) / NVE_PAGE_BYTES);
}

/* False when the snapshot is being renewed at this moment. */
static bool fill(struct nve_pages_granule *g, uint64_t base, uint32_t epoch)
{
	struct snapshot *s = &state.copy[epoch & 1];

	atomic_fetch_add(&s->readers, 1);
	if (atomic_load(&state.epoch) != epoch) {
		atomic_fetch_sub(&s->readers, 1);
		return false;
	}
	memset(g->resident, 0, sizeof(g->resident));
	memset(g->fresh, 0, sizeof(g->fresh));
	memset(g->known, 0, sizeof(g->known));
	for (uint32_t i = find_range(s, base); i < s->count; i++) {
		if (s->range[i].start >= base + GRANULE_BYTES)
			break;
		fill_part(g, base, &s->range[i], s->swapped);
	}
	fill_heap(g, base, s);
	fill_vvar(g, base, s);
	atomic_fetch_sub(&s->readers, 1);
	return true;
}

static bool is_set(const uint64_t *bits, uint64_t addr)
{
	size_t page = addr / NVE_PAGE_BYTES % NVE_PAGES_PER_GRANULE;

	return bits[page / 64] >> page % 64 & 1;
}

/*
 * Mapped since the snapshot: the kernel says for single pages where they lie. A node number:
 * ordinary memory, present. -ENOENT: mapped, not present. -EFAULT: no mapping, or a device's. Where
 * the call is not to be had (a filter), nothing is learned.
 */
static void ask_kernel(struct nve_pages_granule *g, uint64_t addr)
{
	uint64_t block = addr / (ASK_PAGES * NVE_PAGE_BYTES) * (ASK_PAGES * NVE_PAGE_BYTES);
	size_t first = block / NVE_PAGE_BYTES % NVE_PAGES_PER_GRANULE;
	void *page[ASK_PAGES];
	int status[ASK_PAGES];

	for (size_t i = 0; i < ASK_PAGES; i++)
		page[i] = (void *)(uintptr_t)(block + i * NVE_PAGE_BYTES);
	if (syscall(SYS_move_pages, 0, (unsigned long)ASK_PAGES, page, NULL, status, 0) != 0)
		return;
	for (size_t i = 0; i < ASK_PAGES; i++) {
		if (is_set(g->known, block + i * NVE_PAGE_BYTES))
			continue;
		set(g->known, first + i);
		if (status[i] >= 0)
			set(g->resident, first + i);
		else if (status[i] == -ENOENT)
			set(g->fresh, first + i);
	}
}

static enum nve_page look_up(const struct nve_pages_granule *g, uint64_t addr)
{
	if (is_set(g->resident, addr))
		return NVE_PAGE_RESIDENT;
	return is_set(g->fresh, addr) ? NVE_PAGE_FRESH : NVE_PAGE_ABSENT;
}

/* Pages become resident all the time: another answer than "resident" is good for a short while. */
static bool is_current(const struct nve_pages *pages, const struct nve_pages_granule *g,
		       uint64_t addr, uint64_t now_tsc)
{
	uint64_t age = now_tsc - g->filled_tsc;

	return age < pages->ttl_ticks &&
	       (is_set(g->resident, addr) || age < pages->ttl_ticks / 1024);
}

enum nve_page nve_pages_at(struct nve_pages *pages, uint64_t addr, uint64_t now_tsc)
{
	uint64_t id = addr / GRANULE_BYTES + 1;
	struct nve_pages_granule *g = &pages->granule[id % NVE_PAGES_GRANULES];
	uint32_t epoch = atomic_load(&state.epoch);
	enum nve_page page;

	if (g->id != id || !is_current(pages, g, addr, now_tsc)) {
		g->id = 0;
		if (epoch == 0 || !fill(g, addr / GRANULE_BYTES * GRANULE_BYTES, epoch))
			goto absent;
		g->id = id;
		g->filled_tsc = now_tsc;
	}
	if (!is_set(g->known, addr))
		ask_kernel(g, addr);
	page = look_up(g, addr);
	if (page != NVE_PAGE_ABSENT)
		return page;
absent:
	nve_pages_want();
	return NVE_PAGE_ABSENT;
}

void nve_pages_forget(struct nve_pages *pages, uint64_t addr)
{
	struct nve_pages_granule *g =
		&pages->granule[(addr / GRANULE_BYTES + 1) % NVE_PAGES_GRANULES];

	g->id = 0;
	nve_pages_want();
}
