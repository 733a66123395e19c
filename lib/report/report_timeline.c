#include "report/sections.h"

static const char *const keys[NVE_TIMELINE_QUANTITIES] = {
	[NVE_TIMELINE_CPU_NS] = "cpu_ns",
	[NVE_TIMELINE_STALL_NS] = "stall_ns",
	[NVE_TIMELINE_STALL_WB_NS] = "stall_wb_ns",
	[NVE_TIMELINE_MA_RO] = "ma_ro",
	[NVE_TIMELINE_MA_WB] = "ma_wb",
	[NVE_TIMELINE_OWED_NS] = "delay_owed_ns",
	[NVE_TIMELINE_PAID_NS] = "delay_paid_ns",
};

const char *nve_report_timeline_key(enum nve_timeline_quantity quantity)
{
	return keys[quantity];
}

static void write_buckets(struct nve_json *j, const struct nve_timeline *t, uint32_t used)
{
	for (int q = 0; q < NVE_TIMELINE_QUANTITIES; q++)
		nve_json_uints(j, keys[q], &t->bucket[0][q], used, NVE_TIMELINE_QUANTITIES);
}

void nve_report_timeline(struct nve_json *j, const struct nve_timeline_snapshot *s)
{
	if (!s->total) {
		nve_json_null(j, "timeline");
		return;
	}
	nve_json_object(j, "timeline");
	nve_json_uint(j, "bucket_ns", s->total->width_ns);
	nve_json_uint(j, "buckets", s->total->used);
	nve_json_object(j, "total");
	write_buckets(j, s->total, s->total->used);
	nve_json_close(j);
	nve_json_array(j, "threads");
	for (size_t i = 0; i < s->thread_count; i++) {
		nve_json_object(j, NULL);
		nve_json_decimal(j, "tid", s->threads[i].tid, 0);
		nve_json_field(j, "name", s->threads[i].name, sizeof(s->threads[i].name));
		write_buckets(j, &s->threads[i].timeline, s->total->used);
		nve_json_close(j);
	}
	nve_json_close(j);
	nve_json_uint(j, "rest_threads", s->rest_threads);
	nve_json_object(j, "rest");
	write_buckets(j, s->rest, s->total->used);
	nve_json_close(j);
	nve_json_close(j);
}
