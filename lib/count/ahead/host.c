#include "count/ahead/host.h"

#include <cpuid.h>
#include <stdint.h>

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

#define SSE(set, word, bit)     ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_SSE, false
#define AVX(set, word, bit)     ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX, false
#define EVEX(set, word, bit)    ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX512, false
#define EVEX_VL(set, word, bit) ZYDIS_ISA_SET_##set, word, bit, NVE_VECTOR_AVX512, true

static const struct row rows[] = {
	{SSE(SSE, L1_D, 25)},
	{SSE(SSE2, L1_D, 26)},
	{SSE(SSE3, L1_C, 0)},
	{SSE(SSSE3, L1_C, 9)},
	{SSE(SSE4, L1_C, 19)},
	{SSE(SSE42, L1_C, 20)},
	{SSE(POPCNT, L1_C, 23)},
	{SSE(AES, L1_C, 25)},
	{SSE(PCLMULQDQ, L1_C, 1)},
	{SSE(SHA, L7_B, 29)},
	{SSE(GFNI, L7_C, 8)},
	{SSE(SSE4A, X1_C, 6)},
	{SSE(ADOX_ADCX, L7_B, 19)},
	{SSE(BMI1, L7_B, 3)},
	{SSE(BMI2, L7_B, 8)},
	{SSE(LZCNT, X1_C, 5)},
	{SSE(MOVBE, L1_C, 22)},
	{AVX(AVX, L1_C, 28)},
	{AVX(AVX2, L7_B, 5)},
	{AVX(FMA, L1_C, 12)},
	{AVX(F16C, L1_C, 29)},
	{AVX(AVXAES, L1_C, 25)},
	{AVX(VAES, L7_C, 9)},
	{AVX(VPCLMULQDQ, L7_C, 10)},
	{AVX(AVX_GFNI, L7_C, 8)},
	{AVX(AVX_VNNI, L71_A, 4)},
	{EVEX_VL(AVX512F_128, L7_B, 16)},
	{EVEX_VL(AVX512F_256, L7_B, 16)},
	{EVEX(AVX512F_512, L7_B, 16)},
	{EVEX(AVX512F_128N, L7_B, 16)},
	{EVEX(AVX512F_KOP, L7_B, 16)},
	{EVEX(AVX512F_SCALAR, L7_B, 16)},
	{EVEX_VL(AVX512BW_128, L7_B, 30)},
	{EVEX_VL(AVX512BW_256, L7_B, 30)},
	{EVEX(AVX512BW_512, L7_B, 30)},
	{EVEX(AVX512BW_128N, L7_B, 30)},
	{EVEX(AVX512BW_KOP, L7_B, 30)},
	{EVEX_VL(AVX512DQ_128, L7_B, 17)},
	{EVEX_VL(AVX512DQ_256, L7_B, 17)},
	{EVEX(AVX512DQ_512, L7_B, 17)},
	{EVEX(AVX512DQ_128N, L7_B, 17)},
	{EVEX(AVX512DQ_KOP, L7_B, 17)},
	{EVEX(AVX512DQ_SCALAR, L7_B, 17)},
	{EVEX_VL(AVX512CD_128, L7_B, 28)},
	{EVEX_VL(AVX512CD_256, L7_B, 28)},
	{EVEX(AVX512CD_512, L7_B, 28)},
	{EVEX_VL(AVX512_IFMA_128, L7_B, 21)},
	{EVEX_VL(AVX512_IFMA_256, L7_B, 21)},
	{EVEX(AVX512_IFMA_512, L7_B, 21)},
	{EVEX_VL(AVX512_VBMI_128, L7_C, 1)},
	{EVEX_VL(AVX512_VBMI_256, L7_C, 1)},
	{EVEX(AVX512_VBMI_512, L7_C, 1)},
	{EVEX_VL(AVX512_VBMI2_128, L7_C, 6)},
	{EVEX_VL(AVX512_VBMI2_256, L7_C, 6)},
	{EVEX(AVX512_VBMI2_512, L7_C, 6)},
	{EVEX_VL(AVX512_GFNI_128, L7_C, 8)},
	{EVEX_VL(AVX512_GFNI_256, L7_C, 8)},
	{EVEX(AVX512_GFNI_512, L7_C, 8)},
	{EVEX_VL(AVX512_VAES_128, L7_C, 9)},
	{EVEX_VL(AVX512_VAES_256, L7_C, 9)},
	{EVEX(AVX512_VAES_512, L7_C, 9)},
	{EVEX_VL(AVX512_VPCLMULQDQ_128, L7_C, 10)},
	{EVEX_VL(AVX512_VPCLMULQDQ_256, L7_C, 10)},
	{EVEX(AVX512_VPCLMULQDQ_512, L7_C, 10)},
	{EVEX_VL(AVX512_VNNI_128, L7_C, 11)},
	{EVEX_VL(AVX512_VNNI_256, L7_C, 11)},
	{EVEX(AVX512_VNNI_512, L7_C, 11)},
	{EVEX_VL(AVX512_BITALG_128, L7_C, 12)},
	{EVEX_VL(AVX512_BITALG_256, L7_C, 12)},
	{EVEX(AVX512_BITALG_512, L7_C, 12)},
	{EVEX_VL(AVX512_VPOPCNTDQ_128, L7_C, 14)},
	{EVEX_VL(AVX512_VPOPCNTDQ_256, L7_C, 14)},
	{EVEX(AVX512_VPOPCNTDQ_512, L7_C, 14)},
	{EVEX_VL(AVX512_BF16_128, L71_A, 5)},
	{EVEX_VL(AVX512_BF16_256, L71_A, 5)},
	{EVEX(AVX512_BF16_512, L71_A, 5)},
	{EVEX_VL(AVX512_VP2INTERSECT_128, L7_D, 8)},
	{EVEX_VL(AVX512_VP2INTERSECT_256, L7_D, 8)},
	{EVEX(AVX512_VP2INTERSECT_512, L7_D, 8)},
	{EVEX_VL(AVX512_FP16_128, L7_D, 23)},
	{EVEX_VL(AVX512_FP16_256, L7_D, 23)},
	{EVEX(AVX512_FP16_512, L7_D, 23)},
	{EVEX(AVX512_FP16_SCALAR, L7_D, 23)},
	{EVEX(AVX512_FP16_128N, L7_D, 23)},
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

void nve_host_setup(void)
{
	uint32_t a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d)) {
		host.words[L1_C] = c;
		host.words[L1_D] = d;
	}
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		uint32_t last = a;

		host.words[L7_B] = b;
		host.words[L7_C] = c;
		host.words[L7_D] = d;
		if (last >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
			host.words[L71_A] = a;
	}
	if (__get_cpuid(0x80000001, &a, &b, &c, &d))
		host.words[X1_C] = c;
	host.vectors = widest_vectors();
	host.has_vl = bit_of(L7_B, 31);
	host.is_set_up = true;
}

enum nve_vector_width nve_host_vectors(void)
{
	return host.vectors;
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
