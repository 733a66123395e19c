/* Works a little and says so; also built static, and linked with the library. */
#include "work.h"

int main(void)
{
	work_ms(100);
	puts("hello");
	return 0;
}
