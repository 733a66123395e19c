#include "report/outfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "report/utc.h"

/* So many taken names are a mistake in the pattern; the search must end some time. */
enum { LAST_NUMBER = 1000000, NUMBER_BYTES = 12 };

/* Text that grows in a buffer of fixed size; what does not fit is noted. */
struct text {
	char *start;
	size_t size, used;
	bool full;
};

static void put(struct text *t, char c)
{
	if (t->used + 1 >= t->size) {
		t->full = true;
		return;
	}
	t->start[t->used++] = c;
	t->start[t->used] = 0;
}

static void put_raw(struct text *t, const char *s)
{
	while (*s)
		put(t, *s++);
}

/* For the name that is expanded once more: a '%' stays one. */
static void put_literal(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (*s == '%')
			put(t, '%');
		put(t, *s);
	}
}

static void put_word(struct text *t, const char *s)
{
	size_t start = t->used;

	put_literal(t, s && *s ? s : "unknown");
	for (size_t i = start; i < t->used; i++)
		if (t->start[i] == '/')
			t->start[i] = '_';
}

static void put_number(struct text *t, unsigned number)
{
	char digits[NUMBER_BYTES];

	nve_format(digits, sizeof(digits), "%u", number);
	put_raw(t, digits);
}

static void put_placeholder(struct text *t, char letter, const struct nve_outfile_words *words)
{
	char date[NVE_UTC_BYTES];

	switch (letter) {
	case 'p': put_number(t, (unsigned)words->pid); break;
	case 'e': put_word(t, words->program); break;
	case 'h': put_word(t, words->host); break;
	case 't':
		nve_utc_format_name(words->started_at_s, date);
		put_raw(t, date);
		break;
	case 'n': put_raw(t, "%n"); break;
	default: put_raw(t, "%%"); break;
	}
}

int nve_outfile_check(const char *pattern, const char **bad)
{
	for (const char *s = pattern; *s; s++) {
		if (*s != '%')
			continue;
		if (!s[1] || !strchr("pehtn%", s[1])) {
			if (bad)
				*bad = s;
			return -EINVAL;
		}
		s++;
	}
	return 0;
}

static bool has_placeholder(const char *pattern, char letter)
{
	for (const char *s = pattern; *s; s++)
		if (*s == '%' && *++s == letter)
			return true;
	return false;
}

int nve_outfile_name(struct nve_outfile *o, const char *pattern,
		     const struct nve_outfile_words *words)
{
	struct text t = {.start = o->name, .size = sizeof(o->name)};

	if (nve_outfile_check(pattern, NULL))
		return -EINVAL;
	if (*pattern != '/') {
		put_literal(&t, words->cwd);
		put(&t, '/');
	}
	for (const char *s = pattern; *s; s++) {
		if (*s == '%')
			put_placeholder(&t, *++s, words);
		else
			put(&t, *s);
	}
	o->numbered = has_placeholder(pattern, 'n');
	if (!words->root && !o->numbered && !has_placeholder(pattern, 'p')) {
		put(&t, '.');
		put_number(&t, (unsigned)words->pid);
	}
	return t.full ? -ENAMETOOLONG : 0;
}

/* The attempt's name; the first attempt is 0. */
static int make_path(const struct nve_outfile *o, unsigned attempt, char *path)
{
	struct text t = {.start = path, .size = NVE_FILE_PATH_BYTES};

	for (const char *s = o->name; *s; s++) {
		if (*s == '%' && *++s == 'n')
			put_number(&t, attempt + 1);
		else
			put(&t, *s);
	}
	if (o->suffix && !o->numbered)
		put_raw(&t, o->suffix);
	if (attempt && !o->numbered) {
		put(&t, '.');
		put_number(&t, attempt);
	}
	return t.full ? -ENAMETOOLONG : 0;
}

static bool is_taken(const char *path)
{
	/* A dangling link is a taken name too, hence no access(2). */
	return readlink(path, (char[1]){0}, 1) >= 0 || errno == EINVAL;
}

static int write_sink(void *ctx, const void *data, size_t size)
{
	return nve_file_append(ctx, data, size);
}

int nve_outfile_claim(const struct nve_outfile *o, int (*make)(void *ctx, const char *path),
		      void *ctx, char *path, bool *moved)
{
	int rc = -EEXIST;

	for (unsigned attempt = 0; rc == -EEXIST && attempt < LAST_NUMBER; attempt++) {
		rc = make_path(o, attempt, path);
		if (!rc)
			rc = make(ctx, path);
		*moved = attempt && !o->numbered;
	}
	return rc;
}

struct report {
	struct nve_file *file;
	int (*produce)(void *ctx, const struct nve_report_sink *sink);
	void *ctx;
};

static int write_once(void *ctx, const char *path)
{
	const struct report *r = ctx;
	const struct nve_report_sink sink = {.write = write_sink, .ctx = r->file};
	int err;

	/* Saves the work of writing; what decides is the renaming, which replaces none. */
	if (is_taken(path))
		return -EEXIST;
	err = nve_file_create(r->file, path, 0666);
	if (err)
		return err;
	err = r->produce(r->ctx, &sink);
	if (err) {
		nve_file_discard(r->file);
		return err;
	}
	return nve_file_commit(r->file, false);
}

int nve_outfile_write(struct nve_outfile *o,
		      int (*produce)(void *ctx, const struct nve_report_sink *sink), void *ctx,
		      char *path, bool *moved)
{
	struct report report = {.file = &o->file, .produce = produce, .ctx = ctx};

	return nve_outfile_claim(o, write_once, &report, path, moved);
}
