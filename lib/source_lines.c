#include "source_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"

enum { DEPTH_MAX = 200 }; /* of scopes in one another */

struct unit {
	const struct nve_source_world *world;
	const struct nve_dw *dw;
	Dwarf_Die die;
	Dwarf_Files *files;
	size_t file_count;
};

static bool is_wanted(struct unit *u)
{
	for (size_t i = 0; i < u->file_count; i++) {
		const char *file = u->dw->filesrc(u->files, i, NULL, NULL);

		if (file && u->world->file(u->world->ctx, file))
			return true;
	}
	return false;
}

/* One row of the line table holds up to the next. */
static void tell_row(struct unit *u, Dwarf_Lines *lines, size_t i)
{
	const struct nve_dw *dw = u->dw;
	Dwarf_Line *line = dw->onesrcline(lines, i), *next = dw->onesrcline(lines, i + 1);
	const char *file = dw->linesrc(line, NULL, NULL);
	Dwarf_Addr start, end;
	bool ends = true;
	int number;

	if (!file || dw->lineendsequence(line, &ends) || ends || dw->lineno(line, &number) ||
	    dw->lineaddr(line, &start) || dw->lineaddr(next, &end) || start >= end || number <= 0)
		return;
	u->world->line(u->world->ctx, file, (uint64_t)number, start, end);
}

static void tell_rows(struct unit *u)
{
	Dwarf_Lines *lines;
	size_t count;

	if (u->dw->getsrclines(&u->die, &lines, &count))
		return;
	for (size_t i = 0; i + 1 < count; i++)
		tell_row(u, lines, i);
}

static bool get_number(const struct nve_dw *dw, Dwarf_Die *die, unsigned name, Dwarf_Word *number)
{
	Dwarf_Attribute attribute;

	return dw->attr(die, name, &attribute) && !dw->formudata(&attribute, number);
}

/* A function that was inlined: its code is that of the line which calls it, too. */
static void tell_inlined(struct unit *u, Dwarf_Die *die)
{
	Dwarf_Word file_number, line;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	const char *file;

	if (!get_number(u->dw, die, DW_AT_call_file, &file_number) ||
	    !get_number(u->dw, die, DW_AT_call_line, &line) || file_number >= u->file_count)
		return;
	file = u->dw->filesrc(u->files, file_number, NULL, NULL);
	while (file && (at = u->dw->ranges(die, at, &base, &start, &end)) > 0)
		u->world->line(u->world->ctx, file, line, start, end);
}

/* All scopes of the unit, without recursion. */
static void tell_scopes(struct unit *u)
{
	const struct nve_dw *dw = u->dw;
	Dwarf_Die scope[DEPTH_MAX];
	int depth = 0;

	if (dw->child(&u->die, &scope[0]))
		return;
	while (depth >= 0) {
		int tag = dw->tag(&scope[depth]);
		bool inside = tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
			      tag == DW_TAG_inlined_subroutine || tag == DW_TAG_namespace;

		if (tag == DW_TAG_inlined_subroutine)
			tell_inlined(u, &scope[depth]);
		if (inside && depth + 1 < DEPTH_MAX && !dw->child(&scope[depth], &scope[depth + 1]))
			depth++;
		else
			while (depth >= 0 && dw->siblingof(&scope[depth], &scope[depth]))
				depth--;
	}
}

static int tell_units(const struct nve_source_world *world, Dwarf *dwarf)
{
	const struct nve_dw *dw = world->dw;
	struct unit u = {.world = world, .dw = dw};
	Dwarf_Off at = 0, next;
	size_t header;
	int found = -ENOENT;

	while (!dw->nextcu(dwarf, at, &next, &header, NULL, NULL, NULL)) {
		found = 0;
		if (dw->offdie(dwarf, at + header, &u.die) &&
		    !dw->getsrcfiles(&u.die, &u.files, &u.file_count) && is_wanted(&u)) {
			tell_rows(&u);
			tell_scopes(&u);
		}
		at = next;
	}
	return found;
}

int nve_source_lines(const struct nve_source_world *world, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;
	Dwarf *dwarf;

	if (fd < 0)
		return -errno;
	dwarf = world->dw->begin(fd, DWARF_C_READ);
	rc = dwarf ? tell_units(world, dwarf) : -ENOENT;
	if (dwarf)
		world->dw->end(dwarf);
	close(fd);
	return rc;
}
