#include "report/read.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/options.h"
#include "report/fields.h"
#include "report/report.h"
#include "report/run.h"

enum { PLACE_BYTES = 64, MOST_SETTINGS = 4096 };

static const size_t most_bytes = (size_t)1 << 29; /* a report of 10,000 sites has some MB */

static int say(struct nve_read_message *why, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int say(struct nve_read_message *why, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return error;
}

void nve_view_start(struct nve_view *view)
{
	memset(view, 0, sizeof(*view));
}

static void free_process(struct nve_view_process *p)
{
	free(p->settings);
	free(p->threads);
}

void nve_view_free(struct nve_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		free_process(&view->processes[i]);
	for (size_t i = 0; i < view->document_count; i++)
		json_decref(view->documents[i]);
	free(view->processes);
	free(view->documents);
	nve_view_start(view);
}

/* The ratio is all that the document tells; as times it can be summed up like the others. */
static void read_running_share(const json_t *totals, struct nve_totals *t)
{
	const json_t *share = nve_fields_find(totals, "counters.running_share");
	double ratio = json_is_number(share) ? json_number_value(share) : 1;

	if (!(ratio >= 0 && ratio <= 1))
		ratio = 1;
	t->counters.reads.enabled_ns = t->counters.reads.reads * 1000000;
	t->counters.reads.running_ns =
		(uint64_t)((double)t->counters.reads.enabled_ns * ratio + 0.5);
}

static int read_totals(const json_t *object, struct nve_totals *t,
		       const struct nve_field_place *place)
{
	int err = nve_fields_read(object, nve_fields_totals, t, place);

	if (!err)
		read_running_share(object, t);
	/* Where nothing is placed, all is on NVM. */
	if (!err && !nve_fields_find(object, "placement")) {
		t->placed.nvm_ma[NVE_PLACED_READ] = t->ma_ro;
		t->placed.nvm_ma[NVE_PLACED_WRITE] = t->ma_wb;
	}
	return err;
}

static int read_threads(const json_t *document, struct nve_view_process *p,
			struct nve_read_message *why)
{
	const json_t *list = json_object_get(document, "threads"), *object;
	size_t i, count = json_array_size(list);
	char text[PLACE_BYTES];
	const struct nve_field_place place = {.file = p->file, .path = text, .why = why};
	int err = 0;

	if (!json_is_array(list))
		return say(why, -EINVAL, "%s: no whole report: threads: missing", p->file);
	p->threads = calloc(count + 1, sizeof(p->threads[0]));
	if (!p->threads)
		return say(why, -ENOMEM, "%s: no memory", p->file);
	p->thread_count = count;
	json_array_foreach(list, i, object)
	{
		struct nve_view_thread *t = &p->threads[i];

		snprintf(text, sizeof(text), "threads[%zu].", i);
		if (!err)
			err = nve_fields_read(object, nve_fields_thread, t, &place);
		if (!err)
			err = nve_fields_read(object, nve_fields_replay, &t->totals, &place);
		if (!err)
			err = read_totals(object, &t->totals, &place);
	}
	return err;
}

bool nve_view_is_default(const struct nve_view_setting *setting)
{
	const struct nve_option_row *row;

	for (size_t i = 0; (row = nve_options_row(i)); i++)
		if (!strcmp(row->name, setting->name))
			return !strcmp(row->fallback, setting->value);
	return false;
}

/* The latencies and the model by the one table of variables; what it does not take is not set. */
static void read_latencies(struct nve_view_process *p)
{
	static const char *const names[] = {"NVM_RLAT", "NVM_WLAT", "NVM_MODEL"};
	char texts[NVE_ARRAY_SIZE(names)][PLACE_BYTES], *environment[NVE_ARRAY_SIZE(names) + 1];
	struct nve_options_message error, warning;
	struct nve_options o;
	size_t n = 0;

	for (size_t i = 0; i < NVE_ARRAY_SIZE(names); i++) {
		const struct nve_view_setting set = {names[i], nve_view_setting(p, names[i])};

		if (!set.value || nve_view_is_default(&set))
			continue;
		snprintf(texts[n], sizeof(texts[n]), "%s=%s", set.name, set.value);
		environment[n] = texts[n];
		n++;
	}
	environment[n] = NULL;
	if (nve_options_parse(&o, environment, &error, &warning))
		return;
	p->rlat_ps = o.rlat_ps;
	p->wlat_ps = o.wlat_ps;
	p->symmetric = o.model == NVE_MODEL_SYMMETRIC;
}

static int read_settings(const json_t *document, struct nve_view_process *p,
			 struct nve_read_message *why)
{
	json_t *object = json_object_get(document, "settings"), *value;
	const char *name;

	if (!json_is_object(object) || json_object_size(object) > MOST_SETTINGS)
		return say(why, -EINVAL, "%s: no whole report: settings: missing", p->file);
	p->settings = calloc(json_object_size(object) + 1, sizeof(p->settings[0]));
	if (!p->settings)
		return say(why, -ENOMEM, "%s: no memory", p->file);
	json_object_foreach(object, name, value)
	{
		if (!json_is_string(value))
			return say(why, -EINVAL, "%s: no whole report: settings.%s: not a text",
				   p->file, name);
		p->settings[p->setting_count++] =
			(struct nve_view_setting){name, json_string_value(value)};
	}
	read_latencies(p);
	return 0;
}

static int read_emulated(const json_t *document, struct nve_view_process *p,
			 struct nve_read_message *why)
{
	const char *text = json_string_value(json_object_get(document, "emulated"));

	if (!text || (strcmp(text, "yes") && strcmp(text, "no")))
		return say(why, -EINVAL, "%s: no whole report: emulated: neither yes nor no",
			   p->file);
	p->emulated = !strcmp(text, "yes");
	return 0;
}

static int read_process(json_t *document, struct nve_view_process *p, struct nve_read_message *why)
{
	const struct nve_field_place top = {.file = p->file, .path = "", .why = why};
	const struct nve_field_place totals = {.file = p->file, .path = "totals.", .why = why};
	const json_t *replay = json_object_get(document, "replay");
	int err = nve_fields_read(document, nve_fields_process, p, &top);

	p->document = document;
	if (!err)
		err = read_emulated(document, p, why);
	if (!err)
		err = read_settings(document, p, why);
	if (!err)
		err = read_totals(json_object_get(document, "totals"), &p->totals, &totals);
	if (!err && replay)
		err = nve_fields_read(replay, nve_fields_replay, &p->totals, &top);
	if (!err)
		err = read_threads(document, p, why);
	return err;
}

/* Is it what this version can read? */
static int check_head(const json_t *document, const char *name, const char *schema, int version,
		      struct nve_read_message *why)
{
	const char *found = json_string_value(json_object_get(document, "schema"));
	const json_t *number = json_object_get(document, "version");

	if (!found)
		return say(why, -EINVAL, "%s: JSON, but no report of nvmemu", name);
	if (strcmp(found, schema))
		return say(why, -EINVAL, "%s: no report, but of schema '%.60s'", name, found);
	if (!json_is_integer(number) || json_integer_value(number) < 1)
		return say(why, -EINVAL, "%s: no whole report: version: not a number from 1", name);
	if (json_integer_value(number) > version)
		return say(
			why, -EPROTONOSUPPORT,
			"%s: of version %lld of the report format, this nvmemu reads those up to "
			"%d: take a newer one",
			name, (long long)json_integer_value(number), version);
	return 0;
}

static int add_process(struct nve_view *view, const char *name, json_t *document,
		       struct nve_read_message *why)
{
	struct nve_view_process *all;
	int err = check_head(document, name, NVE_REPORT_SCHEMA, NVE_REPORT_VERSION, why);

	if (err)
		return err;
	all = realloc(view->processes, (view->count + 1) * sizeof(all[0]));
	if (!all)
		return say(why, -ENOMEM, "%s: no memory", name);
	view->processes = all;
	memset(&all[view->count], 0, sizeof(all[0]));
	all[view->count].file = name;
	err = read_process(document, &all[view->count], why);
	if (err)
		free_process(&all[view->count]);
	else
		view->count++;
	return err;
}

static int add_run(struct nve_view *view, const char *name, json_t *document,
		   struct nve_read_message *why)
{
	const struct nve_field_place place = {.file = name, .path = "run.", .why = why};
	const json_t *run = json_object_get(document, "run");
	json_t *list = json_object_get(document, "processes"), *process;
	bool first = !view->count;
	size_t i;
	int err = check_head(document, name, NVE_RUN_SCHEMA, NVE_RUN_VERSION, why);

	if (err)
		return err;
	if (!json_is_array(list))
		return say(why, -EINVAL, "%s: no whole report: processes: missing", name);
	json_array_foreach(list, i, process)
	{
		err = add_process(view, name, process, why);
		if (err)
			return err;
	}
	if (!json_is_object(run))
		return 0;
	/* What is known of one run is not true of several. */
	view->run.known = first;
	return nve_fields_read(run, nve_fields_run, &view->run, &place);
}

static int add_document(struct nve_view *view, const char *name, json_t *document,
			struct nve_read_message *why)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));

	if (schema && !strcmp(schema, NVE_RUN_SCHEMA))
		return add_run(view, name, document, why);
	view->run.known = false;
	return add_process(view, name, document, why);
}

static int keep_document(struct nve_view *view, json_t *document)
{
	json_t **all = realloc(view->documents, (view->document_count + 1) * sizeof(all[0]));

	if (!all)
		return -ENOMEM;
	view->documents = all;
	all[view->document_count++] = document;
	return 0;
}

/* Why it is no JSON. */
static int explain(const char *name, const char *text, size_t size, const json_error_t *error,
		   struct nve_read_message *why)
{
	static const char record[] = "\x93NVMREC\n";
	size_t blank = 0;

	while (blank < size && isspace((unsigned char)text[blank]))
		blank++;
	if (blank == size)
		return say(why, -ENODATA, "%s: empty", name);
	if (size >= sizeof(record) - 1 && !memcmp(text, record, sizeof(record) - 1))
		return say(why, -EINVAL, "%s: no report, but a record of NVM_RECORD", name);
	/* Cut within a word or a number it is that which is wrong, at the text's end. */
	if (text[blank] == '{' && (json_error_code(error) == json_error_premature_end_of_input ||
				   error->position >= (int)size))
		return say(why, -EPIPE, "%s: ends early, in line %d: it is cut off", name,
			   error->line);
	if (json_error_code(error) == json_error_out_of_memory)
		return say(why, -ENOMEM, "%s: no memory", name);
	return say(why, -EINVAL, "%s: no report: no JSON in line %d: %.100s", name, error->line,
		   error->text);
}

int nve_view_add_text(struct nve_view *view, const char *name, const char *text, size_t size,
		      struct nve_read_message *why)
{
	json_error_t error;
	json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);

	if (!document)
		return explain(name, text, size, &error, why);
	if (keep_document(view, document)) {
		json_decref(document);
		return say(why, -ENOMEM, "%s: no memory", name);
	}
	return add_document(view, name, document, why);
}

/* All of a stream; *text is to be freed, also on failure. */
static int read_stream(FILE *stream, char **text, size_t *size)
{
	size_t room = 0;

	*text = NULL;
	*size = 0;
	for (;;) {
		size_t got;

		if (*size == room) {
			char *more;

			room = room ? 2 * room : 1 << 16;
			if (room > most_bytes)
				return -EFBIG;
			more = realloc(*text, room);
			if (!more)
				return -ENOMEM;
			*text = more;
		}
		errno = 0;
		got = fread(*text + *size, 1, room - *size, stream);
		*size += got;
		if (!got)
			return ferror(stream) ? -(errno ? errno : EIO) : 0;
	}
}

int nve_view_add_stream(struct nve_view *view, const char *name, FILE *stream,
			struct nve_read_message *why)
{
	char *text;
	size_t size;
	int err = read_stream(stream, &text, &size);

	if (err)
		say(why, err, "%s: cannot be read: %s", name, strerror(-err));
	else
		err = nve_view_add_text(view, name, text, size, why);
	free(text);
	return err;
}

int nve_view_add_file(struct nve_view *view, const char *path, struct nve_read_message *why)
{
	FILE *stream;
	int err;

	if (!strcmp(path, "-"))
		return nve_view_add_stream(view, "standard input", stdin, why);
	stream = fopen(path, "re");
	if (!stream)
		return say(why, -errno, "%s: cannot be opened: %m", path);
	err = nve_view_add_stream(view, path, stream, why);
	fclose(stream);
	return err;
}

const char *nve_view_setting(const struct nve_view_process *process, const char *name)
{
	for (size_t i = 0; i < process->setting_count; i++)
		if (!strcmp(process->settings[i].name, name))
			return process->settings[i].value;
	return NULL;
}
