/*
 * The few functions of libm that are called, so that no program has to load libm for us. As the C
 * standard has them: what is no number gives way to the other.
 */
#include <math.h>

double fmax(double a, double b)
{
	return a > b || isnan(b) ? a : b;
}

double fmin(double a, double b)
{
	return a < b || isnan(b) ? a : b;
}

float fmaxf(float a, float b)
{
	return a > b || isnan(b) ? a : b;
}

float fminf(float a, float b)
{
	return a < b || isnan(b) ? a : b;
}
