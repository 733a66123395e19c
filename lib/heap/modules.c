#include "heap/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "base/base.h"
#include "heap/lock.h"
#include "heap/pool.h"

struct entry {
	struct nve_heap_module public;
	uint64_t start, end; /* in memory; 0: not there now, or not known */
	uint64_t base;       /* what the file's addresses are added to */
};

static struct {
	struct nve_lock lock;
	struct nve_pool pool;
	const char *program;
	struct entry *entries;
	_Atomic uint32_t count;
} state;

int nve_modules_setup(const char *program)
{
	size_t size = strlen(program) + 1;
	char *name = nve_pool_take(&state.pool, size);

	state.entries = nve_pool_map(NVE_MODULES_MAX * sizeof(state.entries[0]));
	if (!state.entries || !name)
		return -ENOMEM;
	state.program = memcpy(name, program, size);
	state.entries[NVE_MODULES_NONE].public.path = "";
	state.count = NVE_MODULES_NONE + 1;
	return 0;
}

uint8_t nve_modules_build_id(const void *notes, uint64_t size, uint8_t *id)
{
	const char *at = notes, *end = at + size;
	ElfW(Nhdr) note;

	while (end - at >= (ptrdiff_t)sizeof(note)) {
		uint64_t name_bytes, rest;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		name_bytes = ((uint64_t)note.n_namesz + 3) & ~3ull;
		rest = (uint64_t)(end - at);
		if (name_bytes > rest || note.n_descsz > rest - name_bytes)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4)) {
			uint8_t length =
				(uint8_t)NVE_MIN(note.n_descsz, (uint32_t)NVE_HEAP_BUILD_ID_BYTES);

			memcpy(id, at + name_bytes, length);
			return length;
		}
		rest -= name_bytes;
		at += name_bytes + NVE_MIN(((uint64_t)note.n_descsz + 3) & ~3ull, rest);
	}
	return 0;
}

/* Its first page holds the headers. */
static void read_build_id(struct entry *e)
{
	const ElfW(Ehdr) *header = (const void *)(uintptr_t)e->start;
	const ElfW(Phdr) * segment;

	if (memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_phoff + header->e_phnum * sizeof(*segment) > NVE_PAGE_BYTES)
		return;
	segment = (const void *)(uintptr_t)(e->start + header->e_phoff);
	for (int i = 0; i < header->e_phnum && !e->public.build_id_bytes; i++, segment++) {
		if (segment->p_type == PT_NOTE)
			e->public.build_id_bytes = nve_modules_build_id(
				(const void *)(uintptr_t)(e->base + segment->p_vaddr),
				segment->p_memsz, e->public.build_id);
	}
}

static uint32_t find_address(uint64_t address)
{
	for (uint32_t i = 1; i < state.count; i++) {
		if (address - state.entries[i].start <
		    state.entries[i].end - state.entries[i].start)
			return i;
	}
	return NVE_MODULES_NONE;
}

static bool same_file(const struct nve_heap_module *a, const struct nve_heap_module *b)
{
	return a->build_id_bytes == b->build_id_bytes && !strcmp(a->path, b->path) &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

static uint32_t find_file(const struct nve_heap_module *module)
{
	for (uint32_t i = 1; i < state.count; i++) {
		if (same_file(&state.entries[i].public, module))
			return i;
	}
	return NVE_MODULES_NONE;
}

static uint32_t add(const struct entry *e)
{
	uint32_t id = find_file(&e->public);
	size_t size = strlen(e->public.path) + 1;
	char *path;

	if (id == NVE_MODULES_NONE && state.count < NVE_MODULES_MAX) {
		path = nve_pool_take(&state.pool, size);
		if (!path)
			return NVE_MODULES_NONE;
		id = state.count;
		state.entries[id].public = e->public;
		state.entries[id].public.path = memcpy(path, e->public.path, size);
	}
	if (id == NVE_MODULES_NONE)
		return id;
	state.entries[id].start = e->start;
	state.entries[id].end = e->end;
	state.entries[id].base = e->base;
	if (id == state.count)
		atomic_store(&state.count, id + 1);
	return id;
}

static uint32_t meet(const struct dl_find_object *found)
{
	const struct link_map *map = found->dlfo_link_map;
	struct entry e = {
		.public.path = map->l_name[0] ? map->l_name : state.program,
		.start = (uint64_t)(uintptr_t)found->dlfo_map_start,
		.end = (uint64_t)(uintptr_t)found->dlfo_map_end,
		.base = map->l_addr,
	};

	read_build_id(&e);
	return add(&e);
}

uint32_t nve_modules_at(uint64_t address, uint64_t *offset)
{
	struct dl_find_object found;
	uint32_t id;

	*offset = 0;
	if (_dl_find_object((void *)(uintptr_t)address, &found))
		return NVE_MODULES_NONE;
	nve_lock_take(&state.lock);
	id = find_address(address);
	if (id == NVE_MODULES_NONE)
		id = meet(&found);
	if (id != NVE_MODULES_NONE)
		*offset = address - state.entries[id].base;
	nve_lock_release(&state.lock);
	return id;
}

uint32_t nve_modules_named(const char *path)
{
	struct entry e = {.public.path = path};
	uint32_t id = NVE_MODULES_NONE;

	nve_lock_take(&state.lock);
	for (uint32_t i = 1; i < state.count && id == NVE_MODULES_NONE; i++) {
		if (!strcmp(state.entries[i].public.path, path))
			id = i;
	}
	if (id == NVE_MODULES_NONE)
		id = add(&e);
	nve_lock_release(&state.lock);
	return id;
}

void nve_modules_changed(void)
{
	nve_lock_take(&state.lock);
	for (uint32_t i = 1; i < state.count; i++)
		state.entries[i].start = state.entries[i].end = 0;
	nve_lock_release(&state.lock);
}

void nve_modules_before_fork(void)
{
	nve_lock_take(&state.lock);
}

void nve_modules_after_fork(void)
{
	nve_lock_release(&state.lock);
}

uint32_t nve_heap_module_count(void)
{
	return atomic_load(&state.count);
}

int nve_heap_module(uint32_t id, struct nve_heap_module *module)
{
	if (id >= atomic_load(&state.count))
		return -ENOENT;
	*module = state.entries[id].public;
	return 0;
}
