/*
 * The interpreter's own form of an instruction: decoded once, executed by one function.
 */
#ifndef NVE_AHEAD_DECODE_H
#define NVE_AHEAD_DECODE_H

#include <Zydis/Zydis.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "count/ahead/interp.h"

#define NVE_ARITH_FLAGS 0x8d5u /* CF PF AF ZF SF OF */
#define NVE_FLAG_CF     0x001u
#define NVE_FLAG_PF     0x004u
#define NVE_FLAG_AF     0x010u
#define NVE_FLAG_ZF     0x040u
#define NVE_FLAG_SF     0x080u
#define NVE_FLAG_DF     0x400u
#define NVE_FLAG_OF     0x800u

#define NVE_NO_REG 16u /* base or index of an address without one */

struct nve_run;
struct nve_insn;

/* Executes one instruction. 0 to go on, or the enum nve_stop that ends the run. */
typedef int nve_exec_fn(struct nve_run *run, const struct nve_insn *insn);

/* A copied instruction: loads its registers from cpu, runs on scratch memory, stores them back. */
typedef void nve_stub_fn(struct nve_cpu *cpu, void *scratch);

enum nve_operand_kind { NVE_OPERAND_NONE, NVE_OPERAND_REG, NVE_OPERAND_IMM, NVE_OPERAND_MEM };

struct nve_operand {
	uint8_t kind;  /* enum nve_operand_kind */
	uint8_t reg;   /* general register */
	uint8_t shift; /* 8 for ah, ch, dh, bh */
	uint8_t bytes;
};

enum nve_segment { NVE_SEGMENT_FLAT, NVE_SEGMENT_FS, NVE_SEGMENT_GS };

/* Which lanes of a memory operand an instruction touches. */
enum nve_lanes {
	NVE_LANES_ALL,
	NVE_LANES_K,        /* those set in mask register lane_reg */
	NVE_LANES_COMPRESS, /* as many as are set there, from the first on */
	NVE_LANES_SIGN,     /* those whose sign bit is set in vector register lane_reg */
};

enum nve_rep { NVE_REP_NONE, NVE_REP_ALWAYS, NVE_REP_EQUAL, NVE_REP_NOT_EQUAL };

enum nve_flow_bits {
	NVE_FLOW_CONSTANT = 1,  /* the result depends on no register */
	NVE_FLOW_STACK = 2,     /* steps the stack pointer, for which nobody waits */
	NVE_FLOW_CONDITION = 4, /* a conditional branch */
	NVE_FLOW_FUSES = 8,     /* one operation with a conditional branch right behind it */
};

/* Handlers find their data out of the cache: aligned, and no longer than two lines. */
struct nve_insn {
	alignas(64) uint64_t ip;
	uint8_t code[16];
	nve_exec_fn *exec;
	nve_stub_fn *stub;
	uint64_t imm; /* immediate, or the target of a direct branch */
	uint64_t disp;
	uint32_t vec_read, vec_write;
	uint16_t gpr_read, gpr_write;
	uint16_t flags_read, flags_write;
	uint16_t mnemonic; /* ZydisMnemonic */
	uint16_t mem_bytes;
	uint8_t k_read, k_write;
	uint8_t length; /* 0: empty */
	uint8_t op;     /* condition code, or what exec takes it for */
	uint8_t rep;    /* enum nve_rep */
	uint8_t base, index, scale, segment;
	uint8_t mem_kind; /* enum nve_access_kind bits */
	uint8_t lanes;    /* enum nve_lanes */
	uint8_t lane_reg;
	uint8_t lane_bytes; /* of memory; index_bytes: of the index of a gather */
	uint8_t index_bytes;
	bool addr32;
	bool opens; /* the memory operand is announced before exec is called */
	bool has_mem;
	struct nve_operand operand[3];
	uint8_t latency_cycles;
	uint8_t flow; /* enum nve_flow_bits */
};

_Static_assert(sizeof(struct nve_insn) == 128, "an instruction takes two cache lines");

/* What the decoder needs room for; kept off the stack. */
struct nve_decoder {
	ZydisDecoder zydis;
	ZydisDecodedInstruction raw;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t integer[ZYDIS_MNEMONIC_MAX_VALUE + 1]; /* where nve_decode_integer looks */
};

void nve_decoder_init(struct nve_decoder *decoder);

/* Decodes code at ip. 0, or NVE_STOP_TRAP (no instruction), NVE_STOP_UNMAPPED (cut). */
int nve_decode(struct nve_decoder *decoder, uint64_t ip, const uint8_t code[16], size_t size,
	       struct nve_insn *insn);

/* Fills latency_cycles and flow. */
void nve_decode_flow(const struct nve_decoder *decoder, struct nve_insn *insn);

/* What the instruction waits for, for the world. */
struct nve_flow nve_insn_flow(const struct nve_insn *insn);

void nve_decode_integer_init(struct nve_decoder *decoder);

/* Of code: 32 bytes that end just before an instruction, and 15 more. */
enum nve_before nve_decode_before(const struct nve_decoder *decoder, const uint8_t *code);

/* The function for an integer instruction of the core, or NULL; may set op and opens. */
nve_exec_fn *nve_decode_integer(const struct nve_decoder *decoder, struct nve_insn *insn);

/* The function for any instruction; fills what that function needs to know. */
nve_exec_fn *nve_decode_choose(const struct nve_decoder *decoder, struct nve_insn *insn);

/* Which lanes of its memory operand a copied instruction touches. */
void nve_decode_lanes(const struct nve_decoder *decoder, struct nve_insn *insn);

/* op: the vector register of the data; mem_bytes: of all lanes together. */
nve_exec_fn *nve_decode_gather(const struct nve_decoder *decoder, struct nve_insn *insn);

/* The visible memory operand, else the hidden one (of a string: its source), or NULL. */
const ZydisDecodedOperand *nve_decode_memory(const struct nve_decoder *decoder);

/* A general register; NVE_OPERAND_NONE for any other. */
struct nve_operand nve_decode_gpr(ZydisRegister reg);

bool nve_decode_is_one_of(unsigned what, const uint16_t *list, size_t count);

#endif
