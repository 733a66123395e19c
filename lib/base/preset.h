/*
 * Devices by name: what memories take that somebody has built or measured, with the source of each
 * figure, and those that users describe in a file of their own. Pure; no malloc, no stdio.
 *
 * The file has one device a line, "NAME KEY=FIGURE ... # what it is"; blank lines and lines that
 * begin with '#' say nothing. Keys and their figures:
 *
 *   read, write  305ns, 1.5us    what an access takes, all in all
 *                x2.5            as many times this machine's DRAM latency
 *                +80ns           so much more than this machine's DRAM
 *                array:120ns     the array of cells alone, in place of DRAM's (13.75 ns)
 *   rbw, wbw     39.4GB/s, 37%   bytes a second, or a share of this machine's DRAM bandwidth
 */
#ifndef NVE_BASE_PRESET_H
#define NVE_BASE_PRESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

enum {
	NVE_PRESET_NAME_BYTES = 32,
	NVE_PRESET_ABOUT_BYTES = 96,
	NVE_PRESET_FILE_BYTES = 65536,
	NVE_PRESET_DRAM_ARRAY_PS = 13750, /* row to column, DDR3-1600 to DDR4-3200 (JEDEC) */
};

enum nve_preset_kind {
	NVE_PRESET_NONE,
	NVE_PRESET_TIME,  /* picoseconds */
	NVE_PRESET_TIMES, /* thousandths of DRAM's latency */
	NVE_PRESET_MORE,  /* picoseconds on top of DRAM's latency */
	NVE_PRESET_ARRAY, /* picoseconds of the array of cells */
	NVE_PRESET_BYTES, /* a second */
	NVE_PRESET_SHARE, /* parts per million of DRAM's bandwidth */
};

struct nve_preset_figure {
	enum nve_preset_kind kind;
	uint64_t value;
	const char *source; /* and its year; NULL: the user's file */
};

enum nve_preset_key { NVE_PRESET_READ, NVE_PRESET_WRITE, NVE_PRESET_RBW, NVE_PRESET_WBW };
enum { NVE_PRESET_KEYS = 4 };

struct nve_preset {
	char name[NVE_PRESET_NAME_BYTES];
	char about[NVE_PRESET_ABOUT_BYTES];
	struct nve_preset_figure figure[NVE_PRESET_KEYS];
	unsigned line; /* of the user's file; 0: built in */
};

/* Device i of those that are built in; NULL past the end. */
const struct nve_preset *nve_preset_builtin(size_t i);

const char *nve_preset_key_name(enum nve_preset_key key);

/* As the file has it: "x2.5". Returns the length as snprintf does; "" for none. */
int nve_preset_format(const struct nve_preset_figure *figure, char *buf, size_t size);

/* Where a text of the file's format is being read; path is for messages. */
struct nve_preset_text {
	const char *path, *at;
	unsigned line;
};

/* The next device of the text. 1; 0 at the end; -EINVAL with "PATH:LINE: what" in *error. */
int nve_preset_next(struct nve_preset_text *text, struct nve_preset *preset,
		    struct nve_options_message *error);

/*
 * Finds a device by its name; one of the text (all of which must be right) comes before one that is
 * built in. text may be NULL. 0; -ENOENT or -EINVAL with a message.
 */
int nve_preset_find(const char *name, struct nve_preset_text *text, struct nve_preset *preset,
		    struct nve_options_message *error);

/*
 * The latencies on a machine with that DRAM latency, in picoseconds; 0: as DRAM. A write-back miss
 * fetches a line first: the write latency is never below the read latency.
 */
void nve_preset_latencies(const struct nve_preset *preset, uint64_t dram_lat_ps, uint64_t *rlat_ps,
			  uint64_t *wlat_ps);

/* The bandwidths on a machine with these, all in bytes a second; 0: as the machine's. Of a machine
 * whose bandwidth is not known (0) shares are not known either. */
void nve_preset_bandwidths(const struct nve_preset *preset, uint64_t machine_read,
			   uint64_t machine_write, uint64_t *rbw, uint64_t *wbw);

/* Does it limit bandwidth? */
bool nve_preset_has_bandwidth(const struct nve_preset *preset);

/* The user's file: $XDG_CONFIG_HOME/nvmemu/devices, else $HOME/.config/nvmemu/devices. 0, or
 * -ENOENT where the environment names neither place. */
int nve_preset_path(char *const envp[], char *path, size_t size);

/* Reads it into buf, of NVE_PRESET_FILE_BYTES. 0; 0 with an empty text where there is no file; or
 * -errno with a message. */
int nve_preset_read(const char *path, char *buf, struct nve_preset_text *text,
		    struct nve_options_message *error);

#endif
