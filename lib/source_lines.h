/*
 * Where the code of given source lines lies in a module: by the line table of its debug
 * information, and by the places at which functions were inlined, since a call there stands for
 * the line of the caller as well.
 *
 * By libdw, which is loaded only where somebody asks. For the start of a process: it allocates, and
 * opens files. The debug information has to be in the module's own file.
 */
#ifndef NVE_SOURCE_LINES_H
#define NVE_SOURCE_LINES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* What is used of libdw. */
struct nve_dw {
	__typeof__(dwarf_begin) *begin;
	__typeof__(dwarf_end) *end;
	__typeof__(dwarf_nextcu) *nextcu;
	__typeof__(dwarf_offdie) *offdie;
	__typeof__(dwarf_child) *child;
	__typeof__(dwarf_siblingof) *siblingof;
	__typeof__(dwarf_tag) *tag;
	__typeof__(dwarf_attr) *attr;
	__typeof__(dwarf_formudata) *formudata;
	__typeof__(dwarf_ranges) *ranges;
	__typeof__(dwarf_getsrcfiles) *getsrcfiles;
	__typeof__(dwarf_filesrc) *filesrc;
	__typeof__(dwarf_getsrclines) *getsrclines;
	__typeof__(dwarf_onesrcline) *onesrcline;
	__typeof__(dwarf_lineno) *lineno;
	__typeof__(dwarf_lineaddr) *lineaddr;
	__typeof__(dwarf_linesrc) *linesrc;
	__typeof__(dwarf_lineendsequence) *lineendsequence;
};

struct nve_source_world {
	const struct nve_dw *dw;
	/* Is the line of this file wanted, and as what numbers? Called for each; file is a path. */
	void (*line)(void *ctx, const char *file, uint64_t line, uint64_t start, uint64_t end);
	/* Is any line of this file wanted? */
	bool (*file)(void *ctx, const char *file);
	void *ctx;
};

/*
 * Calls world->line for the code of each line of the files that world->file wants; addresses are
 * those of the module's file. 0; -ENOENT: no debug information; or another -errno.
 */
int nve_source_lines(const struct nve_source_world *world, const char *path);

#endif
