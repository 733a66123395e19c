#include "count/pmu/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "count/pmu/sysfs.h"

enum { TERMS_BYTES = 128, CPU_WORDS = 16, LIST_MAX = 4 };

static const struct nve_pmu_event *event_of(const struct nve_pmu_row *row, enum nve_pmu_role role,
					    bool smt)
{
	bool swap = smt && row->quirks & NVE_PMU_QUIRK_SMT_HALVES && row->smt_hit.name &&
		    row->smt_miss.name;

	if (swap && role == NVE_PMU_LLC_HIT)
		return &row->smt_hit;
	if (swap && role == NVE_PMU_MISS_LOCAL)
		return &row->smt_miss;
	if (swap && role == NVE_PMU_MISS_REMOTE)
		return NULL; /* of the events that the quirk is about */
	return row->roles[role].name ? &row->roles[role] : NULL;
}

static void add_role(struct nve_pmu_set *set, enum nve_pmu_role role, const struct nve_pmu_code *c,
		     const char *event)
{
	nve_format(set->event[set->count], sizeof(set->event[0]), "%s", event);
	set->role[set->count] = role;
	set->code[set->count++] = *c;
}

/* Adds the row's events for the roles; all of them, or as many as there are and have room. */
static int add_roles(struct nve_pmu_set *set, const struct nve_pmu_row *row, uint32_t roles,
		     const struct nve_pmu_machine *machine, uint32_t type)
{
	unsigned room = NVE_MIN(row->counters, (unsigned)NVE_PMU_GROUP_EVENTS);
	int missing = 0;

	for (int role = 0; role < NVE_PMU_ROLES; role++) {
		const struct nve_pmu_event *event = event_of(row, role, machine->smt);
		struct nve_pmu_code code;

		if (!(roles & 1u << role))
			continue;
		if (role == NVE_PMU_MISS_REMOTE && machine->nodes < 2)
			continue;
		if (!event || set->count == room) {
			missing = -ENOENT;
			continue;
		}
		code = nve_pmu_event_code(event, type);
		add_role(set, role, &code, event->name);
	}
	return missing;
}

static int make_set(const struct nve_pmu_machine *machine, const struct nve_pmu_kind *kind,
		    struct nve_pmu_set *set)
{
	enum nve_pmu_formula formula = kind->row->formula;
	uint32_t type;

	memset(set, 0, sizeof(*set));
	set->formula = formula;
	set->pmu = kind->pmu;
	if (formula == NVE_PMU_FORMULA_NONE)
		return -ENOENT;
	if (!kind->pmu || nve_pmu_sysfs_type(machine->sysfs, kind->pmu, &type))
		return -ENODEV;
	if (add_roles(set, kind->row, nve_pmu_formula_needs(formula), machine, type))
		return -ENOENT;
	/* Without the others the formula is an upper bound. */
	add_roles(set, kind->row, nve_pmu_formula_wants(formula), machine, type);
	return 0;
}

/* Splits text at the separator into at most LIST_MAX parts. */
static unsigned split(const char *text, char separator, char part[LIST_MAX][TERMS_BYTES])
{
	unsigned n = 0;

	for (; text && *text && n < LIST_MAX; n++) {
		size_t length = strcspn(text, (char[]){separator, '\0'});

		nve_format(part[n], TERMS_BYTES, "%.*s", (int)length, text);
		text += length;
		text += *text == separator;
	}
	return n;
}

struct box {
	struct nve_pmu_code code[LIST_MAX];
	unsigned count;
	const char *text; /* that they were encoded from */
};

typedef int encode_fn(const char *root, const char *pmu, const char *text,
		      struct nve_pmu_code *code);

static int encode_list(const char *root, const char *pmu, const char *text, char separator,
		       encode_fn *encode, struct box *box)
{
	char part[LIST_MAX][TERMS_BYTES];
	unsigned n = split(text, separator, part);
	int rc = n ? 0 : -ENOENT;

	box->text = text;
	for (box->count = 0; !rc && box->count < n; box->count++)
		rc = encode(root, pmu, part[box->count], &box->code[box->count]);
	return rc;
}

/* Published events are right on every machine; the row's own come second. Both of a pair are of the
 * same origin, so that they count the same boxes' traffic. */
static int encode_pair(const char *root, const char *pmu, const struct nve_pmu_uncore *u,
		       struct box pair[2])
{
	if (!encode_list(root, pmu, u->written_alias, ',', nve_pmu_sysfs_published, &pair[1]) &&
	    !encode_list(root, pmu, u->all_alias, ',', nve_pmu_sysfs_published, &pair[0]))
		return 0;
	if (!encode_list(root, pmu, u->written, ';', nve_pmu_sysfs_encode, &pair[1]) &&
	    !encode_list(root, pmu, u->all, ';', nve_pmu_sysfs_encode, &pair[0]))
		return 0;
	return -ENOENT;
}

static void add_on_cpu(struct nve_pmu_plan *plan, const struct box pair[2], int cpu)
{
	if (plan->boxes + pair[0].count + pair[1].count > NVE_PMU_BOX_EVENTS)
		return; /* the ratio of those that have room stands for all */
	for (int written = 0; written < 2; written++) {
		for (unsigned i = 0; i < pair[written].count; i++)
			plan->box[plan->boxes++] = (struct nve_pmu_box_event){pair[written].code[i],
									      cpu, written == 1};
	}
}

static void add_box(struct nve_pmu_plan *plan, const char *root, const char *pmu,
		    const struct nve_pmu_uncore *u)
{
	uint64_t mask[CPU_WORDS] = {0};
	struct box pair[2];

	if (encode_pair(root, pmu, u, pair) || nve_pmu_sysfs_cpus(root, pmu, mask, CPU_WORDS))
		return;
	for (int i = 0; i < 2 && !plan->boxes; i++)
		nve_format(plan->box_event[i], sizeof(plan->box_event[i]), "%s", pair[i].text);
	for (int cpu = 0; cpu < CPU_WORDS * 64; cpu++) {
		if (mask[cpu / 64] >> cpu % 64 & 1)
			add_on_cpu(plan, pair, cpu);
	}
}

static void find_boxes(struct nve_pmu_plan *plan, const char *root, const struct nve_pmu_row *row)
{
	static struct nve_pmu_names names;

	for (int i = 0; i < NVE_PMU_UNCORES && row->uncore[i].pmu && !plan->boxes; i++) {
		const struct nve_pmu_uncore *u = &row->uncore[i];

		if (nve_pmu_sysfs_list(root, u->pmu, &names))
			continue;
		for (size_t j = 0; j < names.count; j++)
			add_box(plan, root, names.names[j], u);
		plan->box_pmu = plan->boxes ? u->pmu : NULL;
		plan->box_meaning = u->meaning;
	}
}

/* Is there one for an event beside the set? One too many, and the kernel lets them take turns. */
static bool have_counter(const struct nve_pmu_machine *machine, const struct nve_pmu_row *row,
			 unsigned used)
{
	if (row->sampler != NVE_PMU_SAMPLER_PEBS)
		return true;
	return used < row->counters && !(machine->smt && row->quirks & NVE_PMU_QUIRK_SMT_HALVES);
}

/* Without it all else goes on. used: of the core's counters. */
static void find_loads(struct nve_pmu_plan *plan, const struct nve_pmu_machine *machine,
		       const struct nve_pmu_kind *kind, unsigned used)
{
	unsigned i = plan->loads;

	if (!kind->row->roles[NVE_PMU_LOADS].name || !have_counter(machine, kind->row, used) ||
	    nve_pmu_sampled_event(kind, NVE_PMU_LOADS, machine->sysfs, &plan->load[i]))
		return;
	plan->load_pmu[i] = nve_pmu_sampled_pmu(kind);
	nve_format(plan->load_event[i], sizeof(plan->load_event[i]), "%s",
		   kind->row->roles[NVE_PMU_LOADS].name);
	plan->loads++;
}

int nve_pmu_plan_make(const struct nve_pmu_machine *machine, struct nve_pmu_plan *plan)
{
	struct nve_pmu_kind kinds[NVE_PMU_KINDS];
	size_t n = nve_pmu_kinds_find(&machine->id, machine->sysfs, kinds);
	int rc = -ENOENT;

	memset(plan, 0, sizeof(*plan));
	nve_format(plan->cpu, sizeof(plan->cpu), "%s", n ? kinds[0].row->name : machine->id.name);
	for (size_t i = 0; i < n; i++) {
		int one = make_set(machine, &kinds[i], &plan->set[i]);

		rc = i && rc ? rc : one;
		find_loads(plan, machine, &kinds[i], one ? 0 : plan->set[i].count);
		plan->approximate |= (kinds[i].row->quirks & NVE_PMU_QUIRK_APPROXIMATE) != 0;
	}
	/* One kind of cores alone would leave the other's time without a figure. */
	plan->sets = rc ? 0 : (unsigned)n;
	if (n)
		find_boxes(plan, machine->sysfs, kinds[0].row);
	return rc;
}

static const struct {
	const char *name;
	int role; /* enum nve_pmu_role, or below */
} given_roles[] = {
	{"stall", NVE_PMU_STALL},     {"l2-hit", NVE_PMU_L2_HIT}, {"llc-hit", NVE_PMU_LLC_HIT},
	{"miss", NVE_PMU_MISS_LOCAL}, {"written", NVE_PMU_ROLES}, {"all", NVE_PMU_ROLES + 1},
	{"loads", NVE_PMU_LOADS},
};

static int find_role(const char *text, size_t length)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(given_roles); i++) {
		if (strlen(given_roles[i].name) == length &&
		    !memcmp(given_roles[i].name, text, length))
			return given_roles[i].role;
	}
	return -1;
}

static int add_given(struct nve_pmu_plan *plan, int role, const struct nve_pmu_code *code,
		     const char *event)
{
	struct nve_pmu_set *set = &plan->set[0];
	char *box_event = plan->box_event[role == NVE_PMU_ROLES];

	if (role >= NVE_PMU_ROLES) {
		if (plan->boxes == NVE_PMU_BOX_EVENTS)
			return -EINVAL;
		nve_format(box_event, sizeof(plan->box_event[0]), "%s", event);
		plan->box[plan->boxes++] =
			(struct nve_pmu_box_event){*code, 0, role == NVE_PMU_ROLES};
		return 0;
	}
	for (unsigned i = 0; i < set->count; i++) {
		if (set->role[i] == (enum nve_pmu_role)role)
			return -EINVAL;
	}
	add_role(set, role, code, event);
	return 0;
}

/* Cuts "@PERIOD" off an event. 0 or -EINVAL. */
static int take_period(char *event, uint64_t *period)
{
	char *at = strrchr(event, '@'), *end;

	*period = NVE_PMU_MISS_PERIOD;
	if (!at)
		return 0;
	*at++ = '\0';
	if (*at < '1' || *at > '9')
		return -EINVAL;
	errno = 0;
	*period = strtoull(at, &end, 10);
	/* The kernel takes 63 bits. */
	return errno || *end || *period > INT64_MAX ? -EINVAL : 0;
}

static int encode_given(const char *event, const struct nve_pfm *pfm, struct nve_pmu_code *code)
{
	int rc = nve_pmu_parse_code(event, code);

	return rc && pfm ? nve_pmu_pfm_encode(pfm, event, code) : rc;
}

static int add_given_loads(struct nve_pmu_plan *plan, char *event, const struct nve_pfm *pfm)
{
	struct nve_pmu_sampled *load = &plan->load[0];
	int rc = plan->loads ? -EINVAL : take_period(event, &load->period);

	if (!rc)
		rc = encode_given(event, pfm, &load->code);
	nve_format(plan->load_event[0], sizeof(plan->load_event[0]), "%s", event);
	plan->loads = !rc;
	return rc;
}

/* One "ROLE=EVENT" of the given length. */
static int parse_one(const char *text, size_t length, const struct nve_pfm *pfm,
		     struct nve_pmu_plan *plan)
{
	const char *equals = memchr(text, '=', length);
	struct nve_pmu_code code = {0};
	char event[TERMS_BYTES];
	int role, rc;

	if (!equals || length - (size_t)(equals - text) > sizeof(event))
		return -EINVAL;
	role = find_role(text, (size_t)(equals - text));
	if (role < 0)
		return -EINVAL;
	nve_format(event, sizeof(event), "%.*s", (int)(text + length - equals - 1), equals + 1);
	if (role == NVE_PMU_LOADS)
		return add_given_loads(plan, event, pfm);
	rc = encode_given(event, pfm, &code);
	return rc ? rc : add_given(plan, role, &code, event);
}

static bool has_role(const struct nve_pmu_set *set, enum nve_pmu_role role)
{
	for (unsigned i = 0; i < set->count; i++) {
		if (set->role[i] == role)
			return true;
	}
	return false;
}

/* Something there must be; hits and misses say nothing without stalls, nor hits without misses; and
 * one kind of socket-wide events alone is no ratio. */
static int check_given(struct nve_pmu_plan *plan)
{
	struct nve_pmu_set *set = &plan->set[0];
	bool miss = has_role(set, NVE_PMU_MISS_LOCAL);
	bool hit = has_role(set, NVE_PMU_LLC_HIT) || has_role(set, NVE_PMU_L2_HIT);
	unsigned written = 0;

	for (unsigned i = 0; i < plan->boxes; i++)
		written += plan->box[i].written;
	plan->sets = set->count > 0;
	if ((plan->sets && !has_role(set, NVE_PMU_STALL)) || (hit && !miss) ||
	    (plan->boxes && (!written || written == plan->boxes)) ||
	    !(plan->sets || plan->boxes || plan->loads))
		return -EINVAL;
	set->formula = has_role(set, NVE_PMU_L2_HIT) ? NVE_PMU_FORMULA_LOAD_RATIO
		       : miss                        ? NVE_PMU_FORMULA_L2_RATIO
						     : NVE_PMU_FORMULA_MEMORY_STALL;
	return 0;
}

int nve_pmu_plan_parse(const char *text, const struct nve_pfm *pfm, struct nve_pmu_plan *plan,
		       const char **bad)
{
	int rc = 0;

	memset(plan, 0, sizeof(*plan));
	nve_format(plan->cpu, sizeof(plan->cpu), "NVM_PMU_EVENTS");
	plan->given = true;
	for (*bad = text; !rc;) {
		size_t length = strcspn(*bad, ",");

		rc = parse_one(*bad, length, pfm, plan);
		if (rc || !(*bad)[length])
			break;
		*bad += length + 1;
	}
	if (rc)
		return rc;
	*bad = text;
	plan->box_pmu = plan->boxes ? "NVM_PMU_EVENTS" : NULL;
	plan->box_meaning = "as given";
	return check_given(plan);
}

/* FNV-1a over the events of all groups. */
uint64_t nve_pmu_plan_hash(const struct nve_pmu_plan *plan)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < plan->sets; i++) {
		const struct nve_pmu_set *set = &plan->set[i];

		hash = (hash ^ set->formula) * UINT64_C(0x100000001b3);
		for (unsigned j = 0; j < set->count; j++) {
			const uint64_t words[] = {set->role[j], set->code[j].type,
						  set->code[j].config[0], set->code[j].config[1]};

			for (size_t k = 0; k < NVE_ARRAY_SIZE(words); k++)
				hash = (hash ^ words[k]) * UINT64_C(0x100000001b3);
		}
	}
	return hash ? hash : 1;
}
