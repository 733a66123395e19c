/*
 * The interpreter: runs a program forward from a copy of its registers, without side effects.
 *
 * Loads read the world through a callback, stores go to an overlay inside the interpreter,
 * registers are a copy. It knows nothing of time, caches or signals: the world decides what an
 * access costs and whether it may be made. No malloc, no lock, no stdio: it is called in a signal
 * handler. Not thread-safe: one interpreter per thread.
 *
 * Values that cannot be computed (a result of an instruction that is not interpreted) are marked
 * unknown and spread; where an unknown value would decide a branch or an address the run stops.
 */
#ifndef NVE_AHEAD_INTERP_H
#define NVE_AHEAD_INTERP_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* Order of the general registers is the processor's encoding: rax rcx rdx rbx rsp rbp rsi rdi
 * r8..r15. */
struct nve_cpu {
	alignas(64) uint64_t zmm[32][8];
	uint64_t k[8];
	uint64_t gpr[16];
	uint64_t rip, rflags, fs_base, gs_base;
	uint32_t gpr_unknown; /* bit i: gpr[i] is unknown */
	uint32_t vec_unknown; /* bit i: zmm[i] is unknown */
	uint8_t k_unknown;    /* bit i: k[i] is unknown */
	bool flags_unknown;   /* any arithmetic flag is unknown */
	uint16_t x87_control; /* control word */
	uint32_t mxcsr;
};

enum nve_access_kind {
	NVE_ACCESS_READ = 1,
	NVE_ACCESS_WRITE = 2,     /* both bits: read-modify-write, one access */
	NVE_ACCESS_STREAMING = 4, /* non-temporal: does not fetch the line */
	NVE_ACCESS_STACK = 8,     /* implicit: push, pop, call, ret */
};

struct nve_access {
	uint64_t ip; /* of the instruction that makes it */
	uint64_t addr;
	uint32_t size; /* bytes, 1 to 64; longer ones (rep strings, xsave) come as several accesses
			*/
	uint32_t step; /* how many instructions were interpreted before it in this run */
	uint32_t kind; /* enum nve_access_kind */
};

enum nve_stop {
	NVE_STOP_LIMIT,          /* as many instructions as were asked for */
	NVE_STOP_SYSCALL,        /* syscall, int, sysenter, hlt ... */
	NVE_STOP_UNMAPPED,       /* the world refused an access or a code fetch */
	NVE_STOP_UNKNOWN_BRANCH, /* a branch, or the length of a rep string, depends on an unknown
				    value */
	NVE_STOP_UNKNOWN_ADDRESS,
	NVE_STOP_UNSUPPORTED, /* an instruction that changes control or state in a way not
				 interpreted */
	NVE_STOP_TRAP,        /* it would fault: division by zero, ud2, int3 ... */
	NVE_STOP_OVERLAY,     /* the overlay of stores is full */
	NVE_STOP_COUNT
};

/* What an instruction's result depends on, for those who ask how long it takes. */
struct nve_flow {
	/* registers: bits 0 to 15 general, 16 to 47 vector, 48 to 55 mask, 56 flags */
	uint64_t reads, writes;
	uint8_t latency_cycles; /* from operands in registers to results; of usual cores */
	bool is_conditional_branch, is_taken; /* as it went */
	bool may_fuse; /* one operation together with a conditional branch right behind it */
};

/* What the interpreter asks of the world. Each returns 0, or a negative errno that ends the run. */
struct nve_interp_world {
	/* Announces one access, in program order, before its value is used. May be NULL. */
	int (*access)(void *ctx, const struct nve_access *access);
	/* Copies size bytes at addr. Only called after access() allowed it. Must survive bad
	 * addresses. */
	int (*read)(void *ctx, uint64_t addr, void *dst, size_t size);
	/* Copies up to 16 bytes of code at addr to dst; returns how many (>= 1) or a negative
	 * errno. */
	int (*fetch)(void *ctx, uint64_t addr, uint8_t dst[16]);
	/* What rdtsc and rdtscp shall give, close to what it will be. NULL: unknown. */
	uint64_t (*tsc)(void *ctx);
	/* Announces each instruction before it is interpreted (ip and step). May be NULL. */
	void (*step)(void *ctx, uint64_t ip, uint32_t step);
	/* Tells of each instruction after it was interpreted and its accesses announced. May be
	 * NULL. */
	void (*flow)(void *ctx, const struct nve_flow *flow);
	void *ctx;
};

struct nve_interp_result {
	enum nve_stop stop;
	uint32_t steps; /* instructions interpreted; a whole rep string counts as its iterations */
	uint64_t stop_ip; /* instruction that ended the run (rip of the next one at NVE_STOP_LIMIT)
			   */
};

struct nve_interp; /* opaque; lives in memory that the caller gives */

/* Once per process, before the first nve_interp_init: learns the CPU's features (AVX, AVX-512) and
 * maps the executable memory for native execution of copied instructions. Returns 0, or -errno when
 * no executable memory may be had: then those instructions give unknown results, nothing fails. */
int nve_interp_setup(void);

size_t nve_interp_bytes(void);

/* mem: nve_interp_bytes() of zeroed memory, 64-byte aligned. */
struct nve_interp *nve_interp_init(void *mem);

/* Registers of an interrupted context (of an x86-64 Linux signal frame), vector state included.
 * FS and GS bases are the calling thread's. Signal-safe. */
void nve_cpu_from_ucontext(struct nve_cpu *cpu, const ucontext_t *uc);

/* Its general registers alone. Signal-safe. */
void nve_cpu_registers(const ucontext_t *uc, uint64_t gpr[16]);

/*
 * Interprets up to limit instructions from *cpu on, which is changed; the overlay starts empty.
 * Signal-safe.
 */
struct nve_interp_result nve_interp_run(struct nve_interp *in, struct nve_cpu *cpu,
					const struct nve_interp_world *world, uint32_t limit);

/* Bytes as the interpreted program would read them now: overlay over world. 0, 1 if some of them
 * are unknown, or -errno. For tests. */
int nve_interp_peek(struct nve_interp *in, const struct nve_interp_world *world, uint64_t addr,
		    void *dst, size_t size);

enum nve_before {
	NVE_BEFORE_UNKNOWN,
	NVE_BEFORE_NO_ACCESS, /* touches no memory */
	NVE_BEFORE_ACCESS,
};

/*
 * What the instruction just before ip in memory is. Decodes from several places ahead of ip: x86
 * code read from a wrong place falls in step within a few instructions. Unknown when they disagree
 * or the code cannot be read. Signal-safe.
 */
enum nve_before nve_interp_before(struct nve_interp *in, const struct nve_interp_world *world,
				  uint64_t ip);

/* Mnemonic of the instruction at the last stop, for reports ("vpcmpub"); never NULL. */
const char *nve_interp_stop_name(const struct nve_interp *in);

#endif
