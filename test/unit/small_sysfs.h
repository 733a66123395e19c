/* A stand-in for /sys/bus/event_source/devices, one at a time. */
#ifndef TEST_SMALL_SYSFS_H
#define TEST_SMALL_SYSFS_H

extern char small_sysfs[];

/* Makes it, with a directory for each word of pmus. */
void small_sysfs_make(const char *pmus);

/* A file, with the directories above it: "cpu/format/event". */
void small_sysfs_add(const char *name, const char *content);

void small_sysfs_remove(void);

#endif
