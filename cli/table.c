/* nvmemu validate: from estimates to errors, and the table in its three forms. */
#include "validate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "cli.h"

static const struct {
	const char *bench, *varied;
	double target_percent;
} kinds[] = {
	[VALIDATE_WBBENCH_WRITE] = {"wbbench", "write", 1.1},
	[VALIDATE_ROBENCH_READ] = {"robench", "read", 1.1},
	[VALIDATE_ROBENCH_WRITE] = {"robench", "write", 1.5},
};

static bool has_result(const struct validate_row *row)
{
	return row->measured.kept > 0;
}

static void judge_row(struct validate_row *row, double target_percent)
{
	double native = row->native.value, added = row->measured.value - native;
	double intended = (double)row->latency_ns - native;

	row->added_half_width_ns = hypot(row->measured.half_width, row->native.half_width);
	row->target_percent = target_percent > 0 ? target_percent : kinds[row->kind].target_percent;
	if (row->kind == VALIDATE_ROBENCH_WRITE) {
		row->error_percent = 100 * added / native;
		row->added_error_percent = NAN;
	} else {
		row->error_percent = 100 * (row->measured.value / (double)row->latency_ns - 1);
		row->added_error_percent = 100 * (added / intended - 1);
	}
	row->met = fabs(row->error_percent) <= row->target_percent;
}

void validate_judge(struct validate_result *result, double target_percent)
{
	result->targets = 0;
	result->met = 0;
	for (size_t i = 0; i < result->row_count; i++) {
		struct validate_row *row = &result->rows[i];

		if (row->skipped || !has_result(row))
			continue;
		judge_row(row, target_percent);
		result->targets++;
		result->met += row->met;
	}
}

static double spread_percent(const struct cli_estimate *e)
{
	return 100 * (e->third_quartile - e->first_quartile) / e->median;
}

/* A number, or "-" where it is not known. */
static void print_number(FILE *out, int width, const char *format, double value)
{
	char text[32];

	if (isnan(value))
		strcpy(text, "-");
	else
		snprintf(text, sizeof(text), format, value);
	fprintf(out, " %*s", width, text);
}

static void print_row(FILE *out, const struct validate_row *row)
{
	char read[24] = "DRAM", write[24] = "DRAM";
	char *varied = row->kind == VALIDATE_ROBENCH_READ ? read : write;

	snprintf(varied, sizeof(read), "%llu", (unsigned long long)row->latency_ns);
	fprintf(out, "%-8s %5s %6s", kinds[row->kind].bench, read, write);
	print_number(out, 8, "%.1f", row->native.value);
	if (row->skipped) {
		fprintf(out, "  skipped: not 10 %% above native, or below DRAM\n");
		return;
	}
	print_number(out, 9, "%.1f", row->measured.value);
	print_number(out, 6, "%.1f", row->measured.half_width);
	print_number(out, 8, "%+.2f", row->error_percent);
	print_number(out, 8, "%+.2f", row->added_error_percent);
	print_number(out, 8, "%.1f", spread_percent(&row->measured));
	fprintf(out, "  %s %.3g\n", row->met ? "within" : "beyond", row->target_percent);
}

void validate_print_text(FILE *out, const struct validate_settings *s,
			 const struct validate_result *result)
{
	fprintf(out,
		"Lists of %llu MiB, %s pages; %llu rounds in slices of %llu ms.\n"
		"DRAM latency that the library goes by: %.1f ns.\n\n",
		(unsigned long long)(s->bytes >> 20),
		!s->huge              ? "small"
		: result->small_pages ? "huge and small"
				      : "huge",
		(unsigned long long)s->rounds, (unsigned long long)s->slice_ms, s->dram_lat_ns);
	fprintf(out, "%-8s %5s %6s %8s %9s %6s %8s %8s %8s  %s\n", "bench", "read", "write",
		"native", "measured", "+-", "error", "added", "spread", "target");
	fprintf(out, "%-8s %5s %6s %8s %9s %6s %8s %8s %8s  %s\n", "", "ns", "ns", "ns", "ns", "ns",
		"%", "%", "%", "%");
	for (size_t i = 0; i < result->row_count; i++)
		if (result->rows[i].skipped || has_result(&result->rows[i]))
			print_row(out, &result->rows[i]);
	fprintf(out, "\n"
		     "native, measured: CPU time per step; +-: 95 %% confidence of measured.\n"
		     "error: of measured against the configured latency; where robench is given a\n"
		     "  write latency, against native, since it writes nothing.\n"
		     "added: error of measured - native against configured - native.\n"
		     "spread: interquartile range of the slices, of their median.\n");
}

static void write_csv_row(FILE *f, const struct validate_row *row)
{
	const struct cli_estimate *m = &row->measured;

	fprintf(f, "%s,%s,%llu,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.4f,", kinds[row->kind].bench,
		kinds[row->kind].varied, (unsigned long long)row->latency_ns, row->native.value,
		row->native.half_width, m->value, m->half_width, m->median, m->first_quartile,
		m->third_quartile, row->error_percent);
	if (!isnan(row->added_error_percent))
		fprintf(f, "%.4f", row->added_error_percent);
	fprintf(f, ",%.3f,%zu,%zu,%.3g,%s\n", row->added_half_width_ns, m->kept, m->dropped,
		row->target_percent, row->met ? "yes" : "no");
}

int validate_write_csv(FILE *f, const struct validate_result *result)
{
	fprintf(f, "bench,varied,configured_ns,native_ns,native_half_width_ns,measured_ns,"
		   "measured_half_width_ns,median_ns,first_quartile_ns,third_quartile_ns,"
		   "error_percent,added_error_percent,added_half_width_ns,slices,slices_dropped,"
		   "target_percent,met\n");
	for (size_t i = 0; i < result->row_count; i++)
		if (has_result(&result->rows[i]))
			write_csv_row(f, &result->rows[i]);
	return ferror(f) ? -EIO : 0;
}

/* Four decimals are finer than anything that is measured here. */
static void put_double(struct nve_json *j, const char *key, double value)
{
	if (isfinite(value))
		nve_json_decimal(j, key, llround(value * 1e4), 4);
	else
		nve_json_null(j, key);
}

static void put_estimate(struct nve_json *j, const char *key, const struct cli_estimate *e)
{
	nve_json_object(j, key);
	put_double(j, "value_ns", e->value);
	put_double(j, "half_width_ns", e->half_width);
	put_double(j, "median_ns", e->median);
	put_double(j, "first_quartile_ns", e->first_quartile);
	put_double(j, "third_quartile_ns", e->third_quartile);
	nve_json_uint(j, "slices", e->kept);
	nve_json_uint(j, "slices_dropped", e->dropped);
	nve_json_close(j);
}

static void put_row(struct nve_json *j, const struct validate_row *row)
{
	nve_json_object(j, NULL);
	nve_json_string(j, "bench", kinds[row->kind].bench);
	nve_json_string(j, "varied", kinds[row->kind].varied);
	nve_json_uint(j, "configured_ns", row->latency_ns);
	nve_json_bool(j, "skipped", row->skipped);
	if (!row->skipped) {
		put_estimate(j, "native", &row->native);
		put_estimate(j, "measured", &row->measured);
		put_double(j, "error_percent", row->error_percent);
		put_double(j, "added_error_percent", row->added_error_percent);
		put_double(j, "added_half_width_ns", row->added_half_width_ns);
		put_double(j, "target_percent", row->target_percent);
		nve_json_bool(j, "met", row->met);
	}
	nve_json_close(j);
}

int validate_write_json(FILE *out, const struct validate_settings *s,
			const struct validate_result *result)
{
	const struct nve_report_sink sink = cli_stream_sink(out);
	struct nve_json j;

	nve_json_start(&j, &sink);
	nve_json_object(&j, NULL);
	nve_json_string(&j, "schema", "nvmemu-validate");
	nve_json_uint(&j, "version", 1);
	nve_json_uint(&j, "bytes", s->bytes);
	nve_json_bool(&j, "huge_pages", s->huge && !result->small_pages);
	put_double(&j, "dram_lat_ns", s->dram_lat_ns);
	nve_json_uint(&j, "rounds", s->rounds);
	nve_json_uint(&j, "slice_ms", s->slice_ms);
	nve_json_array(&j, "rows");
	for (size_t i = 0; i < result->row_count; i++)
		if (result->rows[i].skipped || has_result(&result->rows[i]))
			put_row(&j, &result->rows[i]);
	nve_json_close(&j);
	nve_json_uint(&j, "targets", result->targets);
	nve_json_uint(&j, "met", result->met);
	nve_json_close(&j);
	return nve_json_finish(&j);
}
