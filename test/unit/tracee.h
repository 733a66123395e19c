/* A child under ptrace: the processor's own answer to what the interpreter computes. */
#ifndef TEST_TRACEE_H
#define TEST_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "count/ahead/interp.h"

#define TRACEE_PAGES 1024u

struct tracee_page {
	uint64_t addr; /* 0: empty */
	bool readable;
	uint8_t data[4096];
};

struct tracee {
	pid_t pid;
	struct tracee_page *pages; /* memory as it was at tracee_forget */
	size_t xsave_bytes;
	struct {
		uint64_t start, end, own; /* the kernel's time data, there and here */
	} vvar;
	alignas(64) uint8_t xsave[16384];
};

/* Starts a program, stopped after exec. 0, -EPERM where ptrace is not allowed, or -errno. */
int tracee_start(struct tracee *t, char *const argv[], char *const envp[]);

/* Forks a copy of this process that calls run(arg) when it is first continued. */
int tracee_fork(struct tracee *t, void (*run)(void *arg), void *arg);

void tracee_kill(struct tracee *t);

/* Lets it run for a while. 0, or -ECHILD when it has ended. */
int tracee_run(struct tracee *t, unsigned microseconds);

/* One instruction, or one round of a repeated one. 0, or -ECHILD, or -EINTR at a signal. */
int tracee_step(struct tracee *t);

void tracee_get(struct tracee *t, struct nve_cpu *cpu);

/* Sets general registers, flags and vector registers. */
void tracee_set(struct tracee *t, const struct nve_cpu *cpu);

/* Forgets what was read, before a new window. */
void tracee_forget(struct tracee *t);

/* Lets tracee_read serve the time data of the vDSO, which another process cannot read, from here.
 */
void tracee_share_vvar(struct tracee *t);

/* 0 or -EFAULT; as of the last tracee_forget, or now. */
int tracee_read(struct tracee *t, uint64_t addr, void *dst, size_t size);
int tracee_read_now(const struct tracee *t, uint64_t addr, void *dst, size_t size);
int tracee_write(const struct tracee *t, uint64_t addr, const void *src, size_t size);

#endif
