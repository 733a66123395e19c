#include "report/utc.h"

#define SECONDS_A_DAY 86400u
#define LAST_SECOND   253402300799u /* 9999-12-31T23:59:59 */

struct fields {
	unsigned year, month, day, hour, minute, second;
};

/*
 * Days since 1970 to a date. The year is taken to begin in March: then the leap day is its last,
 * and the months' first days follow from one line, (153 * month + 2) / 5.
 */
static struct fields split(uint64_t seconds)
{
	uint64_t s = seconds < LAST_SECOND ? seconds : LAST_SECOND;
	unsigned rest = (unsigned)(s % SECONDS_A_DAY);
	unsigned days = (unsigned)(s / SECONDS_A_DAY) + 719468; /* since 0000-03-01 */
	unsigned era = days / 146097, day_of_era = days % 146097;
	unsigned year_of_era =
		(day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	unsigned day_of_year =
		day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	unsigned month = (5 * day_of_year + 2) / 153; /* 0 is March */
	struct fields f = {
		.year = era * 400 + year_of_era + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day_of_year - (153 * month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
	};

	return f;
}

static char *put(char *text, unsigned value, unsigned digits)
{
	for (unsigned i = digits; i > 0; i--) {
		text[i - 1] = (char)('0' + value % 10);
		value /= 10;
	}
	return text + digits;
}

static char *put_after(char *text, char separator, unsigned value)
{
	*text = separator;
	return put(text + 1, value, 2);
}

void nve_utc_format(uint64_t seconds, char text[NVE_UTC_BYTES])
{
	struct fields f = split(seconds);

	text = put(text, f.year, 4);
	text = put_after(text, '-', f.month);
	text = put_after(text, '-', f.day);
	text = put_after(text, 'T', f.hour);
	text = put_after(text, ':', f.minute);
	text = put_after(text, ':', f.second);
	text[0] = 'Z';
	text[1] = 0;
}

void nve_utc_format_name(uint64_t seconds, char text[NVE_UTC_BYTES])
{
	struct fields f = split(seconds);

	text = put(put(put(text, f.year, 4), f.month, 2), f.day, 2);
	text = put_after(text, 'T', f.hour);
	text = put(put(text, f.minute, 2), f.second, 2);
	text[0] = 'Z';
	text[1] = 0;
}
