/* What this processor can execute, by Zydis' instruction sets. */
#ifndef NVE_AHEAD_HOST_H
#define NVE_AHEAD_HOST_H

#include <Zydis/Zydis.h>
#include <stdbool.h>

enum nve_vector_width { NVE_VECTOR_SSE, NVE_VECTOR_AVX, NVE_VECTOR_AVX512 };

void nve_host_setup(void);

/* The widest vector registers there are, as processor and kernel offer them. */
enum nve_vector_width nve_host_vectors(void);

/* For tests, after the setup: as if there were none wider. */
void nve_host_limit(enum nve_vector_width widest);

/* True if the set is known here, safe to execute and offered. False before nve_host_setup. */
bool nve_host_has(ZydisISASet set);

#endif
