#include "count/ahead/probe.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arch.h"
#include "base/base.h"
#include "count/ahead/touch.h"

enum {
	LINES = NVE_PROBE_BYTES / 64,
	MEAN_LINES = 4,   /* at a time */
	MEAN_PRIOR = 128, /* weight of the calibrated reading */
	MEAN_HALVE = 8192,
};

enum stage { NONE, MAKING, MADE };

static struct {
	_Atomic int stage;
	char *_Atomic buffer; /* NULL: none yet */
	_Atomic uint32_t next;
	_Atomic uint64_t mean_ticks, mean_count;
} state;

static int make(void)
{
	size_t bytes = 2 * (size_t)NVE_PROBE_BYTES;
	char *mem, *buffer;

	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	buffer = (char *)(((uintptr_t)mem + NVE_PROBE_BYTES - 1) / NVE_PROBE_BYTES *
			  NVE_PROBE_BYTES);
	if (buffer != mem)
		munmap(mem, (size_t)(buffer - mem));
	if (mem + bytes != buffer + NVE_PROBE_BYTES)
		munmap(buffer + NVE_PROBE_BYTES, (size_t)(mem + bytes - buffer - NVE_PROBE_BYTES));
	madvise(buffer, NVE_PROBE_BYTES, MADV_HUGEPAGE);
	/* Written, so that the pages are ours and not the one zero page. */
	for (size_t i = 0; i < NVE_PROBE_BYTES; i += NVE_PAGE_BYTES)
		buffer[i] = 1;
	for (size_t i = 0; i < NVE_PROBE_BYTES; i += NVE_LINE_BYTES)
		nve_arch_flush(buffer + i);
	nve_arch_fence();
	atomic_store(&state.buffer, buffer);
	return 0;
}

int nve_probe_setup(void)
{
	int none = NONE, rc;

	if (!atomic_compare_exchange_strong(&state.stage, &none, MAKING))
		return 0;
	rc = make();
	atomic_store(&state.stage, rc ? NONE : MADE);
	return rc;
}

bool nve_probe_is_set_up(void)
{
	return atomic_load_explicit(&state.buffer, memory_order_relaxed) != NULL;
}

void nve_probe_after_fork(void)
{
	if (!nve_probe_is_set_up())
		atomic_store(&state.stage, NONE);
}

uint32_t nve_probe_read(uint32_t count, uint64_t outlier_ticks, uint64_t *ticks)
{
	char *buffer = atomic_load(&state.buffer);
	uint32_t good = 0;

	if (!buffer)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		/* An odd multiplier visits all lines in an order that no prefetcher follows. */
		uint32_t n = atomic_fetch_add_explicit(&state.next, 1, memory_order_relaxed);
		char *line = buffer + (size_t)(n * 20753u % LINES) * NVE_LINE_BYTES;
		uint64_t t;

		/* The line is not cached; this brings its translation, so that no page walk is
		 * timed. */
		_mm_clflush(line);
		_mm_mfence();
		t = nve_touch_timed((uintptr_t)line);

		nve_arch_flush(line);
		if (t > outlier_ticks)
			continue;
		*ticks += t;
		good++;
	}
	return good;
}

void nve_probe_start_mean(double then_ticks)
{
	atomic_store(&state.mean_ticks, (uint64_t)(MEAN_PRIOR * then_ticks));
	atomic_store(&state.mean_count, MEAN_PRIOR);
}

void nve_probe_go_on(uint64_t outlier_ticks)
{
	uint64_t ticks = atomic_load(&state.mean_ticks), count = atomic_load(&state.mean_count);

	if (count >= MEAN_HALVE) {
		ticks /= 2;
		count /= 2;
	}
	count += nve_probe_read(MEAN_LINES, outlier_ticks, &ticks);
	/* Two threads may overwrite each other here; then one's readings are lost. */
	atomic_store(&state.mean_ticks, ticks);
	atomic_store(&state.mean_count, count);
}

double nve_probe_mean(void)
{
	return (double)atomic_load(&state.mean_ticks) / (double)atomic_load(&state.mean_count);
}
