#include "heap/sites.h"

#include <errno.h>
#include <string.h>

#include "heap/lock.h"
#include "heap/modules.h"
#include "heap/pool.h"

enum {
	CHUNKS = NVE_SITES_MAX / NVE_SITES_CHUNK,
	INDEX_BITS = NVE_BLOCKS_SITE_BITS + 1,
	RAW_BITS = 16,
	RAW_ID_BITS = NVE_BLOCKS_SITE_BITS,
	PINS = 256,
};

static struct {
	struct nve_lock lock;
	struct nve_pool pool;
	struct nve_sites_entry *_Atomic chunk[CHUNKS];
	_Atomic uint32_t count;
	uint32_t *index;       /* site numbers by hash, open addressing */
	_Atomic uint64_t *raw; /* by raw addresses: rest of the hash and site number */
	_Atomic uint32_t generation;
	_Atomic uint32_t by_kind[NVE_HEAP_KINDS];
	uint64_t pin[PINS];
	uint32_t pins;
} state;

static uint64_t mix(uint64_t h, uint64_t value)
{
	h = (h ^ value) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

int nve_sites_setup(const char *program)
{
	int rc = nve_modules_setup(program);

	state.index = nve_pool_map(sizeof(state.index[0]) << INDEX_BITS);
	state.raw = nve_pool_map(sizeof(state.raw[0]) << RAW_BITS);
	state.count = 1;
	return rc ? rc : state.index && state.raw ? 0 : -ENOMEM;
}

struct nve_sites_entry *nve_sites_entry(uint32_t id)
{
	struct nve_sites_entry *chunk;

	if (id == NVE_HEAP_SITE_NONE || id >= atomic_load(&state.count))
		return NULL;
	chunk = atomic_load(&state.chunk[id / NVE_SITES_CHUNK]);
	return chunk + id % NVE_SITES_CHUNK;
}

uint64_t nve_sites_hash_start(enum nve_heap_kind kind)
{
	return mix(0x6e766d656d75ull, kind);
}

uint64_t nve_sites_hash_frame(uint64_t hash, const struct nve_heap_module *module, uint64_t offset)
{
	const char *slash = strrchr(module->path, '/'), *name = slash ? slash + 1 : module->path;

	for (uint32_t i = 0; i < module->build_id_bytes; i++)
		hash = mix(hash, module->build_id[i]);
	for (; !module->build_id_bytes && *name; name++)
		hash = mix(hash, (unsigned char)*name);
	return mix(hash, offset);
}

static bool same_site(const struct nve_sites_entry *e, const struct nve_sites_entry *wanted)
{
	return e->hash == wanted->hash && e->kind == wanted->kind && e->frames == wanted->frames &&
	       (!e->frames || !memcmp(e->frame, wanted->frame, e->frames * sizeof(*e->frame)));
}

/* Where the site stands in the index, or would. */
static uint32_t *find_slot(const struct nve_sites_entry *wanted)
{
	uint32_t mask = (1u << INDEX_BITS) - 1, i = (uint32_t)wanted->hash & mask;

	while (state.index[i] && !same_site(nve_sites_entry(state.index[i]), wanted))
		i = (i + 1) & mask;
	return &state.index[i];
}

static struct nve_sites_entry *new_entry(uint32_t id)
{
	struct nve_sites_entry *chunk = state.chunk[id / NVE_SITES_CHUNK];

	if (!chunk) {
		chunk = nve_pool_map(NVE_SITES_CHUNK * sizeof(*chunk));
		atomic_store(&state.chunk[id / NVE_SITES_CHUNK], chunk);
	}
	return chunk ? chunk + id % NVE_SITES_CHUNK : NULL;
}

static bool is_pinned(uint64_t hash)
{
	uint32_t i = 0;

	while (i < state.pins && state.pin[i] != hash)
		i++;
	return i < state.pins;
}

int nve_sites_pin(uint64_t hash)
{
	if (state.pins == PINS)
		return -ENOSPC;
	state.pin[state.pins++] = hash;
	return 0;
}

static uint32_t add(const struct nve_sites_entry *wanted)
{
	size_t size = wanted->frames * sizeof(*wanted->frame);
	struct nve_sites_entry *e;
	struct nve_heap_frame *frame = NULL;
	uint32_t id = state.count;

	if (id == NVE_SITES_MAX)
		return NVE_HEAP_SITE_NONE;
	e = new_entry(id);
	if (e && size)
		frame = nve_pool_take(&state.pool, size);
	if (!e || (size && !frame))
		return NVE_HEAP_SITE_NONE;
	if (size)
		memcpy(frame, wanted->frame, size);
	e->kind = wanted->kind;
	e->pinned = wanted->kind == NVE_HEAP_BLOCK && is_pinned(wanted->hash);
	e->hash = wanted->hash;
	e->frames = wanted->frames;
	e->frame = frame;
	atomic_store(&state.count, id + 1);
	return id;
}

static void (*on_new)(uint32_t site);

void nve_sites_on_new(void (*met)(uint32_t site))
{
	on_new = met;
}

static uint32_t find_or_add(struct nve_sites_entry *wanted)
{
	bool fresh;
	uint32_t *slot, id;

	if (!wanted->hash)
		wanted->hash = 1;
	nve_lock_take(&state.lock);
	slot = find_slot(wanted);
	fresh = !*slot;
	if (fresh)
		*slot = add(wanted);
	id = *slot;
	nve_lock_release(&state.lock);
	if (fresh && id && on_new)
		on_new(id);
	return id;
}

static uint32_t resolve(enum nve_heap_kind kind, const uint64_t *address, uint32_t count)
{
	struct nve_heap_frame frame[NVE_HEAP_DEPTH_MAX];
	struct nve_sites_entry wanted = {.kind = kind, .frames = count, .frame = frame};
	struct nve_heap_module module;

	wanted.hash = nve_sites_hash_start(kind);
	for (uint32_t i = 0; i < count; i++) {
		frame[i] = (struct nve_heap_frame){0};
		frame[i].module = nve_modules_at(address[i], &frame[i].offset);
		nve_heap_module(frame[i].module, &module);
		wanted.hash = nve_sites_hash_frame(wanted.hash, &module, frame[i].offset);
	}
	return find_or_add(&wanted);
}

uint32_t nve_sites_of_path(enum nve_heap_kind kind, const uint64_t *address, uint32_t count)
{
	uint64_t hash = mix(kind, atomic_load(&state.generation)), kept;
	_Atomic uint64_t *raw;
	uint32_t id;

	for (uint32_t i = 0; i < count; i++)
		hash = mix(hash, address[i]);
	hash = mix(hash, count);
	raw = &state.raw[hash >> (64 - RAW_BITS)];
	kept = atomic_load(raw);
	id = (uint32_t)(kept & (NVE_SITES_MAX - 1));
	if (id && kept >> RAW_ID_BITS == (hash << RAW_BITS >> (RAW_BITS + 2)))
		return id;
	id = resolve(kind, address, count);
	if (id)
		atomic_store(raw, (hash << RAW_BITS >> (RAW_BITS + 2)) << RAW_ID_BITS | id);
	return id;
}

uint32_t nve_sites_of_kind(enum nve_heap_kind kind)
{
	struct nve_sites_entry wanted = {.kind = kind, .hash = nve_sites_hash_start(kind)};

	if (!state.by_kind[kind])
		state.by_kind[kind] = find_or_add(&wanted);
	return state.by_kind[kind];
}

uint32_t nve_sites_known(enum nve_heap_kind kind)
{
	return state.by_kind[kind];
}

uint32_t nve_sites_of_module(const char *path)
{
	struct nve_heap_frame frame = {.module = nve_modules_named(path)};
	struct nve_heap_module module = {.path = path};
	struct nve_sites_entry wanted = {.kind = NVE_HEAP_DATA, .frames = 1, .frame = &frame};

	wanted.hash = nve_sites_hash_frame(nve_sites_hash_start(NVE_HEAP_DATA), &module, 0);
	return find_or_add(&wanted);
}

void nve_sites_modules_changed(void)
{
	nve_modules_changed();
	atomic_fetch_add(&state.generation, 1);
}

uint32_t nve_sites_generation(void)
{
	return atomic_load_explicit(&state.generation, memory_order_relaxed);
}

void nve_sites_before_fork(void)
{
	nve_modules_before_fork();
	nve_lock_take(&state.lock);
}

void nve_sites_after_fork(void)
{
	nve_lock_release(&state.lock);
	nve_modules_after_fork();
}

uint32_t nve_heap_site_count(void)
{
	return atomic_load(&state.count);
}

int nve_heap_site(uint32_t id, struct nve_heap_site *site)
{
	const struct nve_sites_entry *e = nve_sites_entry(id);

	if (!e)
		return -ENOENT;
	*site = (struct nve_heap_site){
		.kind = e->kind,
		.hash = e->hash,
		.maps_files = atomic_load(&e->maps_files),
		.arena = atomic_load(&e->arena),
		.frames = e->frames,
		.frame = e->frame,
	};
	return 0;
}

void nve_heap_own_arena(uint32_t site)
{
	struct nve_sites_entry *e = nve_sites_entry(site);

	if (e)
		e->pinned = true;
}
