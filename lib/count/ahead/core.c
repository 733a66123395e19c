#include "count/ahead/core.h"

#include <string.h>

#define WIDTH       6.0f    /* instructions dispatched and retired a cycle */
#define LOAD_CYCLES 4.0f    /* first-level cache to use */
#define GENERAL     0xffffu /* registers in struct nve_flow */

/* Without a call, which fmaxf() is. */
static float later(float a, float b)
{
	return a > b ? a : b;
}

void nve_core_start(struct nve_core *core, const struct nve_core_machine *machine)
{
	memset(core, 0, sizeof(*core));
	core->machine = *machine;
	if (core->machine.window > NVE_CORE_WINDOW_MAX)
		core->machine.window = NVE_CORE_WINDOW_MAX;
	if (core->machine.writers > core->machine.window)
		core->machine.writers = core->machine.window;
}

/* Takes a register of the core's own until it retires; a move between registers does not. */
static bool is_writer(const struct nve_flow *flow)
{
	return (flow->writes & GENERAL) != 0 && flow->latency_cycles != 0;
}

static float dispatch(struct nve_core_course *c, const struct nve_core *core, bool writes)
{
	float t = c->dispatched + 1 / WIDTH;

	if (core->instructions >= core->machine.window)
		t = later(t, c->retired[core->instructions % core->machine.window]);
	if (writes && core->writers >= core->machine.writers)
		t = later(t, c->freed[core->writers % core->machine.writers]);
	c->dispatched = t;
	return t;
}

static float operands_ready(const struct nve_core_course *c, uint64_t reads, float t)
{
	for (; reads; reads &= reads - 1)
		t = later(t, c->ready[__builtin_ctzll(reads)]);
	return t;
}

/* When a miss that could start at t does start: once a slot is free. The slots are a heap, the one
 * that is free first on top. */
static float take_slot(float *slot, uint32_t slots, float t, float latency)
{
	uint32_t at = 0, child;
	float freed;

	t = later(t, slot[0]);
	freed = t + latency;
	while ((child = 2 * at + 1) < slots) {
		if (child + 1 < slots && slot[child + 1] < slot[child])
			child++;
		if (slot[child] >= freed)
			break;
		slot[at] = slot[child];
		at = child;
	}
	slot[at] = freed;
	return t;
}

/* When the line of an access that starts at t is there. */
static float line_there(struct nve_core_course *c, const struct nve_core *core,
			const struct nve_core_access *access, float t)
{
	bool real = c == &core->real;
	float latency = real ? access->latency : access->resident_latency;

	if (!real)
		return t + latency;
	c->waits = access->missing || (access->filled && *access->filled > t + LOAD_CYCLES);
	if (!access->missing)
		return c->waits ? *access->filled : t + latency;
	if (access->loads)
		t = take_slot(c->reading, core->machine.read_slots, t, latency);
	else
		t = take_slot(c->writing, core->machine.write_slots, t, latency);
	return *access->filled = t + latency;
}

/* A store leaves in order, after it retired, when its line is there. */
static void drain(struct nve_core_course *c, const struct nve_core *core, float there)
{
	uint32_t at = core->stores % NVE_CORE_STORES;
	float before = core->stores ? c->drained[(core->stores - 1) % NVE_CORE_STORES] : 0;

	c->drained[at] = later(later(before + 1, there), c->now + 1);
}

/* Returns how long retirement stood still at this instruction. */
static float run(struct nve_core_course *c, const struct nve_core *core,
		 const struct nve_flow *flow, const struct nve_core_access *access)
{
	float start = operands_ready(c, flow->reads, dispatch(c, core, is_writer(flow)));
	float done = start, in_order = c->now + 1 / WIDTH, there = 0;

	if (access->loads || access->stores)
		there = line_there(c, core, access, start);
	if (access->loads)
		done = later(there, start + LOAD_CYCLES);
	done += flow->latency_cycles;
	for (uint64_t writes = flow->writes; writes; writes &= writes - 1)
		c->ready[__builtin_ctzll(writes)] = done;
	/* A store retires into the store buffer, once there is room. */
	if (access->stores && core->stores >= NVE_CORE_STORES)
		done = later(done, c->drained[core->stores % NVE_CORE_STORES]);
	c->now = later(in_order, done);
	c->retired[core->instructions % core->machine.window] = c->now;
	if (is_writer(flow))
		c->freed[core->writers % core->machine.writers] = c->now;
	if (access->stores)
		drain(c, core, there);
	return c->now - in_order;
}

float nve_core_step(struct nve_core *core, const struct nve_flow *flow,
		    const struct nve_core_access *access)
{
	float stood;

	core->real.waits = false;
	stood = run(&core->real, core, flow, access);
	run(&core->resident, core, flow, access);
	if (core->real.waits)
		core->waited += stood;
	core->instructions++;
	core->writers += is_writer(flow);
	core->stores += access->stores;
	return stood;
}
