#include "count/ahead/core.h"

#include <string.h>

#define WIDTH       6.0f    /* instructions dispatched and retired a cycle */
#define REFILL      20.0f   /* cycles from a branch that went another way to what follows it */
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

/* When there is room for the next instruction. */
static float room(const struct nve_core_course *c, const struct nve_core *core, bool writes)
{
	float t = 0;

	if (core->instructions >= core->machine.window)
		t = c->retired[core->instructions % core->machine.window];
	if (writes && core->writers >= core->machine.writers)
		t = later(t, c->freed[core->writers % core->machine.writers]);
	return t;
}

static float operands_ready(const float *ready, uint64_t reads, float t)
{
	for (; reads; reads &= reads - 1)
		t = later(t, ready[__builtin_ctzll(reads)]);
	return t;
}

static void produce(float *ready, uint64_t writes, float done)
{
	for (; writes; writes &= writes - 1)
		ready[__builtin_ctzll(writes)] = done;
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

/* When the line of an access that asks for it at t is there. */
static float line_there(struct nve_core_course *c, const struct nve_core *core,
			const struct nve_core_access *access, float t)
{
	bool real = c == &core->real;
	float latency = real ? access->latency : access->resident_latency;

	if (real && access->missing) {
		if (access->loads)
			t = take_slot(c->reading, core->machine.read_slots, t, latency);
		else
			t = take_slot(c->writing, core->machine.write_slots, t, latency);
		return *access->filled = t + latency;
	}
	if (real && access->filled && *access->filled > t + LOAD_CYCLES)
		return *access->filled;
	return t + latency;
}

/* A store leaves in order, after it retired, when its line is there. */
static void drain(struct nve_core_course *c, const struct nve_core *core, float there)
{
	uint32_t at = core->stores % NVE_CORE_STORES;
	float before = core->stores ? c->drained[(core->stores - 1) % NVE_CORE_STORES] : 0;

	c->drained[at] = later(later(before + 1, there), c->now + 1);
}

/* What the core asks memory for does not wait for branches: on the way that it goes on before it
 * knows better it meets the same accesses, most often. Returns when it asks. */
static float ask(struct nve_core_course *c, uint64_t reads, float t)
{
	c->asked = later(t, c->asked + 1 / WIDTH);
	return operands_ready(c->asked_ready, reads, c->asked);
}

/* Returns how long retirement stood still at this instruction. */
static float run(struct nve_core_course *c, const struct nve_core *core,
		 const struct nve_flow *flow, const struct nve_core_access *access)
{
	bool real = c == &core->real, accesses = access->loads || access->stores;
	float in_order = c->now + 1 / WIDTH, enters = room(c, core, is_writer(flow));
	float start, asked, there = 0, done;

	c->empty = later(c->refilled - in_order, 0);
	in_order += c->empty;
	asked = real ? ask(c, flow->reads, enters) : 0;
	c->dispatched = later(later(enters, c->refilled), c->dispatched + 1 / WIDTH);
	start = operands_ready(c->ready, flow->reads, c->dispatched);
	if (accesses)
		there = line_there(c, core, access, real ? asked : start);
	if (access->loads) {
		c->waits =
			real && (access->missing || access->filled) && there > start + LOAD_CYCLES;
		asked = later(there, asked + LOAD_CYCLES);
		done = later(there, start + LOAD_CYCLES);
	} else {
		c->waits =
			real && (access->missing || (access->filled && there == *access->filled));
		done = start;
	}
	done += flow->latency_cycles;
	produce(c->ready, flow->writes, done);
	if (real)
		produce(c->asked_ready, flow->writes, asked + flow->latency_cycles);
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

/* What follows a mispredicted branch is fetched when the branch is known: when what it reads is
 * there. */
static void refill(struct nve_core_course *c, const struct nve_flow *flow)
{
	c->refilled = operands_ready(c->ready, flow->reads, 0) + REFILL;
}

float nve_core_step(struct nve_core *core, const struct nve_flow *flow,
		    const struct nve_core_access *access, bool mispredicted)
{
	bool fused = flow->is_conditional_branch && core->fuses;
	float stood = 0;

	core->fuses = flow->may_fuse;
	core->real.waits = false;
	core->real.empty = 0;
	if (!fused) {
		stood = run(&core->real, core, flow, access);
		run(&core->resident, core, flow, access);
	}
	if (mispredicted) {
		refill(&core->real, flow);
		refill(&core->resident, flow);
	}
	if (fused)
		return 0;
	if (core->real.waits)
		core->waited += stood;
	else if (access->far)
		core->waited_far += stood;
	core->instructions++;
	core->writers += is_writer(flow);
	core->stores += access->stores;
	return stood;
}
