/* The formatter of log.h. */
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

struct out {
	char *buf;
	size_t size, length; /* length: as if buf had no end */
};

struct spec {
	bool left, zero;
	int width;
	int precision; /* of %s; -1: none */
	int longs;     /* 0: int, 1: long or size_t, 2: long long */
	char conversion;
};

static void put(struct out *out, char c)
{
	if (out->length + 1 < out->size)
		out->buf[out->length] = c;
	out->length++;
}

static void put_many(struct out *out, char c, int count)
{
	while (count-- > 0)
		put(out, c);
}

static void put_padded(struct out *out, const struct spec *spec, const char *text, size_t length)
{
	int fill = spec->width > (int)length ? spec->width - (int)length : 0;

	if (!spec->left)
		put_many(out, ' ', fill);
	for (size_t i = 0; i < length; i++)
		put(out, text[i]);
	if (spec->left)
		put_many(out, ' ', fill);
}

static void put_string(struct out *out, const struct spec *spec, const char *text)
{
	size_t limit = spec->precision < 0 ? INT_MAX : (size_t)spec->precision;

	if (!text)
		text = "(null)";
	put_padded(out, spec, text, strnlen(text, limit));
}

static void put_integer(struct out *out, const struct spec *spec, uint64_t value, unsigned base,
			const char *prefix)
{
	char digits[64], text[80];
	size_t count = 0, length = strlen(prefix);

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	memcpy(text, prefix, length);
	if (spec->zero && !spec->left) {
		put_string(out, &(struct spec){.precision = -1}, prefix);
		put_many(out, '0', spec->width - (int)(length + count));
		length = 0;
	}
	while (count)
		text[length++] = digits[--count];
	put_padded(out, spec->zero ? &(struct spec){0} : spec, text, length);
}

static void put_error(struct out *out, const struct spec *spec, int error)
{
	const char *text = strerrordesc_np(error);

	if (text) {
		put_string(out, spec, text);
		return;
	}
	put_string(out, &(struct spec){.precision = -1}, "error ");
	put_integer(out, &(struct spec){0}, (uint64_t)error, 10, "");
}

static const char *parse_number(const char *at, int *value)
{
	*value = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (*value < INT_MAX / 10 - 1)
			*value = *value * 10 + (*at - '0');
	}
	return at;
}

/* at: after the percent sign. Returns the place after the conversion. */
static const char *parse_spec(const char *at, struct spec *spec, va_list *args)
{
	*spec = (struct spec){.precision = -1};
	for (; *at == '-' || *at == '0'; at++) {
		spec->left |= *at == '-';
		spec->zero |= *at == '0';
	}
	spec->zero &= !spec->left;
	at = parse_number(at, &spec->width);
	if (at[0] == '.' && at[1] == '*') {
		spec->precision = va_arg(*args, int);
		at += 2;
	} else if (*at == '.') {
		at = parse_number(at + 1, &spec->precision);
	}
	if (*at == 'z') {
		spec->longs = 1;
		at++;
	}
	for (; *at == 'l' && spec->longs < 2; at++)
		spec->longs++;
	spec->conversion = *at;
	return *at ? at + 1 : at;
}

static int64_t next_signed(const struct spec *spec, va_list *args)
{
	switch (spec->longs) {
	case 0: return va_arg(*args, int);
	case 1: return va_arg(*args, long);
	default: return va_arg(*args, long long);
	}
}

static uint64_t next_unsigned(const struct spec *spec, va_list *args)
{
	switch (spec->longs) {
	case 0: return va_arg(*args, unsigned);
	case 1: return va_arg(*args, unsigned long);
	default: return va_arg(*args, unsigned long long);
	}
}

static void put_signed(struct out *out, const struct spec *spec, int64_t value)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

	put_integer(out, spec, magnitude, 10, value < 0 ? "-" : "");
}

static void put_pointer(struct out *out, const struct spec *spec, const void *pointer)
{
	if (pointer)
		put_integer(out, spec, (uintptr_t)pointer, 16, "0x");
	else
		put_string(out, spec, "(nil)");
}

/* False where the conversion is none of ours: its argument cannot be skipped, so all ends there. */
static bool put_conversion(struct out *out, const struct spec *spec, va_list *args, int error)
{
	char c;

	switch (spec->conversion) {
	case 'd':
	case 'i': put_signed(out, spec, next_signed(spec, args)); return true;
	case 'u': put_integer(out, spec, next_unsigned(spec, args), 10, ""); return true;
	case 'x': put_integer(out, spec, next_unsigned(spec, args), 16, ""); return true;
	case 'p': put_pointer(out, spec, va_arg(*args, void *)); return true;
	case 's': put_string(out, spec, va_arg(*args, const char *)); return true;
	case 'm': put_error(out, spec, error); return true;
	case '%': put(out, '%'); return true;
	case 'c':
		c = (char)va_arg(*args, int);
		put_padded(out, spec, &c, 1);
		return true;
	default: return false;
	}
}

int nve_vformat(char *buf, size_t size, const char *format, va_list args)
{
	struct out out = {buf, size, 0};
	int error = errno;
	va_list own;

	va_copy(own, args);
	while (*format) {
		const char *start = format++;
		struct spec spec;

		if (*start != '%') {
			put(&out, *start);
			continue;
		}
		format = parse_spec(format, &spec, &own);
		if (!put_conversion(&out, &spec, &own, error)) {
			put_string(&out, &(struct spec){.precision = -1}, start);
			break;
		}
	}
	va_end(own);
	if (size)
		buf[NVE_MIN(out.length, size - 1)] = '\0';
	return (int)out.length;
}

int nve_format(char *buf, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = nve_vformat(buf, size, format, args);
	va_end(args);
	return length;
}
