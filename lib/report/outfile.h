/*
 * The file of NVM_OUT or NVM_RECORD: from the pattern to a name, from the name to a complete file
 * that replaces none. No malloc, no stdio; signal-safe.
 *
 *   %p process id  %e program  %h host  %t time of start (UTC)  %n number, from 1  %% the sign
 * itself
 *
 * Processes of one tree share a pattern. The root gets the name as it is given; of the others each
 * gets ".<pid>" appended unless the pattern tells them apart itself, by %p or %n. A name that
 * is taken gets ".1", ".2" ... appended; %n counts up instead.
 */
#ifndef NVE_REPORT_OUTFILE_H
#define NVE_REPORT_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "base/options.h"
#include "report/json.h"

/* What the placeholders stand for; a '/' in a text becomes '_'. */
struct nve_outfile_words {
	int pid;
	bool root; /* of the tree of processes under the library */
	const char *program, *host;
	uint64_t started_at_s;
	const char *cwd; /* where a relative pattern begins */
};

/* Large: meant to be static, or part of something that is. */
struct nve_outfile {
	char name[2 * NVE_PATH_BYTES]; /* absolute; holds "%n" and "%%" still */
	bool numbered;                 /* it does hold %n */
	const char *suffix;            /* appended where it does not; NULL: nothing */
	struct nve_file file;
};

/* Returns 0 or, for an unknown placeholder, -EINVAL; *bad (may be NULL) then points to its '%'. */
int nve_outfile_check(const char *pattern, const char **bad);

/* Everything but the number is settled here. 0, -EINVAL (see above) or -ENAMETOOLONG. */
int nve_outfile_name(struct nve_outfile *o, const char *pattern,
		     const struct nve_outfile_words *words);

/*
 * Writes the file: produce writes the content into the sink, and may be called again when another
 * process has taken the name meanwhile. path (NVE_FILE_PATH_BYTES) gets the final name; *moved
 * tells whether it is another than the one asked for, because that was taken. On error there is no
 * file.
 */
int nve_outfile_write(struct nve_outfile *o,
		      int (*produce)(void *ctx, const struct nve_report_sink *sink), void *ctx,
		      char *path, bool *moved);

/*
 * Finds a name that is not taken: calls make for one after the other until it returns something
 * else than -EEXIST, and returns that. path and *moved: as above, of the last name.
 */
int nve_outfile_claim(const struct nve_outfile *o, int (*make)(void *ctx, const char *path),
		      void *ctx, char *path, bool *moved);

#endif
