/*
 * nvmemu heat: as a profile of pprof, a protobuf message in gzip. Fields and their numbers: its
 * profile.proto. Values are unsigned numbers only, so a message is varints and strings.
 */
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/base.h"
#include "heat.h"

enum { ADDRESS_BITS = 40, VALUES = 6, GZIP_WINDOW = 15 + 16 };

struct bytes {
	unsigned char *data;
	size_t size, room;
	bool failed;
};

struct profile {
	struct bytes bytes;
	const struct heat_source *source;
	/* trees of struct known, by text: what has a number already */
	void *strings, *functions, *locations, *mappings;
	uint64_t string_count, function_count, location_count, mapping_count;
};

struct known {
	uint64_t number;
	char text[];
};

static void put(struct bytes *b, const void *data, size_t size)
{
	unsigned char *more;

	if (b->size + size > b->room) {
		b->room = 2 * (b->size + size);
		more = realloc(b->data, b->room);
		if (!more) {
			b->failed = true;
			b->room = b->size;
			return;
		}
		b->data = more;
	}
	if (!b->failed)
		memcpy(b->data + b->size, data, size);
	b->size += b->failed ? 0 : size;
}

static void put_varint(struct bytes *b, uint64_t value)
{
	unsigned char byte;

	do {
		byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		put(b, &byte, 1);
		value >>= 7;
	} while (value);
}

static void put_number(struct bytes *b, unsigned field, uint64_t value)
{
	put_varint(b, field << 3);
	put_varint(b, value);
}

static void put_bytes(struct bytes *b, unsigned field, const void *data, size_t size)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, size);
	put(b, data, size);
}

/* A message within; it is freed. */
static void put_message(struct bytes *b, unsigned field, struct bytes *message)
{
	put_bytes(b, field, message->data, message->size);
	b->failed |= message->failed;
	free(message->data);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->text, ((const struct known *)b)->text);
}

/* The number of a text in a tree; *is_new: it got the next one just now. 0: no memory. */
static uint64_t number_of(struct profile *p, void **tree, uint64_t *count, const char *text,
			  bool *is_new)
{
	struct known *k = malloc(sizeof(*k) + strlen(text) + 1), **found = NULL;

	*is_new = false;
	if (k) {
		strcpy(k->text, text);
		found = tsearch(k, tree, compare);
	}
	if (!found) {
		free(k);
		p->bytes.failed = true;
		return 0;
	}
	if (*found != k) {
		free(k);
		return (*found)->number;
	}
	*is_new = true;
	return k->number = ++*count;
}

/* Strings are numbered from 0, which is the empty one. */
static uint64_t string(struct profile *p, const char *text)
{
	bool is_new;
	uint64_t number = number_of(p, &p->strings, &p->string_count, text, &is_new);

	if (is_new)
		put_bytes(&p->bytes, 6, text, strlen(text));
	return number - (number > 0);
}

static uint64_t function(struct profile *p, const struct heat_frame *f)
{
	char key[2 * HEAT_TEXT_BYTES], name[HEAT_TEXT_BYTES];
	const char *file = f->symbol.file ? f->symbol.file : "";
	struct bytes m = {0};
	bool is_new;
	uint64_t number;

	if (f->symbol.function)
		snprintf(name, sizeof(name), "%s", f->symbol.function);
	else
		heat_frame_text(f, name);
	snprintf(key, sizeof(key), "%s\n%s", name, file);
	number = number_of(p, &p->functions, &p->function_count, key, &is_new);
	if (!is_new)
		return number;
	put_number(&m, 1, number);
	put_number(&m, 2, string(p, name));
	put_number(&m, 3, string(p, name));
	put_number(&m, 4, string(p, file));
	put_message(&p->bytes, 5, &m);
	return number;
}

/* Modules lie far apart in an address space of their own. */
static uint64_t mapping(struct profile *p, const struct nve_view_frame *f)
{
	char key[2 * HEAT_TEXT_BYTES];
	struct bytes m = {0};
	bool is_new;
	uint64_t number;

	snprintf(key, sizeof(key), "%s\n%s", f->module, f->build_id);
	number = number_of(p, &p->mappings, &p->mapping_count, key, &is_new);
	if (!is_new)
		return number;
	put_number(&m, 1, number);
	put_number(&m, 2, number << ADDRESS_BITS);
	put_number(&m, 3, (number + 1) << ADDRESS_BITS);
	put_number(&m, 5, string(p, f->module));
	put_number(&m, 6, string(p, f->build_id));
	for (unsigned has = 7; has <= 10; has++) /* functions, files, lines, inlined ones */
		put_number(&m, has, 1);
	put_message(&p->bytes, 3, &m);
	return number;
}

/* frames: all functions of one place, the innermost first. */
static uint64_t location(struct profile *p, const struct nve_view_frame *place,
			 const struct heat_frame *frames, size_t count)
{
	uint64_t module = mapping(p, place), address, number;
	char key[64];
	struct bytes m = {0};
	bool is_new;

	address = (module << ADDRESS_BITS) + (place->offset ? place->offset - 1 : 0);
	snprintf(key, sizeof(key), "%llx", (unsigned long long)address);
	number = number_of(p, &p->locations, &p->location_count, key, &is_new);
	if (!is_new)
		return number;
	put_number(&m, 1, number);
	put_number(&m, 2, module);
	put_number(&m, 3, address);
	for (size_t i = 0; i < count; i++) {
		struct bytes line = {0};

		put_number(&line, 1, function(p, &frames[i]));
		put_number(&line, 2, (uint64_t)NVE_MAX(frames[i].symbol.line, 0));
		put_message(&m, 4, &line);
	}
	put_message(&p->bytes, 4, &m);
	return number;
}

/* A place that is in no module: what the row is called. */
static uint64_t named_location(struct profile *p, const char *label)
{
	struct heat_frame f = {.module = label, .symbol = {.function = label}};
	const struct nve_view_frame place = {.module = label, .build_id = ""};

	return location(p, &place, &f, 1);
}

static void put_locations(struct profile *p, const struct heat_row *r, struct bytes *sample)
{
	struct heat_frame frames[HEAT_STACK_MOST];
	size_t n = r->site ? heat_stack(p->source->symbols, r->site, frames) : 0, at = 0;

	if (!n || strcmp(r->site->kind, "heap"))
		put_number(sample, 1, named_location(p, r->label));
	for (size_t i = 0; n && i < r->site->frame_count && at < n; i++) {
		size_t count = 1;

		while (at + count < n && frames[at + count - 1].inlined)
			count++;
		put_number(sample, 1, location(p, &r->site->frames[i], &frames[at], count));
		at += count;
	}
}

static const struct {
	const char *type, *unit, *column;
} values[VALUES] = {
	{"stall", "nanoseconds", "stall"},    {"accesses", "count", "accesses"},
	{"writes", "count", "writes"},        {"inuse_space", "bytes", "live"},
	{"alloc_objects", "count", "allocs"}, {"alloc_space", "bytes", "bytes"},
};

static void put_sample(struct profile *p, const struct heat_row *r)
{
	struct bytes m = {0}, label = {0};

	put_locations(p, r, &m);
	for (int i = 0; i < VALUES; i++) {
		double value = heat_column(values[i].column)->value(r);

		put_number(&m, 2, isnan(value) ? 0 : (uint64_t)value);
	}
	put_number(&label, 1, string(p, "kind"));
	put_number(&label, 2, string(p, r->site ? r->site->kind : ""));
	put_message(&m, 3, &label);
	put_message(&p->bytes, 2, &m);
}

static void put_head(struct profile *p)
{
	const struct nve_view_process *first = &p->source->view.processes[0];

	string(p, "");
	for (int i = 0; i < VALUES; i++) {
		struct bytes m = {0};

		put_number(&m, 1, string(p, values[i].type));
		put_number(&m, 2, string(p, values[i].unit));
		put_message(&p->bytes, 1, &m);
	}
	put_number(&p->bytes, 9, first->started_at_s * 1000000000);
	put_number(&p->bytes, 10, first->wall_ns);
	put_number(&p->bytes, 14, string(p, values[0].type));
}

static int write_gzip(FILE *out, const struct bytes *b)
{
	z_stream z = {0};
	unsigned char *packed;
	size_t bound;
	int err = -ENOMEM;

	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY))
		return -ENOMEM;
	bound = deflateBound(&z, b->size);
	packed = malloc(bound);
	z.next_in = b->data;
	z.avail_in = (uInt)b->size;
	z.next_out = packed;
	z.avail_out = (uInt)bound;
	if (packed && deflate(&z, Z_FINISH) == Z_STREAM_END)
		err = fwrite(packed, 1, z.total_out, out) == z.total_out ? 0 : -EIO;
	deflateEnd(&z);
	free(packed);
	return err;
}

int heat_write_pprof(FILE *out, const struct heat_source *source, const struct heat_rows *rows)
{
	struct profile p = {.source = source};
	int err;

	put_head(&p);
	for (size_t i = 0; i < rows->count; i++)
		put_sample(&p, &rows->row[i]);
	err = p.bytes.failed ? -ENOMEM : write_gzip(out, &p.bytes);
	tdestroy(p.strings, free);
	tdestroy(p.functions, free);
	tdestroy(p.locations, free);
	tdestroy(p.mappings, free);
	free(p.bytes.data);
	return err;
}
