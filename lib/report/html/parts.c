/* What the parts of the page share. */
#include "report/html/parts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void nve_page_figure(struct nve_html *h, const char *id, const char *title, const char *about)
{
	nve_html_print(h, "<figure class=\"chart\" id=\"%s\"><figcaption>", id);
	nve_html_element(h, "h3", title);
	nve_html_element(h, "p", about);
	nve_html_put(h, "</figcaption>\n");
}

void nve_page_legend(struct nve_html *h, const struct nve_page_key *keys, size_t count)
{
	nve_html_put(h, "<ul class=\"legend\">");
	for (size_t i = 0; i < count; i++) {
		bool is_line = !strncmp(keys[i].class, "line", 4);

		nve_html_print(h,
			       "<li><svg width=\"26\" height=\"14\" aria-hidden=\"true\">"
			       "<path class=\"%s\" d=\"%s\"/></svg>",
			       keys[i].class, is_line ? "M0 7H26" : "M1 1H25V13H1Z");
		nve_html_text(h, keys[i].text);
		nve_html_put(h, "</li>");
	}
	nve_html_put(h, "</ul>\n");
}

void nve_page_plot(struct nve_html *h, const char *mode, double reach, const char *label)
{
	nve_html_print(h,
		       "<div class=\"plot\" role=\"img\" data-mode=\"%s\" data-reach=\"%.4f\" "
		       "aria-label=\"",
		       mode, reach);
	nve_html_text(h, label);
	nve_html_put(h, "\">\n");
}

void nve_page_plot_end(struct nve_html *h)
{
	nve_html_put(h, "</div>\n");
}

void nve_page_values(struct nve_html *h)
{
	nve_html_put(h, "<details class=\"values\"><summary>The same as a table</summary>"
			"<div class=\"scroll\" tabindex=\"0\" role=\"group\" "
			"aria-label=\"Table of values\"><table>\n");
}

void nve_page_values_end(struct nve_html *h)
{
	nve_html_put(h, "</tbody></table></div></details></figure>\n");
}

void nve_page_cut(char *text, size_t size, size_t characters)
{
	size_t at = 0, left = strlen(text);

	for (size_t i = 0; left; i++) {
		size_t length = nve_utf8_length((const unsigned char *)text + at, left);

		length += !length;
		if (i + 1 == characters && left > length) {
			snprintf(text + at, size - at, "…");
			return;
		}
		at += length;
		left -= length;
	}
}

void nve_page_span(struct nve_html *h, double from_ns, double until_ns)
{
	struct nve_unit_of unit = nve_units_time(until_ns);

	nve_html_print(h, "<tr><th scope=\"row\">%.4g–%.4g %s</th>", from_ns / unit.size,
		       until_ns / unit.size, unit.name);
}

static void cell(struct nve_html *h, double number, const char *text)
{
	nve_html_print(h, "<td data-n=\"%.4g\">%s</td>", number, text);
}

void nve_page_cell_time(struct nve_html *h, double ns)
{
	char text[NVE_UNITS_BYTES];

	nve_units_put_time(text, ns);
	cell(h, ns, ns > 0 ? text : "0");
}

void nve_page_cell_count(struct nve_html *h, double n)
{
	char text[NVE_UNITS_BYTES];

	nve_units_put_count(text, n);
	cell(h, n, text);
}

void nve_page_cell_share(struct nve_html *h, double share)
{
	nve_html_print(h, "<td data-n=\"%.4g\">%.*f %%</td>", share, share < 0.0995 ? 1 : 0,
		       100 * share);
}

void nve_page_latency(char text[NVE_UNITS_BYTES], double ns)
{
	if (ns > 0)
		snprintf(text, NVE_UNITS_BYTES, "%.*f\u00a0ns", ns < 99.95 ? 1 : 0, ns);
	else
		snprintf(text, NVE_UNITS_BYTES, "DRAM's own");
}
