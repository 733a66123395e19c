#include "report/read_placement.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/fields.h"

enum { PATH_BYTES = 64 };

/* Of one process. */
struct section {
	const char *file;
	uint64_t ambiguous_sites, bound_bytes, bind_failures;
};

/* clang-format off */
static const struct nve_field section_fields[] = {
	{"file", offsetof(struct section, file), NVE_FIELD_TEXT, false},
	{"ambiguous_sites", offsetof(struct section, ambiguous_sites), NVE_FIELD_UINT, false},
	{"bound_bytes", offsetof(struct section, bound_bytes), NVE_FIELD_UINT, true},
	{"bind_failures", offsetof(struct section, bind_failures), NVE_FIELD_UINT, true},
	{.path = NULL},
};

static const struct nve_field totals_fields[] = {
	{"read.nvm_accesses", offsetof(struct nve_view_placement, nvm_reads), NVE_FIELD_UINT, false},
	{"write.nvm_accesses", offsetof(struct nve_view_placement, nvm_writes), NVE_FIELD_UINT, false},
	{.path = NULL},
};

static const struct nve_field line_fields[] = {
	{"sites", 0, NVE_FIELD_UINT, false},
	{.path = NULL},
};
/* clang-format on */

struct reading {
	struct nve_view_placement *to;
	uint64_t *met; /* sites by line of the file */
};

static int read_lines(struct reading *r, const json_t *list, const struct nve_view_process *p,
		      struct nve_read_message *why)
{
	char path[PATH_BYTES];
	const struct nve_field_place place = {.file = p->file, .path = path, .why = why};
	size_t i, count = json_array_size(list);
	const json_t *line;
	int err = 0;

	if (count > r->to->lines) {
		uint64_t *met = realloc(r->met, count * sizeof(met[0]));

		if (!met) {
			snprintf(why->text, sizeof(why->text), "%s: no memory", p->file);
			return -ENOMEM;
		}
		memset(met + r->to->lines, 0, (count - r->to->lines) * sizeof(met[0]));
		r->met = met;
		r->to->lines = count;
	}
	json_array_foreach(list, i, line)
	{
		uint64_t sites = 0;

		snprintf(path, sizeof(path), "placement.lines[%zu].", i);
		if (!err)
			err = nve_fields_read(line, line_fields, &sites, &place);
		r->met[i] += sites;
	}
	return err;
}

static int read_process(struct reading *r, const struct nve_view_process *p,
			struct nve_read_message *why)
{
	const struct nve_field_place place = {.file = p->file, .path = "placement.", .why = why};
	const struct nve_field_place of_totals = {
		.file = p->file, .path = "totals.placement.", .why = why};
	const json_t *object = json_object_get(p->document, "placement");
	const json_t *node = json_object_get(object, "bound_to_node");
	struct nve_view_placement *to = r->to, parts = {0};
	struct section section = {0};
	int err;

	if (!json_is_object(object))
		return 0;
	err = nve_fields_read(object, section_fields, &section, &place);
	if (!err)
		err = nve_fields_read(nve_fields_find(p->document, "totals.placement"),
				      totals_fields, &parts, &of_totals);
	if (err)
		return err;
	if (!to->processes++)
		to->file = section.file;
	if (json_is_integer(node))
		to->node = (int)json_integer_value(node);
	to->ambiguous_sites += section.ambiguous_sites;
	to->bound_bytes += section.bound_bytes;
	to->bind_failures += section.bind_failures;
	to->reads += p->totals.ma_ro;
	to->writes += p->totals.ma_wb;
	to->nvm_reads += parts.nvm_reads;
	to->nvm_writes += parts.nvm_writes;
	return read_lines(r, json_object_get(object, "lines"), p, why);
}

int nve_view_read_placement(const struct nve_view *view, struct nve_view_placement *placement,
			    struct nve_read_message *why)
{
	struct reading r = {.to = placement};
	int err = 0;

	*placement = (struct nve_view_placement){.node = -1};
	for (size_t i = 0; i < view->count && !err; i++)
		err = read_process(&r, &view->processes[i], why);
	for (size_t i = 0; i < placement->lines && !err; i++)
		placement->unmatched += !r.met[i];
	free(r.met);
	return err;
}
