#include "count/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* Above what any run can have: 36 years, and a second of latency. */
#define TIME_MAX_NS    (UINT64_C(1) << 60)
#define LATENCY_MAX_PS UINT64_C(1000000000000)

enum { PPM = 1000000 };

static void *map_bytes(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static size_t epoch_bytes(const struct nve_replay *r)
{
	return (size_t)r->epochs * sizeof(*r->epoch);
}

/* Two more than threads: sorting needs one. */
static size_t first_bytes(const struct nve_replay *r)
{
	return ((size_t)r->threads + 2) * sizeof(*r->first);
}

static size_t region_bytes(const struct nve_replay *r)
{
	return (size_t)r->regions * sizeof(*r->region);
}

static int complain(struct nve_replay_error *error, int rc, size_t at, uint32_t version)
{
	switch (rc) {
	case -EINVAL: nve_format(error->text, sizeof(error->text), "not a record of nvmemu"); break;
	case -ENOTSUP:
		nve_format(error->text, sizeof(error->text),
			   "a record of format version %u; this nvmemu reads version %d", version,
			   NVE_RECORD_VERSION);
		break;
	case -ENODATA:
		nve_format(error->text, sizeof(error->text), "ends within its header");
		break;
	case -EBADMSG:
		nve_format(error->text, sizeof(error->text), "damaged at byte %zu", at);
		break;
	case -ERANGE:
		nve_format(error->text, sizeof(error->text), "impossible values at byte %zu", at);
		break;
	default: nve_format(error->text, sizeof(error->text), "%s", strerror(-rc));
	}
	return rc;
}

static bool header_possible(const struct nve_record_header *h)
{
	return h->dram_lat_ps && h->dram_lat_ps <= LATENCY_MAX_PS && h->llc_lat_ps &&
	       h->llc_lat_ps <= LATENCY_MAX_PS;
}

static bool epoch_possible(const struct nve_record_epoch *e)
{
	return e->thread < NVE_REPLAY_THREADS_MAX && e->cpu_ns <= TIME_MAX_NS &&
	       e->stall_ns <= TIME_MAX_NS && e->stall_wb_ns <= TIME_MAX_NS &&
	       e->latency_ps <= LATENCY_MAX_PS && e->dram_lat_ps <= LATENCY_MAX_PS &&
	       e->dram_ro_ppm <= PPM && e->dram_wb_ppm <= PPM && e->dram_ro_se_ppm <= PPM &&
	       e->dram_wb_se_ppm <= PPM && e->region < NVE_REPLAY_REGIONS_MAX;
}

/* Regions are numbered in the order in which they were begun. */
static bool region_possible(const struct nve_record_region *region)
{
	return region->region < NVE_REPLAY_REGIONS_MAX &&
	       (region->parent < region->region || !region->parent);
}

static bool possible(const struct nve_record *record)
{
	return record->type == NVE_RECORD_EPOCH ? epoch_possible(&record->epoch)
						: region_possible(&record->region);
}

/* The next epoch or region of the record; returns as nve_record_get() does. */
static int next_of_interest(struct nve_replay *r, const uint8_t *data, size_t size, size_t *at,
			    struct nve_record *record)
{
	int rc;

	while ((rc = nve_record_get(data, size, at, record)) == 1) {
		if (record->type == NVE_RECORD_EPOCH || record->type == NVE_RECORD_REGION)
			return 1;
		if (record->type == NVE_RECORD_PROCESS_END) {
			r->complete = true;
			return 0;
		}
	}
	return rc;
}

/* False: more than can be. */
static bool add(struct nve_replay *r, const struct nve_record *record)
{
	const struct nve_record_epoch *e = &record->epoch;

	if (record->type == NVE_RECORD_REGION) {
		r->regions++;
		return true;
	}
	if (r->cpu_ns > UINT64_MAX - e->cpu_ns)
		return false;
	r->epochs++;
	r->cpu_ns += e->cpu_ns;
	if (e->thread >= r->threads)
		r->threads = e->thread + 1;
	return true;
}

static int count(struct nve_replay *r, const uint8_t *data, size_t size, size_t *at)
{
	struct nve_record record;
	size_t start = *at;
	int rc;

	while ((rc = next_of_interest(r, data, size, at, &record)) == 1) {
		if (!possible(&record) || !add(r, &record)) {
			*at = start;
			return -ERANGE;
		}
		start = *at;
	}
	return rc == -ENODATA ? 0 : rc;
}

static void keep(struct nve_replay *r, const struct nve_record_epoch *e)
{
	uint64_t *place = r->first + 1;

	r->epoch[place[e->thread]++] = (struct nve_epoch){
		.cpu_ns = e->cpu_ns,
		.stall_ns = e->stall_ns,
		.stall_wb_ns = e->stall_wb_ns,
		.latency_ps = e->latency_ps,
		.dram_lat_ps = e->dram_lat_ps,
		.stall_se_ns = e->stall_se_ns,
		.dirty_se_ppm = e->dirty_se_ppm,
		.latency_se_ps = e->latency_se_ps,
		.region = (uint32_t)e->region,
		.dram_ro_ppm = (uint32_t)e->dram_ro_ppm,
		.dram_wb_ppm = (uint32_t)e->dram_wb_ppm,
		.dram_ro_se_ppm = (uint32_t)e->dram_ro_se_ppm,
		.dram_wb_se_ppm = (uint32_t)e->dram_wb_se_ppm,
		.read_bytes = e->read_bytes,
		.written_bytes = e->written_bytes,
		.read_se_bytes = e->read_se_bytes,
		.written_se_bytes = e->written_se_bytes,
	};
}

/* By thread: how many each has, where each begins, then each to its place. */
static void sort(struct nve_replay *r, const uint8_t *data, size_t size, size_t start)
{
	struct nve_record record;
	uint64_t region = 0;

	for (size_t at = start; next_of_interest(r, data, size, &at, &record) == 1;)
		if (record.type == NVE_RECORD_EPOCH)
			r->first[record.epoch.thread + 2]++;
	for (uint64_t i = 2; i < r->threads + 2; i++)
		r->first[i] += r->first[i - 1];
	for (size_t at = start; next_of_interest(r, data, size, &at, &record) == 1;) {
		if (record.type == NVE_RECORD_EPOCH)
			keep(r, &record.epoch);
		else
			r->region[region++] = record.region;
	}
}

static int map_all(struct nve_replay *r)
{
	r->epoch = map_bytes(epoch_bytes(r));
	r->first = map_bytes(first_bytes(r));
	if (r->regions)
		r->region = map_bytes(region_bytes(r));
	return r->epoch && r->first && (r->region || !r->regions) ? 0 : -ENOMEM;
}

int nve_replay_parse(struct nve_replay *r, const uint8_t *data, size_t size,
		     struct nve_replay_error *error)
{
	uint32_t version = 0;
	size_t at = 0, start;
	int rc;

	memset(r, 0, sizeof(*r));
	rc = nve_record_get_header(data, size, &r->header, &at, &version);
	if (!rc && !header_possible(&r->header))
		rc = -ERANGE;
	start = at;
	if (!rc)
		rc = count(r, data, size, &at);
	if (!rc && r->epochs)
		rc = map_all(r);
	if (rc) {
		nve_replay_free(r);
		return complain(error, rc, at, version);
	}
	if (r->epochs)
		sort(r, data, size, start);
	return 0;
}

/* Where the file has got shorter meanwhile, zeros are left, which end a record. */
static int read_whole(int fd, uint8_t *data, size_t size)
{
	while (size) {
		ssize_t got = read(fd, data, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		data += got;
		size -= (size_t)got;
	}
	return 0;
}

/* One byte more, as none cannot be mapped. */
void nve_replay_free_file(uint8_t *data, size_t size)
{
	munmap(data, size + 1);
}

/* A copy: a mapped file that somebody cuts short would fault. */
static int copy_file(int fd, uint8_t **data, size_t *size)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	*size = (size_t)st.st_size;
	*data = map_bytes(*size + 1);
	if (!*data)
		return -ENOMEM;
	rc = read_whole(fd, *data, *size);
	if (rc)
		nve_replay_free_file(*data, *size);
	return rc;
}

int nve_replay_read_file(const char *path, struct nve_replay_error *error, uint8_t **data,
			 size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rc;

	if (fd < 0)
		return complain(error, -errno, 0, 0);
	rc = copy_file(fd, data, size);
	close(fd);
	return rc ? complain(error, rc, 0, 0) : 0;
}

int nve_replay_load(struct nve_replay *r, const char *path, struct nve_replay_error *error)
{
	uint8_t *data;
	size_t size;
	int rc;

	memset(r, 0, sizeof(*r));
	rc = nve_replay_read_file(path, error, &data, &size);
	if (rc)
		return rc;
	rc = nve_replay_parse(r, data, size, error);
	nve_replay_free_file(data, size);
	return rc;
}

void nve_replay_free(struct nve_replay *r)
{
	if (r->epoch)
		munmap(r->epoch, epoch_bytes(r));
	if (r->first)
		munmap(r->first, first_bytes(r));
	if (r->region)
		munmap(r->region, region_bytes(r));
	memset(r, 0, sizeof(*r));
}

struct nve_replay_cursor nve_replay_begin(const struct nve_replay *r, uint64_t thread)
{
	struct nve_replay_cursor c = {0};

	if (thread < r->threads) {
		c.next = r->epoch + r->first[thread];
		c.end = r->epoch + r->first[thread + 1];
	}
	return c;
}

bool nve_replay_due(const struct nve_replay_cursor *c)
{
	return c->next != c->end && c->ran_ns >= c->next->cpu_ns;
}

void nve_replay_take(struct nve_replay_cursor *c, struct nve_epoch *epoch)
{
	*epoch = *c->next++;
	c->ran_ns -= epoch->cpu_ns;
}

uint64_t nve_replay_left_ns(const struct nve_replay_cursor *c)
{
	uint64_t sum_ns = 0;

	for (const struct nve_epoch *e = c->next; e != c->end; e++)
		sum_ns += e->cpu_ns;
	return sum_ns;
}
