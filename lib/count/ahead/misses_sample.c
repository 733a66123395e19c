#include "count/ahead/misses_sample.h"

struct nve_misses_sample nve_misses_sample(const struct nve_misses *m, struct nve_window *w,
					   const ucontext_t *uc, void (*guard)(bool enter))
{
	uint64_t ip = (uint64_t)uc->uc_mcontext.gregs[REG_RIP], access_ip;
	struct nve_misses_sample s = {0};

	if (!m)
		return s;
	access_ip = nve_misses_access(m, ip);
	if (access_ip) {
		guard(true);
		if (nve_window_address(w, uc, access_ip, &s.addr))
			s.addr = 0;
		guard(false);
	}
	s.is_news = nve_misses_is_news(m, ip, s.addr);
	return s;
}

void nve_misses_learn_window(struct nve_misses *m, struct nve_window *w, uint32_t steps,
			     struct nve_dirty_table *dirty)
{
	size_t count;
	struct nve_wait *wait = nve_window_waits(w, &count);

	nve_misses_learn(m, wait, count, nve_window_lines(w), steps, dirty);
}
