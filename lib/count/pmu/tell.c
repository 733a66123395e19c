#include "count/pmu/tell.h"

#include <stdarg.h>

#include "base/base.h"
#include "base/log.h"

struct text {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = nve_vformat(t->buf + t->used, t->size - t->used, format, args);
	va_end(args);
	t->used = NVE_MIN(t->used + (size_t)NVE_MAX(length, 0), t->size - 1);
}

static void put_code(struct text *t, const struct nve_pmu_code *code)
{
	put(t, " %u/0x%llx", code->type, (unsigned long long)code->config[0]);
	if (code->config[1] || code->config[2])
		put(t, "/0x%llx", (unsigned long long)code->config[1]);
	if (code->config[2])
		put(t, "/0x%llx", (unsigned long long)code->config[2]);
}

static void put_set(struct text *t, const struct nve_pmu_set *set)
{
	if (set->pmu)
		put(t, "%s: ", set->pmu);
	for (unsigned i = 0; i < set->count; i++) {
		put(t, "%s%s %s", i ? ", " : "", nve_pmu_role_name(set->role[i]), set->event[i]);
		put_code(t, &set->code[i]);
	}
	put(t, "; %s", nve_pmu_formula_text(set->formula));
}

void nve_pmu_tell_stall(const struct nve_pmu_plan *plan, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	put(&t,
	    "one group of events for each thread, of user space, which one system call an epoch "
	    "reads in a monitor that comes to the thread's core; ");
	for (unsigned i = 0; i < plan->sets; i++) {
		put(&t, "%s", i ? "; " : "");
		put_set(&t, &plan->set[i]);
	}
}

/* CPUs are few and come one behind the other: each stands for a socket, or for what has a PMU of
 * its own. */
static unsigned count_cpus(const struct nve_pmu_plan *plan)
{
	unsigned count = 0;

	for (unsigned i = 0; i < plan->boxes; i++) {
		bool seen = false;

		for (unsigned j = 0; j < i && !seen; j++)
			seen = plan->box[j].cpu == plan->box[i].cpu;
		count += !seen;
	}
	return count;
}

static const struct nve_pmu_box_event *first_box(const struct nve_pmu_plan *plan, bool written)
{
	for (unsigned i = 0; i < plan->boxes; i++)
		if (plan->box[i].written == written)
			return &plan->box[i];
	return NULL;
}

void nve_pmu_tell_boxes(const struct nve_pmu_plan *plan, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	put(&t,
	    "%u events of %s on %u CPU%s, for all that runs there, which one monitor of the "
	    "process reads once an epoch, one system call each; ",
	    plan->boxes, plan->box_pmu, count_cpus(plan), count_cpus(plan) == 1 ? "" : "s");
	for (int written = 1; written >= 0; written--) {
		const struct nve_pmu_box_event *box = first_box(plan, written);

		put(&t, "%s %s", written ? "written" : ", over all", plan->box_event[written]);
		if (box)
			put_code(&t, &box->code);
	}
	put(&t, "; %s", plan->box_meaning);
}

void nve_pmu_tell_loads(const struct nve_pmu_plan *plan, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	put(&t, "%s for each thread, read by the thread itself; ",
	    plan->load[0].packets ? "packets in a buffer" : "records in a ring");
	for (unsigned i = 0; i < plan->loads; i++) {
		put(&t, "%s%s%s%s", i ? "; " : "", plan->load_pmu[i] ? plan->load_pmu[i] : "",
		    plan->load_pmu[i] ? ": " : "", plan->load_event[i]);
		put_code(&t, &plan->load[i].code);
		put(&t, " every %llu %s", (unsigned long long)plan->load[i].period,
		    plan->load[i].whole || plan->load[i].packets ? "operations" : "times");
	}
	if (plan->load[0].all_sources)
		put(&t, "; of these, loads that memory has served");
}
