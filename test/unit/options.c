#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "base/options.h"

static struct nve_options options;
static struct nve_options_message error, warning;

/* Parses an environment of up to three variables. */
static int parse(const char *first, const char *second, const char *third)
{
	char *envp[] = {(char *)first, (char *)second, (char *)third, NULL};

	memset(&error, 'x', sizeof(error));
	memset(&warning, 'x', sizeof(warning));
	return nve_options_parse(&options, envp, &error, &warning);
}

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(parse("PATH=/bin", "HOME=/", NULL), 0);
	assert_string_equal(error.text, "");
	assert_string_equal(warning.text, "");
	assert_int_equal(options.rlat_ps, 0);
	assert_int_equal(options.wlat_ps, 0);
	assert_int_equal(options.dram_lat_ps, 0);
	assert_int_equal(options.llc_lat_ps, 0);
	assert_int_equal(options.epoch_ns, 20000000);
	assert_int_equal(options.budget_ppm, 10000);
	assert_int_equal(options.model, NVE_MODEL_ASYMMETRIC);
	assert_int_equal(options.counters, NVE_COUNTERS_AUTO);
	assert_int_equal(options.inject, NVE_INJECT_AUTO);
	assert_int_equal(options.log_level, NVE_LOG_WARN);
	assert_false(options.strict);
	assert_string_equal(options.out, "");
	assert_string_equal(options.log_file, "");
	assert_false(nve_options_emulate(&options));
}

struct quantity {
	const char *variable;
	uint64_t *member, value;
};

static void quantities(void **state)
{
	static const struct quantity good[] = {
		{"NVM_RLAT=300", &options.rlat_ps, 300000},
		{"NVM_WLAT=300ns", &options.wlat_ps, 300000},
		{"NVM_WLAT=122.5ns", &options.wlat_ps, 122500},
		{"NVM_WLAT=1us", &options.wlat_ps, 1000000},
		{"NVM_RLAT=1.5us", &options.rlat_ps, 1500000},
		{"NVM_RLAT=1", &options.rlat_ps, 1000},
		{"NVM_RLAT=1ms", &options.rlat_ps, 1000000000},
		{"NVM_DRAM_LAT=80.125", &options.dram_lat_ps, 80125},
		{"NVM_LLC_LAT=20", &options.llc_lat_ps, 20000},
		{"NVM_EPOCH=100us", &options.epoch_ns, 100000},
		{"NVM_EPOCH=0.1ms", &options.epoch_ns, 100000},
		{"NVM_EPOCH=1s", &options.epoch_ns, 1000000000},
		{"NVM_EPOCH=2.5ms", &options.epoch_ns, 2500000},
		{"NVM_BUDGET=1%", &options.budget_ppm, 10000},
		{"NVM_BUDGET=0.5%", &options.budget_ppm, 5000},
		{"NVM_BUDGET=2", &options.budget_ppm, 20000},
		{"NVM_BUDGET=0.01%", &options.budget_ppm, 100},
		{"NVM_BUDGET=50%", &options.budget_ppm, 500000},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(good); i++) {
		if (parse(good[i].variable, NULL, NULL) || *good[i].member != good[i].value)
			fail_msg("%s: %s", good[i].variable, error.text);
	}
}

struct setting {
	const char *variable;
	int *member, value;
};

static void choices(void **state)
{
	static const struct setting good[] = {
		{"NVM_MODEL=asymmetric", &options.model, NVE_MODEL_ASYMMETRIC},
		{"NVM_MODEL=symmetric", &options.model, NVE_MODEL_SYMMETRIC},
		{"NVM_COUNTERS=auto", &options.counters, NVE_COUNTERS_AUTO},
		{"NVM_COUNTERS=ahead", &options.counters, NVE_COUNTERS_AHEAD},
		{"NVM_INJECT=auto", &options.inject, NVE_INJECT_AUTO},
		{"NVM_INJECT=spin", &options.inject, NVE_INJECT_SPIN},
		{"NVM_INJECT=sleep", &options.inject, NVE_INJECT_SLEEP},
		{"NVM_INJECT=off", &options.inject, NVE_INJECT_OFF},
		{"NVM_HANDOVER=sync", &options.handover, NVE_HANDOVER_AT_SYNC},
		{"NVM_HANDOVER=io", &options.handover, NVE_HANDOVER_AT_IO},
		{"NVM_HANDOVER=off", &options.handover, NVE_HANDOVER_NOWHERE},
		{"NVM_PLACE=all", &options.placing, NVE_PLACE_ALL},
		{"NVM_PLACE=alls", &options.placing, NVE_PLACE_FILE},
		{"NVM_BIND=off", &options.bind, NVE_BIND_OFF},
		{"NVM_LOG=error", &options.log_level, NVE_LOG_ERROR},
		{"NVM_LOG=warn", &options.log_level, NVE_LOG_WARN},
		{"NVM_LOG=info", &options.log_level, NVE_LOG_INFO},
		{"NVM_LOG=debug", &options.log_level, NVE_LOG_DEBUG},
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(good); i++) {
		if (parse(good[i].variable, NULL, NULL) || *good[i].member != good[i].value)
			fail_msg("%s: %s", good[i].variable, error.text);
	}
}

static void booleans(void **state)
{
	static const char *const on[] = {"on", "yes", "true", "1"};
	static const char *const off[] = {"off", "no", "false", "0"};
	char variable[32];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(on); i++) {
		snprintf(variable, sizeof(variable), "NVM_STRICT=%s", on[i]);
		assert_int_equal(parse(variable, NULL, NULL), 0);
		assert_true(options.strict);
		snprintf(variable, sizeof(variable), "NVM_STRICT=%s", off[i]);
		assert_int_equal(parse(variable, NULL, NULL), 0);
		assert_false(options.strict);
	}
}

static void paths(void **state)
{
	char longest[16 + NVE_PATH_BYTES] = "NVM_OUT=", value[NVE_PATH_BYTES];

	(void)state;
	assert_int_equal(parse("NVM_OUT=/tmp/%e.%p.%h.%t.%n.100%%", "NVM_LOG_FILE=50%", NULL), 0);
	assert_string_equal(options.out, "/tmp/%e.%p.%h.%t.%n.100%%");
	assert_string_equal(options.log_file, "50%");
	memset(value, 'a', sizeof(value));
	value[NVE_PATH_BYTES - 1] = '\0';
	strcat(longest, value);
	assert_int_equal(parse(longest, NULL, NULL), 0);
	assert_string_equal(options.out, value);
	strcat(longest, "a");
	assert_int_equal(parse(longest, NULL, NULL), -EINVAL);
	assert_true(strlen(error.text) < sizeof(error.text));
	assert_non_null(strstr(error.text, "aaa...'"));
}

/* name=value; the message must name both and show what is accepted. */
static const char *const bad[] = {
	"NVM_RLAT=",
	"NVM_WLAT=300 x",
	"NVM_WLAT=-5",
	"NVM_WLAT=1e3",
	"NVM_WLAT=0x10",
	"NVM_WLAT=nan",
	"NVM_WLAT=0",
	"NVM_WLAT=0.999",
	"NVM_WLAT=1.001ms",
	"NVM_WLAT=1s",
	"NVM_WLAT=300.0001",
	"NVM_WLAT= 300",
	"NVM_WLAT=none",
	"NVM_WLAT=DRAM's own",
	"NVM_DRAM_LAT=x",
	"NVM_LLC_LAT=99999999999999999999",
	"NVM_WLAT=3OO",
	"NVM_WLAT=300,400",
	"NVM_EPOCH=20",
	"NVM_EPOCH=99us",
	"NVM_EPOCH=99999ns",
	"NVM_EPOCH=1001ms",
	"NVM_EPOCH=1.1s",
	"NVM_EPOCH=0.1ns",
	"NVM_EPOCH=",
	"NVM_EPOCH=1m",
	"NVM_BUDGET=0",
	"NVM_BUDGET=0.009%",
	"NVM_BUDGET=50.01%",
	"NVM_BUDGET=1%%",
	"NVM_BUDGET=%",
	"NVM_BUDGET=1 %",
	"NVM_BUDGET=",
	"NVM_BUDGET=0.010001%",
	"NVM_MODEL=",
	"NVM_MODEL=Symmetric",
	"NVM_MODEL=sym",
	"NVM_MODEL=symmetric ",
	"NVM_COUNTERS=none",
	"NVM_COUNTERS=replay",
	"NVM_COUNTERS=replay:",
	"NVM_COUNTERS=replays:x",
	"NVM_RECORD=",
	"NVM_RECORD=%x",
	"NVM_INJECT=on",
	"NVM_INJECT=spinning",
	"NVM_HANDOVER=on",
	"NVM_HANDOVER=sync,io",
	"NVM_PLACE=",
	"NVM_BIND=",
	"NVM_BIND=on",
	"NVM_BIND=-1",
	"NVM_BIND=1024",
	"NVM_BIND=0x1",
	"NVM_STRICT=",
	"NVM_STRICT=2",
	"NVM_STRICT=ON",
	"NVM_STRICT=y",
	"NVM_LOG=warning",
	"NVM_LOG=3",
	"NVM_OUT=",
	"NVM_OUT=/tmp/%q",
	"NVM_OUT=/tmp/r.%",
	"NVM_OUT=/tmp/%%%",
	"NVM_LOG_FILE=",
	"NVM_WLAT=\x1b[31m300\n",
};

static void bad_values(void **state)
{
	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(bad); i++) {
		const char *value = strchr(bad[i], '=') + 1;
		size_t name_length = (size_t)(value - bad[i] - 1);
		char quoted[64];

		snprintf(quoted, sizeof(quoted), ": bad value '%s'; accepted: ", value);
		for (char *c = quoted; *c; c++)
			*c = (unsigned char)*c < ' ' ? '?' : *c;
		if (parse("A=B", bad[i], NULL) != -EINVAL)
			fail_msg("%s: accepted", bad[i]);
		assert_memory_equal(error.text, bad[i], name_length);
		assert_memory_equal(error.text + name_length, quoted, strlen(quoted));
		assert_true(strlen(error.text) > name_length + strlen(quoted));
		assert_null(strpbrk(error.text, "\x1b\n"));
	}
}

static void placement(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_PLACE=a/b", "NVM_BIND=3", NULL), 0);
	assert_string_equal(options.place, "a/b");
	assert_int_equal(options.bind, 3);
	assert_int_equal(parse("NVM_PLACE=a/b", "NVM_BIND=off", "NVM_WLAT=300"), 0);
	assert_int_equal(parse("NVM_BIND=3", NULL, NULL), -EINVAL);
	assert_non_null(strstr(error.text, "NVM_BIND: only with NVM_PLACE=FILE"));
	assert_int_equal(parse("NVM_PLACE=x", "NVM_BIND=3", "NVM_WLAT=300"), -EINVAL);
	assert_non_null(strstr(error.text, "NVM_BIND: not with emulated latencies"));
	assert_int_equal(parse("NVM_PLACE=x", "NVM_COUNTERS=replay:a", NULL), -EINVAL);
	assert_non_null(strstr(error.text, "NVM_PLACE: not with NVM_COUNTERS=replay"));
	assert_int_equal(parse("NVM_PLACE=all", "NVM_COUNTERS=replay:a", NULL), 0);
}

static void replays(void **state)
{
	char longest[32 + NVE_PATH_BYTES] = "NVM_COUNTERS=replay:", text[NVE_PATH_BYTES + 8];
	size_t row = 0;

	(void)state;
	while (strcmp(nve_options_row(row)->name, "NVM_COUNTERS"))
		row++;
	assert_int_equal(parse("NVM_COUNTERS=replay:a:%p b", NULL, NULL), 0);
	assert_int_equal(options.counters, NVE_COUNTERS_REPLAY);
	assert_string_equal(options.replay, "a:%p b");
	nve_options_format(&options, row, text, sizeof(text));
	assert_string_equal(text, "replay:a:%p b");
	/* latencies are the record's */
	assert_int_equal(parse("NVM_COUNTERS=replay:a", "NVM_DRAM_LAT=80", NULL), -EINVAL);
	assert_non_null(strstr(error.text, "NVM_DRAM_LAT: not with NVM_COUNTERS=replay"));
	assert_int_equal(parse("NVM_COUNTERS=replay:a", "NVM_WLAT=80", "NVM_LLC_LAT=20"), 0);
	assert_int_equal(nve_options_check_latency(&options, 80001, &error), -ERANGE);
	assert_non_null(strstr(error.text, "below the record's DRAM latency of 80.001ns"));
	memset(longest + strlen(longest), 'a', NVE_PATH_BYTES - 1);
	assert_int_equal(parse(longest, NULL, NULL), 0);
	strcat(longest, "a");
	assert_int_equal(parse(longest, NULL, NULL), -EINVAL);
}

struct miss {
	const char *variable, *meant;
};

static void near_misses_warn(void **state)
{
	static const struct miss misses[] = {
		{"NVM_WLATT=300", "NVM_WLAT"},     {"NVM_WLA=300", "NVM_WLAT"},
		{"NVM_WALT=300", "NVM_WLAT"},      {"NVM_WLST=300", "NVM_WLAT"},
		{"NVM_XWLAT=300", "NVM_WLAT"},     {"NVM_wlat=300", "NVM_WLAT"},
		{"NVM_LAT=300", "NVM_RLAT"},       {"NVM_DRAMLAT=80", "NVM_DRAM_LAT"},
		{"NVM_LOGFILE=x", "NVM_LOG_FILE"}, {"NVM_MODLE=x", "NVM_MODEL"},
		{"NVM_EPOCHS=1ms", "NVM_EPOCH"},   {"NVM_COUNTER=ahead", "NVM_COUNTERS"},
		{"NVM_OUTS=x", "NVM_OUT"},         {"NVM_HAET=on", "NVM_HEAT"},
		{"NVM_STRICKT=on", "NVM_STRICT"},  {"NVM_INEJCT=off", "NVM_INJECT"},
		{"NVM_BUDGE=1%", "NVM_BUDGET"},    {"NVM__OUT=x", "NVM_OUT"},
	};
	char expected[128];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(misses); i++) {
		snprintf(expected, sizeof(expected), "%.*s: no such variable; did you mean %s?",
			 (int)strcspn(misses[i].variable, "="), misses[i].variable,
			 misses[i].meant);
		assert_int_equal(parse("NVM_DIR=/x", misses[i].variable, "NVM_RLAT=400"), 0);
		assert_string_equal(warning.text, expected);
		assert_int_equal(options.rlat_ps, 400000);
		assert_int_equal(options.wlat_ps, 0);
	}
}

/* Node's version manager and its kin, and what merely looks alike. */
static void others_are_left_alone(void **state)
{
	static const char *const others[] = {
		"NVM_DIR=/root/.nvm",
		"NVM_BIN=/x",
		"NVM_INC=/x",
		"NVM_CD_FLAGS=-q",
		"NVM_RC_VERSION=",
		"NVM_NODEJS_ORG_MIRROR=https://x",
		"NVM_IOJS_ORG_MIRROR=x",
		"NVM_HOME=C:",
		"NVM_SYMLINK=x",
		"NVM_SYMLINK_CURRENT=true",
		"NVM_COLORS=x",
		"NVM_NO_COLORS=--no-colors",
		"NVM_AUTH_HEADER=x",
		"NVM_MAKE_JOBS=2",
		"NVM_METHOD=x",
		"NVM_SOURCE=x",
		"NVM_PROFILE=x",
		"NVM_INSTALL_VERSION=x",
		"NVM_INSTALL_LATEST_NPM=1",
		"NVM_NODE_VERSION=20",
		"NVM_LTS=x",
		"NVM_OS=linux",
		"NVM_ARCH=x",
		"NVM_VERSION=1",
		"NVM_ENV=x",
		"NVM_USE=x",
		"NVM_TEST=x",
		"NVM_NODE_PREFIX=x",
		"NVM_REMOTE=x",
		"NVM_=x",
		"NVM=x",
		"NVM_WLATTT=x",
		"NVM_TALW=x",
		"nvm_wlat=300",
		"XNVM_WLAT=3",
		"NVMWLAT=300",
		"NVM_WLAT",
		"=NVM_WLAT",
		"",
		"NVM_WLAT_IN_NANOSECONDS_PLEASE_OF_COURSE=1",
	};

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(others); i++) {
		assert_int_equal(parse(others[i], "NVM_RLAT=400", NULL), 0);
		if (warning.text[0])
			fail_msg("%s: %s", others[i], warning.text);
		assert_int_equal(options.rlat_ps, 400000);
		assert_int_equal(options.wlat_ps, 0);
	}
}

static void first_of_two_counts(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_WLAT=300", "NVM_WLAT=junk", NULL), 0);
	assert_int_equal(options.wlat_ps, 300000);
}

static void emulates_with_a_latency(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_WLAT=300", NULL, NULL), 0);
	assert_true(nve_options_emulate(&options));
	assert_int_equal(parse("NVM_RLAT=300", NULL, NULL), 0);
	assert_true(nve_options_emulate(&options));
	assert_int_equal(parse("NVM_DRAM_LAT=90", "NVM_OUT=x", NULL), 0);
	assert_false(nve_options_emulate(&options));
	assert_false(nve_options_measure(&options));
	/* Heat needs no latency. */
	assert_int_equal(parse("NVM_HEAT=on", NULL, NULL), 0);
	assert_false(nve_options_emulate(&options));
	assert_true(nve_options_measure(&options));
	assert_int_equal(parse("NVM_HEAT=off", "NVM_RLAT=300", NULL), 0);
	assert_true(nve_options_measure(&options) && !options.heat);
}

static void no_heat_of_a_record(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_HEAT=on", "NVM_COUNTERS=replay:x", NULL), -EINVAL);
	assert_non_null(strstr(error.text, "NVM_HEAT"));
	assert_int_equal(parse("NVM_HEAT=on", "NVM_COUNTERS=ahead", NULL), 0);
}

static void latency_below_dram(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_WLAT=80", "NVM_RLAT=300", NULL), 0);
	assert_int_equal(nve_options_check_latency(&options, 80000, &error), 0);
	assert_int_equal(nve_options_check_latency(&options, 80001, &error), -ERANGE);
	assert_non_null(strstr(error.text, "NVM_WLAT: 80ns "));
	assert_non_null(strstr(error.text, "80.001ns"));
	assert_int_equal(nve_options_check_latency(&options, 300500, &error), -ERANGE);
	assert_non_null(strstr(error.text, "NVM_RLAT: 300ns "));
	assert_non_null(strstr(error.text, "300.5ns"));
	assert_int_equal(parse(NULL, NULL, NULL), 0);
	assert_int_equal(nve_options_check_latency(&options, 300500, &error), 0);
}

static uint64_t budget(const char *a, const char *b)
{
	assert_int_equal(parse("NVM_BUDGET=2%", a, b), 0);
	return nve_options_budget_ppm(&options, 100000);
}

static void budget_where_nothing_can_be_owed(void **state)
{
	(void)state;
	assert_int_equal(budget("NVM_RLAT=100", "NVM_WLAT=100"), 5000);
	assert_int_equal(budget("NVM_WLAT=100", NULL), 5000);
	assert_int_equal(budget("NVM_WLAT=101", NULL), 20000);
	assert_int_equal(budget("NVM_RLAT=101", "NVM_WLAT=100"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_RBW=2GB/s"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_WBW=2GB/s"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_DEVICE=optane"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_HEAT=on"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_PLACE=some/file"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_RECORD=x"), 20000);
	assert_int_equal(budget("NVM_WLAT=100", "NVM_REGIONS=only"), 20000);
}

static void bandwidth_above_the_machine(void **state)
{
	(void)state;
	assert_int_equal(parse("NVM_RBW=8", "NVM_WBW=2.5GB/s", NULL), 0);
	assert_true(nve_options_emulate(&options));
	assert_int_equal(options.rbw_bytes_per_s, 8000000000);
	assert_int_equal(options.wbw_bytes_per_s, 2500000000);
	assert_int_equal(nve_options_check_bandwidth(&options, 8000000000, 2500000000, &error), 0);
	assert_int_equal(nve_options_check_bandwidth(&options, 7995000000, 2500000000, &error),
			 -ERANGE);
	assert_non_null(strstr(error.text, "NVM_RBW: 8GB/s "));
	assert_non_null(strstr(error.text, " 7.99GB/s "));
	assert_int_equal(nve_options_check_bandwidth(&options, 8000000000, 2490000000, &error),
			 -ERANGE);
	assert_non_null(strstr(error.text, "NVM_WBW: 2.5GB/s "));
	assert_int_equal(parse("NVM_WLAT=80", NULL, NULL), 0);
	assert_int_equal(nve_options_check_bandwidth(&options, 1, 1, &error), 0);
}

static size_t row_of(const char *name)
{
	size_t i = 0;

	while (strcmp(nve_options_row(i)->name, name))
		i++;
	return i;
}

static void values_print_as_written(void **state)
{
	static const char *const pairs[][2] = {
		{"NVM_RLAT=300", "300ns"},         {"NVM_WLAT=1500", "1.5us"},
		{"NVM_RBW=2.4", "2.4GB/s"},        {"NVM_WBW=800MB/s", "800MB/s"},
		{"NVM_DEVICE=my-own", "my-own"},   {"NVM_MODEL=symmetric", "symmetric"},
		{"NVM_COUNTERS=pmu", "pmu"},       {"NVM_PMU_EVENTS=stall=1/1", "stall=1/1"},
		{"NVM_EPOCH=2500us", "2.5ms"},     {"NVM_BUDGET=0.50", "0.5%"},
		{"NVM_INJECT=sleep", "sleep"},     {"NVM_HANDOVER=io", "io"},
		{"NVM_PLACE=a b", "a b"},          {"NVM_BIND=0", "0"},
		{"NVM_DRAM_LAT=122.5", "122.5ns"}, {"NVM_LLC_LAT=20ns", "20ns"},
		{"NVM_FOLLOW=0", "off"},           {"NVM_HEAT=yes", "on"},
		{"NVM_HEAT_DEPTH=64", "64"},       {"NVM_HEAT_MIN=4K", "4K"},
		{"NVM_OUT=/tmp/%p", "/tmp/%p"},    {"NVM_RECORD=%e.rec", "%e.rec"},
		{"NVM_STRICT=yes", "on"},          {"NVM_LOG=debug", "debug"},
		{"NVM_LOG_FILE=a b", "a b"},       {"NVM_REGIONS=only", "only"},
	};
	char text[64], name[32];

	(void)state;
	for (size_t i = 0; i < NVE_ARRAY_SIZE(pairs); i++) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(pairs[i][0], "="), pairs[i][0]);
		assert_int_equal(
			parse(pairs[i][0], strcmp(name, "NVM_BIND") ? NULL : "NVM_PLACE=x", NULL),
			0);
		assert_int_equal(nve_options_format(&options, row_of(name), text, sizeof(text)),
				 strlen(pairs[i][1]));
		assert_string_equal(text, pairs[i][1]);
	}
	assert_null(nve_options_row(NVE_ARRAY_SIZE(pairs)));
}

static void defaults_print_as_documented(void **state)
{
	const struct nve_option_row *row;
	char text[64];

	(void)state;
	assert_int_equal(parse(NULL, NULL, NULL), 0);
	for (size_t i = 0; (row = nve_options_row(i)); i++) {
		nve_options_format(&options, i, text, sizeof(text));
		assert_string_equal(text, row->fallback);
		assert_true(row->help[0] && row->form[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(quantities),
		cmocka_unit_test(choices),
		cmocka_unit_test(booleans),
		cmocka_unit_test(paths),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(placement),
		cmocka_unit_test(replays),
		cmocka_unit_test(near_misses_warn),
		cmocka_unit_test(others_are_left_alone),
		cmocka_unit_test(first_of_two_counts),
		cmocka_unit_test(emulates_with_a_latency),
		cmocka_unit_test(no_heat_of_a_record),
		cmocka_unit_test(latency_below_dram),
		cmocka_unit_test(budget_where_nothing_can_be_owed),
		cmocka_unit_test(bandwidth_above_the_machine),
		cmocka_unit_test(values_print_as_written),
		cmocka_unit_test(defaults_print_as_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
