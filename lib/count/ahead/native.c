#include "count/ahead/native.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "count/ahead/host.h"

#define ARENA_BYTES  (8u << 20)
#define ARENA_SLOTS  (1u << 15)
#define STUB_BYTES   512u
#define PROBES       64u
#define LOW_REGS     8u
#define HOLDER_FIRST 8u /* r8 to r11 hold the register file while the instruction runs */

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

/*
 * Lies at the start of the mapping, so that processes which share it after a fork agree. A slot
 * holds the offset of a stub whose bytes are complete.
 */
struct arena {
	_Atomic uint32_t next;
	_Atomic uint32_t slots[ARENA_SLOTS];
};

/* What comes before the code of a stub: the copied instruction, which determines all of it. */
struct stub_key {
	uint8_t length;
	uint8_t code[15];
};

static struct {
	uint8_t *writable;   /* where stubs are written; NULL: none */
	uint8_t *executable; /* the same memory as it is called */
} memory;

struct emitter {
	uint8_t bytes[STUB_BYTES];
	uint32_t used;
};

static void emit(struct emitter *e, const void *bytes, uint32_t count)
{
	memcpy(e->bytes + e->used, bytes, count);
	e->used += count;
}

#define EMIT(e, ...) emit(e, (const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

/* ModRM and displacement of [holder + offset]; holder is r8 to r11, which need no SIB byte. */
static void emit_field(struct emitter *e, unsigned reg, unsigned holder, size_t offset)
{
	uint32_t disp = (uint32_t)offset;

	EMIT(e, (uint8_t)(0x80 | (reg & 7) << 3 | (holder & 7)));
	emit(e, &disp, sizeof(disp));
}

static void emit_gpr(struct emitter *e, bool store, unsigned reg, unsigned holder)
{
	EMIT(e, (uint8_t)(0x49 | (reg >= 8) << 2), store ? 0x89 : 0x8b);
	emit_field(e, reg, holder, offsetof(struct nve_cpu, gpr) + 8 * reg);
}

static void emit_vec(struct emitter *e, bool store, unsigned reg, unsigned holder)
{
	uint8_t opcode = store ? 0x7f : 0x6f;
	uint8_t not_r = !(reg & 8), not_r2 = !(reg & 16);

	switch (nve_host_vectors()) {
	case NVE_VECTOR_AVX512: /* vmovdqu64 zmm */
		EMIT(e, 0x62, (uint8_t)(not_r << 7 | 0x41 | not_r2 << 4), 0xfe, 0x48, opcode);
		break;
	case NVE_VECTOR_AVX: /* vmovdqu ymm */
		EMIT(e, 0xc4, (uint8_t)(not_r << 7 | 0x41), 0x7e, opcode);
		break;
	default: /* movdqu */ EMIT(e, 0xf3, (uint8_t)(0x41 | !not_r << 2), 0x0f, opcode); break;
	}
	emit_field(e, reg, holder, offsetof(struct nve_cpu, zmm) + 64 * reg);
}

static void emit_k(struct emitter *e, bool store, unsigned reg, unsigned holder)
{
	EMIT(e, 0xc4, 0xc1, 0xf8, store ? 0x91 : 0x90); /* kmovq */
	emit_field(e, reg, holder, offsetof(struct nve_cpu, k) + 8 * reg);
}

static void emit_registers(struct emitter *e, bool store, const struct nve_insn *insn,
			   unsigned holder)
{
	uint32_t gpr = insn->gpr_write | (store ? 0 : insn->gpr_read);
	uint32_t vec = insn->vec_write | (store ? 0 : insn->vec_read);
	uint32_t k = insn->k_write | (store ? 0 : insn->k_read);

	for (unsigned i = 0; i < 32; i++) {
		if (gpr >> i & 1)
			emit_gpr(e, store, i, holder);
		if (vec >> i & 1)
			emit_vec(e, store, i, holder);
		if (k >> i & 1)
			emit_k(e, store, i, holder);
	}
}

/* rdi still holds the register file; rax is free. */
static void emit_flags_in(struct emitter *e)
{
	const uint32_t offset = offsetof(struct nve_cpu, rflags), mask = NVE_ARITH_FLAGS;

	EMIT(e, 0x8b, 0x87); /* mov eax, [rdi + offset] */
	emit(e, &offset, 4);
	EMIT(e, 0x25); /* and eax, mask */
	emit(e, &mask, 4);
	EMIT(e, 0x50, 0x9d); /* push rax; popfq */
}

/* All results are stored: rax and rdx are free. Flags that the instruction left were loaded too. */
static void emit_flags_out(struct emitter *e, unsigned holder)
{
	const uint32_t mask = NVE_ARITH_FLAGS, keep = ~mask;

	EMIT(e, 0x9c, 0x58, 0x25); /* pushfq; pop rax; and eax, mask */
	emit(e, &mask, 4);
	EMIT(e, 0x49, 0x8b); /* mov rdx, [flags] */
	emit_field(e, RDX, holder, offsetof(struct nve_cpu, rflags));
	EMIT(e, 0x48, 0x81, 0xe2); /* and rdx, keep */
	emit(e, &keep, 4);
	EMIT(e, 0x48, 0x09, 0xc2, 0x49, 0x89); /* or rdx, rax; mov [flags], rdx */
	emit_field(e, RDX, holder, offsetof(struct nve_cpu, rflags));
}

static void emit_push(struct emitter *e, bool pop, unsigned reg)
{
	if (reg >= 8)
		EMIT(e, 0x41);
	EMIT(e, (uint8_t)((pop ? 0x58 : 0x50) | (reg & 7)));
}

static uint32_t registers_used(const struct nve_insn *insn)
{
	return insn->gpr_read | insn->gpr_write;
}

/* A register for the memory operand that the instruction does not use; 8: none is free. */
static unsigned choose_base(uint32_t used)
{
	static const uint8_t choice[] = {RAX, RCX, RDX, RSI, RDI, RBX};

	for (unsigned i = 0; i < sizeof(choice); i++)
		if (!(used >> choice[i] & 1))
			return choice[i];
	return LOW_REGS;
}

static unsigned choose_holder(uint32_t used)
{
	for (unsigned i = HOLDER_FIRST; i < 12; i++)
		if (!(used >> i & 1))
			return i;
	return 0;
}

/* Prefixes that the copy goes without; a rex before other prefixes has no effect. */
static bool is_dropped(uint8_t byte)
{
	if ((byte & 0xf0) == 0x40)
		return true;
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65: /* segments */
	case 0x67: /* address size */
	case 0xf0: /* lock */ return true;
	default: return false;
	}
}

/* Takes the extension bits out of what precedes the opcode: the new base is one of the low eight.
 */
static void clear_extension(const ZydisDecodedInstruction *raw, uint8_t *copy, unsigned last_prefix)
{
	switch (raw->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_LEGACY:
		if (raw->attributes & ZYDIS_ATTRIB_HAS_REX)
			copy[last_prefix] &= 0xfc;
		break;
	case ZYDIS_INSTRUCTION_ENCODING_VEX:
		if (copy[last_prefix] == 0xc4)
			copy[last_prefix + 1] |= 0x60;
		break;
	default: copy[last_prefix + 1] |= 0x60; break;
	}
}

/* Index of the rex, vex or evex byte in the original code; its end for legacy code without rex. */
static unsigned extension_offset(const ZydisDecodedInstruction *raw)
{
	switch (raw->encoding) {
	case ZYDIS_INSTRUCTION_ENCODING_VEX: return raw->raw.vex.offset;
	case ZYDIS_INSTRUCTION_ENCODING_EVEX: return raw->raw.evex.offset;
	default:
		return raw->attributes & ZYDIS_ATTRIB_HAS_REX ? raw->raw.rex.offset
							      : raw->raw.prefix_count;
	}
}

/* The instruction with its memory operand, if any, at [base]. Returns the length. */
static unsigned copy_instruction(const ZydisDecodedInstruction *raw, const uint8_t *code,
				 bool has_mem, unsigned base, uint8_t copy[16])
{
	unsigned extension = extension_offset(raw), to = 0;
	unsigned tail = raw->raw.modrm.offset + 1u;

	for (unsigned i = 0; i < extension; i++)
		if (!is_dropped(code[i]))
			copy[to++] = code[i];
	if (!has_mem) {
		memcpy(copy + to, code + extension, raw->length - extension);
		return to + raw->length - extension;
	}
	unsigned count = raw->raw.modrm.offset - extension;

	memcpy(copy + to, code + extension, count);
	clear_extension(raw, copy, to);
	to += count;
	copy[to++] = (uint8_t)(code[raw->raw.modrm.offset] & 0x38) | (uint8_t)base;
	if (raw->raw.sib.offset)
		tail = raw->raw.sib.offset + 1u;
	if (raw->raw.disp.offset)
		tail = raw->raw.disp.offset + raw->raw.disp.size / 8u;
	memcpy(copy + to, code + tail, raw->length - tail);
	return to + raw->length - tail;
}

static void build(struct emitter *e, const struct nve_insn *insn, const struct stub_key *key,
		  unsigned base, unsigned holder)
{
	uint32_t used = registers_used(insn) | (insn->has_mem ? 1u << base : 0);
	uint32_t saved = used & 0xf028; /* rbx is bit 3, rbp bit 5, r12 to r15 */

	e->used = 0;
	emit(e, key, sizeof(*key));
	for (unsigned i = 0; i < 16; i++)
		if (saved >> i & 1)
			emit_push(e, false, i);
	if (insn->flags_read || insn->flags_write)
		emit_flags_in(e);
	EMIT(e, 0x49, 0x89, (uint8_t)(0xc0 | RDI << 3 | (holder & 7))); /* mov holder, rdi */
	if (insn->has_mem)
		EMIT(e, 0x48, 0x89, (uint8_t)(0xc0 | RSI << 3 | base)); /* mov base, rsi */
	emit_registers(e, false, insn, holder);
	emit(e, key->code, key->length);
	emit_registers(e, true, insn, holder);
	if (insn->flags_write)
		emit_flags_out(e, holder);
	if (nve_host_vectors() != NVE_VECTOR_SSE)
		EMIT(e, 0xc5, 0xf8, 0x77); /* vzeroupper */
	for (unsigned i = 16; i-- > 0;)
		if (saved >> i & 1)
			emit_push(e, true, i);
	EMIT(e, 0xc3);
}

static uint32_t hash_key(const struct stub_key *key)
{
	uint64_t half[2];

	memcpy(half, key, sizeof(half));
	return (uint32_t)((half[0] ^ half[1] * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull >>
			  40);
}

/* Offset of the stub in one of the slots for key, or 0; *slot is the first empty one. */
static uint32_t find(struct arena *arena, const struct stub_key *key, uint32_t *slot)
{
	uint32_t at = hash_key(key);

	for (unsigned i = 0; i < PROBES; i++) {
		*slot = (at + i) & (ARENA_SLOTS - 1);
		uint32_t offset = atomic_load_explicit(&arena->slots[*slot], memory_order_acquire);

		if (!offset)
			return 0;
		if (!memcmp(memory.writable + offset, key, sizeof(*key)))
			return offset;
	}
	*slot = ARENA_SLOTS;
	return 0;
}

/* Copies a finished stub into the arena. Losing a race for the slot only wastes its room. */
static uint32_t publish(struct arena *arena, const struct emitter *e, uint32_t slot)
{
	uint32_t bytes = (e->used + 15u) & ~15u;
	uint32_t none = 0, offset;

	if (atomic_load_explicit(&arena->next, memory_order_relaxed) > ARENA_BYTES - STUB_BYTES)
		return 0;
	offset = atomic_fetch_add_explicit(&arena->next, bytes, memory_order_relaxed);
	if (offset > ARENA_BYTES - STUB_BYTES)
		return 0;
	memcpy(memory.writable + offset, e->bytes, e->used);
	atomic_compare_exchange_strong_explicit(&arena->slots[slot], &none, offset,
						memory_order_release, memory_order_relaxed);
	return offset;
}

nve_stub_fn *nve_native_stub(const struct nve_decoder *decoder, const struct nve_insn *insn)
{
	struct arena *arena = (struct arena *)memory.writable;
	unsigned base = choose_base(registers_used(insn));
	unsigned holder = choose_holder(registers_used(insn));
	struct stub_key key = {0};
	struct emitter e;
	uint8_t copy[16];
	uint32_t slot, offset;

	if (!arena || !holder || base == LOW_REGS || (registers_used(insn) >> RSP & 1))
		return NULL;
	key.length =
		(uint8_t)copy_instruction(&decoder->raw, insn->code, insn->has_mem, base, copy);
	memcpy(key.code, copy, key.length);
	offset = find(arena, &key, &slot);
	if (!offset && slot < ARENA_SLOTS) {
		build(&e, insn, &key, base, holder);
		offset = publish(arena, &e, slot);
	}
	if (!offset)
		return NULL;
	return (nve_stub_fn *)(uintptr_t)(memory.executable + offset + sizeof(key));
}

/* Two views of one memory file, where a page may not be writable and executable at once. */
static int map_twice(void)
{
	int fd = memfd_create("nvmemu-stubs", MFD_CLOEXEC);
	void *rw = MAP_FAILED, *rx = MAP_FAILED;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, ARENA_BYTES))
		err = -errno;
	if (!err)
		rw = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (rw != MAP_FAILED)
		rx = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (!err && rx == MAP_FAILED)
		err = -errno;
	close(fd);
	if (!err) {
		memory.writable = rw;
		memory.executable = rx;
	} else if (rw != MAP_FAILED) {
		munmap(rw, ARENA_BYTES);
	}
	return err;
}

int nve_native_setup(void)
{
	void *at;
	int err = 0;

	if (memory.writable)
		return 0;
	at = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at != MAP_FAILED)
		memory.writable = memory.executable = at;
	else
		err = map_twice();
	if (!err)
		atomic_store(&((struct arena *)memory.writable)->next,
			     (uint32_t)((sizeof(struct arena) + 63) & ~63ul));
	return err;
}
