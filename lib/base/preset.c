#include "base/preset.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "base/quantity.h"

static const struct nve_unit milli_units[] = {{"", 1000}, {NULL, 0}};
static const struct nve_unit share_units[] = {{"%", 10000}, {NULL, 0}};

/* Longest prefix first where one is part of another. */
static const struct form {
	const char *prefix;
	enum nve_preset_kind kind;
	const struct nve_unit *units;
	uint64_t min, max;
} latency_forms[] =
	{
		{"array:", NVE_PRESET_ARRAY, nve_units_ps + 1, 1, 1000000000},
		{"x", NVE_PRESET_TIMES, milli_units, 1000, 10000000},
		{"+", NVE_PRESET_MORE, nve_units_ps + 1, 0, 1000000000},
		{"", NVE_PRESET_TIME, nve_units_ps + 1, 1000, 1000000000},
		{NULL, NVE_PRESET_NONE, NULL, 0, 0},
},
  bandwidth_forms[] = {
	  {"", NVE_PRESET_BYTES, nve_units_bandwidth + 1, 1000000, UINT64_C(10000000000000)},
	  {"", NVE_PRESET_SHARE, share_units, 1, 1000000},
	  {NULL, NVE_PRESET_NONE, NULL, 0, 0},
};

static const struct {
	const char *name, *accepted;
	const struct form *forms;
} keys[NVE_PRESET_KEYS] = {
	[NVE_PRESET_READ] = {"read", "305ns, x2.5, +80ns or array:120ns, up to 1ms", latency_forms},
	[NVE_PRESET_WRITE] = {"write", "305ns, x2.5, +80ns or array:120ns, up to 1ms",
			      latency_forms},
	[NVE_PRESET_RBW] = {"rbw", "1MB/s to 10000GB/s, or up to 100%", bandwidth_forms},
	[NVE_PRESET_WBW] = {"wbw", "1MB/s to 10000GB/s, or up to 100%", bandwidth_forms},
};

const char *nve_preset_key_name(enum nve_preset_key key)
{
	return keys[key].name;
}

int nve_preset_format(const struct nve_preset_figure *figure, char *buf, size_t size)
{
	static const struct form *const all[] = {latency_forms, bandwidth_forms};
	char text[40];

	for (size_t i = 0; i < NVE_ARRAY_SIZE(all); i++) {
		for (const struct form *f = all[i]; f->prefix; f++) {
			if (f->kind != figure->kind)
				continue;
			/* a plain number has no suffix that nve_quantity_format would choose */
			if (f->units == milli_units)
				nve_quantity_format(
					figure->value,
					(const struct nve_unit[]){{" ", 1000}, {NULL, 0}}, text,
					sizeof(text));
			else
				nve_quantity_format(figure->value, f->units, text, sizeof(text));
			return nve_format(buf, size, "%s%.*s", f->prefix, (int)strcspn(text, " "),
					  text);
		}
	}
	buf[0] = '\0';
	return 0;
}

/* One line, and what it is for messages. */
struct line {
	const struct nve_preset_text *text;
	struct nve_options_message *error;
	struct nve_preset *preset;
};

static int complain(const struct line *l, const char *what, const char *word, size_t length)
{
	/* a word of the file, whatever it holds, in a line of text */
	nve_format(l->error->text, sizeof(l->error->text), "%s:%u: %s '%.*s'", l->text->path,
		   l->text->line, what, (int)NVE_MIN(length, (size_t)64), word);
	return -EINVAL;
}

static int parse_figure(const char *value, const struct form *forms,
			struct nve_preset_figure *figure)
{
	for (const struct form *f = forms; f->prefix; f++) {
		size_t length = strlen(f->prefix);
		uint64_t number;

		if (strncmp(value, f->prefix, length) ||
		    nve_quantity_parse(value + length, f->units, &number) || number < f->min ||
		    number > f->max)
			continue;
		*figure = (struct nve_preset_figure){f->kind, number, NULL};
		return 0;
	}
	return -EINVAL;
}

static int parse_word(const struct line *l, const char *word, size_t length)
{
	char text[64];
	size_t name = strcspn(word, "="), key = 0;

	while (key < NVE_PRESET_KEYS &&
	       (strlen(keys[key].name) != name || memcmp(keys[key].name, word, name)))
		key++;
	if (name >= length || key == NVE_PRESET_KEYS)
		return complain(l, "neither read=, write=, rbw= nor wbw=:", word, length);
	if (l->preset->figure[key].kind != NVE_PRESET_NONE)
		return complain(l, "a second time:", word, length);
	nve_format(text, sizeof(text), "%.*s", (int)(length - name - 1), word + name + 1);
	if (!parse_figure(text, keys[key].forms, &l->preset->figure[key]))
		return 0;
	complain(l, "bad value", word + name + 1, length - name - 1);
	nve_format(l->error->text + strlen(l->error->text),
		   sizeof(l->error->text) - strlen(l->error->text), " of %s; accepted: %s",
		   keys[key].name, keys[key].accepted);
	return -EINVAL;
}

static bool is_name(const char *word, size_t length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";

	return length < NVE_PRESET_NAME_BYTES && strspn(word, letters) >= length;
}

static void take_about(struct nve_preset *preset, const char *comment, size_t length)
{
	while (length && (*comment == '#' || *comment == ' ' || *comment == '\t')) {
		comment++;
		length--;
	}
	nve_format(preset->about, sizeof(preset->about), "%.*s",
		   (int)NVE_MIN(length, sizeof(preset->about) - 1), comment);
}

/* 1: a device; 0: nothing; -EINVAL. */
static int parse_line(const struct line *l, const char *at, const char *end)
{
	struct nve_preset *p = l->preset;
	int err = 0;

	memset(p, 0, sizeof(*p));
	for (;;) {
		size_t length;

		while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
			at++;
		length = NVE_MIN(strcspn(at, " \t\r\n#"), (size_t)(end - at));
		if (!length)
			break;
		if (p->name[0])
			err = parse_word(l, at, length);
		else if (is_name(at, length))
			nve_format(p->name, sizeof(p->name), "%.*s", (int)length, at);
		else
			err = complain(l, "no name of a device:", at, length);
		if (err)
			return err;
		at += length;
	}
	take_about(p, at, (size_t)(end - at));
	p->line = l->text->line;
	if (!p->name[0])
		return 0;
	for (size_t i = 0; i < NVE_PRESET_KEYS; i++)
		if (p->figure[i].kind != NVE_PRESET_NONE)
			return 1;
	return complain(l, "no figure of", p->name, strlen(p->name));
}

int nve_preset_next(struct nve_preset_text *text, struct nve_preset *preset,
		    struct nve_options_message *error)
{
	const struct line line = {.text = text, .error = error, .preset = preset};
	int found = 0;

	while (!found && *text->at) {
		const char *start = text->at, *end = start + strcspn(start, "\n");

		text->at = *end ? end + 1 : end;
		text->line++;
		found = parse_line(&line, start, end);
	}
	return found;
}

static const struct nve_preset *find_builtin(const char *name)
{
	const struct nve_preset *p;

	for (size_t i = 0; (p = nve_preset_builtin(i)); i++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static int tell_unknown(const char *name, struct nve_options_message *error)
{
	const struct nve_preset *p;
	size_t used;

	nve_format(error->text, sizeof(error->text), "NVM_DEVICE: no device '%.40s'; there are",
		   name);
	for (size_t i = 0; (p = nve_preset_builtin(i)); i++) {
		used = strlen(error->text);
		nve_format(error->text + used, sizeof(error->text) - used, "%s %s", i ? "," : "",
			   p->name);
	}
	used = strlen(error->text);
	nve_format(error->text + used, sizeof(error->text) - used,
		   ", and those of a file of your own");
	return -ENOENT;
}

int nve_preset_find(const char *name, struct nve_preset_text *text, struct nve_preset *preset,
		    struct nve_options_message *error)
{
	const struct nve_preset *builtin = find_builtin(name);
	struct nve_preset candidate;
	bool found = false;
	int more = text != NULL;

	/* To the end, also where it is found: a wrong line is told at once. */
	while (more > 0) {
		more = nve_preset_next(text, &candidate, error);
		if (more <= 0 || strcmp(candidate.name, name))
			continue;
		*preset = candidate;
		found = true;
	}
	if (more < 0)
		return more;
	if (!found && !builtin)
		return tell_unknown(name, error);
	if (!found)
		*preset = *builtin;
	return 0;
}

static uint64_t latency_ps(const struct nve_preset_figure *f, uint64_t dram_lat_ps)
{
	switch (f->kind) {
	case NVE_PRESET_TIME: return f->value;
	case NVE_PRESET_TIMES: return (uint64_t)((unsigned __int128)dram_lat_ps * f->value / 1000);
	case NVE_PRESET_MORE: return dram_lat_ps + f->value;
	case NVE_PRESET_ARRAY:
		return dram_lat_ps + NVE_MAX(f->value, (uint64_t)NVE_PRESET_DRAM_ARRAY_PS) -
		       NVE_PRESET_DRAM_ARRAY_PS;
	default: return 0;
	}
}

void nve_preset_latencies(const struct nve_preset *preset, uint64_t dram_lat_ps, uint64_t *rlat_ps,
			  uint64_t *wlat_ps)
{
	*rlat_ps = latency_ps(&preset->figure[NVE_PRESET_READ], dram_lat_ps);
	*wlat_ps = NVE_MAX(latency_ps(&preset->figure[NVE_PRESET_WRITE], dram_lat_ps), *rlat_ps);
}

static uint64_t bandwidth(const struct nve_preset_figure *f, uint64_t machine)
{
	switch (f->kind) {
	case NVE_PRESET_BYTES: return f->value;
	case NVE_PRESET_SHARE: return (uint64_t)((unsigned __int128)machine * f->value / 1000000);
	default: return 0;
	}
}

void nve_preset_bandwidths(const struct nve_preset *preset, uint64_t machine_read,
			   uint64_t machine_write, uint64_t *rbw, uint64_t *wbw)
{
	*rbw = bandwidth(&preset->figure[NVE_PRESET_RBW], machine_read);
	*wbw = bandwidth(&preset->figure[NVE_PRESET_WBW], machine_write);
}

bool nve_preset_has_bandwidth(const struct nve_preset *preset)
{
	return preset->figure[NVE_PRESET_RBW].kind != NVE_PRESET_NONE ||
	       preset->figure[NVE_PRESET_WBW].kind != NVE_PRESET_NONE;
}

static const char *value_of(char *const envp[], const char *name)
{
	size_t length = strlen(name);

	for (; *envp; envp++)
		if (!strncmp(*envp, name, length) && (*envp)[length] == '=')
			return *envp + length + 1;
	return NULL;
}

int nve_preset_path(char *const envp[], char *path, size_t size)
{
	const char *config = value_of(envp, "XDG_CONFIG_HOME"), *home = value_of(envp, "HOME");
	int length;

	/* Paths that are not absolute are to be ignored, says the XDG specification. */
	if (config && *config == '/')
		length = nve_format(path, size, "%s/nvmemu/devices", config);
	else if (home && *home == '/')
		length = nve_format(path, size, "%s/.config/nvmemu/devices", home);
	else
		return -ENOENT;
	return (size_t)length < size ? 0 : -ENOENT;
}

int nve_preset_read(const char *path, char *buf, struct nve_preset_text *text,
		    struct nve_options_message *error)
{
	size_t length = 0;
	int err = nve_file_read(path, buf, NVE_PRESET_FILE_BYTES, &length);

	*text = (struct nve_preset_text){.path = path, .at = buf};
	if (err == -ENOENT || err == -ENOTDIR)
		buf[0] = '\0';
	else if (err)
		nve_format(error->text, sizeof(error->text), "%s: cannot be read: %s", path,
			   strerror(-err));
	else if (strlen(buf) != length) {
		nve_format(error->text, sizeof(error->text), "%s: holds bytes that are no text",
			   path);
		err = -EINVAL;
	}
	return err == -ENOENT || err == -ENOTDIR ? 0 : err;
}
