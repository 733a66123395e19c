/* hello [MS]: works a little and says so; also built static, and linked with the library. */
#include "work.h"

int main(int argc, char **argv)
{
	work_ms(argc > 1 ? (unsigned)atoi(argv[1]) : 50);
	puts("hello");
	return 0;
}
