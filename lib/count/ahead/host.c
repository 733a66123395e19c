#include "count/ahead/host.h"

#include <stdint.h>
#include <sys/platform/x86.h>

#include "base/base.h"

enum word { L1_C, L1_D, L7_B, L7_C, L7_D, L71_A, X1_C, WORDS };

static struct {
	uint32_t words[WORDS];
	enum nve_vector_width vectors;
	bool has_vl;
	bool is_set_up;
} host;

struct row {
	uint16_t set; /* ZydisISASet */
	uint8_t word, bit;
	uint8_t vectors; /* enum nve_vector_width that must be there */
	bool needs_vl;
};

#define SSE(set, word, bit)                                                                        \
	{                                                                                          \
		ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_SSE, false                              \
	}
#define AVX(set, word, bit)                                                                        \
	{                                                                                          \
		ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX, false                              \
	}
#define EVEX(set, word, bit)                                                                       \
	{                                                                                          \
		ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX512, false                           \
	}
#define EVEX_VL(set, word, bit)                                                                    \
	{                                                                                          \
		ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX512, true                            \
	}
#define EVEX_ALL(set, word, bit)                                                                   \
	EVEX_VL(set##_128, word, bit), EVEX_VL(set##_256, word, bit), EVEX(set##_512, word, bit)

static const struct row rows[] = {
	SSE(SSE, L1_D, 25),
	SSE(SSE2, L1_D, 26),
	SSE(SSE3, L1_C, 0),
	SSE(SSSE3, L1_C, 9),
	SSE(SSE4, L1_C, 19),
	SSE(SSE42, L1_C, 20),
	SSE(POPCNT, L1_C, 23),
	SSE(AES, L1_C, 25),
	SSE(PCLMULQDQ, L1_C, 1),
	SSE(SHA, L7_B, 29),
	SSE(GFNI, L7_C, 8),
	SSE(SSE4A, X1_C, 6),
	SSE(ADOX_ADCX, L7_B, 19),
	SSE(BMI1, L7_B, 3),
	SSE(BMI2, L7_B, 8),
	SSE(LZCNT, X1_C, 5),
	SSE(MOVBE, L1_C, 22),
	AVX(AVX, L1_C, 28),
	AVX(AVX2, L7_B, 5),
	AVX(FMA, L1_C, 12),
	AVX(F16C, L1_C, 29),
	AVX(AVXAES, L1_C, 25),
	AVX(VAES, L7_C, 9),
	AVX(VPCLMULQDQ, L7_C, 10),
	AVX(AVX_GFNI, L7_C, 8),
	AVX(AVX_VNNI, L71_A, 4),
	EVEX_ALL(AVX512F, L7_B, 16),
	EVEX(AVX512F_128N, L7_B, 16),
	EVEX(AVX512F_KOP, L7_B, 16),
	EVEX(AVX512F_SCALAR, L7_B, 16),
	EVEX_ALL(AVX512BW, L7_B, 30),
	EVEX(AVX512BW_128N, L7_B, 30),
	EVEX(AVX512BW_KOP, L7_B, 30),
	EVEX_ALL(AVX512DQ, L7_B, 17),
	EVEX(AVX512DQ_128N, L7_B, 17),
	EVEX(AVX512DQ_KOP, L7_B, 17),
	EVEX(AVX512DQ_SCALAR, L7_B, 17),
	EVEX_ALL(AVX512CD, L7_B, 28),
	EVEX_ALL(AVX512_IFMA, L7_B, 21),
	EVEX_ALL(AVX512_VBMI, L7_C, 1),
	EVEX_ALL(AVX512_VBMI2, L7_C, 6),
	EVEX_ALL(AVX512_GFNI, L7_C, 8),
	EVEX_ALL(AVX512_VAES, L7_C, 9),
	EVEX_ALL(AVX512_VPCLMULQDQ, L7_C, 10),
	EVEX_ALL(AVX512_VNNI, L7_C, 11),
	EVEX_ALL(AVX512_BITALG, L7_C, 12),
	EVEX_ALL(AVX512_VPOPCNTDQ, L7_C, 14),
	EVEX_ALL(AVX512_BF16, L71_A, 5),
	EVEX_ALL(AVX512_VP2INTERSECT, L7_D, 8),
	EVEX_ALL(AVX512_FP16, L7_D, 23),
	EVEX(AVX512_FP16_SCALAR, L7_D, 23),
	EVEX(AVX512_FP16_128N, L7_D, 23),
};

static uint64_t read_xcr0(void)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static bool bit_of(enum word word, unsigned bit)
{
	return host.words[word] >> bit & 1;
}

/* Mask registers are moved by kmovq, which needs BW: without it AVX-512 is left alone. */
static enum nve_vector_width widest_vectors(void)
{
	uint64_t xcr0 = bit_of(L1_C, 27) ? read_xcr0() : 0;

	if ((xcr0 & 6) != 6 || !bit_of(L1_C, 28))
		return NVE_VECTOR_SSE;
	if ((xcr0 & 0xe0) == 0xe0 && bit_of(L7_B, 16) && bit_of(L7_B, 30))
		return NVE_VECTOR_AVX512;
	return NVE_VECTOR_AVX;
}

/* The loader has asked the processor already; in a virtual machine each question is a trap. */
static uint32_t known(unsigned leaf, enum cpuid_register_index word)
{
	return __x86_get_cpuid_feature_leaf(leaf)->cpuid_array[word];
}

void nve_host_setup(void)
{
	host.words[L1_C] = known(CPUID_INDEX_1, cpuid_register_index_ecx);
	host.words[L1_D] = known(CPUID_INDEX_1, cpuid_register_index_edx);
	host.words[L7_B] = known(CPUID_INDEX_7, cpuid_register_index_ebx);
	host.words[L7_C] = known(CPUID_INDEX_7, cpuid_register_index_ecx);
	host.words[L7_D] = known(CPUID_INDEX_7, cpuid_register_index_edx);
	host.words[L71_A] = known(CPUID_INDEX_7_ECX_1, cpuid_register_index_eax);
	host.words[X1_C] = known(CPUID_INDEX_80000001, cpuid_register_index_ecx);
	host.vectors = widest_vectors();
	host.has_vl = bit_of(L7_B, 31);
	host.is_set_up = true;
}

enum nve_vector_width nve_host_vectors(void)
{
	return host.vectors;
}

void nve_host_limit(enum nve_vector_width widest)
{
	host.vectors = NVE_MIN(host.vectors, widest);
}

bool nve_host_has(ZydisISASet set)
{
	for (size_t i = 0; i < NVE_ARRAY_SIZE(rows); i++)
		if (rows[i].set == (uint16_t)set)
			return host.is_set_up && bit_of(rows[i].word, rows[i].bit) &&
			       host.vectors >= rows[i].vectors &&
			       (host.has_vl || !rows[i].needs_vl);
	return false;
}
