/* A world of two regions, code and data, for hand-made instructions; all it is asked is written
 * down. */
#ifndef TEST_SMALL_WORLD_H
#define TEST_SMALL_WORLD_H

#include "count/ahead/interp.h"

#define CODE_ADDR  0x10000u
#define CODE_BYTES 4096u
#define DATA_ADDR  0x20000u /* what lies before and behind is not mapped */
#define DATA_BYTES (1u << 20)
#define STACK_ADDR (DATA_ADDR + DATA_BYTES / 2)
#define ACCESS_MAX 8192u

struct small_world {
	uint8_t code[CODE_BYTES];
	uint8_t data[DATA_BYTES];
	struct nve_access access[ACCESS_MAX];
	unsigned accesses, reads, steps;
	uint64_t tsc; /* 0: unknown */
	struct nve_interp *interp;
	struct nve_interp_world world;
	struct nve_cpu cpu;
};

extern struct small_world small;

/* Empties it; the registers are known, rsp in the middle of the data, rip at the code. */
void small_reset(void);

/* Puts code at the next free byte of the code region. */
void small_put(const void *code, unsigned bytes);

#define PUT(...) small_put((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

/* Runs from the current registers. */
struct nve_interp_result small_run(uint32_t limit);

uint64_t small_peek(uint64_t addr, unsigned bytes);

#endif
