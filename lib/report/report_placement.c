#include "report/placement.h"

static const char *const kind_keys[] = {"read", "write"};
static const char *const tier_keys[] = {"nvm", "dram"};
static const char *const origin_keys[] = {"by_epoch", "by_thread", "by_process", "by_default"};

static const char *tier_name(bool dram)
{
	return tier_keys[dram];
}

void nve_report_placed(struct nve_json *j, const struct nve_placed_totals *t, uint64_t ma_ro,
		       uint64_t ma_wb)
{
	const uint64_t all[] = {ma_ro, ma_wb};

	nve_json_object(j, "placement");
	for (int k = 0; k < NVE_PLACED_KINDS; k++) {
		uint64_t ppm = 0;

		if (all[k])
			ppm = (uint64_t)((unsigned __int128)t->nvm_ma[k] * 1000000 / all[k]);
		nve_json_object(j, kind_keys[k]);
		nve_json_uint(j, "nvm_accesses", t->nvm_ma[k]);
		nve_json_decimal(j, "nvm_share", (int64_t)ppm, 6);
		nve_json_decimal(j, "nvm_share_se", t->se_ppm[k], 6);
		nve_json_object(j, "misses_seen");
		for (int i = 0; i < NVE_PLACED_TIERS; i++)
			nve_json_uint(j, tier_keys[i], t->misses[k][i]);
		nve_json_close(j);
		nve_json_object(j, "epochs");
		for (int i = 0; i < NVE_PLACED_ORIGINS; i++)
			nve_json_uint(j, origin_keys[i], t->epochs[k][i]);
		nve_json_close(j);
		nve_json_close(j);
	}
	nve_json_close(j);
}

static void write_line(struct nve_json *j, const struct nve_placed_line *line)
{
	nve_json_object(j, NULL);
	nve_json_uint(j, "line", line->number);
	nve_json_field(j, "text", line->text, line->text_length);
	nve_json_string(j, "tier", tier_name(line->dram));
	nve_json_uint(j, "sites", line->sites);
	nve_json_uint(j, "ambiguous_sites", line->ambiguous);
	if (line->other)
		nve_json_uint(j, "ambiguous_with_line", line->other);
	if (line->has_source)
		nve_json_uint(j, "code_ranges", line->ranges);
	nve_json_close(j);
}

void nve_report_placement(struct nve_json *j, const struct nve_placement_snapshot *s)
{
	if (!s->on)
		return;
	nve_json_object(j, "placement");
	nve_json_string(j, "file", s->file);
	if (s->bind >= 0) {
		nve_json_decimal(j, "bound_to_node", s->bind, 0);
		nve_json_uint(j, "bound_bytes", s->bound_bytes);
		nve_json_uint(j, "bind_failures", s->bind_failures);
	}
	nve_json_object(j, "memory");
	for (int i = 0; i < NVE_PLACED_MEMORY; i++)
		nve_json_string(j, s->memory[i].name, tier_name(s->memory[i].dram));
	nve_json_close(j);
	nve_json_uint(j, "sites_without_line", s->sites);
	nve_json_uint(j, "sites_of_nvmemu_malloc", s->marked);
	nve_json_uint(j, "unmatched_lines", s->unmatched);
	nve_json_uint(j, "ambiguous_sites", s->ambiguous);
	if (s->source_lines) {
		nve_json_uint(j, "modules", s->modules);
		nve_json_uint(j, "modules_with_source_lines", s->modules_with_lines);
	}
	nve_json_array(j, "lines");
	for (size_t i = 0; i < s->line_count; i++)
		write_line(j, &s->line[i]);
	nve_json_close(j);
	nve_json_close(j);
}
