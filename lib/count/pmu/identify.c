#include "count/pmu/identify.h"

#include <errno.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/log.h"
#include "count/pmu/sysfs.h"

/* The first processor's block, flags included, is half as long. */
enum { CPUINFO_BYTES = 8192, ARM_IMPLEMENTER = 0x41 };

/* The value of a line "key<tabs>: value" of the first block; NULL where there is none. */
static const char *find_value(const char *cpuinfo, const char *key, size_t *length)
{
	size_t key_length = strlen(key);

	for (const char *line = cpuinfo; *line && *line != '\n';) {
		const char *end = line + strcspn(line, "\n");
		const char *colon = memchr(line, ':', (size_t)(end - line));
		const char *name_end = line + strcspn(line, "\t:\n");

		if (colon && (size_t)(name_end - line) == key_length &&
		    !memcmp(line, key, key_length)) {
			const char *value = colon + 1;

			value += *value == ' ';
			*length = (size_t)(end - value);
			return value;
		}
		line = *end ? end + 1 : end;
	}
	return NULL;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* Decimal, or hexadecimal with 0x; no more than 16 bits are expected of any. */
static bool find_number(const char *cpuinfo, const char *key, unsigned *number)
{
	size_t length;
	const char *text = find_value(cpuinfo, key, &length);
	int base = 10;
	unsigned n = 0;

	if (!text)
		return false;
	if (length > 2 && text[0] == '0' && text[1] == 'x') {
		base = 16;
		text += 2;
		length -= 2;
	}
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(text[i]);

		if (digit < 0 || digit >= base || n > 0xffff)
			return false;
		n = n * (unsigned)base + (unsigned)digit;
	}
	*number = n;
	return length > 0;
}

static bool has_word(const char *text, size_t length, const char *word)
{
	size_t word_length = strlen(word);
	const char *end = text + length;

	while (text < end) {
		const char *space = memchr(text, ' ', (size_t)(end - text));
		size_t n = (size_t)((space ? space : end) - text);

		if (n == word_length && !memcmp(text, word, n))
			return true;
		text += n + 1;
	}
	return false;
}

static bool value_is(const char *cpuinfo, const char *key, const char *wanted)
{
	size_t length;
	const char *value = find_value(cpuinfo, key, &length);

	return value && length == strlen(wanted) && !memcmp(value, wanted, length);
}

static bool parse_x86(const char *cpuinfo, struct nve_cpu_id *id)
{
	size_t length;
	const char *flags = find_value(cpuinfo, "flags", &length);

	if (!find_number(cpuinfo, "cpu family", &id->family) ||
	    !find_number(cpuinfo, "model", &id->model))
		return false;
	id->hypervisor = flags && has_word(flags, length, "hypervisor");
	/* "unknown" where the processor does not tell */
	if (!find_number(cpuinfo, "stepping", &id->stepping))
		id->stepping = 0;
	if (value_is(cpuinfo, "vendor_id", "GenuineIntel"))
		id->vendor = NVE_CPU_INTEL;
	else if (value_is(cpuinfo, "vendor_id", "AuthenticAMD"))
		id->vendor = NVE_CPU_AMD;
	return true;
}

static bool parse_arm(const char *cpuinfo, struct nve_cpu_id *id)
{
	unsigned implementer, variant, revision;

	if (!find_number(cpuinfo, "CPU implementer", &implementer) ||
	    !find_number(cpuinfo, "CPU part", &id->model))
		return false;
	if (find_number(cpuinfo, "CPU variant", &variant) &&
	    find_number(cpuinfo, "CPU revision", &revision))
		id->stepping = variant * 16 + revision;
	if (implementer == ARM_IMPLEMENTER)
		id->vendor = NVE_CPU_ARM;
	return true;
}

int nve_cpu_parse(const char *cpuinfo, struct nve_cpu_id *id)
{
	size_t length;
	const char *name;

	*id = (struct nve_cpu_id){.vendor = NVE_CPU_OTHER};
	name = find_value(cpuinfo, "model name", &length);
	if (name)
		nve_format(id->name, sizeof(id->name), "%.*s", (int)length, name);
	if (parse_x86(cpuinfo, id) || parse_arm(cpuinfo, id))
		return 0;
	*id = (struct nve_cpu_id){.vendor = NVE_CPU_OTHER};
	return -EINVAL;
}

static bool covers(const struct nve_pmu_row *row, const struct nve_cpu_id *id)
{
	if (row->vendor != id->vendor || row->family != id->family ||
	    id->stepping < row->stepping_first || id->stepping > row->stepping_last)
		return false;
	for (size_t i = 0; i < NVE_PMU_RANGES; i++) {
		const struct nve_pmu_range *range = &row->models[i];

		if (!range->first && !range->last)
			return false;
		if (id->model >= range->first && id->model <= range->last)
			return true;
	}
	return false;
}

size_t nve_pmu_rows_find(const struct nve_cpu_id *id, bool hybrid,
			 const struct nve_pmu_row *rows[NVE_PMU_KINDS])
{
	const struct nve_pmu_row *row, *found[NVE_PMU_KINDS] = {NULL};
	size_t count = 0;

	for (size_t i = 0; (row = nve_pmu_row(i)); i++) {
		if (covers(row, id) && (hybrid || row->core != NVE_PMU_CORE_EFFICIENT))
			found[row->core == NVE_PMU_CORE_EFFICIENT] = row;
	}
	for (size_t i = 0; i < NVE_PMU_KINDS; i++)
		if (found[i])
			rows[count++] = found[i];
	return count;
}

int nve_cpu_read(struct nve_cpu_id *id)
{
	char text[CPUINFO_BYTES];
	size_t length;
	int err = nve_file_read("/proc/cpuinfo", text, sizeof(text), &length);

	*id = (struct nve_cpu_id){.vendor = NVE_CPU_OTHER};
	if (err && err != -EFBIG)
		return err;
	text[sizeof(text) - 1] = '\0';
	return nve_cpu_parse(text, id);
}

/* In sysfs, the likeliest first; as ACPI or a device tree has Arm's named. */
static const char *find_pmu(const struct nve_pmu_row *row, const char *root)
{
	static const char *const x86[][2] = {
		[NVE_PMU_CORE_ONLY] = {"cpu"},
		/* the second where the other kind of core is off */
		[NVE_PMU_CORE_PERFORMANCE] = {"cpu_core", "cpu"},
		[NVE_PMU_CORE_EFFICIENT] = {"cpu_atom"},
	};
	const char *const arm[] = {"armv8_pmuv3_0", "armv8_pmuv3", row->tree_pmu};
	bool is_arm = row->vendor == NVE_CPU_ARM;
	const char *const *names = is_arm ? arm : x86[row->core];
	size_t count = is_arm ? NVE_ARRAY_SIZE(arm) : NVE_ARRAY_SIZE(x86[0]);

	for (size_t i = 0; i < count; i++)
		if (names[i] && nve_pmu_sysfs_has(root, names[i]))
			return names[i];
	return NULL;
}

size_t nve_pmu_kinds_find(const struct nve_cpu_id *id, const char *root,
			  struct nve_pmu_kind kinds[NVE_PMU_KINDS])
{
	const struct nve_pmu_row *rows[NVE_PMU_KINDS];
	bool hybrid = nve_pmu_sysfs_has(root, "cpu_core") && nve_pmu_sysfs_has(root, "cpu_atom");
	size_t count = nve_pmu_rows_find(id, hybrid, rows);

	for (size_t i = 0; i < count; i++)
		kinds[i] = (struct nve_pmu_kind){.row = rows[i], .pmu = find_pmu(rows[i], root)};
	return count;
}
