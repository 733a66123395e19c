/* Calls of libc's string and memory functions for ever, over random sizes and alignments. */
#ifndef TEST_STRING_CALLS_H
#define TEST_STRING_CALLS_H

_Noreturn void string_calls(void);

#endif
