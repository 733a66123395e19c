/* nvmemu heat --guidance: the sites of a report as entries of a guidance file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "guidance.h"
#include "heat.h"

struct entries {
	struct guidance_entry *list;
	size_t count, frames;
};

/* A frame as a line of the file can have it? */
static bool is_named(const struct nve_view_frame *f)
{
	const char *name = heat_base_name(f->module);

	return f->offset && name[0] && name[0] != ' ' && strcmp(name, "?") &&
	       !strpbrk(name, "@#>\t\r\n");
}

/* The innermost frames that can be named; "": the first one cannot. Those further out may then be
 * any. */
static void print_path(FILE *out, const struct nve_view_site *site, size_t *frames)
{
	for (size_t i = 0; i < site->frame_count && i < GUIDANCE_DEPTH; i++) {
		const struct nve_view_frame *f = &site->frames[i];

		if (!is_named(f))
			return;
		fprintf(out, "%s%s!0x%llx", i ? " > " : "", heat_base_name(f->module),
			(unsigned long long)f->offset);
		++*frames;
	}
}

/* Memory that a line names by its kind; NULL: only the default does, or a path. */
static const char *kind_of(const struct nve_view_site *site)
{
	static const struct {
		const char *report, *line;
	} kinds[] = {
		{"stack", "stack"},
		{"data", "data"},
		{"break", "anonymous"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(site->kind, kinds[i].report))
			return kinds[i].line;
	return NULL;
}

/* NULL: no memory. */
static char *make_path(const struct nve_view_site *site, size_t *frames)
{
	const char *kind = kind_of(site);
	char *path = NULL;
	size_t size;
	FILE *out;

	if (kind)
		return strdup(kind);
	out = open_memstream(&path, &size);
	if (!out)
		return NULL;
	print_path(out, site, frames);
	if (!fclose(out))
		return path;
	free(path);
	return NULL;
}

/* For the end of a line. NULL: no memory. */
static char *make_comment(struct symbols *symbols, const struct nve_view_site *site)
{
	char text[HEAT_TEXT_BYTES];

	heat_site_text(symbols, site, text);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	return strdup(text);
}

/* Heap and mappings have call paths; stacks, data and the break are named by kind; nothing but the
 * default speaks of the rest. */
static bool has_line(const struct nve_view_site *site)
{
	return site->heat.stall_ns &&
	       (kind_of(site) || !strcmp(site->kind, "heap") || !strcmp(site->kind, "mapped"));
}

static int add(struct entries *e, struct symbols *symbols, const struct nve_view_site *site)
{
	struct guidance_entry *entry = &e->list[e->count];
	char *path = make_path(site, &e->frames), *comment = make_comment(symbols, site);

	if (!path || !comment) {
		free(path);
		free(comment);
		return -ENOMEM;
	}
	*entry = (struct guidance_entry){
		.path = path,
		.comment = comment,
		.stall_ns = (double)site->heat.stall_ns,
		.bytes = site->counted ? site->peak_bytes : GUIDANCE_UNKNOWN,
	};
	e->count++;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	const struct guidance_entry *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	if (order)
		return order;
	return (x->stall_ns < y->stall_ns) - (x->stall_ns > y->stall_ns);
}

static void drop(struct guidance_entry *e)
{
	free((char *)(uintptr_t)e->path);
	free((char *)(uintptr_t)e->comment);
}

/* Sites that one line names are one entry, as data of several modules is. What no line can name
 * stays apart. */
static void join(struct entries *e)
{
	size_t n = 0;

	qsort(e->list, e->count, sizeof(*e->list), by_path);
	for (size_t i = 1; i < e->count; i++) {
		struct guidance_entry *to = &e->list[n], *from = &e->list[i];

		if (!to->path[0] || strcmp(to->path, from->path)) {
			e->list[++n] = *from;
			continue;
		}
		to->stall_ns += from->stall_ns;
		to->bytes = to->bytes == GUIDANCE_UNKNOWN || from->bytes == GUIDANCE_UNKNOWN
				    ? GUIDANCE_UNKNOWN
				    : to->bytes + from->bytes;
		drop(from);
	}
	e->count = e->count ? n + 1 : 0;
}

/* As many as the library reads; sites come with the hottest first. */
static int gather(const struct heat_source *source, struct entries *e)
{
	const struct nve_heat_view *h = &source->heat;
	int err = 0;

	*e = (struct entries){.list = calloc(h->site_count + 1, sizeof(*e->list))};
	if (!e->list)
		return -ENOMEM;
	for (size_t i = 0; !err && i < h->site_count && e->count < GUIDANCE_LINES; i++) {
		if (e->frames > GUIDANCE_FRAMES - GUIDANCE_DEPTH)
			break;
		if (has_line(&h->sites[i]))
			err = add(e, source->symbols, &h->sites[i]);
	}
	join(e);
	return err;
}

int heat_write_guidance(FILE *out, const struct heat_source *source, uint64_t capacity)
{
	struct entries e;
	int err = gather(source, &e);

	if (!err && !e.count)
		err = -ENODATA;
	if (!err) {
		guidance_pack(e.list, e.count, capacity);
		err = guidance_write(out, e.list, e.count, capacity);
	}
	for (size_t i = 0; i < e.count; i++)
		drop(&e.list[i]);
	free(e.list);
	return err;
}
