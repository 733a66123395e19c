#include "emu/guidance.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"

enum { QUOTED_BYTES = 80 };

static const char accepted[] = "accepted: FRAME > FRAME ... @ TIER, where a frame is FILE:LINE or "
			       "MODULE!0xOFFSET and the tier nvm or dram; or default, heap, mmap, "
			       "anonymous, stack or data @ TIER";

static const char *const tier_names[] = {[NVE_TIER_NVM] = "nvm", [NVE_TIER_DRAM] = "dram"};

static const char *const kind_names[] = {
	[NVE_GUIDANCE_DEFAULT] = "default", [NVE_GUIDANCE_HEAP] = "heap",
	[NVE_GUIDANCE_MMAP] = "mmap",       [NVE_GUIDANCE_ANONYMOUS] = "anonymous",
	[NVE_GUIDANCE_STACK] = "stack",     [NVE_GUIDANCE_DATA] = "data",
};

/* Whose word holds where a kind has none of its own. */
static const enum nve_guidance_kind follows[] = {
	[NVE_GUIDANCE_ANONYMOUS] = NVE_GUIDANCE_MMAP,
};

/* Where the C and C++ libraries' own frames lie. */
static const char *const runtimes[] = {"libstdc++.so", "libc++.so", "libc++abi.so", "libc.so"};

/* A piece of text, not ended. */
struct piece {
	const char *at;
	size_t length;
};

const char *nve_tier_name(enum nve_tier tier)
{
	return tier_names[tier];
}

const char *nve_guidance_kind_name(enum nve_guidance_kind kind)
{
	return kind_names[kind];
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct piece trim(struct piece p)
{
	while (p.length && is_blank(p.at[0])) {
		p.at++;
		p.length--;
	}
	while (p.length && is_blank(p.at[p.length - 1]))
		p.length--;
	return p;
}

static bool is_word(struct piece p, const char *word)
{
	return p.length == strlen(word) && !memcmp(p.at, word, p.length);
}

/* The part before the last such character, which goes with the rest; false: there is none. */
static bool split_last(struct piece p, char at, struct piece *before, struct piece *after)
{
	const char *found = memrchr(p.at, at, p.length);

	if (!found)
		return false;
	*before = (struct piece){p.at, (size_t)(found - p.at)};
	*after = (struct piece){found + 1, p.length - before->length - 1};
	return true;
}

/* A comment begins a line or stands after a blank: names may have the character. */
static struct piece without_comment(struct piece p)
{
	for (size_t i = 0; i < p.length; i++) {
		if (p.at[i] == '#' && (i == 0 || is_blank(p.at[i - 1])))
			p.length = i;
	}
	return trim(p);
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static bool get_number(struct piece p, unsigned base, uint64_t *number)
{
	uint64_t n = 0;

	if (!p.length || p.length > 16)
		return false;
	for (size_t i = 0; i < p.length; i++) {
		unsigned d = (unsigned)digit(p.at[i]);

		if (d >= base || n > (UINT64_MAX - d) / base)
			return false;
		n = n * base + d;
	}
	*number = n;
	return true;
}

static bool parse_frame(struct piece p, struct nve_guidance_frame *frame)
{
	struct piece name, number;

	frame->is_source = !memchr(p.at, '!', p.length);
	if (!split_last(p, frame->is_source ? ':' : '!', &name, &number))
		return false;
	if (!frame->is_source) {
		if (number.length < 3 || number.at[0] != '0' || number.at[1] != 'x')
			return false;
		number = (struct piece){number.at + 2, number.length - 2};
	}
	name = trim(name);
	frame->name = name.at;
	frame->name_length = (uint32_t)name.length;
	return name.length && get_number(number, frame->is_source ? 10 : 16, &frame->number) &&
	       (!frame->is_source || frame->number);
}

static int complain(struct nve_guidance_error *error, uint32_t line, struct piece p)
{
	char quoted[QUOTED_BYTES];
	size_t length = NVE_MIN(p.length, sizeof(quoted) - 4);

	memcpy(quoted, p.at, length);
	strcpy(quoted + length, length < p.length ? "..." : "");
	error->line = line;
	nve_format(error->text, sizeof(error->text), "'%s'; %s", quoted, accepted);
	return -EINVAL;
}

static int refuse(struct nve_guidance_error *error, uint32_t line, const char *what, uint32_t most)
{
	error->line = line;
	nve_format(error->text, sizeof(error->text), "more than %u %s", most, what);
	return -E2BIG;
}

/* Whether it is the name of a kind. */
static bool find_kind(struct piece p, enum nve_guidance_kind *kind)
{
	for (int i = 0; i < NVE_GUIDANCE_KINDS; i++) {
		if (!is_word(p, kind_names[i]))
			continue;
		*kind = (enum nve_guidance_kind)i;
		return true;
	}
	return false;
}

static int take_kind(struct nve_guidance *g, enum nve_guidance_kind kind, enum nve_tier tier,
		     uint32_t number, struct nve_guidance_error *error)
{
	if (g->given[kind]) {
		error->line = number;
		nve_format(error->text, sizeof(error->text), "'%s' again, after line %u",
			   kind_names[kind], g->given[kind]);
		return -EINVAL;
	}
	g->tier[kind] = tier;
	g->given[kind] = number;
	return 0;
}

static int take_path(struct nve_guidance *g, struct piece path, struct nve_guidance_line *line,
		     struct nve_guidance_error *error)
{
	bool more = true;

	line->first = g->frame_count;
	while (more) {
		const char *end = memchr(path.at, '>', path.length);
		struct piece p = {path.at, end ? (size_t)(end - path.at) : path.length};

		if (line->count == NVE_GUIDANCE_DEPTH)
			return refuse(error, line->number, "frames in a line", NVE_GUIDANCE_DEPTH);
		if (g->frame_count == NVE_GUIDANCE_FRAMES)
			return refuse(error, line->number, "frames in a file", NVE_GUIDANCE_FRAMES);
		if (!parse_frame(trim(p), &g->frame[g->frame_count]))
			return complain(error, line->number, trim(p));
		g->frame_count++;
		line->count++;
		more = end != NULL;
		path = (struct piece){p.at + p.length + more, path.length - p.length - more};
	}
	g->line_count++;
	return 0;
}

static int parse_line(struct nve_guidance *g, struct piece p, uint32_t number,
		      struct nve_guidance_error *error)
{
	struct nve_guidance_line *line = &g->line[g->line_count];
	enum nve_guidance_kind kind;
	enum nve_tier tier = NVE_TIER_NVM;
	struct piece what, where;

	if (!p.length)
		return 0;
	if (!split_last(p, '@', &what, &where))
		return complain(error, number, p);
	what = trim(what);
	where = trim(where);
	if (is_word(where, tier_names[NVE_TIER_DRAM]))
		tier = NVE_TIER_DRAM;
	else if (!is_word(where, tier_names[NVE_TIER_NVM]))
		return complain(error, number, p);
	if (find_kind(what, &kind))
		return take_kind(g, kind, tier, number, error);
	if (g->line_count == NVE_GUIDANCE_LINES)
		return refuse(error, number, "lines with a path", NVE_GUIDANCE_LINES);
	*line = (struct nve_guidance_line){
		.number = number,
		.tier = tier,
		.text = p.at,
		.text_length = (uint32_t)p.length,
	};
	return take_path(g, what, line, error);
}

static void inherit(struct nve_guidance *g)
{
	if (!g->given[NVE_GUIDANCE_DEFAULT])
		g->tier[NVE_GUIDANCE_DEFAULT] = NVE_TIER_DRAM;
	for (int i = NVE_GUIDANCE_DEFAULT + 1; i < NVE_GUIDANCE_KINDS; i++) {
		size_t from = (size_t)i < NVE_ARRAY_SIZE(follows) ? follows[i] : 0;

		if (!g->given[i])
			g->tier[i] = g->tier[from];
	}
}

int nve_guidance_parse(struct nve_guidance *g, const char *text, size_t size,
		       struct nve_guidance_error *error)
{
	uint32_t number = 0;
	int rc = 0;

	g->line_count = g->frame_count = 0;
	memset(g->given, 0, sizeof(g->given));
	while (size && !rc) {
		const char *end = memchr(text, '\n', size);
		struct piece p = {text, end ? (size_t)(end - text) : size};

		rc = parse_line(g, without_comment(p), ++number, error);
		size -= p.length + (end != NULL);
		text += p.length + (end != NULL);
	}
	if (!rc)
		inherit(g);
	return rc;
}

bool nve_guidance_names(const char *name, size_t length, const char *path)
{
	size_t path_length = strlen(path);

	if (path_length < length || memcmp(path + path_length - length, name, length) != 0)
		return false;
	return path_length == length || name[0] == '/' || path[path_length - length - 1] == '/';
}

static bool fits(const struct nve_guidance *g, uint32_t i, const struct nve_guidance_site *site,
		 size_t at)
{
	const struct nve_guidance_frame *f = &g->frame[i];

	if (f->is_source)
		return site->covers && site->covers(site->ctx, i, &site->at[at]);
	return f->number == site->at[at].offset &&
	       nve_guidance_names(f->name, f->name_length, site->at[at].module);
}

static bool same_frame(const struct nve_guidance_frame *a, const struct nve_guidance_frame *b)
{
	return a->is_source == b->is_source && a->number == b->number &&
	       a->name_length == b->name_length && !memcmp(a->name, b->name, a->name_length);
}

/*
 * Does the line fit the site from its frame start on? Bit p of there: the line's frame so far may
 * be the site's frame p. One frame of the site may be several of the line, where functions were
 * inlined.
 */
static bool fits_from(const struct nve_guidance *g, const struct nve_guidance_line *line,
		      const struct nve_guidance_site *site, size_t start)
{
	size_t count = NVE_MIN(site->count, (size_t)NVE_GUIDANCE_DEPTH);
	uint64_t there = 0;

	for (uint32_t j = 0; j < line->count; j++) {
		uint32_t i = line->first + j;
		uint64_t may = UINT64_C(1) << start, next = 0;

		if (j)
			may = there << 1;
		if (j && g->frame[i].is_source && g->frame[i - 1].is_source &&
		    !same_frame(&g->frame[i], &g->frame[i - 1]))
			may |= there;
		for (size_t at = start; at < count; at++) {
			if (may >> at & 1 && fits(g, i, site, at))
				next |= UINT64_C(1) << at;
		}
		there = next;
		if (!there)
			return false;
	}
	return true;
}

static bool is_runtime(const char *module)
{
	const char *slash = strrchr(module, '/'), *file = slash ? slash + 1 : module;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(runtimes); i++) {
		if (!strncmp(file, runtimes[i], strlen(runtimes[i])))
			return true;
	}
	return false;
}

struct nve_guidance_match nve_guidance_match(const struct nve_guidance *g,
					     const struct nve_guidance_site *site)
{
	struct nve_guidance_match m = {-1, -1};
	size_t start = 0;
	uint32_t best = 0;

	while (start < site->count && start < NVE_GUIDANCE_DEPTH &&
	       is_runtime(site->at[start].module))
		start++;
	for (uint32_t i = 0; site->count && i < g->line_count; i++) {
		const struct nve_guidance_line *line = &g->line[i];
		bool fit = line->count >= best && fits_from(g, line, site, 0);

		if (!fit && line->count >= best && start && start < site->count)
			fit = fits_from(g, line, site, start);
		if (!fit)
			continue;
		if (line->count > best)
			m = (struct nve_guidance_match){(int)i, -1};
		else if (m.other < 0 && line->tier != g->line[m.line].tier)
			m.other = (int)i;
		best = line->count;
	}
	return m;
}
