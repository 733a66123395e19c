/* The C library's own functions behind our hooks. */
#ifndef NVE_PRELOAD_REAL_H
#define NVE_PRELOAD_REAL_H

#include <pthread.h>

#define NVE_EXPORT __attribute__((visibility("default")))

struct nve_real {
	int (*pthread_create)(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			      void *arg);
};

extern struct nve_real nve_real;

/* Looks them up; hooks that may run before our constructor call it too. */
void nve_real_setup(void);

#endif
