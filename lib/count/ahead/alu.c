#include "count/ahead/alu.h"

/* Flags travel in ax: ah as lahf and sahf have it, al the overflow flag. */
#define FLAGS_IN  "add $127, %%al\n\tsahf\n\t"
#define FLAGS_OUT "\n\tlahf\n\tseto %%al"

typedef uint64_t alu_fn(uint64_t a, uint64_t b, uint64_t *flags);
typedef void pair_fn(uint64_t b, uint64_t *low, uint64_t *high, uint64_t *flags);

static uint64_t pack(uint64_t flags)
{
	return (flags & 0xd5) << 8 | 0x200 | (flags >> 11 & 1);
}

static uint64_t unpack(uint64_t ax)
{
	return (ax >> 8 & 0xd5) | (ax & 1) << 11;
}

#define ONE(name, code)                                                                            \
	static uint64_t name(uint64_t a, uint64_t b, uint64_t *flags)                              \
	{                                                                                          \
		uint64_t ax = pack(*flags);                                                        \
                                                                                                   \
		(void)b;                                                                           \
		__asm__(FLAGS_IN code FLAGS_OUT : "+&a"(ax), [a] "+&r"(a) : : "cc");               \
		*flags = unpack(ax);                                                               \
		return a;                                                                          \
	}

#define TWO(name, code, where)                                                                     \
	static uint64_t name(uint64_t a, uint64_t b, uint64_t *flags)                              \
	{                                                                                          \
		uint64_t ax = pack(*flags);                                                        \
                                                                                                   \
		__asm__(FLAGS_IN code FLAGS_OUT : "+&a"(ax), [a] "+&r"(a) : [b] where(b) : "cc");  \
		*flags = unpack(ax);                                                               \
		return a;                                                                          \
	}

#define ONE_SIZES(op)                                                                              \
	ONE(op##_1, #op "b %b[a]")                                                                 \
	ONE(op##_2, #op "w %w[a]")                                                                 \
	ONE(op##_4, #op "l %k[a]")                                                                 \
	ONE(op##_8, #op "q %q[a]")

#define TWO_SIZES(op)                                                                              \
	TWO(op##_1, #op "b %b[b], %b[a]", "r")                                                     \
	TWO(op##_2, #op "w %w[b], %w[a]", "r")                                                     \
	TWO(op##_4, #op "l %k[b], %k[a]", "r")                                                     \
	TWO(op##_8, #op "q %q[b], %q[a]", "r")

#define SHIFT_SIZES(op)                                                                            \
	TWO(op##_1, #op "b %b[b], %b[a]", "c")                                                     \
	TWO(op##_2, #op "w %b[b], %w[a]", "c")                                                     \
	TWO(op##_4, #op "l %b[b], %k[a]", "c")                                                     \
	TWO(op##_8, #op "q %b[b], %q[a]", "c")

#define WIDE_SIZES(op)                                                                             \
	TWO(op##_2, #op "w %w[b], %w[a]", "r")                                                     \
	TWO(op##_4, #op "l %k[b], %k[a]", "r")                                                     \
	TWO(op##_8, #op "q %q[b], %q[a]", "r")

TWO_SIZES(add)
TWO_SIZES(adc)
TWO_SIZES(sub)
TWO_SIZES(sbb)
TWO_SIZES(and)
TWO_SIZES(or)
TWO_SIZES(xor)
ONE_SIZES(inc)
ONE_SIZES(dec)
ONE_SIZES(neg)
SHIFT_SIZES(shl)
SHIFT_SIZES(shr)
SHIFT_SIZES(sar)
SHIFT_SIZES(rol)
SHIFT_SIZES(ror)
SHIFT_SIZES(rcl)
SHIFT_SIZES(rcr)
WIDE_SIZES(bsf)
WIDE_SIZES(bsr)
WIDE_SIZES(tzcnt)
WIDE_SIZES(lzcnt)
WIDE_SIZES(bt)
WIDE_SIZES(bts)
WIDE_SIZES(btr)
WIDE_SIZES(btc)
WIDE_SIZES(imul)

#define ROW(op)      op##_1, op##_2, op##_4, op##_8
#define WIDE_ROW(op) 0, op##_2, op##_4, op##_8

static alu_fn *const table[NVE_ALU_COUNT][4] = {
	[NVE_ALU_ADD] = {ROW(add)},          [NVE_ALU_ADC] = {ROW(adc)},
	[NVE_ALU_SUB] = {ROW(sub)},          [NVE_ALU_SBB] = {ROW(sbb)},
	[NVE_ALU_AND] = {ROW(and)},          [NVE_ALU_OR] = {ROW(or)},
	[NVE_ALU_XOR] = {ROW(xor)},          [NVE_ALU_INC] = {ROW(inc)},
	[NVE_ALU_DEC] = {ROW(dec)},          [NVE_ALU_NEG] = {ROW(neg)},
	[NVE_ALU_SHL] = {ROW(shl)},          [NVE_ALU_SHR] = {ROW(shr)},
	[NVE_ALU_SAR] = {ROW(sar)},          [NVE_ALU_ROL] = {ROW(rol)},
	[NVE_ALU_ROR] = {ROW(ror)},          [NVE_ALU_RCL] = {ROW(rcl)},
	[NVE_ALU_RCR] = {ROW(rcr)},          [NVE_ALU_BSF] = {WIDE_ROW(bsf)},
	[NVE_ALU_BSR] = {WIDE_ROW(bsr)},     [NVE_ALU_TZCNT] = {WIDE_ROW(tzcnt)},
	[NVE_ALU_LZCNT] = {WIDE_ROW(lzcnt)}, [NVE_ALU_BT] = {WIDE_ROW(bt)},
	[NVE_ALU_BTS] = {WIDE_ROW(bts)},     [NVE_ALU_BTR] = {WIDE_ROW(btr)},
	[NVE_ALU_BTC] = {WIDE_ROW(btc)},     [NVE_ALU_IMUL] = {WIDE_ROW(imul)},
};

uint64_t nve_alu(enum nve_alu op, unsigned bytes, uint64_t a, uint64_t b, uint64_t *flags)
{
	return table[op][__builtin_ctz(bytes)](a, b, flags);
}

#define PAIR(name, code)                                                                           \
	static void name(uint64_t b, uint64_t *low, uint64_t *high, uint64_t *flags)               \
	{                                                                                          \
		uint64_t ax = pack(*flags), rax = *low, rdx = *high;                               \
                                                                                                   \
		__asm__(FLAGS_IN "mov %[rax], %%rax\n\t" code "\n\tmov %%rax, %[rax]" FLAGS_OUT    \
			: "+&a"(ax), [rax] "+&r"(rax), "+&d"(rdx)                                  \
			: [b] "r"(b)                                                               \
			: "cc");                                                                   \
		*flags = unpack(ax);                                                               \
		*low = rax;                                                                        \
		*high = rdx;                                                                       \
	}

#define PAIR_SIZES(op)                                                                             \
	PAIR(one_##op##_1, #op "b %b[b]")                                                          \
	PAIR(one_##op##_2, #op "w %w[b]")                                                          \
	PAIR(one_##op##_4, #op "l %k[b]")                                                          \
	PAIR(one_##op##_8, #op "q %q[b]")

PAIR_SIZES(mul)
PAIR_SIZES(imul)
PAIR_SIZES(div)
PAIR_SIZES(idiv)

void nve_alu_multiply(bool is_signed, unsigned bytes, uint64_t b, uint64_t *low, uint64_t *high,
		      uint64_t *flags)
{
	static pair_fn *const fn[2][4] = {
		{one_mul_1, one_mul_2, one_mul_4, one_mul_8},
		{one_imul_1, one_imul_2, one_imul_4, one_imul_8},
	};

	fn[is_signed][__builtin_ctz(bytes)](b, low, high, flags);
}

/* For each size the quotient must fit half of the dividend, high:low (in *low alone for bytes). */
static bool fits_unsigned(unsigned bits, uint64_t b, uint64_t low, uint64_t high)
{
	if (bits == 8)
		high = low >> 8 & 0xff;
	return b && high < b;
}

static bool fits_signed(unsigned bits, uint64_t b, uint64_t low, uint64_t high)
{
	unsigned unused = 64 - bits;
	__int128 n = (__int128)((unsigned __int128)high << 64 | low);
	__int128 d = (int64_t)(b << unused) >> unused;
	__int128 most = (__int128)(UINT64_MAX >> (unused + 1));

	if (bits == 8)
		n = (int16_t)low;
	else if (bits < 64)
		n = (int64_t)((high << bits | low) << (64 - 2 * bits)) >> (64 - 2 * bits);
	/* -2^127 / -1 is the one quotient that does not fit the arithmetic used here. */
	if (!d || (d == -1 && high == (uint64_t)INT64_MIN))
		return false;
	return n / d <= most && n / d >= -most - 1;
}

bool nve_alu_divide(bool is_signed, unsigned bytes, uint64_t b, uint64_t *low, uint64_t *high,
		    uint64_t *flags)
{
	static pair_fn *const fn[2][4] = {
		{one_div_1, one_div_2, one_div_4, one_div_8},
		{one_idiv_1, one_idiv_2, one_idiv_4, one_idiv_8},
	};

	if (is_signed ? !fits_signed(8 * bytes, b, *low, *high)
		      : !fits_unsigned(8 * bytes, b, *low, *high))
		return false;
	fn[is_signed][__builtin_ctz(bytes)](b, low, high, flags);
	return true;
}
