/*
 * User and group ids. The C library has every thread of the process make these calls and aborts
 * where one fails and another does not. The program may have given its own threads capabilities
 * that our monitors do not share, so they are away meanwhile, and come back as what it then is.
 */
#include <grp.h>
#include <unistd.h>

#include "preload/real.h"
#include "runtime.h"

#define ALONE(call)                                                                                \
	do {                                                                                       \
		int rc;                                                                            \
                                                                                                   \
		nve_real_setup();                                                                  \
		nve_runtime_alone(true);                                                           \
		rc = nve_real.call;                                                                \
		nve_runtime_alone(false);                                                          \
		return rc;                                                                         \
	} while (0)

NVE_EXPORT int setuid(uid_t uid)
{
	ALONE(setuid(uid));
}

NVE_EXPORT int seteuid(uid_t uid)
{
	ALONE(seteuid(uid));
}

NVE_EXPORT int setreuid(uid_t real, uid_t effective)
{
	ALONE(setreuid(real, effective));
}

NVE_EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved)
{
	ALONE(setresuid(real, effective, saved));
}

NVE_EXPORT int setgid(gid_t gid)
{
	ALONE(setgid(gid));
}

NVE_EXPORT int setegid(gid_t gid)
{
	ALONE(setegid(gid));
}

NVE_EXPORT int setregid(gid_t real, gid_t effective)
{
	ALONE(setregid(real, effective));
}

NVE_EXPORT int setresgid(gid_t real, gid_t effective, gid_t saved)
{
	ALONE(setresgid(real, effective, saved));
}

NVE_EXPORT int setgroups(size_t count, const gid_t *groups)
{
	ALONE(setgroups(count, groups));
}

NVE_EXPORT int initgroups(const char *user, gid_t group)
{
	ALONE(initgroups(user, group));
}
