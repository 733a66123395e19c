#include "base/utf8.h"

size_t nve_utf8_length(const unsigned char *s, size_t size)
{
	static const struct {
		unsigned char first_low, first_high, second_low, second_high, length;
	} forms[] = {
		/* The second byte's range rules out overlong forms, surrogates and what lies
		 * above U+10FFFF. */
		{0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	size_t i = 0;

	while (i < sizeof(forms) / sizeof(forms[0]) &&
	       (s[0] < forms[i].first_low || s[0] > forms[i].first_high))
		i++;
	if (i == sizeof(forms) / sizeof(forms[0]) || forms[i].length > size)
		return 0;
	if (forms[i].length > 1 && (s[1] < forms[i].second_low || s[1] > forms[i].second_high))
		return 0;
	for (size_t k = 2; k < forms[i].length; k++)
		if ((s[k] & 0xc0) != 0x80)
			return 0;
	return forms[i].length;
}
