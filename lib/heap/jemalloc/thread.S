/* What jemalloc keeps of a thread, as it is at the thread's birth: in a library of its own, so that
 * programs which load libnvmemu.so late, without room for it, still can. */
	.section .tdata, "awT"
	.globl nve_arena_thread_state
	.type nve_arena_thread_state, STT_TLS
	.balign 64
nve_arena_thread_state:
	.incbin NVE_ARENA_THREAD_IMAGE
	.size nve_arena_thread_state, . - nve_arena_thread_state
	.section .note.GNU-stack, ""
