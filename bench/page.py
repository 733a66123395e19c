"""The HTML page of a report of 1,000 threads and 10,000 sites: its size, how long `nvmemu report` takes to
make it, and how long a headless Chromium takes from asking for it to having drawn it; medians.

Such reports are made up, from that of a short run. --picture FILE: instead of all that, a picture of
the page of a real run, examples/halfwritten.

Targets: below 5 MB, open within 2 s."""

import json
import os
import subprocess
import sys
import time

from common import (BUILD, COMMAND, ROOT, Failure, Table, clean_environment, median, need_packages,
                    run_emulated, scratch, workload_emulated)

sys.path.insert(0, os.path.join(ROOT, "test", "e2e"))

THREADS, SITES = 1000, 10000
# Until the browser has shown a frame after all is loaded.
DRAWN = """
const done = arguments[arguments.length - 1];
const settled = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())));
document.readyState === "complete" ? settled() : addEventListener("load", settled);
"""


def add_options(parser):
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--picture", metavar="FILE")


def make_page(report, folder):
    source, page = os.path.join(folder, "report.json"), os.path.join(folder, "report.html")
    with open(source, "w", encoding="utf-8") as f:
        json.dump(report, f)
    start = time.monotonic()
    subprocess.run([COMMAND, "report", "--format", "html", "-f", "-o", page, source], check=True,
                   env=clean_environment())
    return page, time.monotonic() - start


def open_page(page):
    import browser
    b = browser.Browser()
    try:
        b.look(1280, 800)
        b.open(page)
        return b.call("POST", f"/session/{b.session}/execute/async", {"script": DRAWN, "args": []}) / 1e3
    finally:
        b.close()


def take_picture(path):
    import browser
    settings = {"NVM_RLAT": "400", "NVM_WLAT": "1000"}
    _, reports = run_emulated([os.path.join(BUILD, "examples", "halfwritten")], settings)
    b = browser.Browser()
    try:
        with scratch() as folder:
            b.look(1000, 980)
            b.open(make_page(reports[0], folder)[0])
            b.screenshot(path, until=".plot")
    finally:
        b.close()


def run(options, targets):
    need_packages({"chromium": "chromium", "chromedriver": "chromium-driver"})
    import made_up
    if options.picture:
        return take_picture(options.picture)
    _, base = workload_emulated("chase-w50", {"NVM_WLAT": "1000"}, "--seconds", "1")
    report = made_up.report(base, THREADS, SITES, ["worker", "loader", "io"])
    table = Table([("threads", 8, ""), ("sites", 7, ""), ("MB", 6, "%.2f"), ("make s", 7, "%.2f"),
                   ("open s", 7, "%.2f"), ("met", 4, "")])
    table.head()
    with scratch() as folder:
        made = [make_page(report, folder) for _ in range(options.rounds)]
        page = made[0][0]
        size = os.path.getsize(page) / 1e6
        opened = median(open_page(page) for _ in range(options.rounds))
    if not size:
        raise Failure("no page was made")
    table.row(THREADS, SITES, size, median(t for _, t in made), opened,
              targets.judge(size < 5 and opened <= 2))
    return table
