#include "count/ahead/stream.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/base.h"

enum {
	LONG_NS = 1500000,
	/* Who waits takes no more CPU time than our signals do. */
	REST_NS = 100000,
	SHARE_HALVE_NS = 16000000,
	/* How often a rate stands in before it is measured again, and how long that is tried; then
	 * twice as long. */
	PATIENCE_LEAST = 16,
	PATIENCE_MOST = 1024,
	TRIES = 8,
	PASSES_LEAST = 4,
	LINES_HALVE = 8192, /* of windows, whose sums fade */
	ODD_MOST = 4,
	INTERVALS_MEMORY = 16, /* of a rate */
	/* samples from one wanted window to the next */
	LOOK_UNKNOWN = 2,
	LOOK_CACHED = 8, /* of a loop whose lines did not come from memory: it may be over */
	LOOK_KNOWN = 24,
	PROBES_MEMORY = 8, /* of two windows: what is cached changes with the program's phases */
	WAITING_MOST = 6,  /* samples of a loop whose rate is not measured yet */
	LOOKS_FIRST = 6,   /* windows that a loop gets as fast as possible */
};

/* Registers agree to so much, and to some passes: they move at different places of the loop. */
#define AGREE        0.02
#define PLACES_APART 2.0
/* A measured rate so far above or below the loop's mean is another loop's, or has a restart in it.
 */
#define ODD_ABOVE  1.6
#define ODD_BELOW  0.33
#define LONG_BELOW 0.85
/* A measured rate above the machine's is a mistake. */
#define MOST_RATIO 1.5
/* Windows that differ so much in where lines come from: one probe of a window's four. */
#define UNSETTLED 0.2
/* Below: most of a loop's lines were in the cache. */
#define CACHED 0.5
/* Relative errors that are not known: of a rate by the core model. */
#define MODEL_ERROR 0.5

static const struct nve_stream_code no_code = {.low = UINT64_MAX};

void nve_stream_begin(struct nve_stream_seen *seen)
{
	seen->code = seen->since_pass = no_code;
	seen->passes = seen->first_step = seen->last_step = 0;
	seen->rising = seen->falling = 0;
}

static void join(struct nve_stream_code *to, const struct nve_stream_code *from)
{
	for (int i = 0; i < NVE_STREAM_CODE; i++)
		to->bits[i] |= from->bits[i];
	to->low = NVE_MIN(to->low, from->low);
	to->high = NVE_MAX(to->high, from->high);
}

static bool contains(const struct nve_stream_code *code, uint64_t ip)
{
	struct nve_stream_seen one = {.since_pass = no_code};

	nve_stream_step(&one, ip);
	for (int i = 0; i < NVE_STREAM_CODE; i++) {
		if (one.since_pass.bits[i] & ~code->bits[i])
			return false;
	}
	return one.since_pass.low >= code->low && one.since_pass.high <= code->high;
}

static int count(const struct nve_stream_code *code)
{
	int n = 0;

	for (int i = 0; i < NVE_STREAM_CODE; i++)
		n += __builtin_popcountll(code->bits[i]);
	return n;
}

static void narrow(struct nve_stream_seen *seen, const uint64_t *registers)
{
	for (uint32_t i = 0; i < NVE_STREAM_REGISTERS; i++) {
		int64_t by = (int64_t)(registers[i] - seen->last[i]);

		seen->rising &= ~((uint32_t)(by <= 0) << i);
		seen->falling &= ~((uint32_t)(by >= 0) << i);
	}
}

void nve_stream_rounds(struct nve_stream_seen *seen, const uint64_t *from, const uint64_t *to,
		       uint32_t rounds)
{
	seen->code = seen->since_pass;
	seen->rising = seen->falling = ~0u;
	memcpy(seen->first, from, sizeof(seen->first));
	memcpy(seen->last, from, sizeof(seen->last));
	narrow(seen, to);
	memcpy(seen->last, to, sizeof(seen->last));
	seen->passes = seen->last_step = rounds;
}

void nve_stream_pass(struct nve_stream_seen *seen, const uint64_t *registers, uint32_t unknown,
		     uint32_t step)
{
	if (seen->last_step == 0) {
		memcpy(seen->first, registers, sizeof(seen->first));
		seen->since_pass = no_code;
		seen->first_step = step;
		seen->rising = seen->falling = ~unknown;
	} else {
		narrow(seen, registers);
		seen->rising &= ~unknown;
		seen->falling &= ~unknown;
		join(&seen->code, &seen->since_pass);
		seen->passes++;
	}
	memcpy(seen->last, registers, sizeof(seen->last));
	seen->last_step = step;
}

/* The tightest of those that the instruction belongs to; NULL: none. */
static struct nve_stream_loop *find(struct nve_stream *s, uint64_t ip)
{
	struct nve_stream_loop *best = NULL;

	for (int i = 0; i < NVE_STREAM_LOOPS; i++) {
		struct nve_stream_loop *l = &s->loop[i];

		if (l->passes > 0 && contains(&l->code, ip) &&
		    (!best || count(&l->code) < count(&best->code)))
			best = l;
	}
	if (best)
		best->used = s->samples;
	return best;
}

static struct nve_stream_loop *make(struct nve_stream *s)
{
	struct nve_stream_loop *oldest = &s->loop[0];

	for (int i = 1; i < NVE_STREAM_LOOPS; i++) {
		if (s->loop[i].used < oldest->used)
			oldest = &s->loop[i];
	}
	if (s->at == oldest)
		s->at = NULL;
	if (s->last == oldest)
		s->last = NULL;
	memset(oldest, 0, sizeof(*oldest));
	oldest->code = no_code;
	oldest->used = s->samples;
	return oldest;
}

static double all_lines(const struct nve_stream_lines *l)
{
	return l->read + l->written + l->stream_read + l->stream_written;
}

static void fade(struct nve_stream_loop *l)
{
	if (all_lines(&l->lines) < LINES_HALVE)
		return;
	l->passes /= 2;
	l->model_ns /= 2;
	for (int i = 0; i < NVE_STREAM_REGISTERS; i++)
		l->moved[i] /= 2;
	l->lines.read /= 2;
	l->lines.written /= 2;
	l->lines.stream_read /= 2;
	l->lines.stream_written /= 2;
}

/* The part of a stream's lines that come from memory. */
static double from_memory(const struct nve_stream_loop *l)
{
	return l->probes > 0 ? l->probes_missed / l->probes : 0;
}

static bool agrees(const struct nve_stream_loop *l, double probes, double missed)
{
	return probes <= 0 || l->probes <= 0 || fabs(missed / probes - from_memory(l)) <= UNSETTLED;
}

/* Data that were in the cache need not be there the next time, and the other way around: probes
 * that say another thing count instead of those before. */
static void add_probes(struct nve_stream_loop *l, double probes, double missed)
{
	double keep = probes + l->probes > PROBES_MEMORY ? fmax(1 - probes / PROBES_MEMORY, 0) : 1;

	if (probes <= 0)
		return;
	if (!agrees(l, probes, missed))
		keep = 0;
	l->probes = keep * l->probes + probes;
	l->probes_missed = keep * l->probes_missed + missed;
}

static void add(struct nve_stream_loop *l, const struct nve_stream_seen *seen,
		const struct nve_stream_lines *lines, double model_ns)
{
	uint32_t steady = seen->rising | seen->falling;

	l->steady = l->passes > 0 && l->steady & steady ? l->steady & steady : steady;
	l->passes += seen->passes;
	for (int i = 0; i < NVE_STREAM_REGISTERS; i++)
		l->moved[i] += (double)(int64_t)(seen->last[i] - seen->first[i]);
	l->lines.read += lines->read;
	l->lines.written += lines->written;
	l->lines.stream_read += lines->stream_read;
	l->lines.stream_written += lines->stream_written;
	if (lines->heads) {
		l->lines.heads = lines->heads;
		memcpy(l->lines.head, lines->head, sizeof(l->lines.head));
	}
	l->unsettled = !agrees(l, lines->probes, lines->probes_missed);
	add_probes(l, lines->probes, lines->probes_missed);
	l->model_ns += model_ns;
	join(&l->code, &seen->code);
}

/* Code that nothing is known of: a window may tell, later. */
static void put_off(struct nve_stream *s, uint64_t ip, double cpu_ns)
{
	uint32_t at = s->pending_at++ % NVE_STREAM_PENDING;

	s->unknown_ns += cpu_ns;
	s->pending[at].ip = ip;
	s->pending[at].ns = cpu_ns;
}

/* A window has passed the loop. */
static void take_up(struct nve_stream *s, struct nve_stream_loop *l)
{
	for (int i = 0; i < NVE_STREAM_PENDING; i++) {
		if (s->pending[i].ns <= 0 || !contains(&l->code, s->pending[i].ip))
			continue;
		l->waiting_ns += s->pending[i].ns;
		s->unknown_ns -= s->pending[i].ns;
		s->pending[i].ns = 0;
	}
}

bool nve_stream_wants_window(struct nve_stream *s, uint64_t ip)
{
	struct nve_stream_loop *l = find(s, ip);
	uint64_t *last = l ? &l->looked : &s->tried;
	bool known = l && l->windows >= LOOKS_FIRST && !l->unsettled;
	uint64_t gap = LOOK_UNKNOWN;

	if (known)
		gap = l->probes > 0 && from_memory(l) < CACHED ? LOOK_CACHED : LOOK_KNOWN;
	if (*last && s->samples - *last < gap)
		return false;
	*last = s->samples;
	return true;
}

void nve_stream_window(struct nve_stream *s, uint64_t ip, const struct nve_stream_seen *seen,
		       const struct nve_stream_lines *lines, double model_ns)
{
	struct nve_stream_loop *l;

	if (seen->passes < PASSES_LEAST)
		return;
	l = find(s, ip);
	/* A window that goes around an outer loop sees its inner ones, too. */
	if (!l || count(&seen->code) > 2 * count(&l->code) + 2)
		l = make(s);
	l->windows++;
	fade(l);
	add(l, seen, lines, model_ns);
	take_up(s, l);
}

const struct nve_stream_lines *nve_stream_at(struct nve_stream *s, uint64_t ip)
{
	const struct nve_stream_loop *l = find(s, ip);

	return l && l->lines.heads ? &l->lines : NULL;
}

bool nve_stream_expects(struct nve_stream *s, uint64_t ip, uint32_t probes, uint32_t missed)
{
	const struct nve_stream_loop *l = find(s, ip);

	return l && probes && l->probes > 0 && agrees(l, probes, missed);
}

void nve_stream_probed(struct nve_stream *s, uint64_t ip, uint32_t probes, uint32_t missed)
{
	struct nve_stream_loop *l = find(s, ip);

	if (l)
		add_probes(l, probes, missed);
}

/* Lines in the loop's windows. */
static double lines_read(const struct nve_stream_loop *l)
{
	return l->lines.read + l->lines.stream_read * from_memory(l);
}

static double lines_written(const struct nve_stream_loop *l)
{
	return l->lines.written + l->lines.stream_written * from_memory(l);
}

static double lines_moved(const struct nve_stream_loop *l)
{
	return lines_read(l) + lines_written(l);
}

/* Of those registers that agree with each other. Returns how many do. */
static int agreeing(const double *ratio, int n, double value, double slack)
{
	int agree = 0;

	for (int i = 0; i < n; i++)
		agree += fabs(ratio[i] - value) <= AGREE * value + slack;
	return agree;
}

/*
 * How far the loop went, as a multiple of what its windows saw; 0: registers do not tell. Where as
 * many say one thing as another, those that say more: what is set back says less.
 */
static double progress(const struct nve_stream_loop *l, const uint64_t *from, const uint64_t *to)
{
	double ratio[NVE_STREAM_REGISTERS], best = 0;
	int n = 0, most = 0;

	for (int i = 0; i < NVE_STREAM_REGISTERS; i++) {
		if (!(l->steady >> i & 1) || l->moved[i] == 0)
			continue;
		ratio[n] = (double)(int64_t)(to[i] - from[i]) / l->moved[i];
		n += ratio[n] > 0;
	}
	for (int i = 0; i < n; i++) {
		int agree = agreeing(ratio, n, ratio[i], PLACES_APART / l->passes);

		if (agree > most || (agree == most && ratio[i] > best)) {
			most = agree;
			best = ratio[i];
		}
	}
	return best;
}

static double model_rate(const struct nve_stream *s, const struct nve_stream_loop *l)
{
	double ns = l->model_ns;

	if (s->most > 0)
		ns = fmax(ns, lines_moved(l) / s->most);
	return ns > 0 ? lines_moved(l) / ns : 0;
}

/* Lines per ns that the registers gave: do they fit in with what is known? */
static bool accept(struct nve_stream *s, struct nve_stream_loop *l, double rate, double cpu_ns)
{
	double mean = l->intervals ? l->rate : rate, weight;

	if (s->most > 0 && rate > MOST_RATIO * s->most)
		return false;
	/* In a long time the loop may well have started again, and more than once: then the
	 * registers say less than is true. */
	if (cpu_ns > LONG_NS && l->intervals && rate < mean * LONG_BELOW)
		return false;
	if (rate > mean * ODD_ABOVE || rate < mean * ODD_BELOW) {
		if (++l->odd < ODD_MOST)
			return false;
		l->intervals = 0;
		mean = rate;
	}
	l->odd = 0;
	l->by_rate = 0;
	l->patience = PATIENCE_LEAST;
	l->intervals = NVE_MIN(l->intervals + 1, (uint32_t)INTERVALS_MEMORY);
	weight = 1.0 / l->intervals;
	l->rate = mean + weight * (rate - mean);
	l->rate_variance += weight * ((rate - l->rate) * (rate - l->rate) - l->rate_variance);
	return true;
}

/* times: how many times what the windows saw. */
static struct nve_stream_bytes bytes(const struct nve_stream_loop *l, double times, double error)
{
	double p = from_memory(l), read = NVE_LINE_BYTES * times * lines_read(l);
	double written = NVE_LINE_BYTES * times * lines_written(l);
	double spread = NVE_LINE_BYTES * times * sqrt(p * (1 - p) / fmax(l->probes, 1));
	double read_error = spread * l->lines.stream_read;
	double written_error = spread * l->lines.stream_written;

	return (struct nve_stream_bytes){
		.read = read,
		.written = written,
		.read_variance = read_error * read_error + error * error * read * read,
		.written_variance =
			written_error * written_error + error * error * written * written,
	};
}

/* By a rate that was measured or, for a loop that is never seen twice in a row, modelled. Time
 * before the first measurement waits for it. */
static struct nve_stream_bytes by_time(struct nve_stream *s, struct nve_stream_loop *l,
				       double cpu_ns)
{
	double moved = lines_moved(l), rate = l->rate, error = MODEL_ERROR;
	bool measured = l->intervals != 0;

	if (moved > 0 && !measured && ++l->waiting <= WAITING_MOST) {
		l->waiting_ns += cpu_ns;
		return (struct nve_stream_bytes){0};
	}
	cpu_ns += l->waiting_ns;
	l->waiting_ns = 0;
	if (++l->by_rate > l->patience + TRIES) {
		l->patience = NVE_MIN(NVE_MAX(2 * l->patience, (uint32_t)PATIENCE_LEAST),
				      (uint32_t)PATIENCE_MOST);
		l->by_rate = 0;
	}
	s->ns[measured || moved <= 0 ? NVE_STREAM_BY_RATE : NVE_STREAM_BY_MODEL] += cpu_ns;
	if (moved <= 0)
		return (struct nve_stream_bytes){0};
	if (!measured)
		rate = model_rate(s, l);
	else if (rate > 0)
		error = sqrt(l->rate_variance / l->intervals) / rate;
	return bytes(l, rate * cpu_ns / moved, error);
}

static void add_bytes(struct nve_stream_bytes *to, const struct nve_stream_bytes *b)
{
	to->read += b->read;
	to->written += b->written;
	to->read_variance += b->read_variance;
	to->written_variance += b->written_variance;
}

static struct nve_stream_bytes account(struct nve_stream *s, struct nve_stream_loop *l,
				       const uint64_t *registers, double cpu_ns)
{
	struct nve_stream_bytes waited = {0}, moved;
	double times = 0;

	if (s->placed && s->at == l && cpu_ns > 0)
		times = progress(l, s->registers, registers);
	if (times <= 0 || lines_moved(l) <= 0 ||
	    !accept(s, l, times * lines_moved(l) / cpu_ns, cpu_ns))
		return by_time(s, l, cpu_ns);
	if (l->waiting_ns > 0)
		waited = by_time(s, l, 0);
	s->ns[NVE_STREAM_BY_REGISTERS] += cpu_ns;
	moved = bytes(l, times, 0);
	add_bytes(&moved, &waited);
	return moved;
}

static void book_time(struct nve_stream *s, bool in_loop, double cpu_ns)
{
	*(in_loop ? &s->in_ns : &s->out_ns) += cpu_ns;
	if (s->in_ns + s->out_ns < SHARE_HALVE_NS)
		return;
	s->in_ns /= 2;
	s->out_ns /= 2;
}

struct nve_stream_bytes nve_stream_sample(struct nve_stream *s, uint64_t ip,
					  const uint64_t *registers, double cpu_ns)
{
	struct nve_stream_bytes moved = {0};
	struct nve_stream_loop *l;

	s->samples++;
	l = registers ? find(s, ip) : NULL;
	if (l)
		moved = account(s, l, registers, cpu_ns);
	else if (registers)
		put_off(s, ip, cpu_ns);
	book_time(s, l != NULL, cpu_ns);
	s->at = l;
	s->last = l ? l : s->last;
	s->placed = l != NULL;
	s->resting = false;
	if (registers)
		memcpy(s->registers, registers, sizeof(s->registers));
	return moved;
}

/* The part of the thread's time that goes by in loops, of late. */
static double share_in_loops(const struct nve_stream *s)
{
	return s->in_ns > 0 ? s->in_ns / (s->in_ns + s->out_ns) : 0;
}

struct nve_stream_bytes nve_stream_rest(struct nve_stream *s, double cpu_ns, bool waits)
{
	bool still = s->resting && cpu_ns < REST_NS;
	double share = share_in_loops(s);

	s->placed = false;
	s->resting = true;
	if (still)
		return (struct nve_stream_bytes){0};
	/* Who waits is met there by the time that it waits, not by the time that it has run. */
	if (!waits)
		book_time(s, false, cpu_ns);
	return s->last ? by_time(s, s->last, share * cpu_ns) : (struct nve_stream_bytes){0};
}

struct nve_stream_bytes nve_stream_rate(const struct nve_stream *s, bool *known)
{
	struct nve_stream_loop l;
	double rate;

	*known = false;
	if (!s->last)
		return (struct nve_stream_bytes){0};
	l = *s->last;
	/* One that finer ticks have tried to measure in vain has patience, too. */
	*known = (l.intervals >= 2 || l.patience > 0) && l.by_rate <= l.patience;
	if (from_memory(&l) < CACHED && l.lines.heads) {
		l.intervals = 0;
		l.probes = l.probes_missed = 1;
		*known = false;
	}
	if (lines_moved(&l) <= 0)
		return (struct nve_stream_bytes){0};
	rate = l.intervals ? l.rate : model_rate(s, &l);
	return bytes(&l, (s->at ? 1 : share_in_loops(s)) * rate / lines_moved(&l), 0);
}
