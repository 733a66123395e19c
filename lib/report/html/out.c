#include "report/html/out.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/utf8.h"

void nve_html_start(struct nve_html *h, const struct nve_report_sink *sink)
{
	h->sink = sink;
	h->error = 0;
	h->used = 0;
}

static void flush(struct nve_html *h)
{
	if (!h->error && h->used)
		h->error = h->sink->write(h->sink->ctx, h->buffer, h->used);
	h->used = 0;
}

int nve_html_finish(struct nve_html *h)
{
	flush(h);
	return h->error;
}

static void put_bytes(struct nve_html *h, const char *data, size_t size)
{
	while (size && !h->error) {
		size_t part = NVE_MIN(size, sizeof(h->buffer) - h->used);

		memcpy(h->buffer + h->used, data, part);
		h->used += part;
		data += part;
		size -= part;
		if (h->used == sizeof(h->buffer))
			flush(h);
	}
}

void nve_html_put(struct nve_html *h, const char *markup)
{
	put_bytes(h, markup, strlen(markup));
}

void nve_html_print(struct nve_html *h, const char *format, ...)
{
	char text[1024];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0)
		put_bytes(h, text, NVE_MIN((size_t)length, sizeof(text) - 1));
}

/* Of a character of ASCII; NULL: it stands for itself. */
static const char *entity(unsigned char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

static uint32_t code_point(const unsigned char *s, size_t length)
{
	uint32_t code = length == 1 ? s[0] : s[0] & (0x7fu >> length);

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

static bool misleads(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x80, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
		{0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < NVE_ARRAY_SIZE(ranges); i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

void nve_html_text(struct nve_html *h, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strlen(text);

	while (left) {
		size_t length = nve_utf8_length(s, left);
		const char *as = length == 1 ? entity(*s) : NULL;

		if (as)
			nve_html_put(h, as);
		else if (!length || misleads(code_point(s, length)))
			nve_html_put(h, "&#xfffd;");
		else if (*s < 0x20 || *s == 0x7f) /* control characters have pictures */
			nve_html_print(h, "&#x%x;", *s < 0x20 ? 0x2400u + *s : 0x2421u);
		else
			put_bytes(h, (const char *)s, length);
		length += !length;
		s += length;
		left -= length;
	}
}

void nve_html_element(struct nve_html *h, const char *name, const char *text)
{
	nve_html_print(h, "<%s>", name);
	nve_html_text(h, text);
	nve_html_print(h, "</%.*s>", (int)strcspn(name, " "), name);
}
