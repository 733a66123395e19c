#include "report/predict_load.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* A thread of the record while it is read. */
struct reading {
	const struct nve_replay *record;
	struct nve_predict *predict;
	uint64_t *place;    /* by number of the thread: where its next epoch goes */
	uint64_t *owed_ns;  /* by epoch: delay owed for it alone */
	uint64_t *owed_all; /* by number: so far */
	const struct nve_record_region *regions[NVE_REPLAY_REGIONS_MAX]; /* by number; or NULL */
};

static void set_name(char to[NVE_PREDICT_NAME_BYTES], const char *name)
{
	snprintf(to, NVE_PREDICT_NAME_BYTES, "%s", name);
}

/* What the totals of a thread say of all of it. */
static void use_totals(struct nve_predict_part *part, const struct nve_totals *t)
{
	uint64_t cost_ns = t->handler_ns > t->saved_ns ? t->handler_ns - t->saved_ns : 0;

	part->extra_ns = (double)NVE_MAX(t->delay_paid_ns, cost_ns);
	if (t->stall_share_se_ppm)
		part->stall_se_ns = t->stall_share_se_ppm * 1e-6 * part->cpu_ns;
	part->dirty_se = t->dirty_se_ppm * 1e-6;
	if (t->latency_ps)
		part->latency_se = (double)t->latency_se_ps / (double)t->latency_ps;
	part->se_known = part->stall_se_ns > 0;
}

/* owes: whether it earns delay at all. */
static struct nve_predict_epoch epoch_of(const struct nve_record_epoch *e, bool owes)
{
	struct nve_predict_epoch epoch = {
		.until_ns = (double)e->when_ns,
		.cpu_ns = (double)e->cpu_ns,
		.latency_ns = (double)e->latency_ps * 1e-3,
		.dram_lat_ns = (double)e->dram_lat_ps * 1e-3,
		.stall_se_ns = (double)e->stall_se_ns,
		.region = e->region,
	};
	uint64_t wb_ns = NVE_MIN(e->stall_wb_ns, e->stall_ns);

	/* As the model has it: without a latency there is no count, and what is placed on DRAM owes
	 * nothing. */
	if (e->latency_ps && owes) {
		epoch.wb = (double)wb_ns / epoch.latency_ns * (1 - (double)e->dram_wb_ppm * 1e-6);
		epoch.ro = (double)(e->stall_ns - wb_ns) / epoch.latency_ns *
			   (1 - (double)e->dram_ro_ppm * 1e-6);
	}
	return epoch;
}

static struct nve_predict_part *find_thread(struct nve_predict *p, uint64_t number)
{
	size_t low = 0, high = p->thread_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->threads[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->thread_count && p->threads[low].number == number ? &p->threads[low] : NULL;
}

static void add_epoch(struct nve_predict_part *part, const struct nve_predict_epoch *e)
{
	part->cpu_ns += e->cpu_ns;
	part->stall_ns += (e->ro + e->wb) * e->latency_ns;
	part->stall_se_ns = hypot(part->stall_se_ns, e->stall_se_ns);
	part->se_known |= e->stall_se_ns > 0;
}

static void read_epoch(struct reading *r, const struct nve_record_epoch *e)
{
	struct nve_predict_part *part = find_thread(r->predict, e->thread);
	uint64_t at = r->place[e->thread]++;
	struct nve_predict_epoch *epoch = &r->predict->epochs[at];
	const struct nve_record_region *region = r->regions[e->region];
	double birth_ns = epoch->from_ns;

	*epoch = epoch_of(e, !region || region->owes == NVE_RECORD_OWES);
	epoch->from_ns = at == r->record->first[e->thread] ? birth_ns : epoch[-1].until_ns;
	r->owed_ns[at] = e->delay_owed_ns - NVE_MIN(r->owed_all[e->thread], e->delay_owed_ns);
	r->owed_all[e->thread] = e->delay_owed_ns;
	add_epoch(part, epoch);
	part->extra_ns = (double)e->delay_paid_ns;
	part->dirty_se = (double)e->dirty_se_ppm * 1e-6;
	part->latency_se =
		e->latency_ps ? (double)e->latency_se_ps / (double)e->latency_ps : part->latency_se;
	r->predict->wall_ns = fmax(r->predict->wall_ns, epoch->until_ns);
}

/* The birth comes before the epochs: its time waits where the first of them will be. */
static void read_birth(struct reading *r, const struct nve_record_thread *t)
{
	struct nve_predict_part *part = find_thread(r->predict, t->thread);

	if (!part)
		return;
	part->tid = t->tid;
	if (r->place[t->thread] == r->record->first[t->thread])
		r->predict->epochs[r->place[t->thread]].from_ns = (double)t->when_ns;
}

static void read_end(struct reading *r, const struct nve_record_end *end)
{
	struct nve_predict_part *part = find_thread(r->predict, end->thread);
	const struct nve_totals totals = {
		.delay_paid_ns = end->delay_paid_ns,
		.handler_ns = end->handler_ns,
		.saved_ns = end->saved_ns,
		.stall_share_se_ppm = (uint32_t)end->stall_share_se_ppm,
		.dirty_se_ppm = (uint32_t)end->dirty_se_ppm,
		.latency_ps = end->latency_ps,
		.latency_se_ps = end->latency_se_ps,
	};

	if (!part)
		return;
	part->tid = end->tid;
	set_name(part->name, end->name);
	use_totals(part, &totals);
}

static void read_records(struct reading *r, const uint8_t *data, size_t size, size_t at)
{
	struct nve_record record;

	while (nve_record_get(data, size, &at, &record) == 1) {
		switch (record.type) {
		case NVE_RECORD_THREAD: read_birth(r, &record.thread); break;
		case NVE_RECORD_EPOCH: read_epoch(r, &record.epoch); break;
		case NVE_RECORD_THREAD_END: read_end(r, &record.end); break;
		case NVE_RECORD_PROCESS_END:
			r->predict->wall_ns = (double)record.end.when_ns;
			return;
		default: break;
		}
	}
}

/* Delay came as it was owed; what the emulator cost beyond it, with the CPU time. */
static void spread_extra(struct reading *r, uint64_t thread, double extra_ns)
{
	const uint64_t *first = r->record->first;
	struct nve_predict_epoch *epochs = r->predict->epochs;
	double owed = (double)r->owed_all[thread], cpu = 0;

	for (uint64_t i = first[thread]; i < first[thread + 1]; i++)
		cpu += epochs[i].cpu_ns;
	for (uint64_t i = first[thread]; i < first[thread + 1]; i++) {
		if (owed > 0)
			epochs[i].extra_ns = extra_ns * (double)r->owed_ns[i] / owed;
		else if (cpu > 0)
			epochs[i].extra_ns = extra_ns * epochs[i].cpu_ns / cpu;
	}
	r->predict->owed_ns += owed;
}

/* Those without an epoch have nothing to predict. */
static void list_threads(struct nve_predict *p, const struct nve_replay *r)
{
	for (uint64_t i = 0; i < r->threads; i++) {
		if (r->first[i] == r->first[i + 1])
			continue;
		p->threads[p->thread_count++] = (struct nve_predict_part){
			.number = i,
			.epochs = p->epochs + r->first[i],
			.epoch_count = r->first[i + 1] - r->first[i],
		};
	}
}

static uint64_t count_threads(const struct nve_replay *r)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < r->threads; i++)
		count += r->first[i] != r->first[i + 1];
	return count;
}

static int compare_regions(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Errors of dirty fraction and latency are the threads' own: the largest of them. */
static void fill_region(struct nve_predict *p, struct nve_predict_part *region)
{
	for (size_t i = 0; i < p->epoch_count; i++) {
		if (p->epochs[i].region != region->number)
			continue;
		add_epoch(region, &p->epochs[i]);
		region->extra_ns += p->epochs[i].extra_ns;
	}
	for (size_t i = 0; i < p->thread_count; i++) {
		region->dirty_se = fmax(region->dirty_se, p->threads[i].dirty_se);
		region->latency_se = fmax(region->latency_se, p->threads[i].latency_se);
	}
}

static void name_region(struct nve_predict_part *part, const struct nve_record_region *region)
{
	static const char *const suffixes[] = {
		[NVE_RECORD_OWES] = "",
		[NVE_RECORD_PAUSED] = " (paused)",
		[NVE_RECORD_OUTSIDE] = " (not emulated)",
	};
	const char *name = region ? region->name : "";
	const char *suffix =
		region && region->owes < NVE_ARRAY_SIZE(suffixes) ? suffixes[region->owes] : "";

	snprintf(part->name, sizeof(part->name), "%.40s%s",
		 *name              ? name
		 : part->number < 2 ? "outside of all"
				    : "",
		 suffix);
}

static int list_regions(const struct reading *r, struct nve_predict *p)
{
	uint64_t *numbers = calloc(p->epoch_count, sizeof(*numbers));
	size_t distinct = 0;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < p->epoch_count; i++)
		numbers[i] = p->epochs[i].region;
	qsort(numbers, p->epoch_count, sizeof(*numbers), compare_regions);
	for (size_t i = 0; i < p->epoch_count; i++)
		if (!i || numbers[i] != numbers[i - 1])
			numbers[distinct++] = numbers[i];
	/* Region 0 is what is outside of all others: alone it says nothing. */
	if (distinct == 1 && !numbers[0])
		distinct = 0;
	if (distinct)
		p->regions = calloc(distinct, sizeof(*p->regions));
	if (p->regions)
		p->region_count = distinct;
	for (size_t i = 0; i < p->region_count; i++) {
		p->regions[i] = (struct nve_predict_part){
			.number = numbers[i],
			.by_region = true,
			.epochs = p->epochs,
			.epoch_count = p->epoch_count,
		};
		name_region(&p->regions[i], r->regions[numbers[i]]);
		fill_region(p, &p->regions[i]);
	}
	free(numbers);
	return p->region_count == distinct ? 0 : -ENOMEM;
}

static void use_header(struct nve_predict *p, const struct nve_replay *r)
{
	const struct nve_record_header *h = &r->header;

	set_name(p->program, h->program);
	set_name(p->host, h->host);
	p->pid = h->pid;
	p->rlat_ns = (double)h->rlat_ps * 1e-3;
	p->wlat_ns = (double)h->wlat_ps * 1e-3;
	p->symmetric = h->symmetric;
	p->injected = h->injects;
	p->complete = r->complete;
	p->dram_lat_ns = (double)h->dram_lat_ps * 1e-3;
}

static int read_all(struct reading *r, const uint8_t *data, size_t size)
{
	const struct nve_replay *record = r->record;
	struct nve_predict *p = r->predict;
	struct nve_record_header header;
	uint32_t version;
	size_t at = 0;

	nve_record_get_header(data, size, &header, &at, &version);
	memcpy(r->place, record->first, record->threads * sizeof(*r->place));
	for (uint64_t i = 0; i < record->regions; i++)
		r->regions[record->region[i].region] = &record->region[i];
	list_threads(p, record);
	read_records(r, data, size, at);
	for (size_t i = 0; i < p->thread_count; i++)
		spread_extra(r, p->threads[i].number, p->threads[i].extra_ns);
	return list_regions(r, p);
}

static int build(struct nve_predict *p, const struct nve_replay *record, const uint8_t *data,
		 size_t size)
{
	struct reading r = {
		.record = record,
		.predict = p,
		.place = calloc(record->threads, sizeof(*r.place)),
		.owed_ns = calloc(record->epochs, sizeof(*r.owed_ns)),
		.owed_all = calloc(record->threads, sizeof(*r.owed_all)),
	};
	int rc = -ENOMEM;

	p->epochs = calloc(record->epochs, sizeof(*p->epochs));
	p->threads = calloc(count_threads(record), sizeof(*p->threads));
	p->epoch_count = p->epochs ? record->epochs : 0;
	if (r.place && r.owed_ns && r.owed_all && p->epochs && p->threads)
		rc = read_all(&r, data, size);
	free(r.place);
	free(r.owed_ns);
	free(r.owed_all);
	return rc;
}

int nve_predict_from_record(struct nve_predict *p, const uint8_t *data, size_t size,
			    struct nve_replay_error *error)
{
	struct nve_replay record;
	int rc = nve_replay_parse(&record, data, size, error);

	memset(p, 0, sizeof(*p));
	if (rc)
		return rc;
	use_header(p, &record);
	if (!record.epochs)
		rc = -ENODATA;
	else
		rc = build(p, &record, data, size);
	nve_replay_free(&record);
	if (!rc)
		return 0;
	snprintf(error->text, sizeof(error->text), "%s",
		 rc == -ENODATA ? "holds no epoch: nothing was recorded of the program"
				: strerror(-rc));
	nve_predict_free(p);
	return rc;
}

static void from_totals(struct nve_predict *p, size_t i, const struct nve_predict_totals *thread)
{
	const struct nve_totals *t = thread->totals;
	struct nve_predict_part *part = &p->threads[i];
	double accesses = (double)t->ma_ro + (double)t->ma_wb;

	*part = (struct nve_predict_part){
		.number = i,
		.tid = thread->tid,
		.cpu_ns = (double)t->cpu_ns,
		.stall_ns = (double)t->stall_ns,
		.epochs = &p->epochs[i],
		.epoch_count = 1,
	};
	set_name(part->name, thread->name);
	use_totals(part, t);
	p->epochs[i] = (struct nve_predict_epoch){
		.until_ns = p->wall_ns,
		.cpu_ns = part->cpu_ns,
		.extra_ns = part->extra_ns,
		/* what is placed on DRAM owes nothing */
		.ro = (double)t->placed.nvm_ma[NVE_PLACED_READ],
		.wb = (double)t->placed.nvm_ma[NVE_PLACED_WRITE],
		.latency_ns = accesses > 0 ? part->stall_ns / accesses : 0,
		.dram_lat_ns = (double)t->dram_lat_ps * 1e-3,
		.stall_se_ns = part->stall_se_ns,
	};
	p->owed_ns += (double)t->delay_owed_ns;
}

int nve_predict_from_totals(struct nve_predict *p, const struct nve_predict_totals *threads,
			    size_t count)
{
	p->threads = calloc(count + 1, sizeof(*p->threads));
	p->epochs = calloc(count + 1, sizeof(*p->epochs));
	if (!p->threads || !p->epochs) {
		nve_predict_free(p);
		return -ENOMEM;
	}
	p->thread_count = p->epoch_count = count;
	for (size_t i = 0; i < count; i++)
		from_totals(p, i, &threads[i]);
	return 0;
}

/* What the listed threads leave of the process's sums. */
static struct nve_totals unlisted(const struct nve_view_process *process)
{
	struct nve_totals rest = process->totals;

	for (size_t i = 0; i < process->thread_count; i++) {
		const struct nve_totals *t = &process->threads[i].totals;

		rest.cpu_ns -= NVE_MIN(rest.cpu_ns, t->cpu_ns);
		rest.stall_ns -= NVE_MIN(rest.stall_ns, t->stall_ns);
		rest.ma_ro -= NVE_MIN(rest.ma_ro, t->ma_ro);
		rest.ma_wb -= NVE_MIN(rest.ma_wb, t->ma_wb);
		for (int k = 0; k < NVE_PLACED_KINDS; k++)
			rest.placed.nvm_ma[k] -=
				NVE_MIN(rest.placed.nvm_ma[k], t->placed.nvm_ma[k]);
		rest.delay_owed_ns -= NVE_MIN(rest.delay_owed_ns, t->delay_owed_ns);
		rest.delay_paid_ns -= NVE_MIN(rest.delay_paid_ns, t->delay_paid_ns);
		rest.handler_ns -= NVE_MIN(rest.handler_ns, t->handler_ns);
		rest.saved_ns -= NVE_MIN(rest.saved_ns, t->saved_ns);
	}
	return rest;
}

static bool is_limited(const struct nve_view_process *process, const char *name)
{
	const struct nve_view_setting setting = {name, nve_view_setting(process, name)};

	return setting.value && !nve_view_is_default(&setting);
}

static void use_process(struct nve_predict *p, const struct nve_view_process *process)
{
	const char *inject = nve_view_setting(process, "NVM_INJECT");

	set_name(p->program, process->program);
	set_name(p->host, process->host);
	p->pid = (uint64_t)process->pid;
	p->rlat_ns = (double)process->rlat_ps * 1e-3;
	p->wlat_ns = (double)process->wlat_ps * 1e-3;
	p->symmetric = process->symmetric;
	p->injected = !inject || strcmp(inject, "off");
	p->complete = true;
	p->bandwidth = is_limited(process, "NVM_RBW") || is_limited(process, "NVM_WBW");
	p->dram_lat_ns = (double)process->machine.dram_lat_ps * 1e-3;
	p->wall_ns = (double)process->wall_ns;
}

int nve_predict_from_view(struct nve_predict *p, const struct nve_view_process *process)
{
	struct nve_predict_totals *threads;
	struct nve_totals rest;
	size_t count = process->thread_count;
	int rc;

	memset(p, 0, sizeof(*p));
	if (!process->emulated)
		return -ENODATA;
	threads = calloc(count + 1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		threads[i] = (struct nve_predict_totals){(uint64_t)process->threads[i].tid,
							 process->threads[i].name,
							 &process->threads[i].totals};
	rest = unlisted(process);
	if (process->threads_not_listed)
		threads[count++] = (struct nve_predict_totals){0, "(not listed)", &rest};
	use_process(p, process);
	rc = nve_predict_from_totals(p, threads, count);
	free(threads);
	return rc;
}
