/* The interpreter on hand-made instructions: how runs end, what is unknown, what is announced. */
#include <errno.h>
#include <string.h>

#include "count/ahead/address.h"
#include "small_world.h"
#include "unit.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define DATA(offset) ((uint64_t)DATA_ADDR + (offset))

static int reset(void **state)
{
	(void)state;
	small_reset();
	return 0;
}

static void ends(struct nve_interp_result result, enum nve_stop stop, uint32_t steps, uint64_t ip)
{
	assert_int_equal(result.stop, stop);
	assert_int_equal(result.steps, steps);
	assert_int_equal(result.stop_ip, ip);
	assert_int_equal(small.cpu.rip, ip);
}

static void limit_is_kept(void **state)
{
	(void)state;
	PUT(0xff, 0xc0, 0xeb, 0xfc); /* inc eax; jmp back */
	ends(small_run(9), NVE_STOP_LIMIT, 9, CODE_ADDR + 2);
	assert_int_equal(small.cpu.gpr[RAX], 5);
	assert_int_equal(small.steps, 9);
	ends(small_run(0), NVE_STOP_LIMIT, 0, CODE_ADDR + 2);
}

static void system_calls_end_a_run(void **state)
{
	(void)state;
	PUT(0x90, 0x0f, 0x05); /* nop; syscall */
	ends(small_run(9), NVE_STOP_SYSCALL, 1, CODE_ADDR + 1);
	assert_string_equal(nve_interp_stop_name(small.interp), "syscall");
	small_reset();
	PUT(0xcd, 0x80); /* int 0x80 */
	ends(small_run(9), NVE_STOP_SYSCALL, 0, CODE_ADDR);
	small_reset();
	PUT(0xf4); /* hlt */
	ends(small_run(9), NVE_STOP_SYSCALL, 0, CODE_ADDR);
}

static void traps_end_a_run(void **state)
{
	static const uint8_t codes[][3] = {
		{0x0f, 0x0b},       {0xcc}, {0xf1}, {0x06}, /* ud2, int3, int1, no instruction */
		{0x48, 0xf7, 0xf1},                         /* div rcx, which is 0 */
		{0x48, 0xf7, 0xf9},                         /* idiv rcx */
		{0xf6, 0xf1},                               /* div cl */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		small_reset();
		small_put(codes[i], sizeof(codes[i]));
		ends(small_run(9), NVE_STOP_TRAP, 0, CODE_ADDR);
	}
}

static void quotients_that_do_not_fit_trap(void **state)
{
	(void)state;
	PUT(0x48, 0xf7, 0xf9); /* idiv rcx */
	small.cpu.gpr[RAX] = 1ull << 63;
	small.cpu.gpr[RDX] = ~0ull;
	small.cpu.gpr[RCX] = ~0ull;
	ends(small_run(9), NVE_STOP_TRAP, 0, CODE_ADDR);
	small.cpu.gpr[RAX] = 0;
	small.cpu.gpr[RDX] = 1ull << 63; /* the most negative dividend */
	ends(small_run(9), NVE_STOP_TRAP, 0, CODE_ADDR);
	small.cpu.gpr[RCX] = 1;
	ends(small_run(9), NVE_STOP_TRAP, 0, CODE_ADDR);
	small.cpu.gpr[RAX] = 7;
	small.cpu.gpr[RDX] = 0;
	small.cpu.gpr[RCX] = (uint64_t)-2;
	ends(small_run(1), NVE_STOP_LIMIT, 1, CODE_ADDR + 3);
	assert_int_equal(small.cpu.gpr[RAX], -3);
	assert_int_equal(small.cpu.gpr[RDX], 1);
}

static void what_is_not_mapped_ends_a_run(void **state)
{
	(void)state;
	PUT(0x8b, 0x03, 0xff, 0xe1); /* mov eax, [rbx]; jmp rcx */
	small.cpu.gpr[RBX] = DATA(-2);
	ends(small_run(9), NVE_STOP_UNMAPPED, 0, CODE_ADDR);
	small.cpu.gpr[RBX] = 0x8000000000000000; /* not canonical */
	ends(small_run(9), NVE_STOP_UNMAPPED, 0, CODE_ADDR);
	small.cpu.gpr[RBX] = DATA(0);
	small.cpu.gpr[RCX] = 0x1234;
	ends(small_run(9), NVE_STOP_UNMAPPED, 2, 0x1234);
}

/* An instruction whose end lies beyond what can be fetched. */
static void cut_code_ends_a_run(void **state)
{
	(void)state;
	small.code[CODE_BYTES - 2] = 0x48;
	small.code[CODE_BYTES - 1] = 0x8b;
	small.cpu.rip = CODE_ADDR + CODE_BYTES - 2;
	ends(small_run(9), NVE_STOP_UNMAPPED, 0, CODE_ADDR + CODE_BYTES - 2);
}

static void control_that_is_not_interpreted_ends_a_run(void **state)
{
	(void)state;
	PUT(0xff, 0x28); /* jmp far [rax] */
	ends(small_run(9), NVE_STOP_UNSUPPORTED, 0, CODE_ADDR);
	small_reset();
	PUT(0xc7, 0xf8, 0, 0, 0, 0); /* xbegin */
	ends(small_run(9), NVE_STOP_UNSUPPORTED, 0, CODE_ADDR);
	assert_string_equal(nve_interp_stop_name(small.interp), "xbegin");
}

static void unknown_values_decide_no_branch(void **state)
{
	(void)state;
	PUT(0x0f, 0x31, 0x85, 0xc0, 0x75, 0x00); /* rdtsc; test eax, eax; jnz */
	ends(small_run(9), NVE_STOP_UNKNOWN_BRANCH, 2, CODE_ADDR + 4);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RAX | 1u << RDX);
	assert_true(small.cpu.flags_unknown);
	small_reset();
	small.tsc = 0x500000007;
	PUT(0x0f, 0x31, 0x85, 0xc0, 0x75, 0x00);
	ends(small_run(3), NVE_STOP_LIMIT, 3, CODE_ADDR + 6);
	assert_int_equal(small.cpu.gpr[RAX], 7);
	assert_int_equal(small.cpu.gpr[RDX], 5);
	small_reset();
	PUT(0x0f, 0x31, 0xff, 0xe0); /* rdtsc; jmp rax */
	ends(small_run(9), NVE_STOP_UNKNOWN_BRANCH, 1, CODE_ADDR + 2);
}

static void unknown_values_make_no_address(void **state)
{
	(void)state;
	PUT(0x0f, 0x31, 0x8b, 0x0c, 0x03); /* rdtsc; mov ecx, [rbx + rax] */
	ends(small_run(9), NVE_STOP_UNKNOWN_ADDRESS, 1, CODE_ADDR + 2);
	small_reset();
	PUT(0x0f, 0x31, 0x48, 0x8d, 0x0c, 0x03); /* rdtsc; lea rcx, [rbx + rax] */
	ends(small_run(2), NVE_STOP_LIMIT, 2, CODE_ADDR + 6);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RAX | 1u << RDX | 1u << RCX);
}

static void known_values_end_the_unknown(void **state)
{
	(void)state;
	PUT(0x0f, 0x31); /* rdtsc */
	PUT(0x31, 0xc0); /* xor eax, eax */
	PUT(0x75, 0x00); /* jnz */
	PUT(0xb2, 0x01); /* mov dl, 1 */
	small_run(4);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RDX); /* a part does not clear the whole */
	assert_int_equal(small.cpu.gpr[RAX], 0);
	assert_false(small.cpu.flags_unknown);
	PUT(0xba, 1, 0, 0, 0); /* mov edx, 1 */
	small_run(1);
	assert_int_equal(small.cpu.gpr_unknown, 0);
}

static void unknown_values_pass_through_memory(void **state)
{
	uint8_t bytes[8];

	(void)state;
	PUT(0x0f, 0x31, 0x89, 0x03); /* rdtsc; mov [rbx], eax */
	PUT(0xc6, 0x43, 0x01, 0x07); /* mov byte [rbx + 1], 7 */
	PUT(0x0f, 0xb6, 0x43, 0x01); /* movzx eax, byte [rbx + 1] */
	PUT(0x8b, 0x0b);             /* mov ecx, [rbx] */
	PUT(0x8b, 0x53, 0x04);       /* mov edx, [rbx + 4] */
	small.cpu.gpr[RBX] = DATA(0x100);
	small_run(6);
	assert_int_equal(small.cpu.gpr_unknown, 1u << RCX);
	assert_int_equal(small.cpu.gpr[RAX], 7);
	assert_int_equal(nve_interp_peek(small.interp, &small.world, DATA(0x100), bytes, 8), 1);
	assert_int_equal(nve_interp_peek(small.interp, &small.world, DATA(0x101), bytes, 1), 0);
}

static void stores_stay_in_the_overlay(void **state)
{
	(void)state;
	PUT(0x48, 0x89, 0x03);       /* mov [rbx], rax: across a line */
	PUT(0x8b, 0x4b, 0x04);       /* mov ecx, [rbx + 4] */
	PUT(0x48, 0x8b, 0x53, 0x06); /* mov rdx, [rbx + 6]: part stored, part not */
	small.cpu.gpr[RBX] = DATA(0x13e);
	small.cpu.gpr[RAX] = 0x1122334455667788;
	memset(small.data + 0x100, 0xee, 128);
	small_run(3);
	assert_int_equal(small.cpu.gpr[RCX], 0x11223344);
	assert_int_equal(small.cpu.gpr[RDX], 0xeeeeeeeeeeee1122);
	assert_int_equal(small.data[0x13e], 0xee);
	assert_int_equal(small_peek(DATA(0x13e), 8), 0x1122334455667788);
	assert_int_equal(small.accesses, 3);
	assert_int_equal(small.access[0].size, 8);
	assert_int_equal(small.reads, 1 + 1); /* of rdx, and of the peek; ecx needs none */
	small_run(1);
	assert_int_equal(small_peek(DATA(0x13e), 1), 0xee); /* each run starts anew */
}

static void a_full_overlay_ends_a_run(void **state)
{
	struct nve_interp_result result;

	(void)state;
	PUT(0x48, 0x89, 0x03, 0x48, 0x83, 0xc3, 0x40, 0xeb,
	    0xf7); /* mov [rbx], rax; add rbx, 64; jmp */
	small.cpu.gpr[RBX] = DATA(0);
	result = small_run(1000000);
	assert_int_equal(result.stop, NVE_STOP_OVERLAY);
	assert_int_equal(result.stop_ip, CODE_ADDR);
	assert_true(result.steps >= 3 * 1024);
	assert_int_equal(small_peek(DATA(0), 8), 0);
}

static void changed_code_is_decoded_anew(void **state)
{
	(void)state;
	PUT(0xb8, 1, 0, 0, 0); /* mov eax, 1 */
	small_run(1);
	assert_int_equal(small.cpu.gpr[RAX], 1);
	small.code[1] = 2;
	small.cpu.rip = CODE_ADDR;
	small_run(1);
	assert_int_equal(small.cpu.gpr[RAX], 2);
	small.code[0] = 0xb9; /* mov ecx */
	small.cpu.rip = CODE_ADDR;
	small_run(1);
	assert_int_equal(small.cpu.gpr[RCX], 2);
}

/* A program that writes code and runs it, within one run. */
static void stored_code_is_run(void **state)
{
	(void)state;
	PUT(0xc6, 0x05, 0x01, 0, 0, 0, 0x42); /* mov byte [rip + 1], 0x42 */
	PUT(0xb8, 1, 0, 0, 0);                /* mov eax, 1: its operand is changed */
	small_run(2);
	assert_int_equal(small.cpu.gpr[RAX], 0x42);
	assert_int_equal(small.code[8], 1);
}

static void is_access(unsigned i, uint64_t addr, uint32_t size, uint32_t kind, uint32_t step)
{
	assert_true(i < small.accesses);
	assert_int_equal(small.access[i].addr, addr);
	assert_int_equal(small.access[i].size, size);
	assert_int_equal(small.access[i].kind, kind);
	assert_int_equal(small.access[i].step, step);
}

static void accesses_are_of_their_kind(void **state)
{
	(void)state;
	PUT(0x50);             /* push rax */
	PUT(0xe8, 0, 0, 0, 0); /* call the next */
	PUT(0x59);             /* pop rcx */
	PUT(0xff, 0x03);       /* inc dword [rbx] */
	PUT(0x0f, 0xc3, 0x03); /* movnti [rbx], eax */
	PUT(0x0f, 0x1f, 0x03); /* nop dword [rbx] */
	PUT(0x0f, 0x18, 0x0b); /* prefetcht0 [rbx] */
	PUT(0x8d, 0x03);       /* lea eax, [rbx] */
	PUT(0xff, 0x33);       /* push qword [rbx] */
	small.cpu.gpr[RBX] = DATA(64);
	small_run(9);
	assert_int_equal(small.accesses, 7);
	is_access(0, STACK_ADDR - 8, 8, NVE_ACCESS_WRITE | NVE_ACCESS_STACK, 0);
	is_access(1, STACK_ADDR - 16, 8, NVE_ACCESS_WRITE | NVE_ACCESS_STACK, 1);
	is_access(2, STACK_ADDR - 16, 8, NVE_ACCESS_READ | NVE_ACCESS_STACK, 2);
	is_access(3, DATA(64), 4, NVE_ACCESS_READ | NVE_ACCESS_WRITE, 3);
	is_access(4, DATA(64), 4, NVE_ACCESS_WRITE | NVE_ACCESS_STREAMING, 4);
	is_access(5, DATA(64), 8, NVE_ACCESS_READ, 8);
	is_access(6, STACK_ADDR - 16, 8, NVE_ACCESS_WRITE | NVE_ACCESS_STACK, 8);
	assert_int_equal(small.cpu.gpr[RCX], CODE_ADDR + 6);
}

static void addresses_take_segments_and_sizes(void **state)
{
	(void)state;
	PUT(0x64, 0x8b, 0x03); /* mov eax, fs:[rbx] */
	PUT(0x65, 0x8b, 0x03); /* mov eax, gs:[rbx] */
	PUT(0x67, 0x8b, 0x03); /* mov eax, [ebx] */
	small.cpu.fs_base = DATA(0x1000);
	small.cpu.gs_base = DATA(0x2000);
	small.cpu.gpr[RBX] = 0x40;
	small_run(2);
	is_access(0, DATA(0x1040), 4, NVE_ACCESS_READ, 0);
	is_access(1, DATA(0x2040), 4, NVE_ACCESS_READ, 1);
	small.cpu.gpr[RBX] = 0x500000000 + DATA(4);
	small_run(1);
	is_access(0, DATA(4), 4, NVE_ACCESS_READ, 0);
}

static void bit_offsets_reach_beyond_the_operand(void **state)
{
	(void)state;
	PUT(0x48, 0x0f, 0xab, 0x03); /* bts [rbx], rax */
	small.cpu.gpr[RBX] = DATA(0x1000);
	small.cpu.gpr[RAX] = (uint64_t)-1;
	small_run(1);
	is_access(0, DATA(0x1000 - 8), 8, NVE_ACCESS_READ | NVE_ACCESS_WRITE, 0);
	assert_int_equal(small_peek(DATA(0x1000 - 8), 8), 1ull << 63);
}

static void repeats_pause_at_the_limit(void **state)
{
	struct nve_interp_result result;

	(void)state;
	PUT(0xf3, 0xaa, 0x90); /* rep stosb; nop */
	small.cpu.gpr[RDI] = DATA(0x10);
	small.cpu.gpr[RCX] = 1000;
	small.cpu.gpr[RAX] = 0x5a;
	result = small_run(3);
	ends(result, NVE_STOP_LIMIT, 3, CODE_ADDR);
	assert_int_equal(small.accesses, 3);
	is_access(0, DATA(0x10), 48, NVE_ACCESS_WRITE, 0);
	is_access(1, DATA(0x40), 64, NVE_ACCESS_WRITE, 1);
	assert_int_equal(small.cpu.gpr[RDI], DATA(0x10 + 48 + 128));
	assert_int_equal(small.cpu.gpr[RCX], 1000 - 48 - 128);
	result = small_run(100);
	assert_int_equal(small.cpu.gpr[RCX], 0);
	assert_int_equal(small.cpu.gpr[RDI], DATA(0x10 + 1000));
	assert_int_equal(small_peek(DATA(0x10 + 999), 1), 0x5a);
	assert_int_equal(small_peek(DATA(0x10 + 1000), 1), 0);
}

static void repeated_copies_may_overlap(void **state)
{
	(void)state;
	PUT(0xf3, 0xa4); /* rep movsb */
	memcpy(small.data, "abc", 3);
	small.cpu.gpr[RSI] = DATA(0);
	small.cpu.gpr[RDI] = DATA(3);
	small.cpu.gpr[RCX] = 300;
	small_run(1000);
	for (unsigned i = 0; i < 303; i++)
		assert_int_equal(small_peek(DATA(i), 1), 'a' + i % 3);
	small_reset();
	PUT(0xfd, 0xf3, 0xa5); /* std; rep movsd */
	memcpy(small.data, "0123456789abcdef", 16);
	small.cpu.gpr[RSI] = DATA(8);
	small.cpu.gpr[RDI] = DATA(12);
	small.cpu.gpr[RCX] = 3;
	small_run(4);
	assert_int_equal(small.cpu.gpr[RSI], DATA(-4));
	assert_int_equal(small_peek(DATA(4), 4), 0x33323130);
	assert_int_equal(small_peek(DATA(12), 4), 0x62613938);
}

static void repeated_compares_end_at_a_difference(void **state)
{
	(void)state;
	PUT(0xf3, 0xa6); /* repe cmpsb */
	PUT(0xf2, 0xae); /* repne scasb */
	memcpy(small.data, "same text A", 12);
	memcpy(small.data + 64, "same text B", 12);
	small.cpu.gpr[RSI] = DATA(0);
	small.cpu.gpr[RDI] = DATA(64);
	small.cpu.gpr[RCX] = 100;
	ends(small_run(11), NVE_STOP_LIMIT, 11, CODE_ADDR + 2);
	assert_int_equal(small.cpu.gpr[RCX], 100 - 11);
	assert_int_equal(small.cpu.rflags & 0x41, 1); /* below, not equal */
	small.cpu.gpr[RAX] = 0;
	small.cpu.gpr[RCX] = 0;
	ends(small_run(1), NVE_STOP_LIMIT, 1, CODE_ADDR + 4); /* no round, no access */
	assert_int_equal(small.accesses, 0);
}

static void unknown_lengths_end_a_run(void **state)
{
	(void)state;
	PUT(0x0f, 0x31, 0x89, 0xc1, 0xf3, 0xa4); /* rdtsc; mov ecx, eax; rep movsb */
	ends(small_run(9), NVE_STOP_UNKNOWN_BRANCH, 2, CODE_ADDR + 4);
	small_reset();
	PUT(0x0f, 0x31, 0x89, 0x03, 0xf3, 0xa6); /* rdtsc; mov [rbx], eax; repe cmpsb */
	small.cpu.gpr[RBX] = small.cpu.gpr[RSI] = DATA(0);
	small.cpu.gpr[RDI] = DATA(64);
	small.cpu.gpr[RCX] = 4;
	ends(small_run(9), NVE_STOP_UNKNOWN_BRANCH, 2, CODE_ADDR + 4);
}

static void exchanges_compare(void **state)
{
	(void)state;
	PUT(0xf0, 0x48, 0x0f, 0xc7, 0x0b); /* lock cmpxchg16b [rbx] */
	small.cpu.gpr[RBX] = DATA(0x40);
	small.cpu.gpr[RAX] = 1;
	small.data[0x40] = 1;
	small_run(1);
	is_access(0, DATA(0x40), 16, NVE_ACCESS_READ | NVE_ACCESS_WRITE, 0);
	assert_true(small.cpu.rflags & 0x40);
	assert_int_equal(small_peek(DATA(0x40), 8), DATA(0x40));
	small.data[0x48] = 9;
	small.cpu.rip = CODE_ADDR;
	small_run(1);
	assert_false(small.cpu.rflags & 0x40);
	assert_int_equal(small.cpu.gpr[RDX], 9);
}

/* Addresses by registers alone: nothing is read, written or run. */
static void addresses(void **state)
{
	uint64_t gpr[16] = {0}, addr = 0;
	(void)state;
	small_reset();
	gpr[RDI] = DATA_ADDR;
	gpr[RSI] = 3;
	gpr[RDX] = DATA_ADDR + 64;
	PUT(0x48, 0x8b, 0x44, 0xf7, 0x10);    /* mov 0x10(%rdi,%rsi,8),%rax */
	PUT(0x48, 0x89, 0x02);                /* mov %rax,(%rdx) */
	PUT(0x0f, 0x10, 0x42, 0x20);          /* movups 0x20(%rdx),%xmm0 */
	PUT(0x48, 0x8b, 0x05, 0x10, 0, 0, 0); /* mov 0x10(%rip),%rax */
	PUT(0x48, 0x01, 0xd8);                /* add %rbx,%rax */
	PUT(0x5b);                            /* pop %rbx */
	PUT(0x64, 0x48, 0x8b, 0x02);          /* mov %fs:(%rdx),%rax */
	assert_int_equal(nve_interp_address(small.interp, &small.world, gpr, CODE_ADDR, &addr), 0);
	assert_int_equal(addr, DATA_ADDR + 24 + 16);
	assert_int_equal(nve_interp_address(small.interp, &small.world, gpr, CODE_ADDR + 5, &addr),
			 0);
	assert_int_equal(addr, DATA_ADDR + 64);
	assert_int_equal(nve_interp_address(small.interp, &small.world, gpr, CODE_ADDR + 8, &addr),
			 0);
	assert_int_equal(addr, DATA_ADDR + 96);
	assert_int_equal(nve_interp_address(small.interp, &small.world, gpr, CODE_ADDR + 12, &addr),
			 0);
	assert_int_equal(addr, CODE_ADDR + 19 + 16);
	addr = 77;
	for (uint64_t at = 19; at <= 23; at += at == 19 ? 3 : 1)
		assert_int_equal(
			nve_interp_address(small.interp, &small.world, gpr, CODE_ADDR + at, &addr),
			-ENOENT);
	assert_int_equal(nve_interp_address(small.interp, &small.world, gpr, 0x1000, &addr),
			 -ENOENT);
	assert_int_equal(addr, 77);
	assert_int_equal(small.accesses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(limit_is_kept, reset),
		cmocka_unit_test_setup(addresses, reset),
		cmocka_unit_test_setup(system_calls_end_a_run, reset),
		cmocka_unit_test_setup(traps_end_a_run, reset),
		cmocka_unit_test_setup(quotients_that_do_not_fit_trap, reset),
		cmocka_unit_test_setup(what_is_not_mapped_ends_a_run, reset),
		cmocka_unit_test_setup(cut_code_ends_a_run, reset),
		cmocka_unit_test_setup(control_that_is_not_interpreted_ends_a_run, reset),
		cmocka_unit_test_setup(unknown_values_decide_no_branch, reset),
		cmocka_unit_test_setup(unknown_values_make_no_address, reset),
		cmocka_unit_test_setup(known_values_end_the_unknown, reset),
		cmocka_unit_test_setup(unknown_values_pass_through_memory, reset),
		cmocka_unit_test_setup(stores_stay_in_the_overlay, reset),
		cmocka_unit_test_setup(a_full_overlay_ends_a_run, reset),
		cmocka_unit_test_setup(changed_code_is_decoded_anew, reset),
		cmocka_unit_test_setup(stored_code_is_run, reset),
		cmocka_unit_test_setup(accesses_are_of_their_kind, reset),
		cmocka_unit_test_setup(addresses_take_segments_and_sizes, reset),
		cmocka_unit_test_setup(bit_offsets_reach_beyond_the_operand, reset),
		cmocka_unit_test_setup(repeats_pause_at_the_limit, reset),
		cmocka_unit_test_setup(repeated_copies_may_overlap, reset),
		cmocka_unit_test_setup(repeated_compares_end_at_a_difference, reset),
		cmocka_unit_test_setup(unknown_lengths_end_a_run, reset),
		cmocka_unit_test_setup(exchanges_compare, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
