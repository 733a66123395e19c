/*
 * Guidance files (NVM_PLACE): which memory is on the emulated NVM and which on DRAM. A file names
 * allocation sites by their call paths, and what is no site by its kind:
 *
 *     default @ dram                        # what no other line names
 *     stack @ dram                          # or heap, mmap, anonymous, data
 *     a.c:12 > b.c:40 @ nvm                 # a.c:12 calls malloc(), b.c:40 the function around it
 *     app!0x1234 > libfoo.so!0x56a0 @ nvm   # return addresses, as reports show them
 *
 * A path names its innermost frames; those further out may be any. The longest path that fits a
 * site decides. Frames of inlined functions may be named or left out. Frames of the C and C++
 * libraries' own, at the inner end of a site, may be left out, too.
 *
 * Pure: text and call paths in memory; which source line an address belongs to is asked of the
 * caller. No malloc.
 */
#ifndef NVE_EMU_GUIDANCE_H
#define NVE_EMU_GUIDANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nve_tier { NVE_TIER_NVM, NVE_TIER_DRAM };

/* Of memory that no path names. anonymous is the part of mmap that maps no file. */
enum nve_guidance_kind {
	NVE_GUIDANCE_DEFAULT,
	NVE_GUIDANCE_HEAP,
	NVE_GUIDANCE_MMAP,
	NVE_GUIDANCE_ANONYMOUS,
	NVE_GUIDANCE_STACK,
	NVE_GUIDANCE_DATA,
	NVE_GUIDANCE_KINDS,
};

enum {
	NVE_GUIDANCE_LINES = 4096,
	NVE_GUIDANCE_FRAMES = 16384, /* of all lines */
	NVE_GUIDANCE_DEPTH = 64,     /* frames of a line, and of a site */
};

struct nve_guidance_frame {
	const char *name; /* of a source file or a module; a path, or its last part; not ended */
	uint32_t name_length;
	bool is_source;
	uint64_t number; /* line in the source file; offset in the module */
};

struct nve_guidance_line {
	uint32_t number; /* in the file, from 1 */
	uint32_t first, count;
	enum nve_tier tier;
	const char *text; /* as written, without comment; not ended */
	uint32_t text_length;
};

/* Points into the text that it was made of. */
struct nve_guidance {
	enum nve_tier tier[NVE_GUIDANCE_KINDS];
	uint32_t given[NVE_GUIDANCE_KINDS]; /* number of the line that says so; 0: follows */
	uint32_t line_count, frame_count;
	struct nve_guidance_line line[NVE_GUIDANCE_LINES];
	struct nve_guidance_frame frame[NVE_GUIDANCE_FRAMES];
};

struct nve_guidance_error {
	uint32_t line;
	char text[400]; /* what is wrong, and the accepted form */
};

/* 0, -EINVAL or -E2BIG with *error. What no line says of a kind, the default says; without a
 * default, DRAM. */
int nve_guidance_parse(struct nve_guidance *g, const char *text, size_t size,
		       struct nve_guidance_error *error);

const char *nve_tier_name(enum nve_tier tier);
const char *nve_guidance_kind_name(enum nve_guidance_kind kind);

/* Does name, a path or the last parts of one, name the file at path? */
bool nve_guidance_names(const char *name, size_t length, const char *path);

/* A frame of a site. */
struct nve_guidance_at {
	const char *module; /* path */
	uint64_t offset;    /* of the return address, from where the module's file begins */
};

struct nve_guidance_site {
	const struct nve_guidance_at *at; /* innermost first */
	size_t count;
	/* Does the source line that frame (an index into g->frame) names cover this address? NULL:
	 * nothing is known of source lines. */
	bool (*covers)(void *ctx, uint32_t frame, const struct nve_guidance_at *at);
	void *ctx;
};

struct nve_guidance_match {
	int line;  /* index into g->line; -1: none */
	int other; /* of another that fits as well and says otherwise; -1: none. The first counts */
};

struct nve_guidance_match nve_guidance_match(const struct nve_guidance *g,
					     const struct nve_guidance_site *site);

#endif
