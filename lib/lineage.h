/* Where this process stands among those that run under the library. Reads /proc; not for handlers.
 */
#ifndef NVE_LINEAGE_H
#define NVE_LINEAGE_H

#include <stdbool.h>

/* No ancestor has libnvmemu.so mapped: this process is the root of its tree. */
bool nve_lineage_is_root(void);

#endif
