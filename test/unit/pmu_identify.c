/* Which rows are whose, by what /proc/cpuinfo tells; and which PMU of sysfs a kind of core has. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "count/pmu/identify.h"
#include "count/pmu/sysfs.h"
#include "small_sysfs.h"

enum { TEXT_BYTES = 2048 };

static const struct {
	enum nve_cpu_vendor vendor;
	unsigned family, model, stepping;
	bool hybrid;
	const char *first, *second;
} models[] = {
	{NVE_CPU_INTEL, 6, 42, 7, false, "Sandy Bridge", NULL},
	{NVE_CPU_INTEL, 6, 45, 7, false, "Sandy Bridge-EP", NULL},
	{NVE_CPU_INTEL, 6, 58, 9, false, "Ivy Bridge", NULL},
	{NVE_CPU_INTEL, 6, 62, 4, false, "Ivy Bridge-EP", NULL},
	{NVE_CPU_INTEL, 6, 60, 3, false, "Haswell", NULL},
	{NVE_CPU_INTEL, 6, 69, 1, false, "Haswell", NULL},
	{NVE_CPU_INTEL, 6, 70, 1, false, "Haswell", NULL},
	{NVE_CPU_INTEL, 6, 63, 2, false, "Haswell-EP", NULL},
	{NVE_CPU_INTEL, 6, 61, 4, false, "Broadwell", NULL},
	{NVE_CPU_INTEL, 6, 71, 1, false, "Broadwell", NULL},
	{NVE_CPU_INTEL, 6, 79, 1, false, "Broadwell-EP", NULL},
	{NVE_CPU_INTEL, 6, 86, 3, false, "Broadwell-EP", NULL},
	{NVE_CPU_INTEL, 6, 85, 4, false, "Skylake-SP", NULL},
	{NVE_CPU_INTEL, 6, 85, 5, false, "Cascade Lake, Cooper Lake", NULL},
	{NVE_CPU_INTEL, 6, 85, 7, false, "Cascade Lake, Cooper Lake", NULL},
	{NVE_CPU_INTEL, 6, 85, 11, false, "Cascade Lake, Cooper Lake", NULL},
	{NVE_CPU_INTEL, 6, 106, 6, false, "Ice Lake-SP", NULL},
	{NVE_CPU_INTEL, 6, 108, 1, false, "Ice Lake-SP", NULL},
	{NVE_CPU_INTEL, 6, 143, 8, false, "Sapphire Rapids", NULL},
	{NVE_CPU_INTEL, 6, 207, 2, false, "Emerald Rapids", NULL},
	{NVE_CPU_INTEL, 6, 173, 1, false, "Granite Rapids", NULL},
	{NVE_CPU_INTEL, 6, 174, 1, false, "Granite Rapids", NULL},
	{NVE_CPU_INTEL, 6, 78, 3, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 94, 3, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 142, 12, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 158, 13, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 165, 5, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 166, 1, false, "Skylake, Kaby Lake, Coffee Lake, Comet Lake", NULL},
	{NVE_CPU_INTEL, 6, 125, 1, false, "Ice Lake, Tiger Lake, Rocket Lake", NULL},
	{NVE_CPU_INTEL, 6, 126, 5, false, "Ice Lake, Tiger Lake, Rocket Lake", NULL},
	{NVE_CPU_INTEL, 6, 140, 1, false, "Ice Lake, Tiger Lake, Rocket Lake", NULL},
	{NVE_CPU_INTEL, 6, 141, 1, false, "Ice Lake, Tiger Lake, Rocket Lake", NULL},
	{NVE_CPU_INTEL, 6, 167, 1, false, "Ice Lake, Tiger Lake, Rocket Lake", NULL},
	{NVE_CPU_INTEL, 6, 151, 2, true, "Alder Lake, Raptor Lake: P-core",
	 "Alder Lake, Raptor Lake: E-core"},
	/* no efficient cores, or they are off */
	{NVE_CPU_INTEL, 6, 151, 5, false, "Alder Lake, Raptor Lake: P-core", NULL},
	{NVE_CPU_INTEL, 6, 154, 3, true, "Alder Lake, Raptor Lake: P-core",
	 "Alder Lake, Raptor Lake: E-core"},
	{NVE_CPU_INTEL, 6, 183, 1, true, "Alder Lake, Raptor Lake: P-core",
	 "Alder Lake, Raptor Lake: E-core"},
	{NVE_CPU_INTEL, 6, 186, 2, true, "Alder Lake, Raptor Lake: P-core",
	 "Alder Lake, Raptor Lake: E-core"},
	{NVE_CPU_INTEL, 6, 191, 2, true, "Alder Lake, Raptor Lake: P-core",
	 "Alder Lake, Raptor Lake: E-core"},
	{NVE_CPU_INTEL, 6, 190, 0, false, "Alder Lake-N", NULL},
	{NVE_CPU_INTEL, 6, 170, 4, true, "Meteor Lake, Arrow Lake-U: P-core",
	 "Meteor Lake, Arrow Lake-U: E-core"},
	{NVE_CPU_INTEL, 6, 172, 4, true, "Meteor Lake, Arrow Lake-U: P-core",
	 "Meteor Lake, Arrow Lake-U: E-core"},
	{NVE_CPU_INTEL, 6, 181, 0, true, "Meteor Lake, Arrow Lake-U: P-core",
	 "Meteor Lake, Arrow Lake-U: E-core"},
	{NVE_CPU_INTEL, 6, 189, 1, true, "Lunar Lake, Arrow Lake: P-core",
	 "Lunar Lake, Arrow Lake: E-core"},
	{NVE_CPU_INTEL, 6, 197, 2, true, "Lunar Lake, Arrow Lake: P-core",
	 "Lunar Lake, Arrow Lake: E-core"},
	{NVE_CPU_INTEL, 6, 198, 2, true, "Lunar Lake, Arrow Lake: P-core",
	 "Lunar Lake, Arrow Lake: E-core"},
	{NVE_CPU_AMD, 0x17, 0x01, 2, false, "Zen 1", NULL}, /* Naples */
	{NVE_CPU_AMD, 0x17, 0x08, 2, false, "Zen 1", NULL},
	{NVE_CPU_AMD, 0x17, 0x18, 1, false, "Zen 1", NULL},
	{NVE_CPU_AMD, 0x17, 0x31, 0, false, "Zen 2", NULL}, /* Rome */
	{NVE_CPU_AMD, 0x17, 0x60, 1, false, "Zen 2", NULL},
	{NVE_CPU_AMD, 0x17, 0x71, 0, false, "Zen 2", NULL},
	{NVE_CPU_AMD, 0x17, 0xa0, 0, false, "Zen 2", NULL},
	{NVE_CPU_AMD, 0x19, 0x01, 1, false, "Zen 3", NULL}, /* Milan */
	{NVE_CPU_AMD, 0x19, 0x21, 2, false, "Zen 3", NULL},
	{NVE_CPU_AMD, 0x19, 0x50, 0, false, "Zen 3", NULL},
	{NVE_CPU_AMD, 0x19, 0x11, 1, false, "Zen 4", NULL}, /* Genoa */
	{NVE_CPU_AMD, 0x19, 0x61, 2, false, "Zen 4", NULL},
	{NVE_CPU_AMD, 0x19, 0xa0, 2, false, "Zen 4", NULL}, /* Bergamo */
	{NVE_CPU_AMD, 0x1a, 0x02, 1, false, "Zen 5", NULL}, /* Turin */
	{NVE_CPU_AMD, 0x1a, 0x11, 0, false, "Zen 5", NULL},
	{NVE_CPU_AMD, 0x1a, 0x44, 0, false, "Zen 5", NULL},
	{NVE_CPU_AMD, 0x1a, 0x70, 0, false, "Zen 5", NULL},
	{NVE_CPU_ARM, 0, 0xd0c, 0x31, false, "Neoverse N1", NULL},
	{NVE_CPU_ARM, 0, 0xd40, 0x11, false, "Neoverse V1", NULL},
	{NVE_CPU_ARM, 0, 0xd49, 0x00, false, "Neoverse N2", NULL},
	{NVE_CPU_ARM, 0, 0xd4f, 0x01, false, "Neoverse V2", NULL},
	/* unknown ones, some like those that hypervisors make up */
	{NVE_CPU_INTEL, 6, 6, 3, false, NULL, NULL},  /* qemu32 */
	{NVE_CPU_INTEL, 15, 6, 1, false, NULL, NULL}, /* kvm64 */
	{NVE_CPU_INTEL, 6, 0, 0, false, NULL, NULL},
	{NVE_CPU_INTEL, 6, 26, 4, false, NULL, NULL},  /* Nehalem */
	{NVE_CPU_INTEL, 6, 175, 3, false, NULL, NULL}, /* Sierra Forest */
	{NVE_CPU_INTEL, 0x1a, 0x44, 0, false, NULL, NULL},
	{NVE_CPU_AMD, 6, 143, 8, false, NULL, NULL},
	{NVE_CPU_AMD, 15, 107, 1, false, NULL, NULL}, /* qemu64 */
	{NVE_CPU_AMD, 0x15, 0x02, 0, false, NULL, NULL},
	{NVE_CPU_AMD, 0x1a, 0x50, 0, false, NULL, NULL}, /* Zen 6 */
	{NVE_CPU_ARM, 0, 0xd08, 0, false, NULL, NULL},   /* Cortex-A72 */
	{NVE_CPU_OTHER, 6, 143, 8, false, NULL, NULL},
	{NVE_CPU_OTHER, 0, 0xd0c, 0, false, NULL, NULL},
};

static void test_models(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(models); i++) {
		const struct nve_cpu_id id = {
			.vendor = models[i].vendor,
			.family = models[i].family,
			.model = models[i].model,
			.stepping = models[i].stepping,
		};
		const struct nve_pmu_row *rows[NVE_PMU_KINDS] = {NULL};
		size_t count = nve_pmu_rows_find(&id, models[i].hybrid, rows);

		if (count != !!models[i].first + (size_t) !!models[i].second)
			fail_msg("case %zu: %zu rows", i, count);
		if (count > 0)
			assert_string_equal(rows[0]->name, models[i].first);
		if (count > 1)
			assert_string_equal(rows[1]->name, models[i].second);
	}
}

/* Each row of the table is found by at least one of the cases above. */
static void test_each_row_is_found(void **state)
{
	const struct nve_pmu_row *row;

	(void)state;
	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		bool found = false;

		for (size_t k = 0; k < NVE_ARRAY_SIZE(models); k++) {
			const char *first = models[k].first, *second = models[k].second;

			found |= first && !strcmp(first, row->name);
			found |= second && !strcmp(second, row->name);
		}
		if (!found)
			fail_msg("no case for %s", row->name);
	}
}

#define XEON                                                                                       \
	"processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n"              \
	"model name\t: Intel(R) Xeon(R) CPU E5-2637 v3 @ 3.50GHz\nstepping\t: 2\n"                 \
	"flags\t\t: fpu vme hypervisorless ht\n\nprocessor\t: 1\nmodel\t\t: 99\n"
#define GUEST                                                                                      \
	"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"              \
	"model name\t: AMD EPYC\nstepping\t: unknown\nflags\t\t: fpu hypervisor\n"
#define ARM_SERVER                                                                                 \
	"processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"      \
	"CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"

static void test_parse(void **state)
{
	struct nve_cpu_id id;

	(void)state;
	assert_int_equal(nve_cpu_parse(XEON, &id), 0);
	assert_int_equal(id.vendor, NVE_CPU_INTEL);
	assert_int_equal(id.family, 6);
	assert_int_equal(id.model, 63);
	assert_int_equal(id.stepping, 2);
	assert_false(id.hypervisor);
	assert_string_equal(id.name, "Intel(R) Xeon(R) CPU E5-2637 v3 @ 3.50GHz");

	assert_int_equal(nve_cpu_parse(GUEST, &id), 0);
	assert_int_equal(id.vendor, NVE_CPU_AMD);
	assert_int_equal(id.family, 0x1a);
	assert_int_equal(id.model, 2);
	assert_int_equal(id.stepping, 0);
	assert_true(id.hypervisor);

	assert_int_equal(nve_cpu_parse(ARM_SERVER, &id), 0);
	assert_int_equal(id.vendor, NVE_CPU_ARM);
	assert_int_equal(id.family, 0);
	assert_int_equal(id.model, 0xd0c);
	assert_int_equal(id.stepping, 0x31);
	assert_string_equal(id.name, "");
}

static void test_parse_others(void **state)
{
	static const char *const useless[] = {
		"",
		"\n",
		"processor\t: 0\n",
		"processor\t: 0\ncpu\t\t: POWER9\nrevision\t: 2.2\n",
		"vendor_id\t: GenuineIntel\ncpu family\t: 6\n",
		"vendor_id\t: GenuineIntel\ncpu family\t: six\nmodel\t: 63\n",
		"vendor_id\t: GenuineIntel\ncpu family\t: 99999999999\nmodel\t: 63\n",
		"vendor_id\t: GenuineIntel\ncpu family\t:\nmodel\t: 63",
		"CPU implementer\t: 0x\nCPU part\t: 0xd0c\n",
		"vendor_id",
	};
	struct nve_cpu_id id;

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(useless); i++) {
		assert_int_equal(nve_cpu_parse(useless[i], &id), -EINVAL);
		assert_int_equal(id.vendor, NVE_CPU_OTHER);
	}
	/* known form, unknown maker */
	assert_int_equal(
		nve_cpu_parse("vendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t: 1\n", &id), 0);
	assert_int_equal(id.vendor, NVE_CPU_OTHER);
	assert_int_equal(nve_cpu_parse("CPU implementer\t: 0xc0\nCPU part\t: 0xac3\n", &id), 0);
	assert_int_equal(id.vendor, NVE_CPU_OTHER);
}

static void test_parse_long_name(void **state)
{
	char text[TEXT_BYTES];
	struct nve_cpu_id id;

	(void)state;
	snprintf(text, sizeof(text),
		 "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t: 63\nmodel name\t: %0900d\n",
		 7);
	assert_int_equal(nve_cpu_parse(text, &id), 0);
	assert_int_equal(strlen(id.name), sizeof(id.name) - 1);
	assert_int_equal(id.model, 63);
}

static void test_this_machine(void **state)
{
	struct nve_cpu_id id;

	(void)state;
	assert_int_equal(nve_cpu_read(&id), 0);
	assert_true(id.family || id.model);
}

static void check_kinds(const char *pmus, unsigned model, enum nve_cpu_vendor vendor,
			const char *first, const char *second)
{
	const struct nve_cpu_id id = {
		.vendor = vendor, .family = vendor == NVE_CPU_ARM ? 0 : 6, .model = model};
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	const char *expected[] = {first, second};
	size_t count;

	small_sysfs_make(pmus);
	count = nve_pmu_kinds_find(&id, small_sysfs, kinds);
	assert_int_equal(count, second ? 2 : 1);
	for (size_t i = 0; i < count; i++) {
		if (!*expected[i])
			assert_null(kinds[i].pmu);
		else
			assert_string_equal(kinds[i].pmu, expected[i]);
	}
	small_sysfs_remove();
}

static void test_kinds(void **state)
{
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	const struct nve_cpu_id unknown = {.vendor = NVE_CPU_INTEL, .family = 6, .model = 1};

	(void)state;
	check_kinds("cpu software", 143, NVE_CPU_INTEL, "cpu", NULL);
	check_kinds("software msr", 143, NVE_CPU_INTEL, "", NULL);
	check_kinds("cpu_core cpu_atom", 151, NVE_CPU_INTEL, "cpu_core", "cpu_atom");
	check_kinds("cpu", 151, NVE_CPU_INTEL, "cpu", NULL);
	check_kinds("cpu_core", 151, NVE_CPU_INTEL, "cpu_core", NULL);
	check_kinds("cpu", 190, NVE_CPU_INTEL, "cpu", NULL);
	check_kinds("armv8_pmuv3_0 arm_cmn_0", 0xd40, NVE_CPU_ARM, "armv8_pmuv3_0", NULL);
	check_kinds("armv8_pmuv3", 0xd40, NVE_CPU_ARM, "armv8_pmuv3", NULL);
	check_kinds("armv8_neoverse_v1", 0xd40, NVE_CPU_ARM, "armv8_neoverse_v1", NULL);
	check_kinds("cpu", 0xd40, NVE_CPU_ARM, "", NULL);
	assert_int_equal(nve_pmu_kinds_find(&unknown, "/nonexistent", kinds), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),          cmocka_unit_test(test_each_row_is_found),
		cmocka_unit_test(test_parse),           cmocka_unit_test(test_parse_others),
		cmocka_unit_test(test_parse_long_name), cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
