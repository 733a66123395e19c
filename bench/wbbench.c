/* wbbench: every step of the walk writes its node first, so each line that leaves the cache is
 * dirty. */
#include "walk.h"

int main(int argc, char **argv)
{
	return bench_walk_main(argc, argv, "wbbench", bench_chase_write);
}
