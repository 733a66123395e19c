/* The parts of the page, one file each, and what they share. */
#ifndef NVE_REPORT_HTML_PARTS_H
#define NVE_REPORT_HTML_PARTS_H

#include "report/html/chart.h"
#include "report/html/out.h"
#include "report/native.h"
#include "report/predict.h"
#include "report/read.h"
#include "report/read_timeline.h"

enum { NVE_PAGE_COURSES = 6 }; /* processes whose course in time is drawn */

/* A process with its sections read. */
struct nve_page_process {
	const struct nve_view_process *of;
	struct nve_view_timeline timeline;
};

struct nve_page {
	struct nve_html *out;
	const struct nve_view *view;
	const char *version;
	struct nve_native native;
	double dram_lat_ns; /* that the model goes by, of the first process */
	struct nve_predict predict;
	struct nve_page_process *processes; /* the busiest, at most NVE_PAGE_COURSES */
	size_t process_count;
};

/* Fills in page->predict. 0 or -ENOMEM. */
int nve_page_forecast(struct nve_page *page);

/* Each writes its part, or nothing where the reports have nothing for it. 0 or -ENOMEM. */
void nve_page_summary(const struct nve_page *page);
int nve_page_course(const struct nve_page *page);
void nve_page_curve(const struct nve_page *page);
void nve_page_threads(const struct nve_page *page);
void nve_page_foot(const struct nve_page *page);

/* Is there such a part? */
bool nve_page_has_course(const struct nve_page *page);
bool nve_page_has_curve(const struct nve_page *page);
bool nve_page_has_threads(const struct nve_page *page);

/* <figure>, its heading and what is to be known about it; ends the latter. */
void nve_page_figure(struct nve_html *h, const char *id, const char *title, const char *about);

/* A legend: rows of a class and what it stands for. */
struct nve_page_key {
	const char *class, *text;
};
void nve_page_legend(struct nve_html *h, const struct nve_page_key *keys, size_t count);

/* The plot's frame: charts go between. label: for those who do not see it. mode: how the script
 * reads values, see page.js; reach: how much of the x axis the table's rows cover. */
void nve_page_plot(struct nve_html *h, const char *mode, double reach, const char *label);
void nve_page_plot_end(struct nve_html *h);

/* The table that says the same as the chart. */
void nve_page_values(struct nve_html *h);
void nve_page_values_end(struct nve_html *h);

/* A cell with a time, count, share (0 to 1) or whole number; sortable by the number. */
void nve_page_cell_time(struct nve_html *h, double ns);
void nve_page_cell_count(struct nve_html *h, double n);
void nve_page_cell_share(struct nve_html *h, double share);

/* "300 ns", or "DRAM's own" of 0. */
void nve_page_latency(char text[NVE_UNITS_BYTES], double ns);

#endif
