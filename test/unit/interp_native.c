/* Copied instructions: with and without executable memory, masks, gathers, modes, signal frames. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "small_world.h"
#include "unit.h"

#define DATA(offset) ((uint64_t)DATA_ADDR + (offset))
#define SKIPPED      77

enum { RAX, RCX, RDX, RBX };

/* In a child, since memory is mapped once per process. */
static int in_child(int (*run)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(run());
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* mmap with PROT_EXEC fails from now on. */
static int refuse_executable_memory(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

/* paddd xmm0, [rbx]; movd eax, xmm0; add eax, 1 */
static void run_vector_sum(void)
{
	small_reset();
	PUT(0x66, 0x0f, 0xfe, 0x03, 0x66, 0x0f, 0x7e, 0xc0, 0x83, 0xc0, 0x01);
	small.cpu.gpr[RBX] = DATA(0x40);
	small.data[0x40] = 5;
	small.cpu.zmm[0][0] = 2;
	small_run(3);
}

static int run_without_memory(void)
{
	if (refuse_executable_memory())
		return SKIPPED;
	if (nve_interp_setup() != -EPERM)
		return 1;
	run_vector_sum();
	if (small.accesses != 1 || small.access[0].size != 16)
		return 2;
	if (!(small.cpu.vec_unknown & 1) || small.cpu.gpr_unknown != 1u << RAX)
		return 3;
	return small.cpu.rip == CODE_ADDR + 11 ? 0 : 4;
}

static void no_executable_memory_makes_results_unknown(void **state)
{
	int status = in_child(run_without_memory);

	(void)state;
	if (status == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

/* Where a mapping may not be writable and executable at once. */
static int run_with_two_views(void)
{
#ifndef PR_SET_MDWE
	enum { PR_SET_MDWE = 65, PR_MDWE_REFUSE_EXEC_GAIN = 1 };
#endif
	if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		return SKIPPED;
	if (mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED)
		return 1;
	if (nve_interp_setup())
		return 2;
	run_vector_sum();
	return small.cpu.gpr[RAX] == 8 && !small.cpu.gpr_unknown ? 0 : 3;
}

static void two_views_of_memory_do_as_well(void **state)
{
	int status = in_child(run_with_two_views);

	(void)state;
	if (status == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

static void copies_run_on_the_copied_registers(void **state)
{
	(void)state;
	run_vector_sum();
	assert_int_equal(small.cpu.gpr[RAX], 8);
	assert_int_equal(small.cpu.zmm[0][0], 7);
	assert_int_equal(small.cpu.vec_unknown, 0);
	assert_int_equal(small.data[0x40], 5);
}

static void unknown_inputs_make_unknown_results(void **state)
{
	(void)state;
	small_reset();
	PUT(0x66, 0x0f, 0xfe, 0xc1); /* paddd xmm0, xmm1 */
	PUT(0x66, 0x0f, 0xef, 0xc9); /* pxor xmm1, xmm1 */
	PUT(0x66, 0x0f, 0x2e, 0xc1); /* ucomisd xmm0, xmm1 */
	PUT(0x72, 0x00);             /* jb */
	small.cpu.vec_unknown = 1u << 1;
	struct nve_interp_result result = small_run(9);

	assert_int_equal(small.cpu.vec_unknown, 1u << 0);
	assert_int_equal(result.stop, NVE_STOP_UNKNOWN_BRANCH);
	assert_int_equal(result.steps, 3);
}

static void x87_and_mmx_only_make_accesses(void **state)
{
	(void)state;
	small_reset();
	PUT(0xdd, 0x03);             /* fld qword [rbx] */
	PUT(0xdd, 0x5b, 0x08);       /* fstp qword [rbx + 8] */
	PUT(0x0f, 0x6f, 0x03);       /* movq mm0, [rbx] */
	PUT(0x0f, 0x7e, 0xc0);       /* movd eax, mm0 */
	PUT(0x48, 0x8b, 0x4b, 0x08); /* mov rcx, [rbx + 8] */
	small.cpu.gpr[RBX] = DATA(0x40);
	assert_int_equal(small_run(5).stop, NVE_STOP_LIMIT);
	assert_int_equal(small.accesses, 4);
	assert_int_equal(small.access[1].kind, NVE_ACCESS_WRITE);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RAX | 1u << RCX);
}

static void control_words_are_known(void **state)
{
	(void)state;
	small_reset();
	PUT(0xd9, 0x3b);                   /* fnstcw [rbx] */
	PUT(0x0f, 0xb7, 0x03);             /* movzx eax, word [rbx] */
	PUT(0xc7, 0x03, 0x80, 0x5f, 0, 0); /* mov dword [rbx], 0x5f80: round up */
	PUT(0x0f, 0xae, 0x13);             /* ldmxcsr [rbx] */
	PUT(0xf2, 0x0f, 0x2d, 0xd0);       /* cvtsd2si edx, xmm0 */
	small.cpu.gpr[RBX] = DATA(0x40);
	small.cpu.x87_control = 0x27f;
	small.cpu.mxcsr = 0x1f80;
	small.cpu.zmm[0][0] = 0x3ff1999999999999; /* 1.1 */
	small_run(5);
	assert_int_equal(small.cpu.gpr[RAX], 0x27f);
	assert_int_equal(small.cpu.gpr[RDX], 2);
	assert_int_equal(small.cpu.mxcsr & 0x6000, 0x4000);
	assert_int_equal(__builtin_ia32_stmxcsr() & 0x6000, 0); /* ours is as it was */
}

/* Lanes that the mask leaves out are neither announced nor need they be mapped. */
static void masked_lanes_are_left_out(void **state)
{
	(void)state;
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
		skip();
	small_reset();
	PUT(0x62, 0xf1, 0x7f, 0x89, 0x6f, 0x03); /* vmovdqu8 xmm0{k1}{z}, [rbx] */
	PUT(0x62, 0xf1, 0x7f, 0x09, 0x7f, 0x03); /* vmovdqu8 [rbx]{k1}, xmm0 */
	small.cpu.gpr[RBX] = DATA(DATA_BYTES - 4);
	small.cpu.k[1] = 0xa;
	memcpy(small.data + DATA_BYTES - 4, "\1\2\3\4", 4);
	assert_int_equal(small_run(2).stop, NVE_STOP_LIMIT);
	assert_int_equal(small.access[0].addr, DATA(DATA_BYTES - 3));
	assert_int_equal(small.access[0].size, 3);
	assert_int_equal(small.cpu.zmm[0][0], 0x04000200);
	assert_int_equal(small_peek(DATA(DATA_BYTES - 4), 4), 0x04030201);
	small.cpu.k[1] = 0x10;
	small.cpu.rip = CODE_ADDR;
	assert_int_equal(small_run(2).stop, NVE_STOP_UNMAPPED);
	small.cpu.k[1] = 0;
	assert_int_equal(small_run(2).stop, NVE_STOP_LIMIT);
	assert_int_equal(small.accesses, 0);
}

static void gathers_announce_each_lane(void **state)
{
	(void)state;
	small_reset();
	PUT(0xc4, 0xe2, 0x71, 0x90, 0x04, 0x93); /* vpgatherdd xmm0, [rbx + xmm2 * 4], xmm1 */
	small.cpu.gpr[RBX] = DATA(0x100);
	small.cpu.zmm[2][0] = 0x0000000300000001;
	small.cpu.zmm[2][1] = 0xffffffff00000000; /* -1, 0 */
	small.cpu.zmm[1][0] = 0x8000000080000000;
	small.cpu.zmm[1][1] = 0x8000000000000000;
	small.cpu.zmm[0][1] = 0x00000000deadbeef;
	small.cpu.zmm[0][2] = 1;
	for (unsigned i = 0; i < 256; i++)
		small.data[0x80 + i] = (uint8_t)i;
	small_run(1);
	assert_int_equal(small.accesses, 3);
	assert_int_equal(small.access[0].addr, DATA(0x104));
	assert_int_equal(small.access[1].addr, DATA(0x10c));
	assert_int_equal(small.access[2].addr, DATA(0xfc));
	assert_int_equal(small.cpu.zmm[0][0], 0x8f8e8d8c87868584);
	assert_int_equal(small.cpu.zmm[0][1], 0x7f7e7d7cdeadbeef);
	assert_int_equal(small.cpu.zmm[0][2], 0);
	assert_int_equal(small.cpu.zmm[1][1], 0);
}

static void saved_state_is_restored(void **state)
{
	(void)state;
	small_reset();
	PUT(0x0f, 0xc7, 0x23);       /* xsavec [rbx] */
	PUT(0x66, 0x0f, 0xef, 0xc0); /* pxor xmm0, xmm0 */
	PUT(0x0f, 0xae, 0x2b);       /* xrstor [rbx] */
	PUT(0x8b, 0x0b);             /* mov ecx, [rbx] */
	small.cpu.gpr[RBX] = DATA(0x1000);
	small.cpu.gpr[RAX] = 0xee;
	small.cpu.zmm[0][0] = 77;
	small_run(4);
	assert_int_equal(small.cpu.zmm[0][0], 77);
	assert_int_equal(small.cpu.vec_unknown, 0);
	assert_true(small.accesses > 2 * 9);
	assert_int_equal(small.access[0].size, 64);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RCX);
	small.cpu.rip = CODE_ADDR + 7;
	small_run(1); /* a restore alone: nobody knows */
	assert_int_equal(small.cpu.vec_unknown & 0xffff, 0xffff);
}

/* Whatever the bytes are: a run ends, with a reason, within its limit. */
static void random_bytes_do_no_harm(void **state)
{
	static const uint8_t starts[] = {0x0f, 0x66, 0xf2, 0xf3, 0xc4, 0xc5, 0x62, 0x48};
	uint64_t seed = 20, stops[NVE_STOP_COUNT] = {0};

	(void)state;
	small_reset();
	for (unsigned i = 0; i < 300000; i++) {
		for (unsigned j = 0; j < 32; j += 8) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			uint64_t word = seed ^ seed >> 29;

			memcpy(small.code + j, &word, sizeof(word));
		}
		if (i % 4)
			small.code[0] = starts[small.code[31] % sizeof(starts)];
		for (unsigned j = 0; j < 16; j++)
			small.cpu.gpr[j] = j % 3 ? DATA(DATA_BYTES / 2 + 8 * j) : seed >> j;
		small.cpu.rip = CODE_ADDR;
		struct nve_interp_result result = small_run(20);

		assert_in_range(result.stop, 0, NVE_STOP_COUNT - 1);
		assert_in_range(result.steps, 0, 20);
		stops[result.stop]++;
	}
	assert_true(stops[NVE_STOP_TRAP] && stops[NVE_STOP_UNMAPPED] && stops[NVE_STOP_SYSCALL]);
}

static int read_own(void *ctx, uint64_t addr, void *dst, size_t size)
{
	(void)ctx;
	memcpy(dst, (const void *)(uintptr_t)addr, size);
	return 0;
}

static int fetch_own(void *ctx, uint64_t addr, uint8_t dst[16])
{
	(void)ctx;
	memcpy(dst, (const void *)(uintptr_t)addr, 16);
	return 16;
}

/* Every pair of registers added once: 256 stubs, which the threads make at the same time. */
static void *add_all_pairs(void *arg)
{
	static const struct nve_interp_world world = {.read = read_own, .fetch = fetch_own};
	struct nve_interp *interp = nve_interp_init(arg);
	uint8_t code[32] = {0x66, 0x40, 0x0f, 0xfe, 0xc0}; /* paddd */
	struct nve_cpu cpu;
	uintptr_t wrong = 0;

	for (unsigned i = 0; i < 256; i++) {
		unsigned to = i >> 4, from = i & 15;

		memset(&cpu, 0, sizeof(cpu));
		cpu.zmm[to][0] = 5;
		cpu.zmm[from][0] = 7;
		cpu.rip = (uint64_t)(uintptr_t)code;
		code[1] = (uint8_t)(0x40 | (to >> 3) << 2 | from >> 3);
		code[4] = (uint8_t)(0xc0 | (to & 7) << 3 | (from & 7));
		nve_interp_run(interp, &cpu, &world, 1);
		wrong += cpu.vec_unknown || cpu.zmm[to][0] != (to == from ? 14 : 12);
	}
	return (void *)wrong;
}

static void threads_share_stubs(void **state)
{
	size_t bytes = (nve_interp_bytes() + 63) & ~63ul;
	pthread_t thread[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);

		assert_true(mem != MAP_FAILED);
		assert_int_equal(pthread_create(&thread[i], NULL, add_all_pairs, mem), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		void *wrong;

		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

static struct nve_cpu seen;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	nve_cpu_from_ucontext(&seen, context);
}

static void trap_with_registers(void)
{
	uint64_t value = 0x0123456789abcdef;

	__asm__ volatile("mov %0, %%r12\n\tmovq %0, %%xmm7\n\tstc\n\tint3"
			 :
			 : "r"(value)
			 : "r12", "xmm7", "cc");
}

__attribute__((target("avx512bw"))) static void trap_with_wide_registers(void)
{
	uint64_t value = 0x0123456789abcdef;

	__asm__ volatile("vpbroadcastq %0, %%zmm7\n\tvpbroadcastq %0, %%zmm21\n\tkmovq %0, %%k3\n\t"
			 "int3\n\tvzeroupper"
			 :
			 : "r"(value)
			 : "xmm7", "xmm21", "k3");
}

static void signal_frames_hold_all_registers(void **state)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, old;
	uint64_t fs_base;

	(void)state;
	memset(&seen, 0xff, sizeof(seen));
	sigaction(SIGTRAP, &action, &old);
	trap_with_registers();
	__asm__("mov %%fs:0, %0" : "=r"(fs_base));
	assert_int_equal(seen.gpr[12], 0x0123456789abcdef);
	assert_int_equal(seen.zmm[7][0], 0x0123456789abcdef);
	assert_int_equal(seen.zmm[7][1], 0);
	assert_int_equal(seen.rflags & 1, 1);
	assert_int_equal(seen.fs_base, fs_base);
	assert_int_equal(seen.gpr_unknown | seen.vec_unknown | seen.k_unknown, 0);
	assert_int_equal(seen.mxcsr & 0x1f80, 0x1f80);
	assert_int_equal(seen.x87_control, 0x37f);
	if (__builtin_cpu_supports("avx512bw")) {
		trap_with_wide_registers();
		for (unsigned i = 0; i < 8; i++) {
			assert_int_equal(seen.zmm[7][i], 0x0123456789abcdef);
			assert_int_equal(seen.zmm[21][i], 0x0123456789abcdef);
		}
		assert_int_equal(seen.k[3], 0x0123456789abcdef);
	}
	sigaction(SIGTRAP, &old, NULL);
}

static int setup(void **state)
{
	(void)state;
	return nve_interp_setup();
}

int main(void)
{
	const struct CMUnitTest before_setup[] = {
		cmocka_unit_test(no_executable_memory_makes_results_unknown),
		cmocka_unit_test(two_views_of_memory_do_as_well),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_run_on_the_copied_registers),
		cmocka_unit_test(unknown_inputs_make_unknown_results),
		cmocka_unit_test(x87_and_mmx_only_make_accesses),
		cmocka_unit_test(control_words_are_known),
		cmocka_unit_test(masked_lanes_are_left_out),
		cmocka_unit_test(gathers_announce_each_lane),
		cmocka_unit_test(saved_state_is_restored),
		cmocka_unit_test(random_bytes_do_no_harm),
		cmocka_unit_test(threads_share_stubs),
		cmocka_unit_test(signal_frames_hold_all_registers),
	};
	int failed = cmocka_run_group_tests(before_setup, NULL, NULL);

	return failed + cmocka_run_group_tests(tests, setup, NULL);
}
