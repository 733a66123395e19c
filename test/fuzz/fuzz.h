/*
 * Readers of files that anybody may have written, given anything at all. Each target is one file
 * with the function that libFuzzer calls. Built in two ways: with libFuzzer (test/fuzz/run), and
 * with driver.c, which gives it the files of the corpus, as a test.
 */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
