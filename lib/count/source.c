#include "count/source.h"

#include "base/log.h"

static const struct {
	const char *key, *label;
} names[NVE_QUANTITIES] = {
	[NVE_QUANTITY_STALL] = {"stall_time", "stall time"},
	[NVE_QUANTITY_DIRTY] = {"dirty_fraction", "dirty fraction"},
	[NVE_QUANTITY_LATENCY] = {"latency", "latency"},
	[NVE_QUANTITY_ADDRESSES] = {"addresses", "addresses"},
	[NVE_QUANTITY_TRAFFIC] = {"traffic", "traffic"},
};

const char *nve_quantity_key(enum nve_quantity quantity)
{
	return names[quantity].key;
}

const char *nve_quantity_label(enum nve_quantity quantity)
{
	return names[quantity].label;
}

void nve_source_set(struct nve_source *source, const char *name, const char *how)
{
	source->name = name;
	nve_format(source->how, sizeof(source->how), "%s", how);
	nve_reason_set(&source->no_better, "", "");
}

void nve_reason_set(struct nve_reason *reason, const char *why, const char *mend)
{
	nve_format(reason->why, sizeof(reason->why), "%s", why);
	nve_format(reason->mend, sizeof(reason->mend), "%s", mend);
}

void nve_reason_join(const struct nve_reason *reason, char *buf, size_t size)
{
	nve_format(buf, size, "%s%s%s", reason->why, reason->mend[0] ? "; " : "", reason->mend);
}
