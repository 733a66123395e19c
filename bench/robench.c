/* robench: every step of the walk is a miss that only reads. */
#include "walk.h"

int main(int argc, char **argv)
{
	return bench_walk_main(argc, argv, "robench", bench_chase_read);
}
