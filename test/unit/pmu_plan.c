/* Plans of machines that are made up in a directory, and plans that a user writes. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "count/pmu/plan.h"

static char root[64];
static struct nve_pmu_plan plan;

static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int begin(void **state)
{
	(void)state;
	strcpy(root, "/tmp/nvmemu-plan-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

static void remove_pmu(const char *name)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s/%s", root, name);
	assert_int_equal(system(command), 0);
}

static void put_memory_controller(const char *name, const char *type)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/type", name);
	put(path, type);
	snprintf(path, sizeof(path), "%s/cpumask", name);
	put(path, "0,24\n");
	snprintf(path, sizeof(path), "%s/format/event", name);
	put(path, "config:0-7\n");
	snprintf(path, sizeof(path), "%s/format/umask", name);
	put(path, "config:8-15\n");
}

static int make(enum nve_cpu_vendor vendor, unsigned family, unsigned model, unsigned nodes,
		bool smt)
{
	const struct nve_pmu_machine machine = {
		.id = {.vendor = vendor, .family = family, .model = model, .name = "made up"},
		.sysfs = root,
		.nodes = nodes,
		.smt = smt,
	};

	return nve_pmu_plan_make(&machine, &plan);
}

static uint64_t config_of(const struct nve_pmu_set *set, enum nve_pmu_role role, unsigned word)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->role[i] == role)
			return set->code[i].config[word];
	}
	return 0;
}

/* Skylake-SP: one event of the core is enough, the memory controllers tell of writes. */
static void stalls_of_the_llc(void **state)
{
	(void)state;
	put("cpu/type", "4\n");
	put_memory_controller("uncore_imc_0", "20\n");
	put_memory_controller("uncore_imc_3", "23\n");
	put("uncore_imc_0/events/cas_count_write", "event=0x04,umask=0x0c\n");
	put("uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 85, 1, true), 0);
	assert_int_equal(plan.sets, 1);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_LLC_STALL);
	assert_int_equal(plan.set[0].count, 1);
	assert_true(plan.set[0].code[0].config[0] == 0x60006a3);
	assert_int_equal(plan.set[0].code[0].type, 4);
	assert_false(plan.given);
	/* two boxes, numbered with a gap, on two sockets; the second publishes nothing */
	assert_int_equal(plan.boxes, 8);
	assert_string_equal(plan.box_pmu, "uncore_imc");
	for (int i = 0; i < 8; i++) {
		const struct nve_pmu_box_event *b = &plan.box[i];

		assert_int_equal(b->code.type, i < 4 ? 20 : 23);
		assert_int_equal(b->cpu, i / 2 % 2 ? 24 : 0);
		assert_true(b->code.config[0] == (b->written ? 0xc04 : 0x304));
		assert_int_equal(b->written, i % 2);
	}
}

/* Haswell-EP: with two threads a core the usual events never run; others stand in. */
static void smt_quirk(void **state)
{
	(void)state;
	put("cpu/type", "4\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 2, false), 0);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_L2_RATIO);
	assert_true(config_of(&plan.set[0], NVE_PMU_STALL, 0) == 0x50005a3);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_LOCAL, 0) == 0x1d3);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_REMOTE, 0) == 0x4d3);
	assert_int_equal(plan.set[0].count, 4);
	assert_int_equal(plan.boxes, 0);
	assert_null(plan.box_pmu);
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 2, true), 0);
	assert_int_equal(plan.set[0].count, 3);
	assert_true(config_of(&plan.set[0], NVE_PMU_LLC_HIT, 0) == 0x1b7);
	assert_true(config_of(&plan.set[0], NVE_PMU_LLC_HIT, 1) == 0x3f803c0001);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_LOCAL, 0) == 0x1bb);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_LOCAL, 1) == 0x600400001);
	/* one node: nothing is remote */
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 1, false), 0);
	assert_int_equal(config_of(&plan.set[0], NVE_PMU_MISS_REMOTE, 0), 0);
}

static void hybrid(void **state)
{
	(void)state;
	put("cpu_core/type", "4\n");
	put("cpu_atom/type", "10\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 151, 1, true), 0);
	assert_int_equal(plan.sets, 2);
	assert_string_equal(plan.set[0].pmu, "cpu_core");
	assert_string_equal(plan.set[1].pmu, "cpu_atom");
	assert_int_equal(plan.set[0].code[0].type, 4);
	assert_int_equal(plan.set[1].code[0].type, 10);
	assert_true(config_of(&plan.set[0], NVE_PMU_STALL, 0) == 0x9000947);
	assert_true(config_of(&plan.set[1], NVE_PMU_STALL, 0) == 0x434);
}

/* Zen 4: three sources of loads share one stall event. */
static void three_sources(void **state)
{
	(void)state;
	put("cpu/type", "4\n");
	assert_int_equal(make(NVE_CPU_AMD, 0x19, 0x11, 1, true), 0);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_LOAD_RATIO);
	assert_true(config_of(&plan.set[0], NVE_PMU_STALL, 0) == 0xa2d6);
	assert_true(config_of(&plan.set[0], NVE_PMU_L2_HIT, 0) == 0x143);
	assert_true(config_of(&plan.set[0], NVE_PMU_LLC_HIT, 0) == 0x243);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_LOCAL, 0) == 0x843);
}

static void unknown(void **state)
{
	(void)state;
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 1, true), -ENODEV);
	put("cpu/type", "4\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 1, 1, true), -ENOENT);
	assert_string_equal(plan.cpu, "made up");
	assert_int_equal(make(NVE_CPU_OTHER, 0, 0, 1, false), -ENOENT);
	assert_int_equal(plan.sets + plan.loads + plan.boxes, 0);
}

/* Zen 2 has no event for stalls; its loads are sampled all the same. And a hybrid CPU of which the
 * kernel knows one kind only, through its package's controllers. */
static void others_without_stalls(void **state)
{
	(void)state;
	put("cpu/type", "4\n");
	put("ibs_op/type", "9\n");
	assert_int_equal(make(NVE_CPU_AMD, 0x17, 0x31, 1, true), -ENOENT);
	assert_int_equal(plan.sets, 0);
	assert_int_equal(plan.loads, 1);
	assert_true(plan.load[0].whole);
	/* the core's PMU is not there, its controllers are */
	put_memory_controller("uncore_imc_0", "20\n");
	put("uncore_imc_0/events/cas_count_write", "event=0x04,umask=0x0c\n");
	put("uncore_imc_0/events/cas_count_read", "event=0x04,umask=0x03\n");
	remove_pmu("cpu");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 85, 1, true), -ENODEV);
	assert_int_equal(plan.sets + plan.loads, 0);
	assert_int_equal(plan.boxes, 4);
}

static int parse(const char *text)
{
	const char *bad;

	return nve_pmu_plan_parse(text, NULL, &plan, &bad);
}

static void given(void **state)
{
	(void)state;
	assert_int_equal(parse("stall=1/1"), 0);
	assert_true(plan.given);
	assert_int_equal(plan.sets, 1);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_MEMORY_STALL);
	assert_int_equal(plan.set[0].code[0].type, 1);
	assert_int_equal(plan.boxes, 0);
	assert_int_equal(parse("stall=4/0x50005a3,llc-hit=4/0x8d2,miss=4/0x1b7/0x3fb84003f7"), 0);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_L2_RATIO);
	assert_true(config_of(&plan.set[0], NVE_PMU_MISS_LOCAL, 1) == 0x3fb84003f7);
	assert_int_equal(parse("stall=4/1,l2-hit=4/2,llc-hit=4/3,miss=4/4"), 0);
	assert_int_equal(plan.set[0].formula, NVE_PMU_FORMULA_LOAD_RATIO);
	assert_int_equal(parse("stall=1/1,written=1/2,written=1/5,all=1/3"), 0);
	assert_int_equal(plan.boxes, 3);
	assert_true(plan.box[0].written && plan.box[1].written && !plan.box[2].written);
	assert_string_equal(plan.box_pmu, "NVM_PMU_EVENTS");
}

static void given_wrongly(void **state)
{
	static const char *const texts[] = {
		"",
		"stall",
		"stall=",
		"stall=cycles",
		"stall=1",
		"stall=1/x",
		"stall=1/1,",
		",stall=1/1",
		"stall=1/1,stall=1/2",
		"miss=1/1",
		"stall=1/1,llc-hit=1/2",
		"stall=1/1,hit=1/2",
		"stall=1/1,written=1/2",
		"stall=1/1,all=1/2",
		"stall=1/1;miss=1/2",
		"stall=1/18446744073709551616",
	};
	char lengthy[400];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (parse(texts[i]) != -EINVAL)
			print_error("taken: %s\n", texts[i]);
		assert_int_equal(parse(texts[i]), -EINVAL);
	}
	snprintf(lengthy, sizeof(lengthy), "stall=%0300d", 1);
	assert_int_equal(parse(lengthy), -EINVAL);
}

static int encode_anything(const char *text, int level, unsigned os, void *out)
{
	(void)level;
	(void)os;
	(void)out;
	return text[0] == 'g' ? 0 : -4; /* PFM_ERR_NOTFOUND */
}

static int initialize(void)
{
	return 0;
}

/* Where libpfm4 is there, its names are taken. */
static void given_by_name(void **state)
{
	const struct nve_pfm pfm = {initialize, encode_anything};
	const char text[] = "stall=good::EVENT:u,miss=bad::EVENT", *bad;

	(void)state;
	assert_int_equal(nve_pmu_plan_parse("stall=good::EVENT", &pfm, &plan, &bad), 0);
	assert_int_equal(nve_pmu_plan_parse(text, &pfm, &plan, &bad), -ENOENT);
	assert_ptr_equal(bad, strstr(text, "miss"));
}

static void hashes(void **state)
{
	uint64_t a, b;

	(void)state;
	assert_int_equal(parse("stall=1/1"), 0);
	a = nve_pmu_plan_hash(&plan);
	assert_int_equal(parse("stall=1/2"), 0);
	b = nve_pmu_plan_hash(&plan);
	assert_true(a && b && a != b);
	assert_int_equal(parse("stall=1/1"), 0);
	assert_true(nve_pmu_plan_hash(&plan) == a);
	plan.sets = 0;
	assert_true(nve_pmu_plan_hash(&plan) != 0);
}

static int make_arm(unsigned part)
{
	put("armv8_pmuv3_0/type", "8\n");
	put("arm_spe_0/type", "11\n");
	return make(NVE_CPU_ARM, 0, part, 1, false);
}

/* Sampled loads take a counter of the core's, or are another PMU's. */
static void sampled_loads(void **state)
{
	(void)state;
	put("cpu/type", "4\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 85, 1, true), 0);
	assert_int_equal(plan.loads, 1);
	assert_int_equal(plan.load[0].code.type, 4);
	assert_true(plan.load[0].code.config[0] == 0x20d1);
	assert_int_equal(plan.load[0].code.precise_ip, 2);
	assert_int_equal(plan.load[0].period, NVE_PMU_MISS_PERIOD);
	assert_false(plan.load[0].whole || plan.load[0].all_sources);
	/* Haswell: the formula has them all, or an erratum halves them */
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 1, false), 0);
	assert_int_equal(plan.loads, plan.set[0].count < 4);
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 2, false), 0);
	assert_int_equal(plan.loads, 0);
	assert_int_equal(make(NVE_CPU_INTEL, 6, 63, 1, true), 0);
	assert_int_equal(plan.loads, 0);
	/* Zen 4 */
	assert_int_equal(make(NVE_CPU_AMD, 0x19, 0x11, 1, true), 0);
	assert_int_equal(plan.loads, 0);
	put("ibs_op/type", "9\n");
	assert_int_equal(make(NVE_CPU_AMD, 0x19, 0x11, 1, true), 0);
	assert_int_equal(plan.loads, 1);
	assert_int_equal(plan.load[0].code.type, 9);
	assert_true(plan.load[0].whole && plan.load[0].all_sources);
	assert_int_equal(plan.load[0].period % 16, 0);
	/* both kinds of Alder Lake's cores */
	put("cpu_core/type", "4\n");
	put("cpu_atom/type", "10\n");
	assert_int_equal(make(NVE_CPU_INTEL, 6, 151, 1, true), 0);
	assert_int_equal(plan.loads, 2);
	assert_int_equal(plan.load[1].code.type, 10);
	assert_true(plan.load[1].all_sources);
}

/* SPE: its fields where the kernel says that they are; where it says nothing, where they are known
 * to be, without the latency. */
static void packed_loads(void **state)
{
	(void)state;
	put("armv8_pmuv3_0/type", "8\n");
	assert_int_equal(make(NVE_CPU_ARM, 0, 0xd40, 1, false), 0);
	assert_int_equal(plan.loads, 0);
	assert_int_equal(make_arm(0xd40), 0);
	assert_int_equal(plan.loads, 1);
	assert_int_equal(plan.load[0].code.type, 11);
	assert_true(plan.load[0].code.config[0] == 0x200010000 && !plan.load[0].code.config[2]);
	put("arm_spe_0/format/load_filter", "config:40\n");
	put("arm_spe_0/format/jitter", "config:1\n");
	put("arm_spe_0/format/min_latency", "config2:4-15\n");
	for (int i = 0; i < 4; i++) {
		static const unsigned parts[] = {0xd0c, 0xd40, 0xd49, 0xd4f};

		assert_int_equal(make_arm(parts[i]), 0);
		assert_int_equal(plan.loads, 1);
		assert_int_equal(plan.load[0].code.type, 11);
		assert_true(plan.load[0].code.config[0] == (UINT64_C(1) << 40 | 2));
		assert_int_equal(plan.load[0].code.config[2], 64 << 4);
		assert_true(plan.load[0].packets && !plan.load[0].whole);
		/* the hardware drops the lower byte */
		assert_int_equal(plan.load[0].period % 256, 0);
	}
}

static void given_loads(void **state)
{
	static const char *const wrong[] = {
		"stall=1/1,loads=1/2@",
		"stall=1/1,loads=1/2@0",
		"stall=1/1,loads=1/2@-1",
		"stall=1/1,loads=1/2@x",
		"stall=1/1,loads=1/2@9x",
		"stall=1/1,loads=1@9",
		"stall=1/1,loads=@9",
		"miss=1/1,loads=1/2",
		"llc-hit=1/3,miss=1/1,loads=1/2",
		"loads=1/2,written=1/1",
		"stall=1/1,loads=1/2,loads=1/2",
		"stall=1/1@9,loads=1/2",
		"stall=1/1,loads=1/2@9223372036854775808",
	};
	const char *bad;

	(void)state;
	/* alone, or with others than stalls */
	assert_int_equal(nve_pmu_plan_parse("loads=1/2", NULL, &plan, &bad), 0);
	assert_true(plan.loads == 1 && plan.sets == 0 && plan.boxes == 0);
	assert_int_equal(nve_pmu_plan_parse("all=1/2,written=1/3", NULL, &plan, &bad), 0);
	assert_true(plan.loads == 0 && plan.sets == 0 && plan.boxes == 2);
	assert_int_equal(nve_pmu_plan_parse("stall=1/1,loads=4/0x20d1/7", NULL, &plan, &bad), 0);
	assert_int_equal(plan.loads, 1);
	assert_int_equal(plan.set[0].count, 1);
	assert_int_equal(plan.load[0].code.type, 4);
	assert_true(plan.load[0].code.config[0] == 0x20d1 && plan.load[0].code.config[1] == 7);
	assert_int_equal(plan.load[0].period, NVE_PMU_MISS_PERIOD);
	assert_false(plan.load[0].all_sources);
	assert_int_equal(
		nve_pmu_plan_parse("loads=1/2@9223372036854775807,stall=1/1", NULL, &plan, &bad),
		0);
	assert_true(plan.load[0].period == INT64_MAX);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(nve_pmu_plan_parse(wrong[i], NULL, &plan, &bad), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(stalls_of_the_llc, begin, end),
		cmocka_unit_test_setup_teardown(smt_quirk, begin, end),
		cmocka_unit_test_setup_teardown(hybrid, begin, end),
		cmocka_unit_test_setup_teardown(sampled_loads, begin, end),
		cmocka_unit_test_setup_teardown(packed_loads, begin, end),
		cmocka_unit_test(given_loads),
		cmocka_unit_test_setup_teardown(three_sources, begin, end),
		cmocka_unit_test_setup_teardown(unknown, begin, end),
		cmocka_unit_test_setup_teardown(others_without_stalls, begin, end),
		cmocka_unit_test(given),
		cmocka_unit_test(given_wrongly),
		cmocka_unit_test(given_by_name),
		cmocka_unit_test(hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
