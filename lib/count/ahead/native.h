/*
 * Native execution: a copy of an instruction, its memory operand pointed at scratch memory, between
 * loads and stores of the registers that it reads and writes.
 */
#ifndef NVE_AHEAD_NATIVE_H
#define NVE_AHEAD_NATIVE_H

#include "count/ahead/decode.h"

/* Maps the executable memory, once per process. 0 or -errno. */
int nve_native_setup(void);

/* The stub of an instruction just decoded, or NULL. Signal-safe; equal instructions share a stub.
 */
nve_stub_fn *nve_native_stub(const struct nve_decoder *decoder, const struct nve_insn *insn);

#endif
