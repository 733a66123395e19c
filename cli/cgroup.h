/* How much CPU time the control groups of this process allow. Reads files below a root only. */
#ifndef CLI_CGROUP_H
#define CLI_CGROUP_H

#include <stdint.h>

/*
 * The tightest limit on the way from the group up to the root, in thousandths of a core; 0: none.
 * membership: the text of /proc/self/cgroup. root: where control groups are mounted, /sys/fs/cgroup
 * (of version 2, or of version 1 with a directory for each controller).
 */
uint64_t cli_cgroup_quota_milli(const char *membership, const char *root);

#endif
