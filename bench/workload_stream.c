/*
 * Sequential loops: a step is a line. The raw ones go as fast as memory lets them; the busy ones
 * spend so much arithmetic on a line that a prefetcher hides memory altogether.
 */
#include "workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WORDS = 8, CHUNK_LINES = 64 };

struct stream {
	uint64_t *source, *target; /* the same array but for copies */
	uint64_t lines, at;
	uint64_t sum, product;
};

static int make_stream(struct bench_run *run, bool two)
{
	struct stream *s = calloc(1, sizeof(*s));
	size_t unit = CHUNK_LINES * 64 * (two ? 2 : 1);

	if (!s)
		return -ENOMEM;
	run->bytes = bench_pow2_below(run->bytes < unit ? unit : run->bytes);
	s->source = bench_map(run->bytes, run->huge, &run->huge_got);
	if (!s->source) {
		free(s);
		return -ENOMEM;
	}
	s->lines = run->bytes / 64 / (two ? 2 : 1);
	s->target = two ? s->source + s->lines * LINE_WORDS : s->source;
	for (uint64_t i = 0; two && i < s->lines; i++)
		s->source[i * LINE_WORDS] = i + 1;
	s->product = 1;
	run->state = s;
	return 0;
}

static int setup_one(struct bench_run *run)
{
	return make_stream(run, false);
}
static int setup_two(struct bench_run *run)
{
	return make_stream(run, true);
}

enum touch { READ, WRITE, UPDATE, COPY };

BENCH_INLINE void touch_line(struct stream *s, uint64_t line, enum touch touch, uint64_t *sum)
{
	volatile uint64_t *from = s->source + line * LINE_WORDS;
	volatile uint64_t *to = s->target + line * LINE_WORDS;

	for (int i = 0; i < LINE_WORDS; i++) {
		if (touch == READ)
			*sum += from[i];
		else if (touch == WRITE)
			to[i] = line + 1;
		else if (touch == UPDATE)
			to[i]++;
		else
			to[i] = from[i];
	}
}

BENCH_INLINE void stream(struct bench_run *run, uint64_t steps, enum touch touch, bool busy)
{
	struct stream *s = run->state;
	uint64_t line = s->at, sum = s->sum, x = s->product;

	for (; steps > 0; steps--) {
		touch_line(s, line, touch, &sum);
		if (busy)
			__asm__ volatile(".rept 100\n\timulq %1, %0\n\t.endr"
					 : "+r"(x)
					 : "r"((uint64_t)5)
					 : "cc");
		line = line + 1 == s->lines ? 0 : line + 1;
	}
	s->at = line;
	s->sum = sum;
	s->product = x;
}

#define STREAM(name, touch, busy)                                                                  \
	static BENCH_NOINLINE void name(struct bench_run *run, uint64_t steps)                     \
	{                                                                                          \
		stream(run, steps, touch, busy);                                                   \
	}

STREAM(run_read, READ, false)
STREAM(run_write, WRITE, false)
STREAM(run_update, UPDATE, false)
STREAM(run_read_busy, READ, true)
STREAM(run_write_busy, WRITE, true)
STREAM(run_update_busy, UPDATE, true)
STREAM(run_copy_busy, COPY, true)

/*
 * The C library's own, a page at a time: for a large block they would write past the caches, and
 * then no line would be fetched to be written.
 */
BENCH_INLINE void by_chunks(struct bench_run *run, uint64_t steps, bool copy)
{
	struct stream *s = run->state;

	while (steps > 0) {
		uint64_t lines = steps < CHUNK_LINES ? steps : CHUNK_LINES;
		uint64_t *to = s->target + s->at * LINE_WORDS;

		if (lines > s->lines - s->at)
			lines = s->lines - s->at;
		if (copy)
			memcpy(to, s->source + s->at * LINE_WORDS, lines * 64);
		else
			memset(to, (int)(run->steps & 1) + 1, lines * 64);
		s->at = s->at + lines == s->lines ? 0 : s->at + lines;
		steps -= lines;
	}
}

static BENCH_NOINLINE void run_memcpy(struct bench_run *run, uint64_t steps)
{
	by_chunks(run, steps, true);
}

static BENCH_NOINLINE void run_memset(struct bench_run *run, uint64_t steps)
{
	by_chunks(run, steps, false);
}

static int check_place(const struct bench_run *run)
{
	const struct stream *s = run->state;

	return s->at == run->steps % s->lines ? 0 : -EBADMSG;
}

static int check_read(struct bench_run *run)
{
	return check_place(run);
}

static int check_write(struct bench_run *run)
{
	const struct stream *s = run->state;

	for (uint64_t i = 0; i < s->lines; i++)
		for (int w = 0; w < LINE_WORDS; w++)
			if (s->target[i * LINE_WORDS + w] != (i < run->steps ? i + 1 : 0))
				return -EBADMSG;
	return check_place(run);
}

static int check_update(struct bench_run *run)
{
	const struct stream *s = run->state;
	uint64_t laps = run->steps / s->lines, rest = run->steps % s->lines;

	for (uint64_t i = 0; i < s->lines; i++)
		for (int w = 0; w < LINE_WORDS; w++)
			if (s->target[i * LINE_WORDS + w] != laps + (i < rest))
				return -EBADMSG;
	return check_place(run);
}

static int check_copy(struct bench_run *run)
{
	const struct stream *s = run->state;

	for (uint64_t i = 0; i < s->lines; i++)
		if (s->target[i * LINE_WORDS] != (i < run->steps ? i + 1 : 0))
			return -EBADMSG;
	return check_place(run);
}

static int check_set(struct bench_run *run)
{
	const struct stream *s = run->state;

	for (uint64_t i = 0; i < s->lines; i++)
		if ((s->target[i * LINE_WORDS] != 0) != (i < run->steps))
			return -EBADMSG;
	return check_place(run);
}

/* Half of a copy's missing lines are read, half are written. */
#define ROW(name_, dirty_, setup_, run_, check_, what_)                                            \
	{                                                                                          \
		.name = name_, .what = what_, .stall_origin = BENCH_RESIDENT, .dirty = dirty_,     \
		.fit = BENCH_FIT_8_LLC, .setup = setup_, .run = run_, .check = check_              \
	}

const struct bench_kernel bench_stream_kernels[] = {
	ROW("seq-read", 0, setup_one, run_read, check_read, "sequential sum, as fast as it goes"),
	ROW("seq-write", 1, setup_one, run_write, check_write, "sequential stores"),
	ROW("seq-update", 1, setup_one, run_update, check_update, "sequential updates"),
	ROW("memcpy", 0.5, setup_two, run_memcpy, check_copy, "memcpy, 4 KiB at a time"),
	ROW("memset", 1, setup_one, run_memset, check_set, "memset, 4 KiB at a time"),
	ROW("seq-read-busy", 0, setup_one, run_read_busy, check_read,
	    "sequential sum, 100 multiplications a line"),
	ROW("seq-write-busy", 1, setup_one, run_write_busy, check_write,
	    "sequential stores, 100 multiplications a line"),
	ROW("seq-update-busy", 1, setup_one, run_update_busy, check_update,
	    "sequential updates, 100 multiplications a line"),
	ROW("seq-copy-busy", 0.5, setup_two, run_copy_busy, check_copy,
	    "sequential copy, 100 multiplications a line"),
	{.name = NULL},
};
