/*
 * The rows of CPU families: each event is what its vector says and what libpfm4 makes of its
 * string, by two ways of encoding for a CPU that this machine does not have.
 */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "count/pmu/encode.h"
#include "count/pmu/formula.h"
#include "count/pmu/rows.h"
#include "pmu_vectors.h"
/* after linux/perf_event.h, of which it brings a copy where there is none */
#include <perfmon/pfmlib_perf_event.h>

enum { TEXT_BYTES = 512, RAW = 4 /* PERF_TYPE_RAW */ };

static const struct nve_pfm pfm = {
	.initialize = pfm_initialize,
	.get_os_event_encoding = pfm_get_os_event_encoding,
};

static const struct nve_pmu_row *find_row(const char *name)
{
	const struct nve_pmu_row *row;

	for (size_t i = 0; (row = nve_pmu_row(i)); i++)
		if (!strcmp(row->name, name))
			return row;
	fail_msg("no row %s", name);
	return NULL;
}

static const struct nve_pmu_event *event_of(const struct nve_pmu_row *row, int role)
{
	switch (role) {
	case SMT_HIT: return &row->smt_hit;
	case SMT_MISS: return &row->smt_miss;
	default: return &row->roles[role];
	}
}

static void test_events_are_the_vectors(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];
		const struct nve_pmu_row *row = find_row(v->row);
		const struct nve_pmu_event *event = event_of(row, v->role);
		char text[TEXT_BYTES];

		if (!event->name || event->config != v->config || event->config1 != v->config1 ||
		    event->precise_ip != v->precise_ip || !event->pfm != !v->pfm)
			fail_msg("%s, role %d: %s is not the vector's", v->row, v->role,
				 event->name);
		if (!v->pfm)
			continue;
		snprintf(text, sizeof(text), "%s::%s", row->pfm_pmu, event->pfm);
		assert_string_equal(text, v->pfm);
	}
}

/* So no event is without a proof, and each has one only. */
static void test_every_event_has_a_vector(void **state)
{
	const struct nve_pmu_row *row;

	(void)state;
	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		for (int role = 0; role <= SMT_MISS; role++) {
			int count = 0;

			for (size_t k = 0; k < NVE_ARRAY_SIZE(vectors); k++)
				count += vectors[k].role == role &&
					 !strcmp(vectors[k].row, row->name);
			if (count != (event_of(row, role)->name != NULL))
				fail_msg("%s, role %d: %d vectors", row->name, role, count);
		}
	}
	assert_int_equal(NVE_PMU_ROLES, SMT_HIT);
}

#ifdef __aarch64__
static const bool arm_build = true;
#else
static const bool arm_build = false;
#endif

/* A build of libpfm4 has x86's tables or Arm's, never both. */
static bool in_build(const char *text)
{
	return !strncmp(text, "arm", 3) == arm_build;
}

/* 0: not in this build; 1: as expected; -1: told on stderr. */
static int encode_core(const struct vector *v)
{
	struct nve_pmu_code code;
	int err;

	if (!v->pfm || !in_build(v->pfm))
		return 0;
	err = nve_pmu_pfm_encode(&pfm, v->pfm, &code);
	if (!err && code.type == RAW && code.config[0] == v->config &&
	    code.config[1] == v->config1 && !code.config[2] && code.precise_ip == v->precise_ip)
		return 1;
	fprintf(stderr, "%s: error %d, %u/%#llx/%#llx precise %u\n", v->pfm, err, code.type,
		(unsigned long long)code.config[0], (unsigned long long)code.config[1],
		code.precise_ip);
	return -1;
}

/* The raw code: the form for perf_event needs the PMU's directory in sysfs. */
static int encode_box(const char *text, const uint64_t expected[2])
{
	pfm_pmu_encode_arg_t arg = {.size = sizeof(arg)};
	uint64_t second;
	int err;

	if (!text || !in_build(text))
		return 0;
	err = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &arg);
	if (err != PFM_SUCCESS) {
		fprintf(stderr, "%s: %s\n", text, pfm_strerror(err));
		return -1;
	}
	/* the box's filter registers, which are the halves of config1 */
	second = arg.count > 1 ? arg.codes[1] : 0;
	second |= arg.count > 2 ? arg.codes[2] << 32 : 0;
	err = arg.codes[0] == expected[0] && second == expected[1] ? 1 : -1;
	if (err < 0)
		fprintf(stderr, "%s: %#llx, %#llx\n", text, (unsigned long long)arg.codes[0],
			(unsigned long long)second);
	free(arg.codes);
	return err;
}

static void count(int result, int *encoded, int *wrong)
{
	*encoded += result > 0;
	*wrong += result < 0;
}

/* libpfm4 initialises itself once a process. */
static void in_child(void (*encode)(const char *pmu, int *encoded, int *wrong),
		     const char *variable, const char *value, int *encoded)
{
	int status, counts[2] = {0}, ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		setenv(variable, value, 1);
		if (pfm_initialize() != PFM_SUCCESS)
			_exit(1);
		encode(value, &counts[0], &counts[1]);
		_exit(write(ends[1], counts, sizeof(counts)) != sizeof(counts));
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], counts, sizeof(counts)), sizeof(counts));
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(counts[1], 0);
	*encoded += counts[0];
}

static void encode_all(const char *unused, int *encoded, int *wrong)
{
	(void)unused;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(vectors); i++)
		count(encode_core(&vectors[i]), encoded, wrong);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(uncore_vectors); i++) {
		const struct uncore_vector *v = &uncore_vectors[i];

		count(encode_box(v->written_pfm, v->written[0]), encoded, wrong);
		count(encode_box(v->all_pfm, v->all[0]), encoded, wrong);
	}
}

static void encode_of(const char *pmu, int *encoded, int *wrong)
{
	size_t length = strlen(pmu);

	for (size_t i = 0; i < NVE_ARRAY_SIZE(vectors); i++)
		if (vectors[i].pfm && !strncmp(vectors[i].pfm, pmu, length) &&
		    vectors[i].pfm[length] == ':')
			count(encode_core(&vectors[i]), encoded, wrong);
}

static int strings_in_vectors(void)
{
	int strings = 0;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(vectors); i++)
		strings += vectors[i].pfm && in_build(vectors[i].pfm);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(uncore_vectors) && !arm_build; i++)
		strings += !!uncore_vectors[i].written_pfm + !!uncore_vectors[i].all_pfm;
	return strings;
}

static void test_libpfm4_encodes_the_same(void **state)
{
	int encoded = 0;

	(void)state;
	in_child(encode_all, "LIBPFM_ENCODE_INACTIVE", "1", &encoded);
	assert_int_equal(encoded, strings_in_vectors());
}

static void test_libpfm4_with_a_forced_pmu(void **state)
{
	const struct nve_pmu_row *row;
	int all = 0, expected = 0;

	(void)state;
	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		int encoded = 0;

		if (!row->pfm_pmu || !in_build(row->pfm_pmu))
			continue;
		in_child(encode_of, "LIBPFM_FORCE_PMU", row->pfm_pmu, &encoded);
		for (int role = 0; role <= SMT_MISS; role++)
			expected += event_of(row, role)->pfm != NULL;
		all += encoded;
	}
	assert_int_equal(all, expected);
	assert_true(all > 0);
}

static void test_libpfm4_refuses(void **state)
{
	struct nve_pmu_code code;

	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(nve_pmu_pfm_encode(&pfm, "no_such_pmu::CYCLES", &code), -ENOENT);
	if (arm_build)
		return;
	assert_int_equal(nve_pmu_pfm_encode(&pfm, "hsw_ep::NO_SUCH_EVENT", &code), -ENOENT);
	assert_int_equal(nve_pmu_pfm_encode(&pfm, "hsw_ep::CYCLE_ACTIVITY:NO_SUCH", &code),
			 -EINVAL);
	/* no hybrid is known to 4.13.0 */
	assert_int_equal(nve_pmu_pfm_encode(&pfm, "adl_glc::MEM_LOAD_RETIRED:L3_MISS", &code),
			 -ENOENT);
}

static int fails(void)
{
	return PFM_ERR_NOTSUPP;
}

static void test_without_libpfm4(void **state)
{
	const struct nve_pfm broken = {.initialize = fails};
	struct nve_pmu_code code;

	(void)state;
	assert_int_equal(nve_pmu_pfm_encode(&broken, "CYCLES", &code), -ENOTSUP);
}

/* As Linux has them, drivers named in the rows. */
static const struct {
	const char *pmu, *name, *format;
} formats[] = {
	{"uncore_cbox", "event", "config:0-7"},
	{"uncore_cbox", "umask", "config:8-15"},
	{"uncore_imc", "event", "config:0-7"},
	{"uncore_imc", "umask", "config:8-15"},
	{"uncore_cha", "event", "config:0-7"},
	{"uncore_cha", "umask", "config:8-15,32-55"},
	{"uncore_cha", "filter_rem", "config1:32"},
	{"uncore_cha", "filter_loc", "config1:33"},
	{"uncore_imc_free_running", "event", "config:0-7"},
	{"uncore_imc_free_running", "umask", "config:8-15"},
	{"amd_umc", "event", "config:0-7"},
	{"amd_umc", "rdwrmask", "config:8-9"},
	{"arm_cmn", "type", "config:0-15"},
	{"arm_cmn", "eventid", "config:16-26"},
	{"arm_dsu", "event", "config:0-31"},
	{"nvidia_scf_pmu", "event", "config:0-31"},
};

static const char *find_format(void *pmu, const char *name)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].pmu, pmu) && !strcmp(formats[i].name, name))
			return formats[i].format;
	return NULL;
}

static void check_terms(const struct uncore_vector *v, const char *terms,
			const uint64_t expected[2][2])
{
	char text[TEXT_BYTES], *event, *rest = text;

	snprintf(text, sizeof(text), "%s", terms ? terms : "");
	for (int i = 0; i < 2; i++) {
		uint64_t config[3] = {0};

		event = strsep(&rest, ";");
		if (!event || !*event) {
			assert_int_equal(expected[i][0], 0);
			continue;
		}
		if (nve_pmu_encode_terms(event, find_format, (void *)v->pmu, config) ||
		    config[0] != expected[i][0] || config[1] != expected[i][1] || config[2])
			fail_msg("%s, %s: %s is %#llx", v->row, v->pmu, event,
				 (unsigned long long)config[0]);
	}
	assert_null(rest);
}

static void check_pfm(const char *pmu, const char *event, const char *expected)
{
	char text[TEXT_BYTES];

	if (!expected) {
		assert_null(event);
		return;
	}
	assert_non_null(event);
	snprintf(text, sizeof(text), "%s::%s", pmu, event);
	assert_string_equal(text, expected);
}

static void test_uncore(void **state)
{
	const struct nve_pmu_row *row;
	size_t next = 0;

	(void)state;
	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		for (int k = 0; k < NVE_PMU_UNCORES && row->uncore[k].pmu; k++, next++) {
			const struct nve_pmu_uncore *u = &row->uncore[k];
			const struct uncore_vector *v = &uncore_vectors[next];

			assert_true(next < NVE_ARRAY_SIZE(uncore_vectors));
			assert_string_equal(row->name, v->row);
			assert_string_equal(u->pmu, v->pmu);
			assert_non_null(u->written);
			assert_true(u->source && *u->source && u->meaning && *u->meaning);
			check_terms(v, u->written, v->written);
			check_terms(v, u->all, v->all);
			check_pfm(u->pfm_pmu, u->written_pfm, v->written_pfm);
			check_pfm(u->pfm_pmu, u->all_pfm, v->all_pfm);
		}
	}
	assert_int_equal(next, NVE_ARRAY_SIZE(uncore_vectors));
}

static bool overlap(const struct nve_pmu_row *a, const struct nve_pmu_row *b)
{
	if (a->vendor != b->vendor || a->family != b->family || a->core != b->core ||
	    a->stepping_first > b->stepping_last || b->stepping_first > a->stepping_last)
		return false;
	for (int i = 0; i < NVE_PMU_RANGES && a->models[i].last; i++)
		for (int k = 0; k < NVE_PMU_RANGES && b->models[k].last; k++)
			if (a->models[i].first <= b->models[k].last &&
			    b->models[k].first <= a->models[i].last)
				return true;
	return false;
}

/* Those that make it exact, too: no row may lack them. A machine of one node has no remote memory.
 */
static uint32_t roles_of(enum nve_pmu_formula formula)
{
	if (formula == NVE_PMU_FORMULA_NONE)
		return 0;
	return (nve_pmu_formula_needs(formula) | nve_pmu_formula_wants(formula)) &
	       ~(1u << NVE_PMU_MISS_REMOTE);
}

static void test_rows_are_whole(void **state)
{
	const struct nve_pmu_row *row, *other;

	(void)state;
	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		uint32_t needed = roles_of(row->formula);

		assert_true(row->name && *row->name && row->source && *row->source);
		assert_true(row->vendor != NVE_CPU_OTHER && row->models[0].last);
		assert_true(row->counters >= 4);
		for (int k = 0; k < NVE_PMU_RANGES; k++)
			assert_true(row->models[k].first <= row->models[k].last);
		for (int role = 0; role < NVE_PMU_ROLES; role++)
			if (needed >> role & 1 && !row->roles[role].name)
				fail_msg("%s: no %s", row->name,
					 nve_pmu_role_name((enum nve_pmu_role)role));
		assert_true((unsigned)__builtin_popcount(needed) <= row->counters);
		for (int role = 0; role <= SMT_MISS; role++) {
			const struct nve_pmu_event *event = event_of(row, role);

			if (event->name && !event->pfm && (!event->source || !*event->source))
				fail_msg("%s: %s has no source", row->name, event->name);
		}
		for (size_t k = 0; (other = nve_pmu_row(k)); k++) {
			assert_true(i == k || strcmp(row->name, other->name));
			if (i != k && overlap(row, other))
				fail_msg("%s and %s overlap", row->name, other->name);
		}
	}
	assert_true(nve_pmu_row(0) && !nve_pmu_row(1000));
}

static void test_names(void **state)
{
	(void)state;
	for (int role = 0; role < NVE_PMU_ROLES; role++)
		assert_true(*nve_pmu_role_name((enum nve_pmu_role)role));
	for (int formula = 0; formula < NVE_PMU_FORMULAS; formula++)
		assert_true(*nve_pmu_formula_text((enum nve_pmu_formula)formula));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_are_the_vectors),
		cmocka_unit_test(test_every_event_has_a_vector),
		cmocka_unit_test(test_libpfm4_with_a_forced_pmu),
		cmocka_unit_test(test_libpfm4_encodes_the_same),
		cmocka_unit_test(test_libpfm4_refuses),
		cmocka_unit_test(test_without_libpfm4),
		cmocka_unit_test(test_uncore),
		cmocka_unit_test(test_rows_are_whole),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
