/* Sites by call path: numbers, stable hashes, modules and their build ids. */
#include "heap/sites.h"

#include <elf.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "heap/modules.h"

#include <cmocka.h>

static void set_up(void)
{
	static int done;

	if (!done++)
		assert_int_equal(nve_sites_setup("/proc/self/exe"), 0);
}

static uint64_t here(void)
{
	return (uint64_t)(uintptr_t)here;
}

static void same_path_same_site(void **state)
{
	/* one that no sanitizer stands in for */
	uint64_t in_libc = (uint64_t)(uintptr_t)gnu_get_libc_version;
	uint64_t path[3] = {here() + 4, here() + 8, in_libc + 2};
	uint32_t first, second, mapped;
	struct nve_heap_site site;
	struct nve_heap_module module;

	(void)state;
	set_up();
	first = nve_sites_of_path(NVE_HEAP_BLOCK, path, 3);
	second = nve_sites_of_path(NVE_HEAP_BLOCK, path, 2);
	mapped = nve_sites_of_path(NVE_HEAP_MAPPED, path, 3);
	assert_true(first && second && mapped);
	assert_true(first != second && first != mapped);
	assert_int_equal(nve_sites_of_path(NVE_HEAP_BLOCK, path, 3), first);
	assert_int_equal(nve_heap_site(first, &site), 0);
	assert_int_equal(site.kind, NVE_HEAP_BLOCK);
	assert_int_equal(site.frames, 3);
	assert_int_equal(site.frame[1].offset - site.frame[0].offset, 4);
	assert_int_equal(site.frame[0].module, site.frame[1].module);
	assert_int_not_equal(site.frame[0].module, site.frame[2].module);
	assert_int_equal(nve_heap_module(site.frame[2].module, &module), 0);
	assert_non_null(strstr(module.path, "libc.so"));
	assert_int_equal(nve_heap_site(nve_heap_site_count(), &site), -ENOENT);
	assert_int_equal(nve_heap_site(NVE_HEAP_SITE_NONE, &site), -ENOENT);
	path[2]++;
	assert_int_not_equal(nve_sites_of_path(NVE_HEAP_BLOCK, path, 3), first);
}

/* Modules may have moved: the same code is still the same site. */
static void sites_outlive_their_modules_places(void **state)
{
	uint64_t path[2] = {here() + 16, here() + 32};
	uint32_t id;

	(void)state;
	set_up();
	id = nve_sites_of_path(NVE_HEAP_BLOCK, path, 2);
	nve_sites_modules_changed();
	assert_int_equal(nve_sites_of_path(NVE_HEAP_BLOCK, path, 2), id);
}

static void code_of_no_file_is_one_place(void **state)
{
	uint64_t nowhere[2] = {64, here()}, elsewhere[2] = {128, here()};

	(void)state;
	set_up();
	assert_int_equal(nve_sites_of_path(NVE_HEAP_BLOCK, nowhere, 2),
			 nve_sites_of_path(NVE_HEAP_BLOCK, elsewhere, 2));
}

static void kinds_and_modules_have_sites(void **state)
{
	struct nve_heap_site site;
	uint32_t stack, data;

	(void)state;
	set_up();
	stack = nve_sites_of_kind(NVE_HEAP_STACK);
	assert_int_equal(nve_sites_known(NVE_HEAP_STACK), stack);
	assert_int_equal(nve_sites_of_kind(NVE_HEAP_STACK), stack);
	assert_int_equal(nve_heap_site(stack, &site), 0);
	assert_int_equal(site.frames, 0);
	data = nve_sites_of_module("/usr/lib/x.so");
	assert_int_equal(nve_sites_of_module("/usr/lib/x.so"), data);
	assert_int_not_equal(nve_sites_of_module("/usr/lib/y.so"), data);
	assert_int_equal(nve_heap_site(data, &site), 0);
	assert_int_equal(site.kind, NVE_HEAP_DATA);
	assert_int_equal(site.frames, 1);
}

/* Of a run of these binaries to the next one, and of directory to directory. */
static void hashes_are_of_build_ids_and_offsets(void **state)
{
	struct nve_heap_module a = {"/usr/lib/libx.so", 0, {0}}, b = {"/opt/libx.so", 0, {0}};
	struct nve_heap_module built = {"/a", 2, {1, 2}}, moved = {"/b", 2, {1, 2}};
	uint64_t start = nve_sites_hash_start(NVE_HEAP_BLOCK);

	(void)state;
	assert_int_not_equal(start, nve_sites_hash_start(NVE_HEAP_MAPPED));
	assert_int_equal(nve_sites_hash_frame(start, &a, 5), nve_sites_hash_frame(start, &b, 5));
	assert_int_not_equal(nve_sites_hash_frame(start, &a, 5),
			     nve_sites_hash_frame(start, &a, 6));
	assert_int_equal(nve_sites_hash_frame(start, &built, 5),
			 nve_sites_hash_frame(start, &moved, 5));
	moved.build_id[1] = 3;
	assert_int_not_equal(nve_sites_hash_frame(start, &built, 5),
			     nve_sites_hash_frame(start, &moved, 5));
}

static void pinned_sites_are_known_at_once(void **state)
{
	uint64_t path[1] = {here() + 48};
	struct nve_heap_module module;
	struct nve_heap_site site;
	uint64_t hash = nve_sites_hash_start(NVE_HEAP_BLOCK), other[1] = {here() + 49};

	(void)state;
	set_up();
	/* its hash, as another run would have told it */
	nve_heap_site(nve_sites_of_path(NVE_HEAP_MAPPED, path, 1), &site);
	nve_heap_module(site.frame[0].module, &module);
	hash = nve_sites_hash_frame(hash, &module, site.frame[0].offset);
	assert_int_equal(nve_sites_pin(hash), 0);
	assert_true(nve_sites_entry(nve_sites_of_path(NVE_HEAP_BLOCK, path, 1))->pinned);
	assert_false(nve_sites_entry(nve_sites_of_path(NVE_HEAP_BLOCK, other, 1))->pinned);
}

static void build_ids_stand_in_notes(void **state)
{
	struct {
		Elf64_Nhdr abi;
		char abi_name[4];
		uint32_t abi_text[3];
		Elf64_Nhdr id;
		char id_name[4];
		uint8_t id_text[24];
	} notes = {
		.abi = {4, 12, 1},
		.abi_name = "GNU",
		.id = {4, 24, NT_GNU_BUILD_ID},
		.id_name = "GNU",
		.id_text = {9, 8, 7},
	};
	uint8_t id[NVE_HEAP_BUILD_ID_BYTES] = {0};

	(void)state;
	assert_int_equal(nve_modules_build_id(&notes, sizeof(notes), id), sizeof(id));
	assert_memory_equal(id, notes.id_text, sizeof(id));
	assert_int_equal(nve_modules_build_id(&notes, sizeof(notes) - 1, id), 0);
	assert_int_equal(nve_modules_build_id(&notes, 20, id), 0);
	notes.id.n_descsz = 8;
	assert_int_equal(nve_modules_build_id(&notes, sizeof(notes), id), 8);
	notes.abi.n_namesz = 0xffffffff;
	assert_int_equal(nve_modules_build_id(&notes, sizeof(notes), id), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_path_same_site),
		cmocka_unit_test(sites_outlive_their_modules_places),
		cmocka_unit_test(code_of_no_file_is_one_place),
		cmocka_unit_test(kinds_and_modules_have_sites),
		cmocka_unit_test(hashes_are_of_build_ids_and_offsets),
		cmocka_unit_test(pinned_sites_are_known_at_once),
		cmocka_unit_test(build_ids_stand_in_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
