/* Nothing: what counts is that it needs libnvmemu-thread.so. */
	.section .note.GNU-stack, ""
