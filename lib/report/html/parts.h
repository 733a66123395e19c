/* The parts of the page, one file each, and what they share. */
#ifndef NVE_REPORT_HTML_PARTS_H
#define NVE_REPORT_HTML_PARTS_H

#include "report/html/chart.h"
#include "report/html/out.h"
#include "report/native.h"
#include "report/predict.h"
#include "report/read.h"
#include "report/html/page.h"
#include "report/read_heat.h"
#include "report/read_regions.h"
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
	const struct nve_html_options *options;
	struct nve_native native;
	double dram_lat_ns; /* that the model goes by, of the first process */
	struct nve_predict predict;
	struct nve_view_regions regions;
	struct nve_heat_view heat;
	struct nve_page_process *processes; /* the busiest, at most NVE_PAGE_COURSES */
	size_t process_count;
};

/* Fills in page->predict. 0 or -ENOMEM. */
int nve_page_forecast(struct nve_page *page);

/* Each writes its part, or nothing where the reports have nothing for it. 0 or -ENOMEM. */
void nve_page_summary(const struct nve_page *page);
int nve_page_course(const struct nve_page *page);
void nve_page_regions(const struct nve_page *page);
int nve_page_sites(const struct nve_page *page);
void nve_page_curve(const struct nve_page *page);
void nve_page_traffic(const struct nve_page *page);
void nve_page_threads(const struct nve_page *page);
void nve_page_foot(const struct nve_page *page);

/* Is there such a part? */
bool nve_page_has_course(const struct nve_page *page);
bool nve_page_has_curve(const struct nve_page *page);
bool nve_page_has_traffic(const struct nve_page *page);
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

/* Bars one under the other, each of parts one after the other, with its name over it. */
enum { NVE_PAGE_BAR_PARTS = 4 };

struct nve_page_bar {
	const char *name;
	struct {
		const char *class;
		double ns;
	} part[NVE_PAGE_BAR_PARTS];
	double low_ns, high_ns; /* where its end may lie; 0: there */
};

struct nve_page_bars {
	const char *id, *title, *about;
	const struct nve_page_key *keys;
	size_t key_count;
	const char *first;                     /* the table's first column */
	const char *parts[NVE_PAGE_BAR_PARTS]; /* the others; NULL: not there */
	const struct nve_page_bar *rows;
	size_t count;
};

/* A whole figure. */
void nve_page_put_bars(struct nve_html *h, const struct nve_page_bars *bars);

/* The table that says the same as the chart. */
void nve_page_values(struct nve_html *h);
void nve_page_values_end(struct nve_html *h);

/* Leaves so many characters of a text at most; size: of its room. */
void nve_page_cut(char *text, size_t size, size_t characters);

/* Opens a row of a table: the time that it is of. */
void nve_page_span(struct nve_html *h, double from_ns, double until_ns);

/* A cell with a time, count, share (0 to 1) or whole number; sortable by the number. */
void nve_page_cell_time(struct nve_html *h, double ns);
void nve_page_cell_count(struct nve_html *h, double n);
void nve_page_cell_share(struct nve_html *h, double share);

/* "300 ns", or "DRAM's own" of 0. */
void nve_page_latency(char text[NVE_UNITS_BYTES], double ns);

#endif
