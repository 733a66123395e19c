/* From rows, sysfs and users' words to what perf_event_open takes. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "count/pmu/encode.h"
#include "count/pmu/sysfs.h"
#include "small_sysfs.h"

static void test_place(void **state)
{
	static const struct {
		const char *format;
		uint64_t value;
		int result, word;
		uint64_t config;
	} cases[] = {
		{"config:0-7", 0xd1, 0, 0, 0xd1},
		{"config:8-15\n", 0x20, 0, 0, 0x2000},
		{"config:23", 1, 0, 0, 0x800000},
		{"config1:0-63", UINT64_MAX, 0, 1, UINT64_MAX},
		{"config2:0-11", 0x123, 0, 2, 0x123},
		/* amd_df and CHA: fields in pieces */
		{"config:0-7,32-35,59-60", 0x107, 0, 0, 0x100000007},
		{"config:8-15,32-55", 0xc001fe01, 0, 0, 0xc001fe00000100},
		{"config:8-15,24-27", 0x7ff, 0, 0, 0x700ff00},
		{"config:0-7", 0x100, -ERANGE, 0, 0},
		{"config:63", 2, -ERANGE, 0, 0},
		{"config:0-64", 1, -EINVAL, 0, 0},
		{"config:7-0", 1, -EINVAL, 0, 0},
		{"config3:0-7", 1, -EINVAL, 0, 0},
		{"config:", 1, -EINVAL, 0, 0},
		{"config:a", 1, -EINVAL, 0, 0},
		{"config:0-7,", 1, -EINVAL, 0, 0},
		{"config:0-7x", 1, -EINVAL, 0, 0},
		{"config:-1", 1, -EINVAL, 0, 0},
		{"", 1, -EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(cases); i++) {
		uint64_t config[3] = {0}, expected[3] = {0};

		expected[cases[i].word] = cases[i].config;
		if (nve_pmu_place(cases[i].format, cases[i].value, config) != cases[i].result ||
		    memcmp(config, expected, sizeof(config)))
			fail_msg("%s", cases[i].format);
	}
}

static void test_place_replaces(void **state)
{
	uint64_t config[3] = {0xffff};

	(void)state;
	assert_int_equal(nve_pmu_place("config:0-7", 0x12, config), 0);
	assert_int_equal(config[0], 0xff12);
	assert_int_equal(nve_pmu_place("config:0-7", 0x123, config), -ERANGE);
	assert_int_equal(config[0], 0xff12);
}

static void test_parse_code(void **state)
{
	static const char *const bad[] = {
		"",     "4",      "4/",      "/1",           "4/0x",
		"4/1/", "4/1/2/", "4/1/2/3", "-1/2",         "4/ 1",
		"4/-1", "x/1",    "4/1 ",    "4294967296/1", "1/99999999999999999999"};
	struct nve_pmu_code code;

	(void)state;
	assert_int_equal(nve_pmu_parse_code("4/0x60006a3", &code), 0);
	assert_int_equal(code.type, 4);
	assert_int_equal(code.config[0], 0x60006a3);
	assert_int_equal(code.config[1], 0);
	assert_int_equal(nve_pmu_parse_code("0x17/012/0x3f3fc04477", &code), 0);
	assert_int_equal(code.type, 0x17);
	assert_int_equal(code.config[0], 10);
	assert_int_equal(code.config[1], 0x3f3fc04477);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(bad); i++) {
		if (nve_pmu_parse_code(bad[i], &code) != -EINVAL)
			fail_msg("'%s' is taken", bad[i]);
	}
	assert_int_equal(code.type, 0x17);
}

static void test_attrs(void **state)
{
	const struct nve_pmu_event event = {
		.name = "x", .config = 0x12a, .config1 = 0x94002380, .precise_ip = 2};
	struct nve_pmu_code code = nve_pmu_event_code(&event, 4);
	struct perf_event_attr attr;

	(void)state;
	assert_int_equal(code.precise_ip, 2);
	nve_pmu_attr_thread(&code, &attr);
	assert_int_equal(attr.size, sizeof(attr));
	assert_int_equal(attr.type, 4);
	assert_int_equal(attr.config, 0x12a);
	assert_int_equal(attr.config1, 0x94002380);
	assert_true(attr.exclude_kernel && attr.exclude_hv && !attr.exclude_user);
	assert_true(attr.disabled);
	/* on a counting event the kernel refuses it */
	assert_int_equal(attr.precise_ip, 0);
	assert_int_equal(attr.read_format, PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
						   PERF_FORMAT_TOTAL_TIME_RUNNING);

	nve_pmu_attr_uncore(&code, &attr);
	assert_int_equal(attr.config, 0x12a);
	assert_false(attr.exclude_kernel || attr.exclude_hv || attr.exclude_user);
	assert_false(attr.disabled);
	assert_int_equal(attr.read_format,
			 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
}

static int make_world(void **state)
{
	(void)state;
	small_sysfs_make("software");
	small_sysfs_add("uncore_imc_0/type", "24\n");
	small_sysfs_add("uncore_imc_0/cpumask", "0,24\n");
	small_sysfs_add("uncore_imc_0/format/event", "config:0-7\n");
	small_sysfs_add("uncore_imc_0/format/umask", "config:8-15\n");
	small_sysfs_add("uncore_imc_0/format/inv", "config:23\n");
	small_sysfs_add("uncore_imc_0/events/cas_count_write", "event=0x5,umask=0xf0\n");
	small_sysfs_add("uncore_imc_0/events/broken", "event=0x5,nothing=1\n");
	small_sysfs_add("uncore_imc_10/type", "34\n");
	small_sysfs_add("uncore_imc_2/type", "26\n");
	small_sysfs_add("uncore_imc_free_running_0/type", "40\n");
	small_sysfs_add("uncore_imc_free_running/type", "x\n");
	small_sysfs_add("cpu_atom/cpus", "16-19\n");
	small_sysfs_add("cpu_atom/type", "10\n");
	return 0;
}

static int remove_world(void **state)
{
	(void)state;
	small_sysfs_remove();
	return 0;
}

static void test_terms(void **state)
{
	static const struct {
		const char *terms;
		int result;
		uint64_t config, config1;
	} cases[] = {
		{"event=0x5,umask=0xf0", 0, 0xf005, 0},
		{"event=5,umask=240,inv", 0, 0x80f005, 0},
		{"config=0x1234,config1=0x5", 0, 0x1234, 5},
		{"config=0x1200,event=0x34", 0, 0x1234, 0},
		{"event=0x100", -ERANGE, 0, 0},
		{"event=", -EINVAL, 0, 0},
		{"event=0x5,", -EINVAL, 0, 0},
		{"event=0x5,,umask=1", -EINVAL, 0, 0},
		{"event=5 ", -EINVAL, 0, 0},
		{"nothing=1", -ENOENT, 0, 0},
		{"../type=1", -ENOENT, 0, 0},
		{"config", -ENOENT, 0, 0},
		{"", -EINVAL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(cases); i++) {
		struct nve_pmu_code code = {.type = 7};
		int result =
			nve_pmu_sysfs_encode(small_sysfs, "uncore_imc_0", cases[i].terms, &code);

		if (result != cases[i].result || code.type != (result ? 7 : 24) ||
		    code.config[0] != cases[i].config || code.config[1] != cases[i].config1)
			fail_msg("%s: %d, %#llx", cases[i].terms, result,
				 (unsigned long long)code.config[0]);
	}
}

static void test_published(void **state)
{
	struct nve_pmu_code code = {0};

	(void)state;
	assert_int_equal(
		nve_pmu_sysfs_published(small_sysfs, "uncore_imc_0", "cas_count_write", &code), 0);
	assert_int_equal(code.type, 24);
	assert_int_equal(code.config[0], 0xf005);
	assert_int_equal(
		nve_pmu_sysfs_published(small_sysfs, "uncore_imc_0", "cas_count_read", &code),
		-ENOENT);
	assert_int_equal(nve_pmu_sysfs_published(small_sysfs, "uncore_imc_0", "broken", &code),
			 -ENOENT);
	assert_int_equal(nve_pmu_sysfs_published(small_sysfs, "uncore_cha_0", "broken", &code),
			 -ENOENT);
}

static void test_list(void **state)
{
	struct nve_pmu_names names;

	(void)state;
	assert_int_equal(nve_pmu_sysfs_list(small_sysfs, "uncore_imc", &names), 0);
	assert_int_equal(names.count, 3);
	assert_string_equal(names.names[0], "uncore_imc_0");
	assert_string_equal(names.names[1], "uncore_imc_2");
	assert_string_equal(names.names[2], "uncore_imc_10");
	assert_int_equal(nve_pmu_sysfs_list(small_sysfs, "uncore_imc_free_running", &names), 0);
	assert_int_equal(names.count, 2);
	assert_int_equal(nve_pmu_sysfs_list(small_sysfs, NULL, &names), 0);
	assert_int_equal(names.count, 7);
	assert_int_equal(names.more, 0);
	assert_string_equal(names.names[0], "cpu_atom");
	assert_string_equal(names.names[1], "software");
	assert_int_equal(nve_pmu_sysfs_list("/nonexistent", NULL, &names), -ENOENT);
	assert_int_equal(names.count, 0);
	assert_true(nve_pmu_sysfs_has(small_sysfs, "cpu_atom"));
	assert_false(nve_pmu_sysfs_has(small_sysfs, "cpu"));
}

/* More boxes than there is room for are counted, not lost. */
static void test_list_is_full(void **state)
{
	static struct nve_pmu_names names;
	char name[NVE_PMU_NAME_BYTES];

	(void)state;
	for (int i = 0; i < 140; i++) {
		snprintf(name, sizeof(name), "box_%d/type", i);
		small_sysfs_add(name, "1\n");
	}
	assert_int_equal(nve_pmu_sysfs_list(small_sysfs, "box", &names), 0);
	assert_int_equal(names.count, NVE_ARRAY_SIZE(names.names));
	assert_int_equal(names.count + names.more, 140);
}

static void test_types_and_cpus(void **state)
{
	uint64_t mask[2];
	uint32_t type = 1;

	(void)state;
	assert_int_equal(nve_pmu_sysfs_type(small_sysfs, "uncore_imc_10", &type), 0);
	assert_int_equal(type, 34);
	assert_int_equal(nve_pmu_sysfs_type(small_sysfs, "uncore_imc_1", &type), -ENOENT);
	assert_int_equal(nve_pmu_sysfs_type(small_sysfs, "uncore_imc_free_running", &type),
			 -EINVAL);
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "uncore_imc_0", mask, 2), 0);
	assert_int_equal(mask[0], 0x1000001);
	assert_int_equal(mask[1], 0);
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "cpu_atom", mask, 2), 0);
	assert_int_equal(mask[0], 0xf0000);
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "software", mask, 2), -ENOENT);
	small_sysfs_add("software/cpumask", "0,128\n");
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "software", mask, 2), -ERANGE);
	small_sysfs_add("software/cpumask", "0,x\n");
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "software", mask, 2), -EINVAL);
	small_sysfs_add("software/cpumask", "63-65,127\n");
	assert_int_equal(nve_pmu_sysfs_cpus(small_sysfs, "software", mask, 2), 0);
	assert_true(mask[0] == UINT64_C(1) << 63 && mask[1] == (UINT64_C(1) << 63 | 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_place_replaces),
		cmocka_unit_test(test_parse_code),
		cmocka_unit_test(test_attrs),
		cmocka_unit_test_setup_teardown(test_terms, make_world, remove_world),
		cmocka_unit_test_setup_teardown(test_published, make_world, remove_world),
		cmocka_unit_test_setup_teardown(test_list, make_world, remove_world),
		cmocka_unit_test_setup_teardown(test_list_is_full, make_world, remove_world),
		cmocka_unit_test_setup_teardown(test_types_and_cpus, make_world, remove_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
