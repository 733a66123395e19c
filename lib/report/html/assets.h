/* The page's style and script, which the build makes from page.css and page.js. */
#ifndef NVE_REPORT_HTML_ASSETS_H
#define NVE_REPORT_HTML_ASSETS_H

extern const char nve_page_style[], nve_page_script[];

/* NVE_PAGE_SCRIPT_SHA256, in hexadecimal digits, is defined by the build. */

#endif
