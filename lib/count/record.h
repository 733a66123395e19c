/*
 * The format of epoch records (NVM_RECORD): what a file holds, put into bytes and taken out of
 * them. DESIGN.md, section 10, describes it for other programs; this is the one definition that
 * writer and reader share.
 *
 * Pure: bytes in memory, no file, no clock. The writing half is signal-safe. The reading half may
 * be given anything.
 */
#ifndef NVE_COUNT_RECORD_H
#define NVE_COUNT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NVE_RECORD_VERSION = 1,
	NVE_RECORD_HEADER_BYTES = 316,
	NVE_RECORD_TEXT_BYTES = 64, /* of each text in the header, NUL-padded */
	NVE_RECORD_NAME_BYTES = 16,
	NVE_RECORD_REGION_BYTES = 64,       /* of a region's name */
	NVE_RECORD_MAX_BYTES = 2 + 255 + 4, /* a record: type, length, payload, checksum */
};

/* Who counted. */
enum nve_record_source {
	NVE_RECORD_AHEAD = 1,
	NVE_RECORD_COUNTERS = 2,
	NVE_RECORD_REPLAY = 3,
};

struct nve_record_header {
	uint64_t pid;
	uint64_t born_ticks;       /* when the kernel made the process, its ticks since boot */
	uint64_t started_at_s;     /* CLOCK_REALTIME when the library started */
	uint64_t rlat_ps, wlat_ps; /* settings; 0: DRAM's own */
	uint64_t symmetric;        /* the model: 0 equation 5, 1 equation 1 */
	uint64_t injects;          /* 0: a dry run */
	uint64_t source;           /* enum nve_record_source */
	uint64_t epoch_ns, budget_ppm;
	uint64_t dram_lat_ps, llc_lat_ps; /* in force, measured or given */
	uint64_t tsc_khz;
	char program[NVE_RECORD_TEXT_BYTES], host[NVE_RECORD_TEXT_BYTES],
		cpu[NVE_RECORD_TEXT_BYTES];
};

enum nve_record_type {
	NVE_RECORD_THREAD = 1,      /* a thread's first sign of life */
	NVE_RECORD_EPOCH = 2,       /* an epoch, once the model has judged it */
	NVE_RECORD_THREAD_END = 3,  /* totals of a thread */
	NVE_RECORD_PROCESS_END = 4, /* totals of the process: what follows does not count */
	NVE_RECORD_REGION = 5,      /* what epochs of a region belong to; once for each thread */
};

/* Threads are numbered in the order in which they were made, from 0. Times since the library's
 * start are of CLOCK_MONOTONIC. */
struct nve_record_thread {
	uint64_t thread, tid;
	uint64_t when_ns; /* of birth, since the start */
};

struct nve_record_epoch {
	uint64_t thread;
	uint64_t when_ns; /* of its end, since the start */
	uint64_t region;  /* 0: outside of all; others as records of regions have them */
	uint64_t cpu_ns, stall_ns, stall_wb_ns, latency_ps, dram_lat_ps; /* struct nve_epoch */
	uint64_t stall_se_ns, dirty_se_ppm, latency_se_ps; /* standard errors; 0: not known */
	uint64_t delay_owed_ns; /* by the thread since its birth, this epoch included */
	uint64_t delay_paid_ns; /* of that, when the epoch ended */
	/* struct nve_epoch */
	uint64_t dram_ro_ppm, dram_wb_ppm, dram_ro_se_ppm, dram_wb_se_ppm;
	uint64_t read_bytes, written_bytes, read_se_bytes, written_se_bytes, bandwidth_ns;
};

/* Do epochs of a region earn delay? */
enum nve_record_owes {
	NVE_RECORD_OWES = 0,
	NVE_RECORD_PAUSED = 1,  /* no: the program had paused emulation */
	NVE_RECORD_OUTSIDE = 2, /* no: outside of all, and emulated was inside alone */
};

/* A region of the program, or as much of it as it had paused. */
struct nve_record_region {
	uint64_t region; /* its number */
	uint64_t parent; /* that of the region that it was begun in, 0: in none */
	uint64_t owes;   /* enum nve_record_owes */
	char name[NVE_RECORD_REGION_BYTES];
};

/* Totals of a thread or of the process; names as in reports. */
struct nve_record_end {
	uint64_t thread; /* number of the thread; for the process, how many there were */
	uint64_t tid;    /* for the process, its id */
	uint64_t when_ns;
	uint64_t alive; /* the process ended before the thread */
	uint64_t lost;  /* epochs that are not in the record */
	uint64_t epochs, cpu_ns, stall_ns, stall_wb_ns, ma_ro, ma_wb, clamps;
	uint64_t delay_owed_ns, delay_paid_ns;
	uint64_t stall_share_se_ppm, dirty_se_ppm, latency_ps, latency_se_ps, dram_lat_ps;
	uint64_t handler_ns, saved_ns, monitor_ns;
	char name[NVE_RECORD_NAME_BYTES];
};

struct nve_record {
	uint8_t type; /* enum nve_record_type */
	union {
		struct nve_record_thread thread;
		struct nve_record_epoch epoch;
		struct nve_record_end end;
		struct nve_record_region region;
	};
};

/* out: NVE_RECORD_HEADER_BYTES. */
void nve_record_put_header(uint8_t *out, const struct nve_record_header *header);

/* out: NVE_RECORD_MAX_BYTES. Returns how many were used. */
size_t nve_record_put(uint8_t *out, const struct nve_record *record);

/*
 * Returns 0, with the place of the first record in *at; -ENODATA: the file ends within the header;
 * -EINVAL: not a record; -ENOTSUP: of a version that this reader does not know, which is then in
 * *version; -EBADMSG: damaged.
 */
int nve_record_get_header(const uint8_t *data, size_t size, struct nve_record_header *header,
			  size_t *at, uint32_t *version);

/*
 * The record at *at, which then moves past it; types not known are passed over. Returns 1; 0 at the
 * end; -ENODATA where the data end within a record, as after a crash; -EBADMSG: damaged at *at.
 */
int nve_record_get(const uint8_t *data, size_t size, size_t *at, struct nve_record *record);

#endif
