#include "preload/withdraw.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "preload/real.h"
#include "preload/real_alloc.h"

struct withdrawal {
	const struct nve_withdraw_pair *pairs;
	size_t count;
	uint64_t start, end;
};

/* What a module's dynamic section says of its relocations. */
struct relocations {
	const ElfW(Rela) * rela, *plt;
	size_t rela_count, relative_count, plt_count;
};

static bool make(uint64_t addr, size_t bytes, int protection)
{
	uint64_t first = addr & ~(uint64_t)(NVE_PAGE_BYTES - 1);

	return mprotect((void *)(uintptr_t)first, addr + bytes - first, protection) == 0;
}

/* The table of symbols of a module. */
struct symbols {
	ElfW(Sym) * symbol;
	const char *names;
	const uint32_t *hash;
	uint64_t base;
};

/* As many as the hash table reaches: its chains end with an odd word, the last one with the last
 * symbol. */
static uint32_t count_symbols(const uint32_t *hash)
{
	uint32_t buckets = hash[0], first = hash[1], bloom = hash[2], last = 0;
	const uint32_t *bucket = hash + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + buckets;

	for (uint32_t i = 0; i < buckets; i++)
		last = NVE_MAX(last, bucket[i]);
	if (last < first)
		return first;
	while (!(chain[last - first] & 1))
		last++;
	return last + 1;
}

static struct symbols read_symbols(const struct link_map *map)
{
	struct symbols s = {.base = map->l_addr};

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_SYMTAB: s.symbol = (void *)(uintptr_t)d->d_un.d_ptr; break;
		case DT_STRTAB: s.names = (const void *)(uintptr_t)d->d_un.d_ptr; break;
		case DT_GNU_HASH: s.hash = (const void *)(uintptr_t)d->d_un.d_ptr; break;
		}
	}
	return s;
}

static void *next_of(const struct withdrawal *w, uint64_t value)
{
	if (value - w->start >= w->end - w->start)
		return NULL;
	for (size_t i = 0; i < w->count; i++) {
		if ((uint64_t)(uintptr_t)w->pairs[i].hook == value)
			return w->pairs[i].next;
	}
	return NULL;
}

/* The loader passes over symbols of no value. What is exported stands at the table's end. */
static void hide(const struct withdrawal *w)
{
	const struct link_map *map = nve_real_module_of(w->pairs[0].hook);
	struct symbols s = {.symbol = NULL};
	uint32_t first, count;
	uint64_t start;

	if (map)
		s = read_symbols(map);
	if (!s.symbol || !s.hash)
		return;
	first = s.hash[1];
	count = count_symbols(s.hash);
	start = (uint64_t)(uintptr_t)(s.symbol + first);
	if (!make(start, (count - first) * sizeof(*s.symbol), PROT_READ | PROT_WRITE))
		return;
	for (uint32_t i = first; i < count; i++) {
		if (next_of(w, s.base + s.symbol[i].st_value))
			s.symbol[i].st_value = 0;
	}
	make(start, (count - first) * sizeof(*s.symbol), PROT_READ);
}

/* Addresses in the dynamic section have been relocated by the loader, where it can write there. */
static const void *at(const struct dl_phdr_info *info, uint64_t value)
{
	return (const void *)(uintptr_t)(value < info->dlpi_addr ? value + info->dlpi_addr : value);
}

static struct relocations read_dynamic(const struct dl_phdr_info *info, const ElfW(Dyn) * d)
{
	struct relocations r = {.rela = NULL};

	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_RELA: r.rela = at(info, d->d_un.d_ptr); break;
		case DT_RELASZ: r.rela_count = d->d_un.d_val / sizeof(*r.rela); break;
		case DT_RELACOUNT: r.relative_count = d->d_un.d_val; break;
		case DT_JMPREL: r.plt = at(info, d->d_un.d_ptr); break;
		case DT_PLTRELSZ: r.plt_count = d->d_un.d_val / sizeof(*r.plt); break;
		}
	}
	return r;
}

static const ElfW(Phdr) * find_segment(const struct dl_phdr_info *info, uint32_t type)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == type)
			return &info->dlpi_phdr[i];
	}
	return NULL;
}

/* What was made read-only after relocation: whole pages. All of a module is opened at once, for its
 * first word that is to be changed. */
struct seal {
	uint64_t start, end;
	bool broken;
};

static struct seal find_seal(const struct dl_phdr_info *info)
{
	const ElfW(Phdr) *sealed = find_segment(info, PT_GNU_RELRO);
	const uint64_t page = ~(uint64_t)(NVE_PAGE_BYTES - 1);
	uint64_t start = sealed ? info->dlpi_addr + sealed->p_vaddr : 0;

	return (struct seal){
		.start = start & page,
		.end = sealed ? (start + sealed->p_memsz) & page : 0,
	};
}

/* Returns whether the word can be written. */
static bool open_word(struct seal *seal, uint64_t addr)
{
	if (addr < seal->start || addr >= seal->end || seal->broken)
		return true;
	seal->broken = make(seal->start, seal->end - seal->start, PROT_READ | PROT_WRITE);
	return seal->broken;
}

static void redirect(const struct withdrawal *w, const struct dl_phdr_info *info, struct seal *seal,
		     const ElfW(Rela) * rela, size_t count)
{
	for (; count; count--, rela++) {
		uint64_t addr = info->dlpi_addr + rela->r_offset;
		uint64_t *word = (uint64_t *)(uintptr_t)addr;
		void *next;

		if (ELF64_R_TYPE(rela->r_info) == 0 || ELF64_R_SYM(rela->r_info) == 0 ||
		    addr % sizeof(*word))
			continue;
		next = next_of(w, *word);
		if (next && open_word(seal, addr))
			__atomic_store_n(word, (uint64_t)(uintptr_t)next, __ATOMIC_RELAXED);
	}
}

static int redirect_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) *dynamic = find_segment(info, PT_DYNAMIC);
	const struct withdrawal *w = arg;
	struct seal seal = find_seal(info);
	struct relocations r;

	(void)size;
	if (!dynamic)
		return 0;
	r = read_dynamic(info, (const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + dynamic->p_vaddr));
	if (r.rela && r.relative_count <= r.rela_count)
		redirect(w, info, &seal, r.rela + r.relative_count,
			 r.rela_count - r.relative_count);
	if (r.plt)
		redirect(w, info, &seal, r.plt, r.plt_count);
	if (seal.broken)
		make(seal.start, seal.end - seal.start, PROT_READ);
	return 0;
}

void nve_withdraw(const struct nve_withdraw_pair *pairs, size_t count, uint64_t start, uint64_t end)
{
	struct withdrawal w = {pairs, count, start, end};

	hide(&w);
	nve_real_alloc.dl_iterate_phdr(redirect_module, &w);
}

static void replace(const struct symbols *s, const struct nve_withdraw_pair *pair)
{
	uint32_t count = count_symbols(s->hash);

	for (uint32_t i = 0; i < count; i++) {
		ElfW(Sym) *symbol = s->symbol + i;
		uint64_t addr = (uint64_t)(uintptr_t)symbol;

		if (s->base + symbol->st_value != (uint64_t)(uintptr_t)pair->next ||
		    strcmp(s->names + symbol->st_name, pair->name) != 0 ||
		    !make(addr, sizeof(*symbol), PROT_READ | PROT_WRITE))
			continue;
		symbol->st_value = (uint64_t)(uintptr_t)pair->hook - s->base;
		make(addr, sizeof(*symbol), PROT_READ);
	}
}

void nve_withdraw_others(const struct nve_withdraw_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct link_map *map = nve_real_module_of(pairs[i].next);
		struct symbols s;

		if (!map)
			continue;
		s = read_symbols(map);
		if (s.symbol && s.names && s.hash)
			replace(&s, &pairs[i]);
	}
}
