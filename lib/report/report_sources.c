#include "report/sections.h"

enum reason_part { HOW, WHY, MEND };

/* One text of each quantity; empty where there is nothing to be told. */
static void put_texts(struct nve_json *j, const char *key, const struct nve_sources *s,
		      enum reason_part part)
{
	nve_json_object(j, key);
	for (int q = 0; q < NVE_QUANTITIES; q++) {
		const struct nve_source *source = &s->of[q];
		const char *name = nve_quantity_key((enum nve_quantity)q);

		if (part == HOW)
			nve_json_field(j, name, source->how, sizeof(source->how));
		else if (part == WHY)
			nve_json_field(j, name, source->no_better.why,
				       sizeof(source->no_better.why));
		else
			nve_json_field(j, name, source->no_better.mend,
				       sizeof(source->no_better.mend));
	}
	nve_json_close(j);
}

void nve_report_sources(struct nve_json *j, const struct nve_snapshot *s)
{
	nve_json_object(j, "sources");
	for (int q = 0; q < NVE_QUANTITIES; q++)
		nve_json_string(j, nve_quantity_key((enum nve_quantity)q), s->sources.of[q].name);
	nve_json_string(j, "timer", s->timer_source);
	nve_json_string(j, "counter_events", s->counter_events);
	put_texts(j, "how", &s->sources, HOW);
	put_texts(j, "why_not_better", &s->sources, WHY);
	put_texts(j, "mend", &s->sources, MEND);
	nve_json_object(j, "socket_wide");
	nve_json_uint(j, "reads", s->uncore_reads);
	nve_json_uint(j, "clamps", s->uncore_clamps);
	nve_json_uint(j, "failures", s->uncore_failures);
	nve_json_close(j);
	nve_json_close(j);
}
