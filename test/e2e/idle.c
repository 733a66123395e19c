/* A library to preload that does nothing. */
int e2e_idle;
