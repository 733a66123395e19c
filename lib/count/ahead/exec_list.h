/* The functions that execute instructions, by the file that has them. */
#ifndef NVE_AHEAD_EXEC_LIST_H
#define NVE_AHEAD_EXEC_LIST_H

#include "count/ahead/decode.h"

/* exec_move.c */
nve_exec_fn nve_exec_nop, nve_exec_syscall, nve_exec_trap, nve_exec_unsupported;
nve_exec_fn nve_exec_mov, nve_exec_movsx, nve_exec_lea, nve_exec_movbe, nve_exec_xchg;
nve_exec_fn nve_exec_xlat, nve_exec_setcc, nve_exec_cmov, nve_exec_extend, nve_exec_segbase;
nve_exec_fn nve_exec_flag, nve_exec_lahf, nve_exec_sahf, nve_exec_fp_control, nve_exec_rdtsc;

/* exec_flow.c */
nve_exec_fn nve_exec_push, nve_exec_pop, nve_exec_pushf, nve_exec_popf, nve_exec_leave;
nve_exec_fn nve_exec_jmp, nve_exec_jcc, nve_exec_jrcxz, nve_exec_loop, nve_exec_call, nve_exec_ret;

/* exec_alu.c */
nve_exec_fn nve_exec_alu, nve_exec_compare, nve_exec_unary, nve_exec_shift, nve_exec_shift_free;
nve_exec_fn nve_exec_scan, nve_exec_bits, nve_exec_imul, nve_exec_mul, nve_exec_div;
nve_exec_fn nve_exec_xadd, nve_exec_cmpxchg, nve_exec_cmpxchg_wide;

/* exec_string.c; of what op says, the first two may be done many elements at once */
enum nve_string {
	NVE_STRING_MOVS,
	NVE_STRING_STOS,
	NVE_STRING_LODS,
	NVE_STRING_CMPS,
	NVE_STRING_SCAS
};
nve_exec_fn nve_exec_string;

/* exec_vector.c */
nve_exec_fn nve_exec_native, nve_exec_opaque, nve_exec_gather, nve_exec_scatter, nve_exec_vzero;

/* exec_xsave.c; op says which */
enum nve_xsave { NVE_XSAVE_FX, NVE_XSAVE_EXTENDED };
nve_exec_fn nve_exec_xsave, nve_exec_xrstor;

#endif
