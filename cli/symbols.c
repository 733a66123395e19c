#include "symbols.h"

#include <errno.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <libiberty/demangle.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { INLINED_MOST = 32, BUILD_ID_MOST = 64 };

struct module {
	const char *path, *build_id;
	Dwfl *dwfl;
	Dwfl_Module *of; /* NULL: its file is gone or another one */
	Dwarf_Addr bias;
};

struct place {
	struct module *module;
	uint64_t offset;
	struct symbol symbols[INLINED_MOST];
	size_t count;
};

struct text {
	struct text *next;
	char *text;
};

struct symbols {
	bool wanted;
	void *modules, *places; /* trees */
	struct text *texts;     /* of ours, to be freed */
};

static const struct symbol nothing;

struct symbols *symbols_new(bool wanted)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (s)
		s->wanted = wanted;
	return s;
}

static void free_module(void *module)
{
	struct module *m = module;

	if (m->dwfl)
		dwfl_end(m->dwfl);
	free(m);
}

void symbols_free(struct symbols *s)
{
	int error = errno;

	if (!s)
		return;
	tdestroy(s->places, free);
	tdestroy(s->modules, free_module);
	while (s->texts) {
		struct text *next = s->texts->next;

		free(s->texts->text);
		free(s->texts);
		s->texts = next;
	}
	free(s);
	errno = error;
}

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;
	int by_path = strcmp(x->path, y->path);

	return by_path ? by_path : strcmp(x->build_id, y->build_id);
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Of a build id that is longer, the report has the first bytes. */
static bool is_same_build(Dwfl_Module *of, const char *build_id)
{
	char text[2 * BUILD_ID_MOST + 1] = "";
	const unsigned char *bits;
	GElf_Addr address;
	int bytes = dwfl_module_build_id(of, &bits, &address);

	for (int i = 0; i < bytes && i < BUILD_ID_MOST; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
	return !strncmp(text, build_id, strlen(build_id));
}

static void open_module(struct module *m)
{
	static char *debuginfo_path; /* libdw's own */
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debuginfo_path,
	};
	Dwfl_Module *of;

	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl)
		return;
	dwfl_report_begin(m->dwfl);
	of = dwfl_report_offline(m->dwfl, m->path, m->path, -1);
	dwfl_report_end(m->dwfl, NULL, NULL);
	if (!of || !dwfl_module_getelf(of, &m->bias))
		return;
	if (is_same_build(of, m->build_id))
		m->of = of;
	else
		cli_note("%s is not the file that ran: no names from it", m->path);
}

static struct module *find_module(struct symbols *s, const char *path, const char *build_id)
{
	struct module key = {.path = path, .build_id = build_id}, *m;
	struct module **found = tfind(&key, &s->modules, compare_modules);

	if (found)
		return *found;
	m = malloc(sizeof(*m));
	if (!m)
		return NULL;
	*m = key;
	if (!tsearch(m, &s->modules, compare_modules)) {
		free(m);
		return NULL;
	}
	if (path[0] == '/')
		open_module(m);
	return m;
}

/* Without arguments, which would fill the line. */
static const char *plain_name(struct symbols *s, const char *name)
{
	char *plain = name ? cplus_demangle(name, DMGL_AUTO) : NULL;
	struct text *t = plain ? malloc(sizeof(*t)) : NULL;

	if (!t) {
		free(plain);
		return name;
	}
	*t = (struct text){s->texts, plain};
	s->texts = t;
	return plain;
}

static const char *function_name(struct symbols *s, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage =
		dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

	return linkage ? plain_name(s, linkage) : dwarf_diename(die);
}

/* Where an inlined function was called. */
static void call_site(Dwarf_Die *die, Dwarf_Die *unit, struct symbol *at)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t count;

	at->file = NULL;
	at->line = 0;
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) &&
	    !dwarf_getsrcfiles(unit, &files, &count) && number < count)
		at->file = dwarf_filesrc(files, number, NULL, NULL);
	if (!dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &number))
		at->line = (int)number;
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram;
}

/* The scopes around the innermost function at an address, that function first. */
static int function_scopes(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **scopes)
{
	Dwarf_Die *all, function;
	int count = dwarf_getscopes(unit, address, &all), at = 0;

	while (at < count && !is_function(&all[at]))
		at++;
	if (at >= count) {
		if (count > 0)
			free(all);
		return 0;
	}
	function = all[at];
	free(all);
	return dwarf_getscopes_die(&function, scopes);
}

static void add(struct place *p, const char *function, const struct symbol *at)
{
	if (p->count == INLINED_MOST)
		return;
	p->symbols[p->count] = *at;
	p->symbols[p->count++].function = function;
}

/* By the debug information: inlined functions, each called where the next one says. */
static void find_functions(struct symbols *s, struct place *p, Dwarf_Addr address, struct symbol at)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(p->module->of, address, &bias), *scopes;
	int count = unit ? function_scopes(unit, address - bias, &scopes) : 0;

	for (int i = 0; i < count; i++) {
		if (!is_function(&scopes[i]))
			continue;
		add(p, function_name(s, &scopes[i]), &at);
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		call_site(&scopes[i], unit, &at);
	}
	if (count > 0)
		free(scopes);
}

static void find_symbols(struct symbols *s, struct place *p)
{
	/* The call stands before the address that it returns to. */
	Dwarf_Addr address = p->module->bias + p->offset - 1;
	struct symbol at = {0};
	Dwfl_Line *line = dwfl_module_getsrc(p->module->of, address);

	if (line)
		at.file = dwfl_lineinfo(line, NULL, &at.line, NULL, NULL, NULL);
	find_functions(s, p, address, at);
	/* The outermost one's name may be in the symbol table only. */
	if (!p->count)
		add(p, plain_name(s, dwfl_module_addrname(p->module->of, address)), &at);
}

static const struct symbol *find(struct symbols *s, const char *path, const char *build_id,
				 uint64_t offset, size_t *count)
{
	struct place key = {.offset = offset}, *p, **found;

	*count = 1;
	key.module = s->wanted && offset ? find_module(s, path, build_id) : NULL;
	if (!key.module || !key.module->of)
		return &nothing;
	found = tfind(&key, &s->places, compare_places);
	if (!found) {
		p = malloc(sizeof(*p));
		if (!p)
			return &nothing;
		*p = key;
		if (!tsearch(p, &s->places, compare_places)) {
			free(p);
			return &nothing;
		}
		find_symbols(s, p);
		found = &p;
	}
	*count = (*found)->count;
	return (*found)->symbols;
}

const struct symbol *symbols_find(struct symbols *s, const char *path, const char *build_id,
				  uint64_t offset, size_t *count)
{
	int error = errno;
	const struct symbol *found = find(s, path, build_id, offset, count);

	errno = error;
	return found;
}
