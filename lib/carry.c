#include "carry.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/log.h"
#include "base/options.h"

static const char mark[] = "NVM_CARRIED=";
static const char preload[] = "LD_PRELOAD=";

/* The calibration and the user's devices are found by these. */
static const char *const places[] = {"HOME=", "XDG_CACHE_HOME=", "XDG_CONFIG_HOME="};

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool is_setting(const char *entry)
{
	const struct nve_option_row *row;

	for (size_t i = 0; (row = nve_options_row(i)); i++) {
		if (starts_with(entry, row->name) && entry[strlen(row->name)] == '=')
			return true;
	}
	return false;
}

static bool is_place(const char *entry)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(places); i++) {
		if (starts_with(entry, places[i]))
			return true;
	}
	return false;
}

/* The next of the names that the loader sees in LD_PRELOAD: between colons and blanks. */
static const char *next_name(const char *list, size_t *length)
{
	list += strspn(list, ": ");
	*length = strcspn(list, ": ");
	return *length ? list : NULL;
}

/* By its path, or by its file's name: it may have been given in either way, or by a link. */
static bool names_library(const char *name, size_t length, const char *library)
{
	const char *slash = memrchr(name, '/', length), *file = strrchr(library, '/');

	if (slash) {
		length -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	file = file ? file + 1 : library;
	return (strlen(file) == length && !memcmp(name, file, length)) ||
	       (length >= 12 && !memcmp(name, "libnvmemu.so", 12));
}

static bool has_library(const char *list, const char *library)
{
	size_t length;

	for (const char *at = list; (at = next_name(at, &length)); at += length) {
		if (names_library(at, length, library))
			return true;
	}
	return false;
}

static const char *value_of(char *const envp[], const char *name)
{
	for (; envp && *envp; envp++) {
		if (starts_with(*envp, name))
			return *envp + strlen(name);
	}
	return NULL;
}

/* False: no room. */
static bool keep(struct nve_carry *c, const char *name, const char *value)
{
	size_t room = sizeof(c->text) - c->used;
	int length;

	if (c->count == NVE_CARRY_OWN)
		return false;
	length = nve_format(c->text + c->used, room, "%s%s", name, value);
	if ((size_t)length >= room)
		return false;
	c->entry[c->count++] = c->text + c->used;
	c->used += (size_t)length + 1;
	return true;
}

void nve_carry_setup(struct nve_carry *c, char *const envp[], const char *library)
{
	const char *list = value_of(envp, preload);
	char number[16];
	bool fits;
	size_t count = 2;

	c->count = c->used = 0;
	if (!list || !has_library(list, library) || strpbrk(library, ": "))
		return;
	for (char *const *e = envp; *e; e++)
		count += is_setting(*e) || is_place(*e);
	nve_format(number, sizeof(number), "%zu", count);
	fits = keep(c, mark, number) && keep(c, preload, library);
	for (char *const *e = envp; fits && *e; e++) {
		if (is_setting(*e) || is_place(*e))
			fits = keep(c, *e, "");
	}
	if (!fits)
		c->count = 0;
}

static bool is_cleaned(char *const envp[])
{
	for (; envp && *envp; envp++) {
		if (starts_with(*envp, preload) || is_setting(*envp))
			return false;
	}
	return true;
}

static size_t length_of(char *const envp[])
{
	size_t n = 0;

	while (envp && envp[n])
		n++;
	return n;
}

char *const *nve_carry_add(const struct nve_carry *c, char *const envp[],
			   struct nve_carry_room *room)
{
	size_t n = length_of(envp);

	if (!c->count || !is_cleaned(envp) || c->count + n >= NVE_CARRY_ENTRIES)
		return envp;
	memcpy(room->entry, c->entry, c->count * sizeof(room->entry[0]));
	if (n)
		memcpy(room->entry + c->count, envp, n * sizeof(room->entry[0]));
	room->entry[c->count + n] = NULL;
	return room->entry;
}

/* The list without the library; false: it does not fit. Empty: nothing is left. */
static bool without_library(const char *list, const char *library, char *to, size_t size)
{
	size_t used = 0, length;

	to[0] = '\0';
	for (const char *at = list; (at = next_name(at, &length)); at += length) {
		if (names_library(at, length, library))
			continue;
		if (used + length + 2 > size)
			return false;
		if (used)
			to[used++] = ':';
		memcpy(to + used, at, length);
		used += length;
		to[used] = '\0';
	}
	return true;
}

char *const *nve_carry_strip(char *const envp[], const char *library, struct nve_carry_room *room)
{
	const char *list = value_of(envp, preload);
	char *value = room->preload + strlen(preload);
	size_t n = 0;

	if (!list || !has_library(list, library) || length_of(envp) >= NVE_CARRY_ENTRIES)
		return envp;
	strcpy(room->preload, preload);
	if (!without_library(list, library, value, sizeof(room->preload) - strlen(preload)))
		return envp;
	for (char *const *e = envp; *e; e++) {
		if (!starts_with(*e, preload))
			room->entry[n++] = *e;
		else if (*value)
			room->entry[n++] = room->preload;
	}
	room->entry[n] = NULL;
	return room->entry;
}

size_t nve_carry_count(char *const envp[])
{
	size_t count;

	if (!envp || !envp[0] || !starts_with(envp[0], mark))
		return 0;
	count = strtoul(envp[0] + strlen(mark), NULL, 10);
	if (count > NVE_CARRY_OWN)
		return 0;
	for (size_t i = 1; i < count; i++) {
		if (!envp[i] ||
		    !(starts_with(envp[i], preload) || is_setting(envp[i]) || is_place(envp[i])))
			return 0;
	}
	return count;
}
