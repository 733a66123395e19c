/* A library with a variable of each thread, to be opened and closed. */
static __thread int calls;
static __thread char room[2048];

int count_calls(void)
{
	room[calls] = 1;
	return ++calls;
}
