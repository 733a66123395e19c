#include "count/pmu/trial.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "count/pmu/sampled.h"
#include "count/pmu/sysfs.h"

enum {
	CPU_WORDS = 64,
	TERMS_BYTES = 256,
};

struct world {
	const struct nve_perf *perf;
	const char *root;
	struct nve_pmu_trial *trials;
	size_t count;
};

static void try_attr(const struct nve_perf *perf, const struct perf_event_attr *attr, int tid,
		     int cpu, struct nve_pmu_trial *trial)
{
	int fd = perf->open(perf->world, attr, tid, cpu, -1);

	trial->error = fd < 0 ? fd : 0;
	if (fd >= 0)
		perf->close(perf->world, fd);
}

static bool is_sampled(enum nve_pmu_role role)
{
	return role == NVE_PMU_LOADS || role == NVE_PMU_STORES;
}

/* The attr, and the code in it. -ENODEV: the kernel has no PMU for it. */
static int make_attr(const struct world *w, const struct nve_pmu_kind *kind, enum nve_pmu_role role,
		     struct nve_pmu_code *code, struct perf_event_attr *attr)
{
	struct nve_pmu_sampled sampled;
	uint32_t type = PERF_TYPE_RAW;
	int rc = 0;

	if (is_sampled(role)) {
		rc = nve_pmu_sampled_event(kind, role, w->root, &sampled);
		*code = sampled.code;
		nve_pmu_attr_sampled(&sampled, attr);
		return rc;
	}
	if (kind->pmu)
		rc = nve_pmu_sysfs_type(w->root, kind->pmu, &type);
	*code = nve_pmu_event_code(&kind->row->roles[role], type);
	nve_pmu_attr_thread(code, attr);
	return rc == -ENOENT ? -ENODEV : rc;
}

static void try_role(struct world *w, const struct nve_pmu_kind *kind, enum nve_pmu_role role)
{
	const struct nve_pmu_event *event = &kind->row->roles[role];
	const char *pmu = is_sampled(role) ? nve_pmu_sampled_pmu(kind) : kind->pmu;
	bool is_core = pmu == kind->pmu;
	struct nve_pmu_trial *trial;
	struct perf_event_attr attr;

	if (!event->name)
		return;
	trial = &w->trials[w->count++];
	*trial = (struct nve_pmu_trial){
		.pmu = pmu ? pmu : "raw",
		.what = nve_pmu_role_name(role),
		.event = event->name,
	};
	trial->error = make_attr(w, kind, role, &trial->code, &attr);
	if (trial->error && !is_core)
		return;
	try_attr(w->perf, &attr, 0, -1, trial);
}

/* The first of a list. */
static void cut(const char *list, char separator, char *first, size_t size)
{
	const char *end = strchr(list, separator);

	nve_format(first, size, "%.*s", (int)(end ? (size_t)(end - list) : strlen(list)), list);
}

/* alias and terms: lists of which the first stands for all. */
static int encode(const struct world *w, const char *box, const char *alias, const char *terms,
		  struct nve_pmu_trial *trial)
{
	char first[TERMS_BYTES];
	int rc = -ENOENT;

	if (alias) {
		cut(alias, ',', first, sizeof(first));
		rc = nve_pmu_sysfs_published(w->root, box, first, &trial->code);
		trial->event = alias;
	}
	if (rc && terms) {
		cut(terms, ';', first, sizeof(first));
		rc = nve_pmu_sysfs_encode(w->root, box, first, &trial->code);
		trial->event = terms;
	}
	return rc;
}

static int first_cpu(const char *root, const char *box)
{
	uint64_t mask[CPU_WORDS] = {0};

	if (nve_pmu_sysfs_cpus(root, box, mask, CPU_WORDS))
		return 0;
	for (int i = 0; i < CPU_WORDS; i++)
		if (mask[i])
			return i * 64 + __builtin_ctzll(mask[i]);
	return 0;
}

static void try_box(struct world *w, const struct nve_pmu_uncore *u, const char *box, bool written)
{
	const char *alias = written ? u->written_alias : u->all_alias;
	const char *terms = written ? u->written : u->all;
	struct nve_pmu_trial *trial = &w->trials[w->count];
	struct perf_event_attr attr;

	if (!alias && !terms)
		return;
	w->count++;
	*trial = (struct nve_pmu_trial){
		.pmu = u->pmu,
		.what = written ? "lines written" : "lines read",
	};
	trial->error = encode(w, box, alias, terms, trial);
	if (trial->error)
		return;
	nve_pmu_attr_uncore(&trial->code, &attr);
	try_attr(w->perf, &attr, -1, first_cpu(w->root, box), trial);
}

static void try_uncore(struct world *w, const struct nve_pmu_uncore *u)
{
	struct nve_pmu_names boxes;

	if (nve_pmu_sysfs_list(w->root, u->pmu, &boxes) || !boxes.count)
		return;
	try_box(w, u, boxes.names[0], true);
	try_box(w, u, boxes.names[0], false);
}

size_t nve_pmu_try(const struct nve_perf *perf, const struct nve_pmu_kind *kinds, size_t count,
		   const char *root, struct nve_pmu_trial trials[NVE_PMU_TRIALS])
{
	struct world w = {.perf = perf, .root = root, .trials = trials};

	for (size_t i = 0; i < count; i++)
		for (int role = 0; role < NVE_PMU_ROLES; role++)
			try_role(&w, &kinds[i], (enum nve_pmu_role)role);
	/* the package's, which both kinds of cores share */
	for (int i = 0; count && i < NVE_PMU_UNCORES && kinds[0].row->uncore[i].pmu; i++)
		try_uncore(&w, &kinds[0].row->uncore[i]);
	return w.count;
}
