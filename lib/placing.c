#include "placing.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/mempolicy.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "count/ahead/ahead.h"
#include "counters.h"
#include "emu/thread.h"
#include "heap/alloc.h"
#include "heap/heap.h"

enum {
	FILE_MAX_BYTES = 16 << 20,
	RANGES = 1 << 17,
	MODULES = 1024,
	SITES = 1 << 18, /* whose tier is kept */
	NONE = UINT32_MAX,
};

/* Code of a source line that the file names. */
struct range {
	uint32_t next; /* of the same frame */
	uint32_t module;
	uint64_t start, end; /* as in the module's file */
};

static struct {
	bool on, wants_source;
	struct nve_guidance guidance;
	struct nve_tiers_process process;
	const char *module[MODULES];
	char program[NVE_FILE_PATH_BYTES];
	uint32_t modules, modules_with_lines, module_lines; /* the last: found in this one */
	struct range *range;
	uint32_t ranges;
	uint32_t first_range[NVE_GUIDANCE_FRAMES], frame_ranges[NVE_GUIDANCE_FRAMES];
	/* by site: 0 not known yet, else 1 more than the tier */
	_Atomic uint8_t tier[SITES];
	_Atomic uint64_t line_sites[NVE_GUIDANCE_LINES], line_ambiguous[NVE_GUIDANCE_LINES];
	_Atomic uint32_t line_other[NVE_GUIDANCE_LINES];
	_Atomic uint64_t sites, marked;
	int bind; /* node, or NVE_BIND_OFF */
	_Atomic uint64_t bound_bytes, bind_failures;
	struct nve_placed_line shown[NVE_GUIDANCE_LINES];
} state;

/* The thread is in nvmemu_malloc(). */
static __thread bool marking;

static const enum nve_guidance_kind kinds[NVE_HEAP_KINDS] = {
	[NVE_HEAP_BLOCK] = NVE_GUIDANCE_HEAP,    [NVE_HEAP_LOOSE] = NVE_GUIDANCE_HEAP,
	[NVE_HEAP_MAPPED] = NVE_GUIDANCE_MMAP,   [NVE_HEAP_STACK] = NVE_GUIDANCE_STACK,
	[NVE_HEAP_DATA] = NVE_GUIDANCE_DATA,     [NVE_HEAP_BREAK] = NVE_GUIDANCE_ANONYMOUS,
	[NVE_HEAP_OTHER] = NVE_GUIDANCE_DEFAULT,
};

static void *map(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

/* The whole file; kept, since the guidance points into it. */
static int read_file(const char *path, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode))
		rc = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	else if (st.st_size > FILE_MAX_BYTES)
		rc = -EFBIG;
	close(fd);
	if (rc)
		return rc;
	*text = map((size_t)st.st_size + 2);
	return *text ? nve_file_read(path, *text, (size_t)st.st_size + 2, length) : -ENOMEM;
}

static int parse(const char *path, struct nve_options_message *error)
{
	struct nve_guidance_error wrong;
	size_t length = 0;
	char *text = NULL;
	int rc = read_file(path, &text, &length);

	if (rc) {
		nve_format(error->text, sizeof(error->text),
			   "NVM_PLACE: %.200s: %s; accepted: all, or a guidance file", path,
			   strerror(-rc));
		return -EINVAL;
	}
	rc = nve_guidance_parse(&state.guidance, text, length, &wrong);
	if (rc)
		nve_format(error->text, sizeof(error->text), "NVM_PLACE: %.100s:%u: %s", path,
			   wrong.line, wrong.text);
	return rc ? -EINVAL : 0;
}

static bool is_wanted_file(void *ctx, const char *file)
{
	(void)ctx;
	for (uint32_t i = 0; i < state.guidance.frame_count; i++) {
		const struct nve_guidance_frame *f = &state.guidance.frame[i];

		if (f->is_source && nve_guidance_names(f->name, f->name_length, file))
			return true;
	}
	return false;
}

static void add_range(uint32_t frame, uint64_t start, uint64_t end)
{
	struct range *r = &state.range[state.ranges];

	if (state.ranges == RANGES)
		return;
	*r = (struct range){state.first_range[frame], state.modules, start, end};
	state.first_range[frame] = state.ranges++;
	state.frame_ranges[frame]++;
	state.module_lines++;
}

static void take_line(void *ctx, const char *file, uint64_t line, uint64_t start, uint64_t end)
{
	(void)ctx;
	for (uint32_t i = 0; i < state.guidance.frame_count; i++) {
		const struct nve_guidance_frame *f = &state.guidance.frame[i];

		if (f->is_source && f->number == line &&
		    nve_guidance_names(f->name, f->name_length, file))
			add_range(i, start, end);
	}
}

static int look_into(struct dl_phdr_info *info, size_t size, void *dw)
{
	const struct nve_source_world world = {dw, take_line, is_wanted_file, NULL};
	const char *path = info->dlpi_name;

	(void)size;
	if (state.modules == MODULES)
		return 1;
	if (!path[0])
		path = state.program;
	/* the kernel's own has no file */
	if (path[0] != '/')
		return 0;
	state.module[state.modules] = path;
	state.module_lines = 0;
	nve_source_lines(&world, path);
	state.modules_with_lines += state.module_lines != 0;
	state.modules++;
	return 0;
}

/* The line of the file's first frame that is a source line; 0: there is none. */
static uint32_t first_source_line(void)
{
	const struct nve_guidance *g = &state.guidance;

	for (uint32_t i = 0; i < g->line_count; i++) {
		for (uint32_t k = 0; k < g->line[i].count; k++) {
			if (g->frame[g->line[i].first + k].is_source)
				return g->line[i].number;
		}
	}
	return 0;
}

static int find_source_lines(const char *path, const struct nve_dw *(*load_dw)(void),
			     struct nve_options_message *error)
{
	uint32_t line = first_source_line();
	const struct nve_dw *dw;
	ssize_t length;

	state.wants_source = line != 0;
	if (!line)
		return 0;
	dw = load_dw ? load_dw() : NULL;
	if (!dw) {
		nve_format(error->text, sizeof(error->text),
			   "NVM_PLACE: %.200s:%u: source lines need the library libdw.so.1 (of "
			   "elfutils), which is not to be had here; name MODULE!0xOFFSET instead",
			   path, line);
		return -EINVAL;
	}
	length = readlink("/proc/self/exe", state.program, sizeof(state.program) - 1);
	state.program[length > 0 ? length : 0] = '\0';
	memset(state.first_range, 0xff, sizeof(state.first_range));
	state.range = map(RANGES * sizeof(*state.range));
	if (state.range)
		dl_iterate_phdr(look_into, (void *)dw);
	if (!state.ranges)
		nve_log(NVE_LOG_WARN,
			"NVM_PLACE: %s: no source line of it is in the debug information of the "
			"program or its libraries",
			path);
	return 0;
}

bool nve_placing_on(void)
{
	return state.on;
}

/* The call itself stands just before the address that it returns to. */
static bool covers(void *ctx, uint32_t frame, const struct nve_guidance_at *at)
{
	uint64_t call = at->offset - 1;

	(void)ctx;
	if (!state.range)
		return false;
	for (uint32_t i = state.first_range[frame]; i != NONE; i = state.range[i].next) {
		const struct range *r = &state.range[i];

		if (call >= r->start && call < r->end &&
		    !strcmp(state.module[r->module], at->module))
			return true;
	}
	return false;
}

static struct nve_guidance_match match(const struct nve_heap_site *site)
{
	struct nve_guidance_at at[NVE_HEAP_DEPTH_MAX];
	struct nve_guidance_site path = {.at = at, .covers = covers};
	struct nve_heap_module module;

	path.count = NVE_MIN(site->frames, (uint32_t)NVE_HEAP_DEPTH_MAX);
	for (size_t i = 0; i < path.count; i++) {
		bool known = nve_heap_module(site->frame[i].module, &module) == 0;

		at[i] = (struct nve_guidance_at){known ? module.path : "", site->frame[i].offset};
	}
	return nve_guidance_match(&state.guidance, &path);
}

static void count(struct nve_guidance_match m)
{
	if (m.line < 0) {
		atomic_fetch_add(&state.sites, 1);
		return;
	}
	atomic_fetch_add(&state.line_sites[m.line], 1);
	if (m.other < 0)
		return;
	atomic_fetch_add(&state.line_ambiguous[m.line], 1);
	atomic_store(&state.line_other[m.line], state.guidance.line[m.other].number);
}

static enum nve_tier decide(unsigned kind, uint32_t id, struct nve_guidance_match *m)
{
	enum nve_guidance_kind of = kind < NVE_HEAP_KINDS ? kinds[kind] : NVE_GUIDANCE_DEFAULT;
	struct nve_heap_site site;

	*m = (struct nve_guidance_match){-1, -1};
	/* The frame of a module's data is the module. */
	if (kind != NVE_HEAP_DATA && id != NVE_HEAP_SITE_NONE && !nve_heap_site(id, &site)) {
		*m = match(&site);
		if (kind == NVE_HEAP_MAPPED && !site.maps_files)
			of = NVE_GUIDANCE_ANONYMOUS;
	}
	return m->line < 0 ? state.guidance.tier[of] : state.guidance.line[m->line].tier;
}

/* Of a site, or of memory without one. Signal-safe. */
static enum nve_tier tier_of(unsigned kind, uint32_t site)
{
	uint8_t kept = site < SITES ? atomic_load(&state.tier[site]) : 0, unknown = 0;
	struct nve_guidance_match m;
	enum nve_tier tier;

	if (kept && site != NVE_HEAP_SITE_NONE)
		return (enum nve_tier)(kept - 1);
	tier = decide(kind, site, &m);
	if (site != NVE_HEAP_SITE_NONE && site < SITES &&
	    atomic_compare_exchange_strong(&state.tier[site], &unknown, (uint8_t)(tier + 1)))
		count(m);
	return tier;
}

static bool binds(void)
{
	return state.bind != NVE_BIND_OFF;
}

/* Memory there may be taken from the node alone. 0 or -errno. */
static int bind_to_node(void *start, uint64_t bytes)
{
	unsigned long nodes[NVE_NODES_MAX / (8 * sizeof(unsigned long))] = {0};
	unsigned bits = 8 * sizeof(nodes[0]);

	nodes[(unsigned)state.bind / bits] = 1ul << (unsigned)state.bind % bits;
	return syscall(SYS_mbind, start, bytes, MPOL_BIND, nodes, NVE_NODES_MAX + 1, 0) ? -errno
											: 0;
}

/* Sites with a line of their own have an arena of their own. In the middle of an allocation. */
static void meet(uint32_t id)
{
	struct nve_guidance_match m;
	struct nve_heap_site site;
	uint8_t unknown = 0;
	enum nve_tier tier;

	if (nve_heap_site(id, &site) || id >= SITES || site.kind != NVE_HEAP_BLOCK)
		return;
	tier = decide(site.kind, id, &m);
	if (marking) {
		tier = NVE_TIER_NVM;
		m.line = -1;
	}
	if (!atomic_compare_exchange_strong(&state.tier[id], &unknown, (uint8_t)(tier + 1)))
		return;
	if (marking)
		atomic_fetch_add(&state.marked, 1);
	else
		count(m);
	if (marking || m.line >= 0)
		nve_heap_own_arena(id);
}

/* What is on NVM in an arena: its site's blocks, or those of all sites without a line. */
static bool arena_is_on_nvm(uint32_t id)
{
	struct nve_heap_arena arena;
	uint8_t kept;

	if (nve_heap_arena(id, &arena) || arena.kind != NVE_HEAP_ARENA_SITE)
		return state.guidance.tier[NVE_GUIDANCE_HEAP] == NVE_TIER_NVM;
	kept = arena.site < SITES ? atomic_load(&state.tier[arena.site]) : 0;
	return kept == NVE_TIER_NVM + 1;
}

static void bind_arena(uint32_t arena, void *start, uint64_t bytes)
{
	int rc;

	if (!binds() || !arena_is_on_nvm(arena))
		return;
	rc = bind_to_node(start, bytes);
	if (!rc)
		atomic_fetch_add(&state.bound_bytes, bytes);
	else if (!atomic_fetch_add(&state.bind_failures, 1))
		nve_log(NVE_LOG_WARN, "NVM_BIND: memory is not bound to node %d: %s", state.bind,
			strerror(-rc));
}

void nve_placing_tell_bound(char *why, size_t size)
{
	nve_format(why, size, "NVM_BIND: what is on NVM is bound to node %d instead", state.bind);
}

/* Tried on a page of ours: what node there is, and whether we may. */
static int check_node(struct nve_options_message *error)
{
	void *page = map(NVE_PAGE_BYTES);
	int rc = page ? bind_to_node(page, NVE_PAGE_BYTES) : -ENOMEM;

	if (page)
		munmap(page, NVE_PAGE_BYTES);
	if (!rc)
		return 0;
	nve_format(
		error->text, sizeof(error->text),
		"NVM_BIND: memory cannot be bound to node %d: %s; accepted: off, or the number of "
		"a node with memory, as in /sys/devices/system/node/has_memory",
		state.bind,
		rc == -EINVAL ? "there is no such node, or it has no memory" : strerror(-rc));
	return -EINVAL;
}

static const struct nve_heap_placer placer = {.met = meet, .grown = bind_arena};

int nve_placing_load(const struct nve_options *options, const struct nve_dw *(*load_dw)(void),
		     struct nve_options_message *error)
{
	int rc;

	state.bind = options->bind;
	if (options->placing != NVE_PLACE_FILE || (!nve_options_emulate(options) && !binds()))
		return 0;
	rc = parse(options->place, error);
	if (!rc)
		rc = find_source_lines(options->place, load_dw, error);
	if (!rc && binds())
		rc = check_node(error);
	if (rc)
		return rc;
	nve_heap_set_placer(&placer);
	state.on = true;
	return 0;
}

void *nve_placing_malloc(size_t size, const struct nve_caller *caller)
{
	void *p;

	marking = true;
	p = nve_alloc_called(size, caller);
	marking = false;
	return p;
}

static enum nve_tier tier_at(uint64_t addr)
{
	struct nve_heap_place place;

	nve_heap_find(addr, &place);
	return tier_of(place.kind, place.site);
}

static void wait_for(uint64_t addr, double accesses, double dirty)
{
	struct nve_thread *t = nve_thread_self;

	if (t)
		nve_tiers_add(&t->tiers, accesses, dirty, tier_at(addr));
}

static bool is_on_nvm(uint64_t addr)
{
	return tier_at(addr) == NVE_TIER_NVM;
}

static void end_window(double stall_share)
{
	if (nve_thread_self)
		nve_tiers_end_window(&nve_thread_self->tiers, &state.process, stall_share);
}

const struct nve_tiers_process *nve_placing_process(void)
{
	return state.on ? &state.process : NULL;
}

enum nve_tier nve_placing_default(void)
{
	return state.guidance.tier[NVE_GUIDANCE_DEFAULT];
}

void nve_placing_begin(void)
{
	static const struct nve_waits_sink sink = {wait_for, end_window};

	if (!state.on)
		return;
	nve_counters_set_waits_sink(&sink);
	nve_ahead_count_traffic_of(is_on_nvm);
}

static void fill_line(struct nve_placement_snapshot *s, uint32_t i)
{
	const struct nve_guidance_line *line = &state.guidance.line[i];
	struct nve_placed_line *out = &state.shown[i];

	*out = (struct nve_placed_line){
		.number = line->number,
		.text = line->text,
		.text_length = line->text_length,
		.dram = line->tier == NVE_TIER_DRAM,
		.sites = atomic_load(&state.line_sites[i]),
		.ambiguous = atomic_load(&state.line_ambiguous[i]),
		.other = atomic_load(&state.line_other[i]),
	};
	for (uint32_t k = line->first; k < line->first + line->count; k++) {
		out->has_source |= state.guidance.frame[k].is_source;
		out->ranges += state.frame_ranges[k];
	}
	s->unmatched += !out->sites;
	s->ambiguous += out->ambiguous;
}

void nve_placing_fill(struct nve_placement_snapshot *s, const struct nve_options *options)
{
	_Static_assert((int)NVE_PLACED_MEMORY == NVE_GUIDANCE_KINDS, "a row for each kind");

	*s = (struct nve_placement_snapshot){.on = state.on, .file = options->place, .bind = -1};
	if (!state.on)
		return;
	for (int i = 0; i < NVE_GUIDANCE_KINDS; i++) {
		s->memory[i].name = nve_guidance_kind_name((enum nve_guidance_kind)i);
		s->memory[i].dram = state.guidance.tier[i] == NVE_TIER_DRAM;
		s->memory[i].line = state.guidance.given[i];
	}
	/* A site that was never missed may be named all the same. */
	for (uint32_t id = 1; id < nve_heap_site_count(); id++) {
		struct nve_heap_site site;

		if (!nve_heap_site(id, &site))
			tier_of(site.kind, id);
	}
	for (uint32_t i = 0; i < state.guidance.line_count; i++)
		fill_line(s, i);
	s->sites = atomic_load(&state.sites);
	s->marked = atomic_load(&state.marked);
	s->bind = state.bind;
	s->bound_bytes = atomic_load(&state.bound_bytes);
	s->bind_failures = atomic_load(&state.bind_failures);
	s->source_lines = state.wants_source;
	s->modules = state.modules;
	s->modules_with_lines = state.modules_with_lines;
	s->line = state.shown;
	s->line_count = state.guidance.line_count;
}
