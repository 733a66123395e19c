#include "report/traffic.h"

static void put_gb_per_s(struct nve_json *j, const char *key, uint64_t bytes_per_s)
{
	nve_json_decimal(j, key, (int64_t)(bytes_per_s / 1000000), 3);
}

void nve_report_machine_bandwidth(struct nve_json *j, const struct nve_traffic_machine *m)
{
	if (!m->read) {
		nve_json_null(j, "bandwidth");
		return;
	}
	nve_json_object(j, "bandwidth");
	put_gb_per_s(j, "thread_read_gb_per_s", m->read);
	put_gb_per_s(j, "thread_write_gb_per_s", m->write);
	put_gb_per_s(j, "all_read_gb_per_s", m->all_read);
	put_gb_per_s(j, "all_write_gb_per_s", m->all_write);
	nve_json_close(j);
}

void nve_report_traffic(struct nve_json *j, const struct nve_traffic_totals *t)
{
	nve_json_object(j, "traffic");
	nve_json_uint(j, "read_bytes", t->read_bytes);
	nve_json_uint(j, "read_bytes_se", t->read_se_bytes);
	nve_json_uint(j, "written_bytes", t->written_bytes);
	nve_json_uint(j, "written_bytes_se", t->written_se_bytes);
	nve_json_uint(j, "delay_bandwidth_ns", t->delay_ns);
	nve_json_object(j, "cpu_ns");
	nve_json_uint(j, "by_registers", t->ns[NVE_STREAM_BY_REGISTERS]);
	nve_json_uint(j, "by_rate", t->ns[NVE_STREAM_BY_RATE]);
	nve_json_uint(j, "by_model", t->ns[NVE_STREAM_BY_MODEL]);
	nve_json_uint(j, "unknown", t->unknown_ns);
	nve_json_close(j);
	nve_json_close(j);
}
