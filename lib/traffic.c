#include "traffic.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "count/ahead/ahead.h"
#include "count/throughput.h"
#include "emu/bandwidth.h"
#include "presets.h"

/* For the error of a figure that was taken while others used the machine. */
enum { MARGIN_PERCENT = 10 };

static const char *source = "none", *how = "";

static const char by_look_ahead[] =
	"the lines that the same windows bring in and write back, 64 bytes each";
static const char no_counters[] = "counters are read once an epoch by a monitor; a device is "
				  "served in the thread, at its ticks";
static const char unlimited[] = "no bandwidth is emulated: NVM_RBW and NVM_WBW set no limit";

static bool is_known(const struct nve_calibration *c)
{
	return c->read_bytes_per_s != 0;
}

static int measure(struct nve_calibration *c, struct nve_calstore *store)
{
	struct nve_throughput t;
	int rc = nve_throughput_measure(c->llc_bytes, &t);

	if (rc)
		return rc;
	c->read_bytes_per_s = t.read;
	c->write_bytes_per_s = t.write;
	c->all_read_bytes_per_s = t.all_read;
	c->all_write_bytes_per_s = t.all_write;
	rc = nve_calstore_save(store, c);
	if (rc)
		nve_log(NVE_LOG_INFO, "bandwidth of this machine not kept: %s", strerror(-rc));
	return 0;
}

/* Of many processes that start at once one measures. */
static int load(struct nve_calibration *c, struct nve_calstore *store)
{
	struct nve_calibration kept;
	const char *reason;
	int rc = 0;

	if (is_known(c))
		return 0;
	nve_calstore_lock(store);
	if (!nve_calstore_load(store, &kept, &reason) && is_known(&kept)) {
		c->read_bytes_per_s = kept.read_bytes_per_s;
		c->write_bytes_per_s = kept.write_bytes_per_s;
		c->all_read_bytes_per_s = kept.all_read_bytes_per_s;
		c->all_write_bytes_per_s = kept.all_write_bytes_per_s;
	} else {
		rc = measure(c, store);
	}
	nve_calstore_unlock(store);
	return rc;
}

static int check(const struct nve_options *o, const struct nve_calibration *c, char *why,
		 size_t size)
{
	struct nve_options_message error;
	uint64_t read = c->all_read_bytes_per_s, write = c->all_write_bytes_per_s;
	int rc = nve_options_check_bandwidth(o, read + read * MARGIN_PERCENT / 100,
					     write + write * MARGIN_PERCENT / 100, &error);

	if (rc)
		nve_format(why, size, "%s", error.text);
	return rc;
}

static int prepare(const struct nve_options *o, struct nve_calibration *c,
		   struct nve_calstore *store, char *why, size_t size)
{
	int rc;

	if (nve_ahead_why_not()) {
		nve_format(why, size, "no bandwidth to be emulated: %s", nve_ahead_why_not());
		return -ENOTSUP;
	}
	rc = load(c, store);
	if (rc) {
		nve_format(why, size, "this machine's bandwidth could not be measured: %s",
			   strerror(-rc));
		return rc;
	}
	return check(o, c, why, size);
}

static void begin(const struct nve_options *o, const char *name, const char *how_it_counts)
{
	source = name;
	how = how_it_counts;
	nve_bandwidth_setup(o->rbw_bytes_per_s, o->wbw_bytes_per_s);
}

int nve_traffic_start(struct nve_options *o, struct nve_calibration *c, struct nve_calstore *store,
		      char *why, size_t size)
{
	bool is_set = o->rbw_bytes_per_s || o->wbw_bytes_per_s;
	int rc;

	if (!is_set && !nve_presets_have_bandwidth(o))
		return 0;
	rc = prepare(o, c, store, why, size);
	if (rc && is_set)
		return rc;
	if (rc) {
		nve_log(NVE_LOG_WARN, "NVM_DEVICE: latencies alone: %s", why);
		why[0] = '\0';
		return 0;
	}
	nve_presets_apply_bandwidth(o, c->all_read_bytes_per_s, c->all_write_bytes_per_s);
	if (!o->rbw_bytes_per_s && !o->wbw_bytes_per_s)
		return 0;
	nve_ahead_count_traffic(c->read_bytes_per_s + c->write_bytes_per_s);
	begin(o, "look-ahead", by_look_ahead);
	return 0;
}

void nve_traffic_replay(struct nve_options *o)
{
	nve_presets_apply_bandwidth(o, 0, 0);
	if (o->rbw_bytes_per_s || o->wbw_bytes_per_s)
		begin(o, "replay", "the epochs of the record");
}

void nve_traffic_tell(struct nve_source *s)
{
	nve_source_set(s, source, how);
	if (!strcmp(source, "none"))
		nve_reason_set(&s->no_better, unlimited, "");
	else if (how == by_look_ahead)
		nve_reason_set(&s->no_better, no_counters, "");
}

void nve_traffic_foretell(const struct nve_options *o, const char *no_ahead, struct nve_source *s)
{
	bool is_set = o->rbw_bytes_per_s || o->wbw_bytes_per_s || nve_presets_have_bandwidth(o);

	nve_source_set(s, "none", "");
	if (is_set && !no_ahead)
		nve_source_set(s, "look-ahead", by_look_ahead);
	nve_reason_set(&s->no_better, !is_set ? unlimited : no_ahead ? no_ahead : no_counters, "");
}
