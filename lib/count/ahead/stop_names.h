/* Instructions that ended windows early, by name, for the whole process. Signal-safe, thread-safe.
 * Who reads them: nve_ahead_stop_names(). */
#ifndef NVE_AHEAD_STOP_NAMES_H
#define NVE_AHEAD_STOP_NAMES_H

void nve_stop_names_count(const char *name);
void nve_stop_names_forget(void);

#endif
