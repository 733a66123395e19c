#include "report/json.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

static void fail(struct nve_json *j, int error)
{
	if (!j->error)
		j->error = error;
}

static void flush(struct nve_json *j)
{
	if (!j->error && j->used) {
		int err = j->sink->write(j->sink->ctx, j->buffer, j->used);

		if (err)
			fail(j, err);
	}
	j->used = 0;
}

static void put(struct nve_json *j, const char *data, size_t size)
{
	while (size && !j->error) {
		size_t room = sizeof(j->buffer) - j->used;
		size_t part = size < room ? size : room;

		memcpy(j->buffer + j->used, data, part);
		j->used += part;
		data += part;
		size -= part;
		if (j->used == sizeof(j->buffer))
			flush(j);
	}
}

static void put_text(struct nve_json *j, const char *text)
{
	put(j, text, strlen(text));
}

static void put_line(struct nve_json *j)
{
	static const char indent[] = "\n                        ";

	put(j, indent, 1 + 2 * (size_t)j->depth);
}

static void put_uint(struct nve_json *j, uint64_t value, unsigned least_digits)
{
	char digits[20];
	size_t i = sizeof(digits);

	while (value || least_digits) {
		digits[--i] = (char)('0' + value % 10);
		value /= 10;
		least_digits -= least_digits > 0;
	}
	put(j, digits + i, sizeof(digits) - i);
}

static void put_escaped(struct nve_json *j, unsigned char c)
{
	static const char hex[] = "0123456789abcdef", from[] = "\b\f\n\r\t\"\\", to[] = "bfnrt\"\\";
	const char *short_form = c ? strchr(from, c) : NULL;
	char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	if (short_form)
		text[1] = to[short_form - from];
	put(j, text, short_form ? 2 : 6);
}

static void put_string(struct nve_json *j, const char *text, size_t size)
{
	const unsigned char *s = (const unsigned char *)text;

	put(j, "\"", 1);
	while (size) {
		size_t length = nve_utf8_length(s, size);

		if (!length)
			put_text(j, "\\ufffd");
		else if (*s < 0x20 || *s == 0x7f || *s == '"' || *s == '\\')
			put_escaped(j, *s);
		else
			put(j, (const char *)s, length);
		s += length ? length : 1;
		size -= length ? length : 1;
	}
	put(j, "\"", 1);
}

/* Everything that stands before a value; false when none may stand here. */
static bool begin_value(struct nve_json *j, const char *key)
{
	bool in_object = j->depth && j->closers[j->depth - 1] == '}';

	if (j->error)
		return false;
	if (in_object != (key != NULL) || (!j->depth && j->begun)) {
		fail(j, -EINVAL);
		return false;
	}
	if (j->depth) {
		if (j->has_member[j->depth - 1])
			put(j, ",", 1);
		j->has_member[j->depth - 1] = true;
		put_line(j);
	}
	if (key) {
		put_string(j, key, strlen(key));
		put(j, ": ", 2);
	}
	j->begun = true;
	return true;
}

static void open_level(struct nve_json *j, const char *key, char opener, char closer)
{
	if (j->depth == NVE_JSON_DEPTH)
		fail(j, -E2BIG);
	if (!begin_value(j, key))
		return;
	put(j, &opener, 1);
	j->closers[j->depth] = closer;
	j->has_member[j->depth] = false;
	j->depth++;
}

void nve_json_start(struct nve_json *j, const struct nve_report_sink *sink)
{
	j->sink = sink;
	j->error = 0;
	j->depth = 0;
	j->begun = false;
	j->used = 0;
}

int nve_json_finish(struct nve_json *j)
{
	if (j->depth || !j->begun)
		fail(j, -EINVAL);
	put(j, "\n", 1);
	flush(j);
	return j->error;
}

void nve_json_object(struct nve_json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void nve_json_array(struct nve_json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void nve_json_close(struct nve_json *j)
{
	if (!j->depth) {
		fail(j, -EINVAL);
		return;
	}
	j->depth--;
	if (j->has_member[j->depth])
		put_line(j);
	put(j, &j->closers[j->depth], 1);
}

void nve_json_null(struct nve_json *j, const char *key)
{
	if (begin_value(j, key))
		put_text(j, "null");
}

void nve_json_bool(struct nve_json *j, const char *key, bool value)
{
	if (begin_value(j, key))
		put_text(j, value ? "true" : "false");
}

void nve_json_uint(struct nve_json *j, const char *key, uint64_t value)
{
	if (begin_value(j, key))
		put_uint(j, value, 1);
}

void nve_json_decimal(struct nve_json *j, const char *key, int64_t value, unsigned decimals)
{
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;

	/* 10^19 is the last power of ten that 64 bits hold. */
	if (decimals > 19)
		fail(j, -EINVAL);
	if (!begin_value(j, key))
		return;
	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	if (value < 0)
		put(j, "-", 1);
	put_uint(j, size / unit, 1);
	if (decimals) {
		put(j, ".", 1);
		put_uint(j, size % unit, decimals);
	}
}

void nve_json_uints(struct nve_json *j, const char *key, const uint64_t *values, size_t count,
		    size_t stride)
{
	if (!begin_value(j, key))
		return;
	for (size_t i = 0; i < count; i++) {
		put(j, i ? ", " : "[", i ? 2 : 1);
		put_uint(j, values[i * stride], 1);
	}
	put_text(j, count ? "]" : "[]");
}

void nve_json_string(struct nve_json *j, const char *key, const char *text)
{
	if (!text)
		nve_json_null(j, key);
	else if (begin_value(j, key))
		put_string(j, text, strlen(text));
}

void nve_json_field(struct nve_json *j, const char *key, const char *field, size_t size)
{
	if (begin_value(j, key))
		put_string(j, field, strnlen(field, size));
}
