#include "recording.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "collect.h"
#include "emu/recorder.h"

/* Field 22 of /proc/self/stat: when this process was made. It outlives exec; 0: not known. */
static uint64_t born_ticks(void)
{
	enum { FIELDS = 20 }; /* from the one after the name, which may hold anything */
	char text[1024];
	const char *at;
	size_t length;

	if (nve_file_read("/proc/self/stat", text, sizeof(text), &length))
		return 0;
	at = strrchr(text, ')');
	for (int i = 0; at && i < FIELDS; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

struct claim {
	const struct nve_record_header *header;
	uint64_t started_ns;
};

static int make(void *ctx, const char *path)
{
	const struct claim *c = ctx;

	return nve_recorder_create(path, c->header, c->started_ns);
}

void nve_recording_start(const struct nve_outfile *out, struct nve_record_header *header,
			 const struct nve_options *options, uint64_t started_ns, bool tell_moved)
{
	static char path[NVE_FILE_PATH_BYTES];
	struct claim claim = {.header = header, .started_ns = started_ns};
	bool moved = false;
	int rc;

	header->born_ticks = born_ticks();
	header->rlat_ps = options->rlat_ps;
	header->wlat_ps = options->wlat_ps;
	header->symmetric = options->model == NVE_MODEL_SYMMETRIC;
	header->injects = options->inject != NVE_INJECT_OFF;
	header->epoch_ns = options->epoch_ns;
	header->budget_ppm = options->budget_ppm;
	rc = nve_outfile_claim(out, make, &claim, path, &moved);
	if (rc)
		nve_log(NVE_LOG_WARN, "NVM_RECORD: no record, %s: %s", path, strerror(-rc));
	else if (moved && tell_moved)
		nve_log(NVE_LOG_WARN, "NVM_RECORD: %s exists, the record is %s", out->name, path);
}

static void fill_end(struct nve_record_end *end, const struct nve_totals *t)
{
	end->when_ns = nve_recorder_when_ns(nve_clock_ns(CLOCK_MONOTONIC));
	end->epochs = t->epochs;
	end->cpu_ns = t->cpu_ns;
	end->stall_ns = t->stall_ns;
	end->stall_wb_ns = t->stall_wb_ns;
	end->ma_ro = t->ma_ro;
	end->ma_wb = t->ma_wb;
	end->clamps = t->clamps;
	end->delay_owed_ns = t->delay_owed_ns;
	end->delay_paid_ns = t->delay_paid_ns;
	end->stall_share_se_ppm = t->stall_share_se_ppm;
	end->dirty_se_ppm = t->dirty_se_ppm;
	end->latency_ps = t->latency_ps;
	end->latency_se_ps = t->latency_se_ps;
	end->dram_lat_ps = t->dram_lat_ps;
	end->handler_ns = t->handler_ns;
	end->saved_ns = t->saved_ns;
	end->monitor_ns = t->monitor_ns;
}

static void fill_thread_end(struct nve_record *record, const struct nve_thread *t)
{
	struct nve_thread_snapshot s = {0};

	nve_collect_thread(t, &s);
	*record = (struct nve_record){.type = NVE_RECORD_THREAD_END};
	fill_end(&record->end, &s.totals);
	record->end.thread = t->number;
	record->end.tid = (uint64_t)t->tid;
	record->end.lost = t->record.lost;
	memcpy(record->end.name, s.name, sizeof(s.name));
}

void nve_recording_thread_end(struct nve_thread *t)
{
	struct nve_record record;

	atomic_store(&t->record_ended, true);
	if (nve_recorder_on()) {
		fill_thread_end(&record, t);
		nve_recorder_flush(&t->record, -1, true);
		nve_recorder_add(&t->record, &record);
		nve_recorder_flush(&t->record, -1, true);
	}
	nve_recorder_tell();
}

/* The buffer of a living thread is not ours to touch. */
static void end_living(struct nve_thread *t, void *arg)
{
	struct nve_recorder_buffer *b = arg;
	struct nve_record record;

	if (atomic_load(&t->record_ended))
		return;
	fill_thread_end(&record, t);
	record.end.alive = 1;
	nve_recorder_add(b, &record);
	nve_recorder_flush(b, -1, true);
}

void nve_recording_end(const struct nve_snapshot *s)
{
	static struct nve_recorder_buffer buffer;
	struct nve_record record = {.type = NVE_RECORD_PROCESS_END};

	buffer.used = 0;
	if (nve_recorder_on() && nve_thread_lock() == 0) {
		nve_thread_each(end_living, &buffer);
		nve_thread_unlock();
	}
	fill_end(&record.end, &s->totals);
	record.end.thread = s->threads_total;
	record.end.tid = (uint64_t)s->pid;
	nve_format(record.end.name, sizeof(record.end.name), "%s", s->program);
	nve_recorder_add(&buffer, &record);
	nve_recorder_flush(&buffer, -1, true);
	nve_recorder_end();
	nve_recorder_tell();
}

int nve_recording_load(struct nve_replay *r, const char *file, const char *cwd,
		       struct nve_options_message *error)
{
	struct nve_replay_error why;
	int rc = nve_replay_load(r, file, &why);

	if (rc && *file == '/')
		nve_format(error->text, sizeof(error->text), "NVM_COUNTERS: replay:%s: %s", file,
			   why.text);
	else if (rc)
		nve_format(error->text, sizeof(error->text), "NVM_COUNTERS: replay:%s (in %s): %s",
			   file, cwd, why.text);
	return rc;
}

bool nve_recording_is_of(const struct nve_replay *r, const char *program)
{
	return !strncmp(r->header.program, program, sizeof(r->header.program) - 1);
}

void nve_recording_fill_replay(const struct nve_replay *r, const char *file, struct nve_snapshot *s)
{
	s->replay = (struct nve_replay_snapshot){
		.file = file,
		.program = r->header.program,
		.host = r->header.host,
		.started_at_s = r->header.started_at_s,
		.complete = r->complete,
		.threads = r->threads,
		.epochs = r->epochs,
		.cpu_ns = r->cpu_ns,
	};
	/* Also of threads that were never made. */
	s->totals.replay_left_epochs = r->epochs - s->totals.epochs;
	s->totals.replay_left_ns = r->cpu_ns - s->totals.cpu_ns;
}
