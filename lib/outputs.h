/*
 * The files that a process leaves: the names of its report and of its record, settled at the start
 * (the program may change its directory or its root), and the report's writing. One process; no
 * thread safety of its own.
 */
#ifndef NVE_OUTPUTS_H
#define NVE_OUTPUTS_H

#include "base/options.h"
#include "report/outfile.h"
#include "report/snapshot.h"

/* Settles the names of NVM_OUT and NVM_RECORD. A name that cannot be is said in one line, and
 * emptied in *options: no such file. */
void nve_outputs_name(struct nve_options *options, const struct nve_outfile_words *words);

/* Where the record goes. */
const struct nve_outfile *nve_outputs_record(void);

/*
 * Writes the report of *s. suffix: appended to its name, NULL for none. tell_moved: say so in one
 * line where the name was taken. path, of NVE_FILE_PATH_BYTES, gets its name; empty where there is
 * none, which is said in one line.
 */
void nve_outputs_report(struct nve_snapshot *s, const char *suffix, bool tell_moved, char *path);

#endif
