#include "count/ahead/reach.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

enum {
	INSTRUCTIONS = 64,
	NEAR_LINES = 16, /* apart: still one stream, whatever the distance was before */
	EVEN_LEAST = 4,  /* distances in a row */
	/* Further on: beyond prefetchers, which some KiB ahead of where the program is. */
	PROBE_NEAREST = 512,
	PROBE_SPREAD = 512,
	PROBES = 4,
	SIDE_BY_SIDE = 1280, /* lines: 16 pages, and some */
};

/* The lines that one instruction touches first, by reading or by writing them: it may do both, a
 * string move, in two places. */
struct walk {
	uint64_t ip, last;
	bool writes;
	int64_t distance;
	uint32_t even, lines; /* distances that were even; in all */
	double read, written, missed_read, missed_written;
};

struct walks {
	uint32_t count;
	struct walk walk[INSTRUCTIONS];
};

static struct walk *find(struct walks *w, uint64_t ip, bool writes)
{
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->walk[i].ip == ip && w->walk[i].writes == writes)
			return &w->walk[i];
	}
	if (w->count == INSTRUCTIONS)
		return NULL;
	memset(&w->walk[w->count], 0, sizeof(w->walk[0]));
	w->walk[w->count].ip = ip;
	w->walk[w->count].writes = writes;
	return &w->walk[w->count++];
}

static void add(struct walk *walk, const struct nve_line *line, bool counts)
{
	int64_t distance = (int64_t)(line->id - walk->last);

	if (walk->lines++ > 0)
		walk->even += distance == walk->distance ||
			      (distance >= -NEAR_LINES && distance <= NEAR_LINES);
	walk->distance = distance;
	walk->last = line->id;
	if (!counts)
		return;
	walk->read += !line->unfetched;
	walk->written += line->written;
	if (!line->missed)
		return;
	walk->missed_read += !line->unfetched;
	walk->missed_written += line->written;
}

static bool is_stream(const struct walk *w)
{
	return w->even >= EVEN_LEAST && 2 * w->even > w->lines;
}

/* Streams may go side by side, a few pages apart, as memcpy's do: ahead of one is what another has
 * fetched. The foremost of them. */
static uint64_t foremost(const struct walks *walks, const struct walk *w)
{
	int64_t sign = w->distance < 0 ? -1 : 1, most = 0;

	for (uint32_t i = 0; i < walks->count; i++) {
		const struct walk *other = &walks->walk[i];
		int64_t ahead = sign * (int64_t)(other->last - w->last);

		if (is_stream(other) && ahead > most && ahead < SIDE_BY_SIDE)
			most = ahead;
	}
	return w->last + (uint64_t)(sign * most);
}

uint64_t nve_reach_ahead(const struct nve_stream_head *head, uint64_t addr, uint64_t random)
{
	int64_t more = (int64_t)(random % PROBE_SPREAD);

	return addr / NVE_LINE_BYTES + (uint64_t)(head->beyond + (head->beyond < 0 ? -more : more));
}

static void probe_walk(const struct walks *walks, const struct walk *w,
		       const struct nve_reach_world *world, uint64_t random,
		       struct nve_stream_lines *out)
{
	int64_t ahead = w->distance < 0 ? -PROBE_NEAREST : PROBE_NEAREST;
	struct nve_stream_head head = {w->ip, (int64_t)(foremost(walks, w) - w->last) + ahead,
				       w->writes};
	enum nve_reach_line line =
		world->probe(world->ctx, nve_reach_ahead(&head, w->last * NVE_LINE_BYTES, random));

	out->probes += line != NVE_REACH_UNKNOWN;
	out->probes_missed += line == NVE_REACH_MISSED;
	out->head[out->heads++] = head;
}

/* Streams take turns: of a few each is probed more than once, since one line says little. */
static void probe_streams(const struct walks *w, const struct nve_reach_world *world,
			  struct nve_stream_lines *out)
{
	uint64_t random = world->random;
	uint32_t left = PROBES;

	for (uint32_t i = 0; i < w->count * PROBES && left; i++) {
		const struct walk *walk = &w->walk[(random + i) % w->count];

		if (!is_stream(walk) || walk->read + walk->written <= 0)
			continue;
		random = random * 6364136223846793005u + 1442695040888963407u;
		probe_walk(w, walk, world, random >> 33, out);
		left--;
	}
}

void nve_reach_count(const struct nve_lines *lines, uint32_t first_step, uint32_t last_step,
		     const struct nve_reach_world *world, struct nve_stream_lines *out)
{
	struct walks walks = {.count = 0};

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < lines->count; i++) {
		const struct nve_line *line = &lines->line[i];
		struct walk *walk;
		bool counts;

		if (line->first_step < first_step || line->first_step >= last_step)
			continue;
		counts = !world->counts || world->counts(line->id * NVE_LINE_BYTES);
		/* Past the caches: no prefetcher, no doubt. */
		if (line->streaming) {
			out->written += counts;
			continue;
		}
		walk = find(&walks, line->first_ip,
			    line->written && line->written_step == line->first_step);
		if (walk)
			add(walk, line, counts);
	}
	for (uint32_t i = 0; i < walks.count; i++) {
		const struct walk *w = &walks.walk[i];
		bool stream = is_stream(w);

		out->stream_read += stream ? w->read : 0;
		out->stream_written += stream ? w->written : 0;
		out->read += stream ? 0 : w->missed_read;
		out->written += stream ? 0 : w->missed_written;
	}
	if (walks.count)
		probe_streams(&walks, world, out);
}
