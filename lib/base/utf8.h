/* UTF-8. Pure, signal-safe. */
#ifndef NVE_BASE_UTF8_H
#define NVE_BASE_UTF8_H

#include <stddef.h>

/* Length of the valid sequence at s, of which size bytes are there (at least one); 0: it is none.
 */
size_t nve_utf8_length(const unsigned char *s, size_t size);

#endif
