/* What the hook of syscall() shares of those that start programs. */
#ifndef NVE_PRELOAD_HOOK_EXEC_H
#define NVE_PRELOAD_HOOK_EXEC_H

/* execve() and execveat(); the first with fd AT_FDCWD and flags 0. */
int nve_hook_execve(const char *path, char *const argv[], char *const envp[]);
int nve_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags);

#endif
