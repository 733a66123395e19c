/*
 * The calls by which threads depend on each other: one row each, from which come the C library's
 * functions (real.c) and our hooks (hook_sync.c).
 *
 * X(kind, type, name, parameters, arguments, version). kind: PASS lets another thread go on but
 * does not block; WAIT may block; both after the word SYNC or IO. version: of the symbol, where an
 * older one must not be had instead.
 */
#ifndef NVE_PRELOAD_REAL_SYNC_H
#define NVE_PRELOAD_REAL_SYNC_H

#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define NVE_REAL_SYNC(X)                                                                           \
	X(SYNC_PASS, int, pthread_mutex_unlock, (pthread_mutex_t *m), (m), NULL)                   \
	X(SYNC_PASS, int, pthread_mutex_trylock, (pthread_mutex_t *m), (m), NULL)                  \
	X(SYNC_WAIT, int, pthread_mutex_lock, (pthread_mutex_t *m), (m), NULL)                     \
	X(SYNC_WAIT, int, pthread_mutex_timedlock,                                                 \
	  (pthread_mutex_t *m, const struct timespec *t), (m, t), NULL)                            \
	X(SYNC_WAIT, int, pthread_mutex_clocklock,                                                 \
	  (pthread_mutex_t *m, clockid_t c, const struct timespec *t), (m, c, t), NULL)            \
	X(SYNC_PASS, int, pthread_rwlock_unlock, (pthread_rwlock_t *l), (l), NULL)                 \
	X(SYNC_PASS, int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *l), (l), NULL)              \
	X(SYNC_PASS, int, pthread_rwlock_trywrlock, (pthread_rwlock_t *l), (l), NULL)              \
	X(SYNC_WAIT, int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l), NULL)                 \
	X(SYNC_WAIT, int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l), NULL)                 \
	X(SYNC_WAIT, int, pthread_rwlock_timedrdlock,                                              \
	  (pthread_rwlock_t *l, const struct timespec *t), (l, t), NULL)                           \
	X(SYNC_WAIT, int, pthread_rwlock_timedwrlock,                                              \
	  (pthread_rwlock_t *l, const struct timespec *t), (l, t), NULL)                           \
	X(SYNC_WAIT, int, pthread_rwlock_clockrdlock,                                              \
	  (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t), NULL)           \
	X(SYNC_WAIT, int, pthread_rwlock_clockwrlock,                                              \
	  (pthread_rwlock_t *l, clockid_t c, const struct timespec *t), (l, c, t), NULL)           \
	X(SYNC_PASS, int, pthread_spin_unlock, (pthread_spinlock_t *l), (l), NULL)                 \
	X(SYNC_PASS, int, pthread_spin_trylock, (pthread_spinlock_t *l), (l), NULL)                \
	X(SYNC_WAIT, int, pthread_spin_lock, (pthread_spinlock_t *l), (l), NULL)                   \
	X(SYNC_PASS, int, pthread_cond_signal, (pthread_cond_t *c), (c), "GLIBC_2.3.2")            \
	X(SYNC_PASS, int, pthread_cond_broadcast, (pthread_cond_t *c), (c), "GLIBC_2.3.2")         \
	X(SYNC_WAIT, int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m),      \
	  "GLIBC_2.3.2")                                                                           \
	X(SYNC_WAIT, int, pthread_cond_timedwait,                                                  \
	  (pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t), (c, m, t),            \
	  "GLIBC_2.3.2")                                                                           \
	X(SYNC_WAIT, int, pthread_cond_clockwait,                                                  \
	  (pthread_cond_t *c, pthread_mutex_t *m, clockid_t k, const struct timespec *t),          \
	  (c, m, k, t), NULL)                                                                      \
	X(SYNC_PASS, int, sem_post, (sem_t *s), (s), NULL)                                         \
	X(SYNC_PASS, int, sem_trywait, (sem_t *s), (s), NULL)                                      \
	X(SYNC_WAIT, int, sem_wait, (sem_t *s), (s), NULL)                                         \
	X(SYNC_WAIT, int, sem_timedwait, (sem_t *s, const struct timespec *t), (s, t), NULL)       \
	X(SYNC_WAIT, int, sem_clockwait, (sem_t *s, clockid_t c, const struct timespec *t),        \
	  (s, c, t), NULL)                                                                         \
	X(SYNC_WAIT, int, pthread_barrier_wait, (pthread_barrier_t *b), (b), NULL)                 \
	X(SYNC_WAIT, int, pthread_join, (pthread_t p, void **r), (p, r), NULL)                     \
	X(SYNC_WAIT, int, pthread_timedjoin_np,                                                    \
	  (pthread_t p, void **r, const struct timespec *t), (p, r, t), NULL)                      \
	X(SYNC_WAIT, int, pthread_clockjoin_np,                                                    \
	  (pthread_t p, void **r, clockid_t c, const struct timespec *t), (p, r, c, t), NULL)      \
	X(SYNC_PASS, int, mtx_unlock, (mtx_t *m), (m), NULL)                                       \
	X(SYNC_PASS, int, mtx_trylock, (mtx_t *m), (m), NULL)                                      \
	X(SYNC_WAIT, int, mtx_lock, (mtx_t *m), (m), NULL)                                         \
	X(SYNC_WAIT, int, mtx_timedlock, (mtx_t *m, const struct timespec *t), (m, t), NULL)       \
	X(SYNC_PASS, int, cnd_signal, (cnd_t *c), (c), NULL)                                       \
	X(SYNC_PASS, int, cnd_broadcast, (cnd_t *c), (c), NULL)                                    \
	X(SYNC_WAIT, int, cnd_wait, (cnd_t *c, mtx_t *m), (c, m), NULL)                            \
	X(SYNC_WAIT, int, cnd_timedwait, (cnd_t *c, mtx_t *m, const struct timespec *t),           \
	  (c, m, t), NULL)                                                                         \
	X(SYNC_WAIT, int, thrd_join, (thrd_t p, int *r), (p, r), NULL)                             \
	X(IO_WAIT, ssize_t, write, (int f, const void *b, size_t n), (f, b, n), NULL)              \
	X(IO_WAIT, ssize_t, writev, (int f, const struct iovec *v, int n), (f, v, n), NULL)        \
	X(IO_WAIT, ssize_t, send, (int f, const void *b, size_t n, int o), (f, b, n, o), NULL)     \
	X(IO_WAIT, ssize_t, sendto,                                                                \
	  (int f, const void *b, size_t n, int o, const struct sockaddr *a, socklen_t l),          \
	  (f, b, n, o, a, l), NULL)                                                                \
	X(IO_WAIT, ssize_t, sendmsg, (int f, const struct msghdr *m, int o), (f, m, o), NULL)      \
	X(IO_WAIT, int, sendmmsg, (int f, struct mmsghdr *m, unsigned n, int o), (f, m, n, o),     \
	  NULL)                                                                                    \
	X(IO_WAIT, int, eventfd_write, (int f, eventfd_t v), (f, v), NULL)                         \
	X(IO_WAIT, ssize_t, read, (int f, void *b, size_t n), (f, b, n), NULL)                     \
	X(IO_WAIT, ssize_t, readv, (int f, const struct iovec *v, int n), (f, v, n), NULL)         \
	X(IO_WAIT, ssize_t, recv, (int f, void *b, size_t n, int o), (f, b, n, o), NULL)           \
	X(IO_WAIT, ssize_t, recvfrom,                                                              \
	  (int f, void *b, size_t n, int o, struct sockaddr *a, socklen_t *l),                     \
	  (f, b, n, o, a, l), NULL)                                                                \
	X(IO_WAIT, ssize_t, recvmsg, (int f, struct msghdr *m, int o), (f, m, o), NULL)            \
	X(IO_WAIT, int, eventfd_read, (int f, eventfd_t *v), (f, v), NULL)
/* clang-format on */

#define NVE_REAL_SYNC_MEMBER(kind, type, name, params, args, version) type(*name) params;
struct nve_real_sync {
	NVE_REAL_SYNC(NVE_REAL_SYNC_MEMBER)
};

/* At first each looks up all of them when it is called. */
extern struct nve_real_sync nve_real_sync;

#endif
