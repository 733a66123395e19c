#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "count/ahead/cpu_context.h"

static int attach(struct tracee *t)
{
	int status;

	memset(&t->vvar, 0, sizeof(t->vvar));
	if (waitpid(t->pid, &status, 0) < 0)
		return -errno;
	if (!WIFSTOPPED(status))
		return -EPERM;
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
	t->pages = calloc(TRACEE_PAGES, sizeof(*t->pages));
	return t->pages ? 0 : -ENOMEM;
}

static void be_quiet(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
}

int tracee_start(struct tracee *t, char *const argv[], char *const envp[])
{
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (!t->pid) {
		be_quiet();
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execve(argv[0], argv, envp);
		_exit(127);
	}
	return attach(t);
}

int tracee_fork(struct tracee *t, void (*run)(void *arg), void *arg)
{
	t->pid = fork();
	if (t->pid < 0)
		return -errno;
	if (!t->pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(127);
		raise(SIGSTOP);
		run(arg);
		_exit(0);
	}
	return attach(t);
}

void tracee_kill(struct tracee *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	free(t->pages);
	t->pages = NULL;
}

int tracee_run(struct tracee *t, unsigned microseconds)
{
	int status, pass = 0;

	ptrace(PTRACE_CONT, t->pid, NULL, NULL);
	usleep(microseconds);
	kill(t->pid, SIGSTOP);
	for (;;) {
		if (waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
			return -ECHILD;
		if (WSTOPSIG(status) == SIGSTOP)
			return 0;
		pass = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		ptrace(PTRACE_CONT, t->pid, NULL, (void *)(uintptr_t)pass);
	}
}

int tracee_step(struct tracee *t)
{
	int status;

	ptrace(PTRACE_SINGLESTEP, t->pid, NULL, NULL);
	if (waitpid(t->pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -ECHILD;
	return WSTOPSIG(status) == SIGTRAP ? 0 : -EINTR;
}

static void get_xsave(struct tracee *t)
{
	struct iovec io = {t->xsave, sizeof(t->xsave)};

	ptrace(PTRACE_GETREGSET, t->pid, (void *)(uintptr_t)NT_X86_XSTATE, &io);
	t->xsave_bytes = io.iov_len;
}

void tracee_get(struct tracee *t, struct nve_cpu *cpu)
{
	struct user_regs_struct r;

	ptrace(PTRACE_GETREGS, t->pid, NULL, &r);
	const uint64_t gpr[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
				  r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};

	memcpy(cpu->gpr, gpr, sizeof(gpr));
	cpu->rip = r.rip;
	cpu->rflags = r.eflags;
	cpu->fs_base = r.fs_base;
	cpu->gs_base = r.gs_base;
	cpu->gpr_unknown = cpu->vec_unknown = 0;
	cpu->k_unknown = 0;
	cpu->flags_unknown = false;
	get_xsave(t);
	nve_cpu_from_xsave(cpu, t->xsave, t->xsave_bytes);
}

static void set_general(struct tracee *t, const struct nve_cpu *cpu)
{
	struct user_regs_struct r;

	ptrace(PTRACE_GETREGS, t->pid, NULL, &r);
	const uint64_t *g = cpu->gpr;

	r.rax = g[0], r.rcx = g[1], r.rdx = g[2], r.rbx = g[3];
	r.rsp = g[4], r.rbp = g[5], r.rsi = g[6], r.rdi = g[7];
	r.r8 = g[8], r.r9 = g[9], r.r10 = g[10], r.r11 = g[11];
	r.r12 = g[12], r.r13 = g[13], r.r14 = g[14], r.r15 = g[15];
	r.rip = cpu->rip;
	r.eflags = cpu->rflags;
	r.orig_rax = ~0ull;
	ptrace(PTRACE_SETREGS, t->pid, NULL, &r);
}

void tracee_set(struct tracee *t, const struct nve_cpu *cpu)
{
	struct iovec io = {t->xsave, 0};

	set_general(t, cpu);
	get_xsave(t);
	nve_cpu_to_xsave(cpu, t->xsave, t->xsave_bytes);
	io.iov_len = t->xsave_bytes;
	ptrace(PTRACE_SETREGSET, t->pid, (void *)(uintptr_t)NT_X86_XSTATE, &io);
}

void tracee_forget(struct tracee *t)
{
	for (unsigned i = 0; i < TRACEE_PAGES; i++)
		t->pages[i].addr = 0;
}

int tracee_read_now(const struct tracee *t, uint64_t addr, void *dst, size_t size)
{
	struct iovec to = {dst, size}, from = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(t->pid, &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

int tracee_write(const struct tracee *t, uint64_t addr, const void *src, size_t size)
{
	struct iovec from = {(void *)(uintptr_t)src, size}, to = {(void *)(uintptr_t)addr, size};

	return process_vm_writev(t->pid, &from, 1, &to, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

/* First mapping of that name in a maps file; 0 if there is none. */
static uint64_t find_mapping(const char *maps, const char *name, uint64_t *end)
{
	FILE *file = fopen(maps, "re");
	char line[512];
	uint64_t start = 0, stop = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, name) && sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &stop) == 2)
			break;
		start = 0;
	}
	if (file)
		fclose(file);
	*end = stop;
	return start;
}

void tracee_share_vvar(struct tracee *t)
{
	char maps[64];
	uint64_t unused;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)t->pid);
	t->vvar.start = find_mapping(maps, "[vvar]", &t->vvar.end);
	t->vvar.own = find_mapping("/proc/self/maps", "[vvar]", &unused);
}

static bool read_page(struct tracee *t, uint64_t addr, uint8_t *data)
{
	if (t->vvar.own && addr >= t->vvar.start && addr < t->vvar.end) {
		memcpy(data, (const void *)(uintptr_t)(t->vvar.own + (addr - t->vvar.start)), 4096);
		return true;
	}
	return !tracee_read_now(t, addr, data, 4096);
}

static const struct tracee_page *page_at(struct tracee *t, uint64_t addr)
{
	struct tracee_page *page = &t->pages[addr >> 12 & (TRACEE_PAGES - 1)];

	if (page->addr != addr) {
		page->addr = addr;
		page->readable = read_page(t, addr, page->data);
	}
	return page->readable ? page : NULL;
}

int tracee_read(struct tracee *t, uint64_t addr, void *dst, size_t size)
{
	uint8_t *to = dst;

	while (size) {
		size_t offset = addr & 4095, count = 4096 - offset;
		const struct tracee_page *page = page_at(t, addr - offset);

		if (!page)
			return -EFAULT;
		if (count > size)
			count = size;
		memcpy(to, page->data + offset, count);
		to += count;
		addr += count;
		size -= count;
	}
	return 0;
}
