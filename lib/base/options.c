#include "base/options.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "base/quantity.h"

#define MEMBER(name) offsetof(struct nve_options, name)

enum kind { KIND_QUANTITY, KIND_CHOICE, KIND_BOOL, KIND_PATH, KIND_PATTERN, KIND_NODE };

enum { QUOTED_BYTES = 80, NAME_BYTES = 32 };

/* A name that a choice accepts. */
struct choice {
	const char *name;
	int value;
	size_t tail; /* the name is a prefix, what follows a path, which goes there; 0: it is not */
};

struct row {
	struct nve_option_row public;
	enum kind kind;
	size_t member;
	uint64_t initial, min, max;   /* quantities */
	const struct nve_unit *units; /* quantities */
	const struct choice *choices; /* choices, booleans */
};

/* No plain number: an epoch has no usual unit. */
static const struct nve_unit ns_units[] = {
	{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0},
};

static const struct nve_unit ppm_units[] = {{"", 10000}, {"%", 10000}, {NULL, 0}};

static const struct nve_unit count_units[] = {{"", 1}, {NULL, 0}};

static const struct nve_unit byte_units[] = {
	{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0},
};

static const struct choice models[] = {
	{.name = "asymmetric", .value = NVE_MODEL_ASYMMETRIC},
	{.name = "symmetric", .value = NVE_MODEL_SYMMETRIC},
	{.name = NULL},
};

static const struct choice counters[] = {
	{.name = "auto", .value = NVE_COUNTERS_AUTO},
	{.name = "ahead", .value = NVE_COUNTERS_AHEAD},
	{.name = "pmu", .value = NVE_COUNTERS_PMU},
	{.name = "replay:", .value = NVE_COUNTERS_REPLAY, .tail = MEMBER(replay)},
	{.name = NULL},
};

static const struct choice injections[] = {
	{.name = "auto", .value = NVE_INJECT_AUTO},
	{.name = "spin", .value = NVE_INJECT_SPIN},
	{.name = "sleep", .value = NVE_INJECT_SLEEP},
	{.name = "off", .value = NVE_INJECT_OFF},
	{.name = NULL},
};

static const struct choice handovers[] = {
	{.name = "sync", .value = NVE_HANDOVER_AT_SYNC},
	{.name = "io", .value = NVE_HANDOVER_AT_IO},
	{.name = "off", .value = NVE_HANDOVER_NOWHERE},
	{.name = NULL},
};

static const struct choice region_modes[] = {
	{.name = "off", .value = NVE_REGIONS_OFF},
	{.name = "only", .value = NVE_REGIONS_ONLY},
	{.name = NULL},
};

static const struct choice places[] = {
	{.name = "all", .value = NVE_PLACE_ALL},
	{.name = "", .value = NVE_PLACE_FILE, .tail = MEMBER(place)},
	{.name = NULL},
};

static const struct choice log_levels[] = {
	{.name = "error", .value = NVE_LOG_ERROR},
	{.name = "warn", .value = NVE_LOG_WARN},
	{.name = "info", .value = NVE_LOG_INFO},
	{.name = "debug", .value = NVE_LOG_DEBUG},
	{.name = NULL},
};

static const struct choice followings[] = {
	{.name = "on", .value = NVE_FOLLOW_ON},         {.name = "off", .value = NVE_FOLLOW_OFF},
	{.name = "yes", .value = NVE_FOLLOW_ON},        {.name = "no", .value = NVE_FOLLOW_OFF},
	{.name = "true", .value = NVE_FOLLOW_ON},       {.name = "false", .value = NVE_FOLLOW_OFF},
	{.name = "1", .value = NVE_FOLLOW_ON},          {.name = "0", .value = NVE_FOLLOW_OFF},
	{.name = "always", .value = NVE_FOLLOW_ALWAYS}, {.name = NULL},
};

static const struct choice switches[] = {
	{.name = "off", .value = 0}, {.name = "on", .value = 1},    {.name = "no", .value = 0},
	{.name = "yes", .value = 1}, {.name = "false", .value = 0}, {.name = "true", .value = 1},
	{.name = "0", .value = 0},   {.name = "1", .value = 1},     {.name = NULL},
};

#define SWITCH_FORM    "on or off (yes or no, true or false, 1 or 0)"
#define LATENCY_FORM   "1ns to 1ms in steps of 0.001ns, as in 300, 300ns, 122.5ns, 1.5us"
#define BANDWIDTH_FORM "1MB/s to 10000GB/s, as in 2.4GB/s, 800MB/s, or 2.4, which is GB/s"
#define BANDWIDTH(field)                                                                           \
	.kind = KIND_QUANTITY, .member = MEMBER(field), .units = nve_units_bandwidth,              \
	.min = 1000000, .max = 10000000000000
#define LATENCY(field)                                                                             \
	.kind = KIND_QUANTITY, .member = MEMBER(field), .units = nve_units_ps, .min = 1000,        \
	.max = 1000000000

/* clang-format off */
static const struct row rows[] = {
	{{"NVM_RLAT", LATENCY_FORM, "DRAM's own", "emulated read latency"}, LATENCY(rlat_ps)},
	{{"NVM_WLAT", LATENCY_FORM, "DRAM's own", "emulated write latency"}, LATENCY(wlat_ps)},
	{{"NVM_DEVICE", "the name of a device that nvmemu devices lists", "none",
	  "device whose latencies and bandwidths are emulated where others are not set"},
	 .kind = KIND_PATH, .member = MEMBER(device)},
	{{"NVM_RBW", BANDWIDTH_FORM, "no limit",
	  "emulated read bandwidth, shared by the threads of a process"},
	 BANDWIDTH(rbw_bytes_per_s)},
	{{"NVM_WBW", BANDWIDTH_FORM, "no limit",
	  "emulated write bandwidth, of lines written back or past the caches"},
	 BANDWIDTH(wbw_bytes_per_s)},
	{{"NVM_MODEL", "asymmetric or symmetric", "asymmetric",
	  "whether reads and writes have latencies of their own or share one"},
	 .kind = KIND_CHOICE, .member = MEMBER(model), .choices = models},
	{{"NVM_COUNTERS", "auto, pmu, ahead or replay:FILE, a record of at most 1023 bytes of name", "auto",
	  "where stall time comes from: pmu is hardware counters, ahead look-ahead, which needs none,"
	  " auto prefers counters; replay:FILE is a run that NVM_RECORD has recorded"},
	 .kind = KIND_CHOICE, .member = MEMBER(counters), .choices = counters},
	{{"NVM_PMU_EVENTS", "ROLE=EVENT,... of at most 1023 bytes, as in stall=0x4/0x50005a3", "by CPU",
	  "events that are counted instead of those known for this CPU"},
	 .kind = KIND_PATH, .member = MEMBER(pmu_events)},
	{{"NVM_EPOCH", "100us to 1s, with its unit, as in 20ms", "20ms",
	  "how much CPU time of a thread passes between two updates of the delay it owes"},
	 .kind = KIND_QUANTITY, .member = MEMBER(epoch_ns), .units = ns_units,
	 .initial = 20000000, .min = 100000, .max = 1000000000},
	{{"NVM_BUDGET", "0.01% to 50% in steps of 0.0001%, as in 1%, 0.5%, 2", "1%",
	  "share of a thread's time that look-ahead may take; a quarter of it where no delay "
	  "can be owed"},
	 .kind = KIND_QUANTITY, .member = MEMBER(budget_ppm), .units = ppm_units,
	 .initial = 10000, .min = 100, .max = 500000},
	{{"NVM_INJECT", "auto, spin, sleep or off", "auto",
	  "how delay is served; off is a dry run: count, do not delay"},
	 .kind = KIND_CHOICE, .member = MEMBER(inject), .choices = injections},
	{{"NVM_HANDOVER", "sync, io or off", "sync",
	  "before which calls a thread serves the delay that it owes: those on locks, conditions,"
	  " semaphores, barriers and threads; with io also reads and writes"},
	 .kind = KIND_CHOICE, .member = MEMBER(handover), .choices = handovers},
	{{"NVM_PLACE", "all, or a guidance file of at most 1023 bytes of name", "all",
	  "what is on the emulated memory: all, or what a guidance file says of allocation sites"},
	 .kind = KIND_CHOICE, .member = MEMBER(placing), .choices = places},
	{{"NVM_BIND", "off, or the number of a NUMA node, 0 to 1023", "off",
	  "where what NVM_PLACE puts on NVM really goes; then nothing is emulated"},
	 .kind = KIND_NODE, .member = MEMBER(bind)},
	{{"NVM_DRAM_LAT", LATENCY_FORM, "measured", "latency of this machine's DRAM"},
	 LATENCY(dram_lat_ps)},
	{{"NVM_LLC_LAT", LATENCY_FORM, "measured", "latency of this machine's last-level cache"},
	 LATENCY(llc_lat_ps)},
	{{"NVM_REGIONS", "off or only", "off",
	  "only: emulate inside of regions that the program marks alone, not outside"},
	 .kind = KIND_CHOICE, .member = MEMBER(regions), .choices = region_modes},
	{{"NVM_FOLLOW", "on, off or always", "on",
	  "whether children are emulated too; always: even those with an environment of their own"},
	 .kind = KIND_CHOICE, .member = MEMBER(follow), .choices = followings,
	 .initial = NVE_FOLLOW_ON},
	{{"NVM_HEAT", SWITCH_FORM, "off",
	  "whose memory the stall time falls on, by allocation site; also without latencies"},
	 .kind = KIND_BOOL, .member = MEMBER(heat), .choices = switches},
	{{"NVM_HEAT_DEPTH", "1 to 64", "8", "how many frames of its call path make an allocation site"},
	 .kind = KIND_QUANTITY, .member = MEMBER(heat_depth), .units = count_units,
	 .initial = 8, .min = 1, .max = 64},
	{{"NVM_HEAT_MIN", "0 to 1G, as in 64, 4K, 1M", "0",
	  "smaller blocks have no site"},
	 .kind = KIND_QUANTITY, .member = MEMBER(heat_min_bytes), .units = byte_units,
	 .max = 1 << 30},
	{{"NVM_OUT", "a file name of at most 1023 bytes, where %p is the process id, %e the program,"
	  " %h the host, %t the time, %n a number and %% a percent sign", "none",
	  "where the report of each process goes"},
	 .kind = KIND_PATTERN, .member = MEMBER(out)},
	{{"NVM_RECORD", "a file name as for NVM_OUT", "none",
	  "where the epochs of each process are recorded, to be replayed"},
	 .kind = KIND_PATTERN, .member = MEMBER(record)},
	{{"NVM_STRICT", SWITCH_FORM, "off",
	  "stop with status 125 where emulation is impossible"},
	 .kind = KIND_BOOL, .member = MEMBER(strict), .choices = switches},
	{{"NVM_LOG", "error, warn, info or debug", "warn", "which messages to log"},
	 .kind = KIND_CHOICE, .member = MEMBER(log_level), .choices = log_levels,
	 .initial = NVE_LOG_WARN},
	{{"NVM_LOG_FILE", "a file name of at most 1023 bytes", "stderr", "where messages go"},
	 .kind = KIND_PATH, .member = MEMBER(log_file)},
};
/* clang-format on */

/* Bytes of a value fit to be shown: it may be long, or no text at all. */
static void quote(const char *value, char quoted[QUOTED_BYTES])
{
	size_t length = strnlen(value, QUOTED_BYTES);
	bool cut = length == QUOTED_BYTES;

	length = NVE_MIN(length, (size_t)QUOTED_BYTES - 4);
	for (size_t i = 0; i < length; i++) {
		bool plain = (unsigned char)value[i] >= ' ' && value[i] != 0x7f;

		quoted[i] = plain ? value[i] : '?';
	}
	strcpy(quoted + length, cut ? "..." : "");
}

static int complain(struct nve_options_message *error, const struct row *row, const char *value)
{
	char quoted[QUOTED_BYTES];

	quote(value, quoted);
	nve_format(error->text, sizeof(error->text), "%s: bad value '%s'; accepted: %s",
		   row->public.name, quoted, row->public.form);
	return -EINVAL;
}

static void *member_of(const struct row *row, struct nve_options *o)
{
	return (char *)o + row->member;
}

static int parse_quantity(const struct row *row, const char *value, struct nve_options *o)
{
	uint64_t number;
	int result = nve_quantity_parse(value, row->units, &number);

	if (result)
		return result;
	if (number < row->min || number > row->max)
		return -ERANGE;
	*(uint64_t *)member_of(row, o) = number;
	return 0;
}

static const struct choice *find_choice(const struct row *row, const char *value)
{
	for (const struct choice *c = row->choices; c->name; c++) {
		if (c->tail ? !strncmp(c->name, value, strlen(c->name)) : !strcmp(c->name, value))
			return c;
	}
	return NULL;
}

static int copy_path(const char *value, char *path)
{
	size_t length = strnlen(value, NVE_PATH_BYTES);

	if (!length || length == NVE_PATH_BYTES)
		return -EINVAL;
	memcpy(path, value, length + 1);
	return 0;
}

static int parse_choice(const struct row *row, const char *value, struct nve_options *o)
{
	const struct choice *choice = find_choice(row, value);

	if (!choice)
		return -EINVAL;
	if (choice->tail && copy_path(value + strlen(choice->name), (char *)o + choice->tail))
		return -EINVAL;
	if (row->kind == KIND_BOOL)
		*(bool *)member_of(row, o) = choice->value;
	else
		*(int *)member_of(row, o) = choice->value;
	return 0;
}

static bool placeholders_known(const char *value)
{
	for (const char *at = strchr(value, '%'); at; at = strchr(at + 2, '%')) {
		if (!at[1] || !strchr("pehtn%", at[1]))
			return false;
	}
	return true;
}

static int parse_path(const struct row *row, const char *value, struct nve_options *o)
{
	if (row->kind == KIND_PATTERN && !placeholders_known(value))
		return -EINVAL;
	return copy_path(value, member_of(row, o));
}

static int parse_node(const struct row *row, const char *value, struct nve_options *o)
{
	uint64_t node;

	*(int *)member_of(row, o) = NVE_BIND_OFF;
	if (!strcmp(value, "off"))
		return 0;
	if (nve_quantity_parse(value, count_units, &node) || node >= NVE_NODES_MAX)
		return -EINVAL;
	*(int *)member_of(row, o) = (int)node;
	return 0;
}

static int parse_row(const struct row *row, const char *value, struct nve_options *o,
		     struct nve_options_message *error)
{
	int result;

	switch (row->kind) {
	case KIND_QUANTITY: result = parse_quantity(row, value, o); break;
	case KIND_PATH:
	case KIND_PATTERN: result = parse_path(row, value, o); break;
	case KIND_NODE: result = parse_node(row, value, o); break;
	default: result = parse_choice(row, value, o); break;
	}
	return result ? complain(error, row, value) : 0;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_letters(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (lower(a[i]) != lower(b[i]))
			return false;
	}
	return true;
}

/*
 * Is b made from a by at most one letter put in, left out, changed, or by two neighbours changing
 * places? Capitals do not matter.
 */
static bool nearly_same(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t same = 0, rest;

	if (a_length > b_length)
		return nearly_same(b, b_length, a, a_length);
	while (same < a_length && lower(a[same]) == lower(b[same]))
		same++;
	a += same;
	b += same;
	rest = a_length - same;
	if (b_length == a_length + 1)
		return same_letters(a, b + 1, rest);
	if (b_length != a_length)
		return false;
	if (rest < 2 || same_letters(a + 1, b + 1, rest - 1))
		return true;
	return lower(a[0]) == lower(b[1]) && lower(a[1]) == lower(b[0]) &&
	       same_letters(a + 2, b + 2, rest - 2);
}

/* Index of a known name, or -1. */
static int find_name(const char *name, size_t length)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		const char *known = rows[i].public.name;

		if (strlen(known) == length && !memcmp(known, name, length))
			return (int)i;
	}
	return -1;
}

/* The name that was probably meant, or NULL. */
static const char *find_near_miss(const char *name, size_t length)
{
	const char *near = NULL;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		const char *known = rows[i].public.name;
		size_t known_length = strlen(known);

		if (known_length == length && same_letters(name, known, length))
			return known;
		if (!near && nearly_same(name, length, known, known_length))
			near = known;
	}
	return near;
}

static void warn_of_near_miss(const char *name, size_t length, struct nve_options_message *warning)
{
	const char *meant = find_near_miss(name, length);

	if (meant)
		nve_format(warning->text, sizeof(warning->text),
			   "%.*s: no such variable; did you mean %s?", (int)length, name, meant);
}

struct found {
	const char *values[NVE_ARRAY_SIZE(rows)];
};

/* A name that stands twice counts as getenv has it: the first. */
/* One letter from one of ours, but another program's: Node's version manager exports it. */
static const char foreign_name[] = "NVM_BIN";

static bool is_foreign(const char *name, size_t length)
{
	return length == strlen(foreign_name) && !memcmp(name, foreign_name, length);
}

static void search_environment(char *const envp[], struct found *found,
			       struct nve_options_message *warning)
{
	for (; *envp; envp++) {
		const char *equals = strchr(*envp, '=');
		size_t length = equals ? (size_t)(equals - *envp) : 0;
		int i;

		if (length <= 4 || length > NAME_BYTES || memcmp(*envp, "NVM_", 4))
			continue;
		i = find_name(*envp, length);
		if (i < 0 && !warning->text[0] && !is_foreign(*envp, length))
			warn_of_near_miss(*envp, length, warning);
		if (i < 0)
			continue;
		if (!found->values[i])
			found->values[i] = equals + 1;
	}
}

static void set_defaults(struct nve_options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		if (rows[i].kind == KIND_QUANTITY)
			*(uint64_t *)member_of(&rows[i], o) = rows[i].initial;
		else if (rows[i].kind == KIND_CHOICE)
			*(int *)member_of(&rows[i], o) = (int)rows[i].initial;
		else if (rows[i].kind == KIND_BOOL)
			*(bool *)member_of(&rows[i], o) = rows[i].initial != 0;
		else if (rows[i].kind == KIND_NODE)
			*(int *)member_of(&rows[i], o) = NVE_BIND_OFF;
	}
}

/* Settings that exclude each other: why, or NULL. */
static const char *contradiction(const struct nve_options *o)
{
	bool replays = o->counters == NVE_COUNTERS_REPLAY, binds = o->bind != NVE_BIND_OFF;

	if (replays && o->dram_lat_ps)
		return "NVM_DRAM_LAT: not with NVM_COUNTERS=replay, which takes latencies from the "
		       "record";
	if (replays && o->heat)
		return "NVM_HEAT: not with NVM_COUNTERS=replay, since a record has no addresses";
	if (replays && o->placing != NVE_PLACE_ALL)
		return "NVM_PLACE: not with NVM_COUNTERS=replay, which takes placement from the "
		       "record";
	if (binds && o->placing != NVE_PLACE_FILE)
		return "NVM_BIND: only with NVM_PLACE=FILE, which says what is bound; all of a "
		       "program is bound by numactl --membind";
	if (binds && nve_options_emulate(o))
		return "NVM_BIND: not with emulated latencies: what is bound is as slow as its "
		       "node is; accepted: off";
	return NULL;
}

int nve_options_parse(struct nve_options *o, char *const envp[], struct nve_options_message *error,
		      struct nve_options_message *warning)
{
	struct found found = {0};
	const char *why;

	set_defaults(o);
	error->text[0] = '\0';
	warning->text[0] = '\0';
	search_environment(envp, &found, warning);
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++) {
		int result = 0;

		if (found.values[i])
			result = parse_row(&rows[i], found.values[i], o, error);
		if (result)
			return result;
	}
	why = contradiction(o);
	if (why)
		nve_format(error->text, sizeof(error->text), "%s", why);
	return why ? -EINVAL : 0;
}

bool nve_options_emulate(const struct nve_options *o)
{
	return o->rlat_ps || o->wlat_ps || o->device[0] || o->rbw_bytes_per_s || o->wbw_bytes_per_s;
}

const struct nve_option_row *nve_options_row(size_t i)
{
	return i < NVE_ARRAY_SIZE(rows) ? &rows[i].public : NULL;
}

bool nve_options_is_switch(size_t i)
{
	const struct choice *on = rows[i].choices ? find_choice(&rows[i], "on") : NULL;

	/* A file may be called so, too. */
	return on && !on->tail;
}

static const struct choice *choice_of(const struct row *row, int value)
{
	const struct choice *choice = row->choices;

	while (choice->name && choice->value != value)
		choice++;
	return choice;
}

int nve_options_format(const struct nve_options *o, size_t i, char *buf, size_t size)
{
	const struct row *row = &rows[i];
	const void *member = (const char *)o + row->member;
	const struct choice *choice;
	const char *text;

	switch (row->kind) {
	case KIND_QUANTITY:
		if (*(const uint64_t *)member)
			return nve_quantity_format(*(const uint64_t *)member, row->units, buf,
						   size);
		text = row->public.fallback;
		break;
	case KIND_CHOICE:
		choice = choice_of(row, *(const int *)member);
		return nve_format(buf, size, "%s%s", choice->name,
				  choice->tail ? (const char *)o + choice->tail : "");
	case KIND_BOOL: text = choice_of(row, *(const bool *)member)->name; break;
	case KIND_NODE:
		if (*(const int *)member != NVE_BIND_OFF)
			return nve_format(buf, size, "%d", *(const int *)member);
		text = row->public.fallback;
		break;
	default: text = *(const char *)member ? member : row->public.fallback; break;
	}
	return nve_format(buf, size, "%s", text);
}
