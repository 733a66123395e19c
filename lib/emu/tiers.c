#include "emu/tiers.h"

#include <math.h>
#include <string.h>

#include "base/base.h"

enum { PPM = 1000000 };

/* Sum of stall shares above which older windows weigh half. */
#define HALVE_ABOVE 4.0
/* A kind with a smaller part in a window's stall time is left to those that show more of it:
 * probabilities leave crumbs of either kind. */
#define LEAST_PART 0.01

void nve_tiers_add(struct nve_tiers *t, double accesses, double dirty, enum nve_tier tier)
{
	double part[NVE_TIERS_KINDS];

	part[NVE_TIERS_WRITE] = accesses * fmin(fmax(dirty, 0), 1);
	part[NVE_TIERS_READ] = accesses - part[NVE_TIERS_WRITE];
	t->counts.misses[dirty > 0.5 ? NVE_TIERS_WRITE : NVE_TIERS_READ][tier]++;
	for (int k = 0; k < NVE_TIERS_KINDS; k++) {
		t->window[k].all += part[k];
		t->window[k].dram += tier == NVE_TIER_DRAM ? part[k] : 0;
	}
}

static void add(struct nve_tiers_sums *s, int kind, const struct nve_tiers_part *window)
{
	struct nve_tiers_part *p = &s->part[kind];
	struct nve_tiers_errors *e = &s->errors[kind];

	p->all += window->all;
	p->dram += window->dram;
	e->all_all += window->all * window->all;
	e->all_dram += window->all * window->dram;
	e->dram_dram += window->dram * window->dram;
	e->windows++;
}

/* As if every other window had not been. */
static void fade(struct nve_tiers_sums *s, int kind)
{
	struct nve_tiers_part *p = &s->part[kind];
	struct nve_tiers_errors *e = &s->errors[kind];

	if (p->all < HALVE_ABOVE)
		return;
	p->all /= 2;
	p->dram /= 2;
	e->all_all /= 2;
	e->all_dram /= 2;
	e->dram_dram /= 2;
	e->windows /= 2;
}

static void share_with_process(struct nve_tiers_process *p, int kind,
			       const struct nve_tiers_part *window)
{
	atomic_fetch_add_explicit(&p->all[kind], (uint64_t)(window->all * PPM + 0.5),
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&p->dram[kind], (uint64_t)(window->dram * PPM + 0.5),
				  memory_order_relaxed);
}

void nve_tiers_end_window(struct nve_tiers *t, struct nve_tiers_process *p, double stall_share)
{
	double all = t->window[NVE_TIERS_READ].all + t->window[NVE_TIERS_WRITE].all;
	double scale = all > 0 ? fmin(fmax(stall_share, 0), 1) / all : 0;

	for (int k = 0; k < NVE_TIERS_KINDS; k++) {
		struct nve_tiers_part window = {t->window[k].all * scale,
						t->window[k].dram * scale};

		if (window.all <= 0)
			continue;
		fade(&t->recent, k);
		add(&t->epoch, k, &window);
		add(&t->recent, k, &window);
		add(&t->life, k, &window);
		share_with_process(p, k, &window);
	}
	memset(t->window, 0, sizeof(t->window));
}

double nve_tiers_part(const struct nve_tiers_sums *s, enum nve_tiers_kind kind)
{
	const struct nve_tiers_part *p = &s->part[kind];

	return p->all > 0 ? fmin(p->dram / p->all, 1) : 0;
}

/* Sum over windows of what each differs by from its share in the sums, squared. */
static double squares(const struct nve_tiers_sums *s, int kind)
{
	const struct nve_tiers_errors *e = &s->errors[kind];
	double part = nve_tiers_part(s, (enum nve_tiers_kind)kind);

	return fmax(e->dram_dram - 2 * part * e->all_dram + part * part * e->all_all, 0);
}

double nve_tiers_se(const struct nve_tiers_sums *s, enum nve_tiers_kind kind)
{
	double n = (double)s->errors[kind].windows;

	if (n < 2)
		return 1;
	return fmin(sqrt(squares(s, kind) * n / (n - 1)) / s->part[kind].all, 1);
}

static bool speaks(const struct nve_tiers_sums *s, int kind)
{
	double all = s->part[NVE_TIERS_READ].all + s->part[NVE_TIERS_WRITE].all;

	return s->part[kind].all > 0 && s->part[kind].all >= LEAST_PART * all;
}

/* An epoch has a window or two: how far windows differ is told by the recent ones, which are more.
 */
static double epoch_se(const struct nve_tiers *t, int kind)
{
	double recent = nve_tiers_se(&t->recent, (enum nve_tiers_kind)kind);
	double more = (double)t->recent.errors[kind].windows;

	return fmin(recent * sqrt(more / (double)t->epoch.errors[kind].windows), 1);
}

/* The part of one kind, with its error, and whose word it is. *part is the default's before. */
static enum nve_tiers_origin decide(const struct nve_tiers *t, const struct nve_tiers_process *p,
				    enum nve_tiers_kind kind, double *part, double *se)
{
	uint64_t all = atomic_load_explicit(&p->all[kind], memory_order_relaxed);
	uint64_t dram = atomic_load_explicit(&p->dram[kind], memory_order_relaxed);

	*se = 1;
	if (speaks(&t->epoch, kind)) {
		*part = nve_tiers_part(&t->epoch, kind);
		*se = epoch_se(t, kind);
		return NVE_TIERS_EPOCH;
	}
	if (t->recent.part[kind].all > 0) {
		*part = nve_tiers_part(&t->recent, kind);
		*se = nve_tiers_se(&t->recent, kind);
		return NVE_TIERS_THREAD;
	}
	if (!all)
		return NVE_TIERS_DEFAULT;
	*part = fmin((double)dram / (double)all, 1);
	return NVE_TIERS_PROCESS;
}

void nve_tiers_end_epoch(struct nve_tiers *t, const struct nve_tiers_process *p,
			 enum nve_tier usual, struct nve_epoch *epoch)
{
	uint32_t part_ppm[NVE_TIERS_KINDS], se_ppm[NVE_TIERS_KINDS];

	for (int k = 0; k < NVE_TIERS_KINDS; k++) {
		double part = usual == NVE_TIER_DRAM, se;

		t->counts.epochs[k][decide(t, p, (enum nve_tiers_kind)k, &part, &se)]++;
		part_ppm[k] = (uint32_t)(part * PPM + 0.5);
		se_ppm[k] = (uint32_t)(se * PPM + 0.5);
	}
	epoch->dram_ro_ppm = part_ppm[NVE_TIERS_READ];
	epoch->dram_wb_ppm = part_ppm[NVE_TIERS_WRITE];
	epoch->dram_ro_se_ppm = se_ppm[NVE_TIERS_READ];
	epoch->dram_wb_se_ppm = se_ppm[NVE_TIERS_WRITE];
	memset(&t->epoch, 0, sizeof(t->epoch));
}
