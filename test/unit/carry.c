/* Environments of programs that are started. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "carry.h"

static struct nve_carry carry;
static struct nve_carry_room room;

static char *const started_with[] = {"PATH=/bin",    "LD_PRELOAD=libx.so:/opt/libnvmemu.so",
				     "NVM_WLAT=300", "NVM_DIR=/node",
				     "HOME=/root",   NULL};
static char *const carried[] = {"NVM_CARRIED=4", "LD_PRELOAD=/opt/libnvmemu.so", "NVM_WLAT=300",
				"HOME=/root", NULL};

static void assert_same(char *const got[], char *const wanted[])
{
	size_t i = 0;

	for (; got[i] && wanted[i]; i++)
		assert_string_equal(got[i], wanted[i]);
	assert_true(!got[i] && !wanted[i]);
}

static void set_up(void)
{
	nve_carry_setup(&carry, started_with, "/opt/libnvmemu.so");
	assert_int_equal(carry.count, 4);
}

static void nothing_left(void **state)
{
	char *const none[] = {NULL}, *const own[] = {"A=1", "NVM_DIR=/x", NULL};
	char *const *got;

	(void)state;
	set_up();
	assert_same(nve_carry_add(&carry, none, &room), carried);
	assert_same(nve_carry_add(&carry, NULL, &room), carried);
	got = nve_carry_add(&carry, own, &room);
	assert_int_equal(nve_carry_count(got), 4);
	assert_same(got + 4, own);
}

/* Whoever names the library or a setting knows what he does. */
static void something_left(void **state)
{
	char *const left[][3] = {{"LD_PRELOAD=", "A=1"},
				 {"A=1", "LD_PRELOAD=liby.so"},
				 {"LD_PRELOAD=/opt/libnvmemu.so"},
				 {"NVM_OUT=x"},
				 {"A=1", "NVM_WLAT="}};

	(void)state;
	set_up();
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		assert_ptr_equal(nve_carry_add(&carry, left[i], &room), left[i]);
}

static void nothing_to_carry(void **state)
{
	char *const linked[] = {"NVM_WLAT=300", NULL};
	char *const other[] = {"NVM_WLAT=300", "LD_PRELOAD=libx.so libnvmem.so", NULL};
	char *const blank[] = {"LD_PRELOAD=libnvmemu.so", NULL}, *const none[] = {NULL};

	(void)state;
	nve_carry_setup(&carry, linked, "/opt/libnvmemu.so");
	assert_int_equal(carry.count, 0);
	assert_ptr_equal(nve_carry_add(&carry, none, &room), none);
	nve_carry_setup(&carry, other, "/opt/libnvmemu.so");
	assert_int_equal(carry.count, 0);
	/* The loader would take it for two. */
	nve_carry_setup(&carry, blank, "/my programs/libnvmemu.so");
	assert_int_equal(carry.count, 0);
}

static void too_much(void **state)
{
	static char *many[NVE_CARRY_ENTRIES + 1], text[NVE_CARRY_BYTES + 16];
	char *long_one[] = {"LD_PRELOAD=libnvmemu.so", text, NULL};

	(void)state;
	set_up();
	for (size_t i = 0; i < NVE_CARRY_ENTRIES - 4; i++)
		many[i] = "A=1";
	assert_ptr_equal(nve_carry_add(&carry, many, &room), many);
	many[NVE_CARRY_ENTRIES - 5] = NULL;
	assert_int_equal(nve_carry_count(nve_carry_add(&carry, many, &room)), 4);
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text, "NVM_OUT=", 8);
	nve_carry_setup(&carry, long_one, "/opt/libnvmemu.so");
	assert_int_equal(carry.count, 0);
}

/* Only what was put there is taken away. */
static void counted(void **state)
{
	char *const forged[][4] = {{"A=1", "NVM_CARRIED=1"},
				   {"NVM_CARRIED=3", "LD_PRELOAD=x"},
				   {"NVM_CARRIED=3", "LD_PRELOAD=x", "A=1"},
				   {"NVM_CARRIED=99"},
				   {"NVM_CARRIED=-1"}};

	(void)state;
	assert_int_equal(nve_carry_count(carried), 4);
	assert_int_equal(nve_carry_count(NULL), 0);
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
		assert_int_equal(nve_carry_count(forged[i]), 0);
}

static void stripped(void **state)
{
	static const char *const lists[][2] = {
		{"/opt/libnvmemu.so", NULL},
		{"libnvmemu.so.0", NULL},
		{":libnvmemu.so:", NULL},
		{"/x/a.so:/opt/libnvmemu.so:b.so", "/x/a.so:b.so"},
		{"a.so  /opt/libnvmemu.so", "a.so"},
		{"a.so:b.so", "a.so:b.so"},
		{"", ""},
		{"/libnvmemu.so/a.so", "/libnvmemu.so/a.so"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char list[128], wanted[128];
		char *const given[] = {"A=1", list, "B=2", NULL};
		char *const with[] = {"A=1", wanted, "B=2", NULL}, *const without[] = {"A=1", "B=2",
										       NULL};

		snprintf(list, sizeof(list), "LD_PRELOAD=%s", lists[i][0]);
		snprintf(wanted, sizeof(wanted), "LD_PRELOAD=%s", lists[i][1] ? lists[i][1] : "");
		assert_same(nve_carry_strip(given, "/opt/libnvmemu.so", &room),
			    lists[i][1] ? with : without);
	}
	assert_null(nve_carry_strip(NULL, "/opt/libnvmemu.so", &room));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_left),     cmocka_unit_test(something_left),
		cmocka_unit_test(nothing_to_carry), cmocka_unit_test(too_much),
		cmocka_unit_test(counted),          cmocka_unit_test(stripped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
