#include "scripted_perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static int play_open(void *world, const struct perf_event_attr *attr, int tid, int cpu, int leader)
{
	struct script *s = world;
	unsigned i = s->opens;

	assert_true(i < SCRIPT_OPENS);
	s->opens++;
	s->open[i] = (struct script_open){*attr, tid, cpu, leader, 100 + (int)i};
	if (s->always)
		return s->always;
	return s->open_error[i] ? s->open_error[i] : s->open[i].fd;
}

static long play_read(void *world, int fd, void *buf, size_t size)
{
	struct script *s = world;
	unsigned i = s->reads;
	size_t bytes;

	assert_true(i < s->reads_planned);
	s->reads++;
	s->read_fd = fd;
	if (s->read[i].error)
		return s->read[i].error;
	bytes = s->read[i].words * sizeof(uint64_t);
	/* As the kernel: too little room is an error, not a part. */
	if (bytes > size)
		return -ENOSPC;
	memcpy(buf, s->read[i].word, bytes);
	return (long)bytes;
}

static int play_enable(void *world, int fd)
{
	struct script *s = world;

	(void)fd;
	s->enables++;
	return s->enable_error;
}

static void play_close(void *world, int fd)
{
	struct script *s = world;

	assert_true(fd >= 100);
	s->closes++;
}

/* Where the ring's first page has said, and of a size that the kernel takes. */
static int map_area(struct script *s, size_t bytes, uint64_t offset, void **area)
{
	const struct perf_event_mmap_page *head = s->ring;

	if (s->area_error)
		return s->area_error;
	assert_non_null(head);
	assert_int_equal(head->aux_offset, offset);
	assert_int_equal(head->aux_size, bytes);
	assert_true(offset >= head->data_offset + head->data_size);
	assert_true(bytes && !(bytes & (bytes - 1)));
	s->area = *area = calloc(1, bytes);
	assert_non_null(*area);
	s->maps++;
	return 0;
}

static int play_map(void *world, int fd, size_t bytes, uint64_t offset, void **ring)
{
	struct script *s = world;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *head;

	assert_true(fd >= 100);
	if (offset)
		return map_area(s, bytes, offset, ring);
	if (s->map_error)
		return s->map_error;
	s->ring = head = calloc(1, bytes);
	assert_non_null(head);
	head->data_offset = page;
	head->data_size = s->map_nothing ? 0 : bytes - page;
	s->maps++;
	*ring = head;
	return 0;
}

static void play_unmap(void *world, void *ring, size_t bytes)
{
	struct script *s = world;

	assert_true(bytes > 0);
	s->unmaps++;
	free(ring);
}

struct nve_perf script_perf(struct script *s)
{
	return (struct nve_perf){.open = play_open,
				 .read = play_read,
				 .enable = play_enable,
				 .close = play_close,
				 .map = play_map,
				 .unmap = play_unmap,
				 .world = s};
}

void script_read(struct script *s, uint64_t enabled, uint64_t running, unsigned count,
		 const uint64_t *value)
{
	unsigned i = s->reads_planned++;

	assert_true(i < SCRIPT_READS && count + 3 <= SCRIPT_WORDS);
	s->read[i].words = count + 3;
	s->read[i].word[0] = count;
	s->read[i].word[1] = enabled;
	s->read[i].word[2] = running;
	memcpy(s->read[i].word + 3, value, count * sizeof(*value));
}

void script_read_error(struct script *s, int error)
{
	s->read[s->reads_planned++].error = error;
}

void script_read_nothing(struct script *s)
{
	s->read[s->reads_planned++].words = 0;
}
