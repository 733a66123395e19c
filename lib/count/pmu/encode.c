#include "count/pmu/encode.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { TERM_BYTES = 64, WORD_BITS = 64, CONFIGS = 3 };

struct nve_pmu_code nve_pmu_event_code(const struct nve_pmu_event *event, uint32_t type)
{
	return (struct nve_pmu_code){
		.type = type,
		.config = {event->config, event->config1},
		.precise_ip = event->precise_ip,
	};
}

static void fill_attr(const struct nve_pmu_code *code, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = code->type,
		.config = code->config[0],
		.config1 = code->config[1],
		.config2 = code->config[2],
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

void nve_pmu_attr_thread(const struct nve_pmu_code *code, struct perf_event_attr *attr)
{
	fill_attr(code, attr);
	attr->read_format |= PERF_FORMAT_GROUP;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

void nve_pmu_attr_uncore(const struct nve_pmu_code *code, struct perf_event_attr *attr)
{
	fill_attr(code, attr);
}

/* "0-7" or "5"; *at moves behind it. */
static bool parse_bits(const char **at, unsigned *first, unsigned *last)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*first = *last = (unsigned)strtoul(*at, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*last = (unsigned)strtoul(end + 1, &end, 10);
	*at = end;
	return *first <= *last && *last < WORD_BITS;
}

/* Which config a format is of; *at moves behind the colon. -EINVAL: none. */
static int parse_word(const char **at)
{
	static const char *const words[CONFIGS] = {"config:", "config1:", "config2:"};

	for (int i = 0; i < CONFIGS; i++) {
		if (strncmp(*at, words[i], strlen(words[i])))
			continue;
		*at += strlen(words[i]);
		return i;
	}
	return -EINVAL;
}

int nve_pmu_place(const char *format, uint64_t value, uint64_t config[CONFIGS])
{
	const char *at = format;
	int word = parse_word(&at);
	uint64_t placed;

	if (word < 0)
		return word;
	placed = config[word];
	for (;; at++) {
		unsigned first, last;

		if (!parse_bits(&at, &first, &last))
			return -EINVAL;
		for (unsigned bit = first; bit <= last; bit++, value >>= 1) {
			placed &= ~(UINT64_C(1) << bit);
			placed |= (value & 1) << bit;
		}
		if (*at != ',')
			break;
	}
	if (*at && *at != '\n')
		return -EINVAL;
	if (value)
		return -ERANGE;
	config[word] = placed;
	return 0;
}

/* A whole number as in C, all of text. */
static bool parse_number(const char *text, const char *stops, uint64_t *value, const char **end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &stop, 0);
	if (errno || (*stop && !strchr(stops, *stop)))
		return false;
	*end = stop;
	return true;
}

static int encode_term(char *term, const char *(*find_format)(void *ctx, const char *name),
		       void *ctx, uint64_t config[CONFIGS])
{
	static const char *const words[CONFIGS] = {"config", "config1", "config2"};
	char *sign = strchr(term, '=');
	const char *format, *end;
	uint64_t value = 1;

	if (sign) {
		*sign = '\0';
		if (!parse_number(sign + 1, "", &value, &end))
			return -EINVAL;
	}
	for (int i = 0; sign && i < CONFIGS; i++) {
		if (!strcmp(term, words[i])) {
			config[i] = value;
			return 0;
		}
	}
	format = find_format(ctx, term);
	return format ? nve_pmu_place(format, value, config) : -ENOENT;
}

int nve_pmu_encode_terms(const char *terms, const char *(*find_format)(void *ctx, const char *name),
			 void *ctx, uint64_t config[CONFIGS])
{
	uint64_t result[CONFIGS] = {0};
	char term[TERM_BYTES];

	for (const char *at = terms;; at++) {
		size_t length = strcspn(at, ",\n");
		int err;

		if (!length || length >= sizeof(term))
			return -EINVAL;
		memcpy(term, at, length);
		term[length] = '\0';
		err = encode_term(term, find_format, ctx, result);
		if (err)
			return err;
		at += length;
		if (*at != ',')
			break;
	}
	memcpy(config, result, sizeof(result));
	return 0;
}

int nve_pmu_parse_code(const char *text, struct nve_pmu_code *code)
{
	struct nve_pmu_code result = {0};
	uint64_t type;
	const char *at = text;

	if (!parse_number(at, "/", &type, &at) || type > UINT32_MAX || *at != '/')
		return -EINVAL;
	result.type = (uint32_t)type;
	for (int i = 0; *at && i < 2; i++)
		if (!parse_number(at + 1, "/", &result.config[i], &at))
			return -EINVAL;
	if (*at)
		return -EINVAL;
	*code = result;
	return 0;
}

static int errno_of(int pfm_error)
{
	switch (pfm_error) {
	case PFM_SUCCESS: return 0;
	case PFM_ERR_NOTFOUND: return -ENOENT;
	case PFM_ERR_ATTR:
	case PFM_ERR_ATTR_VAL:
	case PFM_ERR_ATTR_SET:
	case PFM_ERR_UMASK:
	case PFM_ERR_FEATCOMB:
	case PFM_ERR_INVAL: return -EINVAL;
	case PFM_ERR_NOMEM: return -ENOMEM;
	default: return -ENOTSUP;
	}
}

int nve_pmu_pfm_encode(const struct nve_pfm *pfm, const char *text, struct nve_pmu_code *code)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t arg = {.size = sizeof(arg), .attr = &attr};
	int err = errno_of(pfm->initialize());

	if (!err)
		err = errno_of(
			pfm->get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg));
	if (err)
		return err;
	*code = (struct nve_pmu_code){
		.type = attr.type,
		.config = {attr.config, attr.config1, attr.config2},
		.precise_ip = attr.precise_ip,
	};
	return 0;
}
