#include "heap/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "heap/caller.h"
#include "heap/shard.h"
#include "heap/sites.h"

enum { LINE_BYTES = 4608, PIECE_BYTES = 4096 };

static struct {
	struct nve_mapped_next next;
	uint64_t library_start, library_end;
	struct nve_ranges by_program, snapshot;
	_Atomic bool refreshing;
} state;

int nve_mapped_setup(const struct nve_mapped_next *next, uint64_t library_start,
		     uint64_t library_end)
{
	int rc = nve_ranges_setup(&state.by_program);

	state.next = *next;
	state.library_start = library_start;
	state.library_end = library_end;
	if (!rc)
		rc = nve_ranges_setup(&state.snapshot);
	if (!rc)
		nve_heap_refresh();
	return rc;
}

static bool is_own(struct nve_caller caller)
{
	return caller.address - state.library_start < state.library_end - state.library_start;
}

static uint64_t pages_of(uint64_t bytes)
{
	return (bytes + NVE_PAGE_BYTES - 1) & ~(uint64_t)(NVE_PAGE_BYTES - 1);
}

static void count_cut(const struct nve_range *piece)
{
	struct nve_sites_entry *e = nve_sites_entry(piece->site);

	if (e)
		atomic_fetch_sub(&e->live_bytes, (int64_t)(piece->end - piece->start));
}

static void count_put(struct nve_shard *s, uint32_t site, uint64_t bytes)
{
	struct nve_shard_counts *c = nve_shard_counts(s, site);
	struct nve_sites_entry *e = nve_sites_entry(site);
	int64_t live, peak;

	c->allocations++;
	c->bytes += bytes;
	c->published_bytes += (int64_t)bytes;
	if (!e)
		return;
	live = atomic_fetch_add(&e->live_bytes, (int64_t)bytes) + (int64_t)bytes;
	peak = atomic_load(&e->peak_bytes);
	while (peak < live && !atomic_compare_exchange_weak(&e->peak_bytes, &peak, live))
		;
}

/* of_file: what is mapped is one; else it is not known, or is anonymous. */
static void put(void *addr, size_t size, bool of_file, struct nve_caller caller)
{
	struct nve_range range = {.start = (uint64_t)(uintptr_t)addr, .kind = NVE_HEAP_MAPPED};
	int error = errno;
	struct nve_shard *s = nve_shard_take();

	/* A handler that has interrupted one of us here must not wait for its locks. */
	if (!s)
		return;
	range.end = range.start + pages_of(size);
	nve_ranges_cut(&state.by_program, range.start, range.end, count_cut);
	range.site = nve_caller_mapped(s, caller);
	if (of_file && nve_sites_entry(range.site))
		atomic_store(&nve_sites_entry(range.site)->maps_files, true);
	if (!nve_ranges_put(&state.by_program, &range))
		count_put(s, range.site, range.end - range.start);
	s->busy = false;
	errno = error;
}

void *nve_mapped_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	struct nve_caller caller = NVE_CALLER();
	void *mapped = state.next.mmap(addr, size, prot, flags, fd, offset);

	if (mapped != MAP_FAILED && !is_own(caller))
		put(mapped, size, !(flags & MAP_ANONYMOUS), caller);
	return mapped;
}

/* Taken out before somebody else may have mapped the same addresses. */
static void take_out(void *addr, size_t size)
{
	uint64_t start = (uint64_t)(uintptr_t)addr;
	struct nve_range found;
	struct nve_shard *s;

	if (start % NVE_PAGE_BYTES || start + pages_of(size) < start)
		return;
	s = nve_shard_take();
	if (!s)
		return;
	if (!nve_ranges_find(&state.by_program, start, &found))
		nve_shard_counts(s, found.site)->frees++;
	nve_ranges_cut(&state.by_program, start, start + pages_of(size), count_cut);
	s->busy = false;
}

int nve_mapped_munmap(void *addr, size_t size)
{
	take_out(addr, size);
	return state.next.munmap(addr, size);
}

void *nve_mapped_mremap(void *addr, size_t old_size, size_t size, int flags, void *wanted)
{
	struct nve_caller caller = NVE_CALLER();
	void *mapped = state.next.mremap(addr, old_size, size, flags, wanted);

	if (mapped == MAP_FAILED || is_own(caller))
		return mapped;
	if (mapped != addr || size < old_size)
		take_out(addr, old_size);
	put(mapped, size, false, caller);
	return mapped;
}

int nve_mapped_find(uint64_t addr, struct nve_range *found)
{
	if (!nve_ranges_find(&state.by_program, addr, found))
		return 0;
	if (nve_shard_is_stack(addr, &found->start, &found->end)) {
		found->kind = NVE_HEAP_STACK;
		found->site = nve_sites_known(NVE_HEAP_STACK);
		return 0;
	}
	return nve_ranges_find(&state.snapshot, addr, found);
}

static bool has_pages_of_its_own(const struct nve_range *range)
{
	return range->kind == NVE_HEAP_MAPPED || range->kind == NVE_HEAP_DATA ||
	       range->kind == NVE_HEAP_BREAK;
}

void nve_mapped_each(void (*visit)(const struct nve_range *range, void *arg), void *arg)
{
	const struct nve_ranges *lists[] = {&state.by_program, &state.snapshot};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(lists); i++) {
		struct nve_range range;

		for (uint32_t at = 0; !nve_ranges_at(lists[i], at, &range); at++)
			if (has_pages_of_its_own(&range))
				visit(&range, arg);
	}
}

/* ---- the snapshot ---- */

/* What follows a module's data without a name is its zeroed data. */
static void append(const char *line, struct nve_range *last)
{
	struct nve_range range;
	const char *path;

	if (!nve_ranges_parse(line, &range, &path))
		return;
	if (range.kind == NVE_HEAP_DATA) {
		range.site = nve_sites_of_module(path);
	} else if (!*path && last->kind == NVE_HEAP_DATA && last->end == range.start) {
		range.kind = NVE_HEAP_DATA;
		range.site = last->site;
	} else {
		range.site = nve_sites_of_kind(range.kind);
	}
	nve_ranges_append(&state.snapshot, &range);
	*last = range;
}

/* The kernel gives lines of at most a path more than the fields. */
static void append_all(int fd)
{
	struct nve_range last = {.kind = NVE_HEAP_NOWHERE};
	char text[LINE_BYTES + PIECE_BYTES + 1], *line, *end;
	size_t kept = 0;
	ssize_t got;

	while (kept < LINE_BYTES && (got = read(fd, text + kept, PIECE_BYTES)) > 0) {
		text[kept + (size_t)got] = '\0';
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			append(line, &last);
		}
		kept = strlen(line);
		memmove(text, line, kept);
	}
}

int nve_heap_refresh(void)
{
	int fd, rc = 0, error = errno;

	if (atomic_exchange(&state.refreshing, true))
		return -EBUSY;
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		rc = -errno;
	} else {
		nve_ranges_begin(&state.snapshot);
		append_all(fd);
		nve_ranges_end(&state.snapshot);
		close(fd);
	}
	atomic_store(&state.refreshing, false);
	errno = error;
	return rc;
}

void nve_mapped_before_fork(void)
{
	nve_lock_take(&state.by_program.lock);
}

void nve_mapped_after_fork(void)
{
	nve_lock_release(&state.by_program.lock);
	/* a thread that the child does not have may have been at it */
	if (state.snapshot.changes & 1)
		state.snapshot.changes++;
	nve_lock_release(&state.snapshot.lock);
	atomic_store(&state.refreshing, false);
}
