#include "allocation.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "heap/arena.h"
#include "heap/blocks.h"
#include "heap/mapped.h"
#include "heap/shard.h"
#include "heap/sites.h"
#include "heap/unwind.h"
#include "lineage.h"

enum { UNWINDS_NS = 200000000 }; /* more than a thread that has its core takes for a path */

static void before_fork(void)
{
	nve_unwind_before_fork(UNWINDS_NS);
	nve_shard_before_fork();
	nve_arena_before_fork();
	nve_sites_before_fork();
	nve_blocks_before_fork();
	nve_mapped_before_fork();
}

static void after_fork(bool child)
{
	nve_mapped_after_fork();
	nve_blocks_after_fork();
	nve_sites_after_fork();
	nve_arena_after_fork();
	nve_shard_after_fork(child);
	nve_unwind_after_fork(child);
}

static void after_fork_parent(void)
{
	after_fork(false);
}

static void after_fork_child(void)
{
	after_fork(true);
}

static int start(const struct nve_options *o, const struct nve_allocation_host *host)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	struct nve_alloc_config config = {
		.next = host->next(),
		.backtrace = host->load_unwind(),
		.depth = (uint32_t)o->heat_depth,
		.min_bytes = o->heat_min_bytes,
		.program = program,
	};
	const struct nve_mapped_next mapped = host->next_mapped();
	/* Before jemalloc does the same: what asks for a lock of ours may hold some of its own, and
	 * what is registered first has its turn last. */
	int rc = -pthread_atfork(before_fork, after_fork_parent, after_fork_child);

	program[length < 0 ? 0 : length] = '\0';
	if (!rc)
		rc = host->load_arenas(&config.arenas);
	if (!rc)
		rc = nve_alloc_setup(&config);
	if (!rc)
		rc = nve_mapped_setup(&mapped, host->library_start, host->library_end);
	if (rc)
		return rc;
	if (!config.backtrace)
		nve_log(NVE_LOG_WARN, "heat: libunwind.so.8 is not installed: sites are known by "
				      "their caller alone");
	return 0;
}

void nve_allocation_start(const struct nve_options *o, const struct nve_allocation_host *host)
{
	int rc = start(o, host);

	if (rc && nve_lineage_is_root())
		nve_log(NVE_LOG_WARN, "heat: no allocation sites: %s",
			rc == -ENOENT
				? "libnvmemu-arenas.so and libnvmemu-thread.so are not beside "
				  "libnvmemu.so, or that was not loaded at the start"
				: strerror(-rc));
	if (rc)
		return;
	if (host->begin() && nve_lineage_is_root())
		nve_log(NVE_LOG_WARN, "heat: the program has a malloc of its own: its blocks have "
				      "no sites");
}
