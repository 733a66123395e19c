#include "report/read_traffic.h"

#include <string.h>

const char *nve_view_traffic_source(const struct nve_view_process *p)
{
	const char *source = p->sources.of[NVE_QUANTITY_TRAFFIC].name;

	return source && strcmp(source, "none") ? source : "";
}

const char *nve_view_traffic_of_all(const struct nve_view *v)
{
	for (size_t i = 0; i < v->count; i++) {
		if (*nve_view_traffic_source(&v->processes[i]))
			return nve_view_traffic_source(&v->processes[i]);
	}
	return "";
}

const char *nve_view_traffic_limit(const struct nve_view_process *p, bool writes)
{
	const char *name = writes ? "NVM_WBW" : "NVM_RBW";

	for (size_t i = 0; i < p->setting_count; i++) {
		if (!strcmp(p->settings[i].name, name))
			return p->settings[i].value;
	}
	return "no limit";
}

static void fill(struct nve_view_traffic *out, const struct nve_traffic_totals *t, uint64_t ns)
{
	double seconds = (double)ns / 1e9;

	out->read_gb = (double)t->read_bytes / 1e9;
	out->written_gb = (double)t->written_bytes / 1e9;
	out->read_gb_per_s = ns ? out->read_gb / seconds : 0;
	out->written_gb_per_s = ns ? out->written_gb / seconds : 0;
	out->delay_s = (double)t->delay_ns / 1e9;
}

void nve_view_traffic_sum(const struct nve_view *v, uint64_t run_ns, struct nve_view_traffic *out)
{
	fill(out, &v->totals.traffic, run_ns);
}

void nve_view_traffic_thread(const struct nve_view_thread *t, struct nve_view_traffic *out)
{
	fill(out, &t->totals.traffic, t->totals.cpu_ns + t->totals.delay_paid_ns);
}
