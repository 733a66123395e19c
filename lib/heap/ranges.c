#include "heap/ranges.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "heap/pool.h"

int nve_ranges_setup(struct nve_ranges *r)
{
	r->range = nve_pool_map(NVE_RANGES_MAX * sizeof(r->range[0]));
	return r->range ? 0 : -ENOMEM;
}

/* The first range that ends behind addr. */
static uint32_t search(const struct nve_ranges *r, uint64_t addr)
{
	uint32_t low = 0, high = NVE_MIN(atomic_load(&r->count), (uint32_t)NVE_RANGES_MAX);

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (r->range[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* As it was at that count of changes. */
static int copy(const struct nve_ranges *r, uint32_t changes, uint32_t i, struct nve_range *found)
{
	if (i >= atomic_load(&r->count))
		return -ENOENT;
	*found = r->range[i];
	atomic_thread_fence(memory_order_acquire);
	return atomic_load(&r->changes) == changes ? 0 : -ENOENT;
}

int nve_ranges_find(const struct nve_ranges *r, uint64_t addr, struct nve_range *found)
{
	uint32_t changes = atomic_load(&r->changes);

	if (!r->range || changes & 1 || copy(r, changes, search(r, addr), found))
		return -ENOENT;
	return addr - found->start < found->end - found->start ? 0 : -ENOENT;
}

int nve_ranges_at(const struct nve_ranges *r, uint32_t i, struct nve_range *found)
{
	uint32_t changes = atomic_load(&r->changes);

	return r->range && !(changes & 1) ? copy(r, changes, i, found) : -ENOENT;
}

static void begin_change(struct nve_ranges *r)
{
	nve_lock_take(&r->lock);
	atomic_fetch_add(&r->changes, 1);
}

static void end_change(struct nve_ranges *r)
{
	atomic_fetch_add(&r->changes, 1);
	nve_lock_release(&r->lock);
}

static int insert(struct nve_ranges *r, uint32_t at, const struct nve_range *range)
{
	uint32_t count = r->count;

	if (count == NVE_RANGES_MAX)
		return -ENOSPC;
	memmove(r->range + at + 1, r->range + at, (count - at) * sizeof(*range));
	r->range[at] = *range;
	r->count = count + 1;
	return 0;
}

static void erase(struct nve_ranges *r, uint32_t at)
{
	r->count--;
	memmove(r->range + at, r->range + at + 1, (r->count - at) * sizeof(r->range[0]));
}

/* Range at loses what lies between. Returns where the next one is that may. */
static uint32_t cut_one(struct nve_ranges *r, uint32_t at, uint64_t start, uint64_t end)
{
	struct nve_range *range = &r->range[at], rest = *range;

	rest.start = end;
	if (range->start < start) {
		range->end = NVE_MIN(range->end, start);
		if (rest.end > end)
			insert(r, at + 1, &rest);
		return at + 1;
	}
	if (range->end > end)
		range->start = end;
	else
		erase(r, at);
	return at;
}

static void cut(struct nve_ranges *r, uint64_t start, uint64_t end,
		void (*taken)(const struct nve_range *piece))
{
	uint32_t at = search(r, start);

	while (at < r->count && r->range[at].start < end) {
		struct nve_range piece = r->range[at];

		piece.start = NVE_MAX(piece.start, start);
		piece.end = NVE_MIN(piece.end, end);
		if (taken)
			taken(&piece);
		at = cut_one(r, at, start, end);
	}
}

void nve_ranges_cut(struct nve_ranges *r, uint64_t start, uint64_t end,
		    void (*taken)(const struct nve_range *piece))
{
	begin_change(r);
	cut(r, start, end, taken);
	end_change(r);
}

int nve_ranges_put(struct nve_ranges *r, const struct nve_range *range)
{
	int rc;

	begin_change(r);
	cut(r, range->start, range->end, NULL);
	rc = insert(r, search(r, range->start), range);
	end_change(r);
	return rc;
}

void nve_ranges_begin(struct nve_ranges *r)
{
	begin_change(r);
	r->count = 0;
}

void nve_ranges_append(struct nve_ranges *r, const struct nve_range *range)
{
	insert(r, r->count, range);
}

void nve_ranges_end(struct nve_ranges *r)
{
	end_change(r);
}

static const char *read_hex(const char *text, uint64_t *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;

	for (*value = 0; *text && (digit = strchr(digits, *text)); text++)
		*value = *value << 4 | (uint64_t)(digit - digits);
	return text;
}

/* Behind so many fields, each with the blanks after it. */
static const char *skip_fields(const char *text, int fields)
{
	for (; fields; fields--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	return text;
}

bool nve_ranges_parse(const char *line, struct nve_range *range, const char **path)
{
	const char *at = read_hex(line, &range->start);

	if (at == line || *at != '-')
		return false;
	at = read_hex(at + 1, &range->end);
	if (*at != ' ' || range->end <= range->start)
		return false;
	*path = skip_fields(at + 1, 4);
	range->site = NVE_HEAP_SITE_NONE;
	range->kind = NVE_HEAP_OTHER;
	if (**path == '/')
		range->kind = NVE_HEAP_DATA;
	else if (!strcmp(*path, "[heap]"))
		range->kind = NVE_HEAP_BREAK;
	else if (!strcmp(*path, "[stack]"))
		range->kind = NVE_HEAP_STACK;
	return true;
}
