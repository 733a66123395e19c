/* nvmemu heat: names of call paths. */
#include <ctype.h>
#include <string.h>

#include "base/base.h"
#include "heat.h"

enum { LABEL_FRAMES = 2 };

const char *heat_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t heat_stack(struct symbols *symbols, const struct nve_view_site *site,
		  struct heat_frame frames[HEAT_STACK_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < site->frame_count; i++) {
		const struct nve_view_frame *f = &site->frames[i];
		size_t count;
		const struct symbol *s =
			symbols_find(symbols, f->module, f->build_id, f->offset, &count);

		for (size_t k = 0; k < count && n < HEAT_STACK_MOST; k++)
			frames[n++] = (struct heat_frame){.module = f->module,
							  .offset = f->offset,
							  .symbol = s[k],
							  .inlined = k + 1 < count};
	}
	return n;
}

void heat_frame_text(const struct heat_frame *f, char text[HEAT_TEXT_BYTES])
{
	const struct symbol *s = &f->symbol;
	const char *module = f->module[0] ? heat_base_name(f->module) : "?";

	if (s->function && s->file)
		snprintf(text, HEAT_TEXT_BYTES, "%.300s (%.100s:%d)", s->function,
			 heat_base_name(s->file), s->line);
	else if (s->function)
		snprintf(text, HEAT_TEXT_BYTES, "%.300s (%.100s)", s->function, module);
	else if (f->offset)
		snprintf(text, HEAT_TEXT_BYTES, "%.300s!0x%llx", module,
			 (unsigned long long)f->offset);
	else
		snprintf(text, HEAT_TEXT_BYTES, "%.300s", module);
}

static bool contains(const char *text, const char *word)
{
	for (; *text; text++)
		if (!strncasecmp(text, word, strlen(word)))
			return true;
	return false;
}

/* Functions that allocate for others: they say nothing of what for. */
static bool is_allocator(const struct heat_frame *f)
{
	const char *name = f->symbol.function;

	return name && (contains(name, "alloc") || contains(name, "operator new") ||
			contains(name, "strdup") || !strncmp(name, "std::", 5) ||
			!strncmp(name, "__gnu_cxx::", 11));
}

static void append(char text[HEAT_TEXT_BYTES], const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, HEAT_TEXT_BYTES - length, "%s", more);
}

void heat_site_text(struct symbols *symbols, const struct nve_view_site *site,
		    char text[HEAT_TEXT_BYTES])
{
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t n = heat_stack(symbols, site, frames), first = 0;
	char one[HEAT_TEXT_BYTES];

	text[0] = '\0';
	if (strcmp(site->kind, "heap"))
		snprintf(text, HEAT_TEXT_BYTES, "[%.100s]%s", site->kind, n ? " " : "");
	else if (!n)
		append(text, site->hash ? "[no call path]" : "[no site]");
	while (first < n && is_allocator(&frames[first]))
		first++;
	if (first == n)
		first = 0;
	for (size_t i = first; i < n && i < first + LABEL_FRAMES; i++) {
		heat_frame_text(&frames[i], one);
		append(text, i > first ? " < " : "");
		append(text, one);
	}
}
