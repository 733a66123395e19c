#include "guidance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Characters that mean something to the reader of such a file. */
static bool can_be_named(const char *path)
{
	return !strpbrk(path, "@#\n") && path[0];
}

/* An entry that takes no room is as dense as can be. */
static double density(const struct guidance_entry *e)
{
	return e->stall_ns / (e->bytes ? (double)e->bytes : 0.5);
}

static int by_density(const void *a, const void *b)
{
	const struct guidance_entry *x = a, *y = b;
	double dx = density(x), dy = density(y);

	if (dx != dy)
		return dx < dy ? 1 : -1;
	return strcmp(x->path, y->path);
}

uint64_t guidance_pack(struct guidance_entry *entries, size_t count, uint64_t capacity)
{
	uint64_t used = 0;

	qsort(entries, count, sizeof(*entries), by_density);
	for (size_t i = 0; i < count; i++) {
		struct guidance_entry *e = &entries[i];

		e->dram = e->stall_ns > 0 && e->bytes != GUIDANCE_UNKNOWN &&
			  e->bytes <= capacity - used && can_be_named(e->path);
		if (e->dram)
			used += e->bytes;
	}
	return used;
}

static double sum(const struct guidance_entry *entries, size_t count, bool dram_only)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += dram_only && !entries[i].dram ? 0 : entries[i].stall_ns;
	return ns;
}

static void write_entry(FILE *out, const struct guidance_entry *e, double all_ns)
{
	fprintf(out, "%s%s @ %s  # %.2f %% of the stall time, ",
		can_be_named(e->path) ? "" : "# cannot be named: ", e->path,
		e->dram ? "dram" : "nvm", 100 * e->stall_ns / all_ns);
	if (e->bytes == GUIDANCE_UNKNOWN)
		fputs("nobody knows how large", out);
	else
		fprintf(out, "%llu KiB", (unsigned long long)((e->bytes + 1023) >> 10));
	fprintf(out, "%s%s\n", e->comment ? "; " : "", e->comment ? e->comment : "");
}

int guidance_write(FILE *out, const struct guidance_entry *entries, size_t count, uint64_t capacity)
{
	double all_ns = sum(entries, count, false);
	uint64_t used = 0;

	for (size_t i = 0; i < count; i++)
		used += entries[i].dram ? entries[i].bytes : 0;
	fprintf(out,
		"# For NVM_PLACE. DRAM of %llu KiB, of which %llu KiB are taken at the sites' "
		"peaks,\n"
		"# by %.1f %% of the stall time that has a place.\n"
		"default @ nvm\n",
		(unsigned long long)(capacity >> 10), (unsigned long long)(used >> 10),
		all_ns > 0 ? 100 * sum(entries, count, true) / all_ns : 0.0);
	for (size_t i = 0; i < count; i++) {
		if (entries[i].stall_ns > 0)
			write_entry(out, &entries[i], all_ns);
	}
	return ferror(out) ? -EIO : 0;
}
