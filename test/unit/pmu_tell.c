/* What is said of a plan: which events of which PMU, with codes that NVM_PMU_EVENTS takes, and how
 * they are read. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "count/pmu/tell.h"
#include "count/source.h"
#include "small_sysfs.h"

static struct nve_pmu_plan plan;
static char text[NVE_SOURCE_HOW_BYTES];

static int begin(void **state)
{
	(void)state;
	small_sysfs_make("software");
	return 0;
}

static int end(void **state)
{
	(void)state;
	small_sysfs_remove();
	return 0;
}

static void expect(const char *part)
{
	if (!strstr(text, part))
		print_error("'%s' not in: %s\n", part, text);
	assert_non_null(strstr(text, part));
}

static void make(enum nve_cpu_vendor vendor, unsigned family, unsigned model)
{
	const struct nve_pmu_machine machine = {
		.id = {.vendor = vendor, .family = family, .model = model, .name = "made up"},
		.sysfs = small_sysfs,
		.nodes = 2,
	};

	assert_int_equal(nve_pmu_plan_make(&machine, &plan), 0);
}

/* Sapphire Rapids: a group of the core, controllers of two sockets, PEBS. */
static void server(void **state)
{
	(void)state;
	small_sysfs_add("cpu/type", "4\n");
	small_sysfs_add("uncore_imc_1/type", "20\n");
	small_sysfs_add("uncore_imc_1/cpumask", "3,40\n");
	small_sysfs_add("uncore_imc_1/format/event", "config:0-7\n");
	small_sysfs_add("uncore_imc_1/format/umask", "config:8-15\n");
	small_sysfs_add("uncore_imc_1/events/cas_count_write", "event=0x05,umask=0xf0\n");
	small_sysfs_add("uncore_imc_1/events/cas_count_read", "event=0x05,umask=0xcf\n");
	make(NVE_CPU_INTEL, 6, 143);
	nve_pmu_tell_stall(&plan, text, sizeof(text));
	expect("one group of events for each thread");
	expect("one system call an epoch");
	expect("a monitor that comes to the thread's core");
	expect("cpu: stall cycles MEMORY_ACTIVITY.STALLS_L3_MISS 4/0x9000947");
	expect("; stalls while the last-level cache misses, calibrated");
	nve_pmu_tell_boxes(&plan, text, sizeof(text));
	expect("4 events of uncore_imc on 2 CPUs");
	expect("written cas_count_write 20/0xf005, over all cas_count_read 20/0xcf05");
	nve_pmu_tell_loads(&plan, text, sizeof(text));
	expect("records in a ring for each thread");
	expect("cpu: MEM_LOAD_RETIRED.L3_MISS 4/0x20d1 every 10007 times");
	assert_null(strstr(text, "operations"));
}

/* Without published events the row's own terms stand there. */
static void terms_and_packets(void **state)
{
	(void)state;
	small_sysfs_add("armv8_pmuv3_0/type", "8\n");
	small_sysfs_add("arm_spe_0/type", "9\n");
	small_sysfs_add("arm_spe_0/format/load_filter", "config:33\n");
	small_sysfs_add("arm_spe_0/format/jitter", "config:16\n");
	small_sysfs_add("arm_spe_0/format/min_latency", "config2:0-11\n");
	small_sysfs_add("arm_dsu_0/type", "30\n");
	small_sysfs_add("arm_dsu_0/cpumask", "0\n");
	small_sysfs_add("arm_dsu_0/format/event", "config:0-31\n");
	make(NVE_CPU_ARM, 0, 0xd40);
	nve_pmu_tell_boxes(&plan, text, sizeof(text));
	expect("2 events of arm_dsu on 1 CPU,");
	expect("written event=0x2c 30/0x2c, over all event=0x2a 30/0x2a");
	nve_pmu_tell_loads(&plan, text, sizeof(text));
	expect("packets in a buffer for each thread");
	expect("arm_spe_0: SPE loads 9/0x200010000/0x0/0x40 every 400128 operations");
	expect("; of these, loads that memory has served");
}

/* A hybrid machine has two of all. */
static void two_kinds(void **state)
{
	(void)state;
	small_sysfs_add("cpu_core/type", "4\n");
	small_sysfs_add("cpu_atom/type", "10\n");
	make(NVE_CPU_INTEL, 6, 151);
	nve_pmu_tell_stall(&plan, text, sizeof(text));
	expect("cpu_core: stall cycles ");
	expect("; cpu_atom: stall cycles ");
	assert_true(strlen(text) + 1 < sizeof(text));
}

/* The user's words stand beside their codes; a code given as such is the same twice. */
static void given(void **state)
{
	const char *bad;

	(void)state;
	assert_int_equal(nve_pmu_plan_parse("stall=1/1,llc-hit=4/0x10/7,miss=4/0x11,written=1/2,"
					    "all=1/3,loads=1/2@64",
					    NULL, &plan, &bad),
			 0);
	nve_pmu_tell_stall(&plan, text, sizeof(text));
	expect("stall cycles 1/1 1/0x1, last-level cache hits 4/0x10/7 4/0x10/0x7, misses to "
	       "memory "
	       "4/0x11 4/0x11; ");
	nve_pmu_tell_boxes(&plan, text, sizeof(text));
	expect("2 events of NVM_PMU_EVENTS on 1 CPU,");
	expect("written 1/2 1/0x2, over all 1/3 1/0x3");
	nve_pmu_tell_loads(&plan, text, sizeof(text));
	expect("1/2 1/0x2 every 64 times");
}

/* Too little room cuts, and writes nowhere else. */
static void little_room(void **state)
{
	char small[40];

	given(state);
	for (size_t size = 1; size < sizeof(small); size++) {
		memset(small, '#', sizeof(small));
		nve_pmu_tell_stall(&plan, small, size);
		assert_int_equal(strlen(small), size - 1);
		assert_int_equal(small[size], '#');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(server, begin, end),
		cmocka_unit_test_setup_teardown(terms_and_packets, begin, end),
		cmocka_unit_test_setup_teardown(two_kinds, begin, end),
		cmocka_unit_test(given),
		cmocka_unit_test(little_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
