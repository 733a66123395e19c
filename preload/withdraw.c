#include "preload/withdraw.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
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

/* The loader passes over symbols of no value. */
static void hide(const struct nve_withdraw_pair *pair)
{
	ElfW(Sym) *symbol = nve_real_symbol_of(pair->hook);

	if (!symbol || !make((uint64_t)(uintptr_t)symbol, sizeof(*symbol), PROT_READ | PROT_WRITE))
		return;
	symbol->st_value = 0;
	make((uint64_t)(uintptr_t)symbol, sizeof(*symbol), PROT_READ);
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

static const ElfW(Phdr) * find_segment(const struct dl_phdr_info *info, uint32_t type)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == type)
			return &info->dlpi_phdr[i];
	}
	return NULL;
}

/* Was the word made read-only after relocation? */
static bool is_sealed(const struct dl_phdr_info *info, uint64_t addr)
{
	const ElfW(Phdr) *sealed = find_segment(info, PT_GNU_RELRO);

	return sealed && addr - (info->dlpi_addr + sealed->p_vaddr) < sealed->p_memsz;
}

static void redirect(const struct withdrawal *w, const struct dl_phdr_info *info,
		     const ElfW(Rela) * rela, size_t count)
{
	for (; count; count--, rela++) {
		uint64_t addr = info->dlpi_addr + rela->r_offset;
		uint64_t *word = (uint64_t *)(uintptr_t)addr;
		bool sealed;
		void *next;

		if (ELF64_R_TYPE(rela->r_info) == 0 || ELF64_R_SYM(rela->r_info) == 0 ||
		    addr % sizeof(*word))
			continue;
		next = next_of(w, *word);
		if (!next)
			continue;
		sealed = is_sealed(info, addr);
		if (sealed && !make(addr, sizeof(*word), PROT_READ | PROT_WRITE))
			continue;
		__atomic_store_n(word, (uint64_t)(uintptr_t)next, __ATOMIC_RELAXED);
		if (sealed)
			make(addr, sizeof(*word), PROT_READ);
	}
}

static int redirect_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Phdr) *dynamic = find_segment(info, PT_DYNAMIC);
	const struct withdrawal *w = arg;
	struct relocations r;

	(void)size;
	if (!dynamic)
		return 0;
	r = read_dynamic(info, (const ElfW(Dyn) *)(uintptr_t)(info->dlpi_addr + dynamic->p_vaddr));
	if (r.rela && r.relative_count <= r.rela_count)
		redirect(w, info, r.rela + r.relative_count, r.rela_count - r.relative_count);
	if (r.plt)
		redirect(w, info, r.plt, r.plt_count);
	return 0;
}

void nve_withdraw(const struct nve_withdraw_pair *pairs, size_t count, uint64_t start, uint64_t end)
{
	struct withdrawal w = {pairs, count, start, end};

	for (size_t i = 0; i < count; i++)
		hide(&pairs[i]);
	nve_real_alloc.dl_iterate_phdr(redirect_module, &w);
}
