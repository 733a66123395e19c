"""The HTML page of a report in a browser: as it looks, and as it is used. Arguments: the command, unit_report."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import browser
import made_up

nvmemu = sys.argv[1]
base = made_up.printed(sys.argv[2])
clean = {k: v for k, v in os.environ.items() if not k.startswith("NVM_")}
SKIPPED = 77


def make(directory, name, *reports):
    paths = []
    for i, report in enumerate(reports):
        paths.append(directory / f"{name}-{i}.json")
        paths[-1].write_text(json.dumps(report))
    out = directory / f"{name}.html"
    subprocess.run([nvmemu, "report", "--format", "html", "-o", out, *paths], env=clean, check=True, timeout=60)
    return out


def says_nothing(b):
    log = b.log()
    assert not log, log


FITS = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const shown = [...document.querySelectorAll(".plot svg")].filter(s => s.getBoundingClientRect().width > 0);
const small = shown.filter(s => s.getBoundingClientRect().width / s.viewBox.baseVal.width < 0.68);
const box = e => e.getBoundingClientRect();
const texts = (s, what) => [...s.querySelectorAll("text" + what)];
const inside = (a, b) => a.top > b.top - 2 && a.bottom < b.bottom + 2 && a.left > b.left - 2 && a.right < b.right + 2;
const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const cut = shown.flatMap(s => texts(s, "").filter(t => !inside(box(t), box(s))).map(t => t.textContent));
const overlap = shown.flatMap(s => texts(s, ".title").filter(
    t => texts(s, ".tick").some(tick => meet(box(t), box(tick)))).map(t => t.textContent));
return {wide, cut, overlap, shown: shown.length, all: document.querySelectorAll(".plot svg").length, small: small.length,
        title: document.title, alerts: window.alerted || 0};
"""

# Contrast as WCAG has it, of colours that are opaque, against the ground.
CONTRAST = """
const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(Number).map(v => v / 255)
    .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const ground = light(getComputedStyle(document.body).backgroundColor);
const against = l => (Math.max(l, ground) + .05) / (Math.min(l, ground) + .05);
const of = (what, property) => against(light(getComputedStyle(document.querySelector(what))[property]));
return {ground, text: of("body", "color"), faint: of(".facts", "color"), link: of("nav a", "color"),
        tick: of("text.tick", "fill"), ro: of(".ro-line", "stroke"), both: of(".both-line", "stroke")};
"""


def looks(b, path):
    """No sideways scrolling, one of two drawings of each chart, readable in both colour schemes."""
    grounds = {}
    for width in (1280, 768, 390, 320):
        for scheme in ("light", "dark"):
            b.look(width, 800, scheme)
            b.open(path)
            found = b.run(FITS)
            assert found["wide"] <= 0, (width, found)
            assert not found["cut"] and not found["overlap"], (width, found)
            assert found["all"] == 2 * found["shown"] > 4 and found["small"] == 0, (width, found)
            contrast = b.run(CONTRAST)
            grounds[scheme] = contrast.pop("ground")
            assert min(contrast["text"], contrast["faint"], contrast["link"], contrast["tick"]) >= 4.5, contrast
            assert min(contrast.values()) >= 3, contrast
            says_nothing(b)
    assert grounds["light"] > 0.8 and grounds["dark"] < 0.1, grounds


def focus(b, selector):
    b.run("document.querySelector(arguments[0]).focus()", selector)


def text_of(b, selector):
    return b.run("return document.querySelector(arguments[0]).textContent", selector)


def by_keyboard(b):
    """From the first link on, each stop of the tab key shows where it is; arrow keys read values."""
    seen = []
    for _ in range(12):
        b.keys("Tab")
        seen.append(b.run("""
            const e = document.activeElement;
            return [e.tagName, e.className, getComputedStyle(e).outlineStyle, e.getClientRects().length]"""))
    assert all(outline != "none" and boxes for _, _, outline, boxes in seen), seen
    assert {"A", "SUMMARY", "DIV"} <= {tag for tag, *_ in seen}, seen
    rows = b.run("return [...document.querySelectorAll('#busy-0 tbody tr')].map(r => r.cells[1].textContent)")
    focus(b, "#busy-0 .plot")
    for keys, row in ((["Right"], 0), (["Right", "Right"], 2), (["End"], len(rows) - 1), (["Left"], len(rows) - 2)):
        b.keys(*keys)
        assert f"computing {rows[row]}, " in text_of(b, "#busy-0 .readout"), (keys, text_of(b, "#busy-0 .readout"))
    assert b.run("return document.querySelector('#busy-0 .wide .cursor').getAttribute('d')")
    focus(b, "#lanes-0 .plot")
    b.keys("Home")
    first = text_of(b, "#lanes-0 .readout")
    b.keys("Down")
    assert text_of(b, "#lanes-0 .readout") != first, first
    b.keys("Up")
    assert text_of(b, "#lanes-0 .readout") == first
    focus(b, "#busy-0 summary")
    b.keys("Enter")
    assert b.run("return document.querySelector('#busy-0 details').open")


def middle(b, selector):
    """Of an element that is brought into the window."""
    return b.run("""
        const e = document.querySelector(arguments[0]);
        e.scrollIntoView({block: "center"});
        const box = e.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]""", selector)


def by_pointer(b):
    """What the readout says is what the table says there."""
    for figure in ("#busy-0", "#misses-0", "#curve"):
        b.point(*middle(b, f"{figure} .wide"))
        said = text_of(b, f"{figure} .readout")
        rows = b.run("return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
                     ".map(r => [...r.cells].map(c => c.textContent))", figure)
        row, = [r for r in rows if said.startswith(r[0] + ": ")]
        assert all(cell in said for cell in row), (row, said)
        assert len(rows) / 4 < rows.index(row) < 3 * len(rows) / 4, (figure, said)


def column(b, table, number):
    return b.run("""
        return [...document.querySelectorAll(arguments[0] + " tbody tr")].filter(r => !r.hidden)
            .map(r => r.cells[arguments[1]]).map(c => c.dataset.n === undefined ? c.textContent : +c.dataset.n)""",
                 table, number)


def tables(b, threads):
    table, paid = "table[data-search='Search threads']", 7
    header = f"{table} th:nth-child({paid + 1})"
    before = column(b, table, paid)
    b.point(*middle(b, f"{header} button"), click=True)
    assert column(b, table, paid) == sorted(before, reverse=True) and len(before) == threads
    assert b.run("return document.querySelector(arguments[0]).getAttribute('aria-sort')", header) == "descending"
    b.point(*middle(b, f"{header} button"), click=True)
    assert column(b, table, paid) == sorted(before)
    b.point(*middle(b, f"{table} th:first-child button"), click=True)
    names = column(b, table, 0)
    assert len(set(names)) > 1 and names != column(b, table, 0)[::-1]
    focus(b, "#threads ~ .search input")
    b.keys(*"loader")
    assert set(column(b, table, 0)) == {"loader"} and "found" in text_of(b, "#threads ~ .search span")
    b.point(*middle(b, "#sites ~ details.values summary"), click=True)
    assert b.run("return document.querySelector('#sites ~ details.values').open")
    says_nothing(b)


def main():
    if not browser.is_there():
        print("skipped: no chromium, or no chromedriver")
        return SKIPPED
    b = browser.Browser()
    try:
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            names = made_up.HOSTILE
            evil = made_up.report(base, len(names), 210, names)
            evil["program"]["name"] = names[0]
            looks(b, make(scratch, "evil", evil))
            assert b.run("return document.title") == f"{names[0]} – nvmemu report"
            looks(b, make(scratch, "small", made_up.report(base, 1, 1, ["worker"])))
            several = [made_up.report(base, 30, 210, ["worker", "loader"], seed) for seed in (1, 2)]
            several[1]["program"]["pid"] = 5000
            b.look(1280, 800)
            b.open(make(scratch, "one", several[0]))
            by_keyboard(b)
            by_pointer(b)
            tables(b, 30)
            b.open(make(scratch, "two", *several))
            assert b.run("return document.querySelectorAll('details.process').length") == 2
            says_nothing(b)
            # of the largest run too
            b.open(make(scratch, "large", made_up.report(base, 1000, 10000, ["worker", "loader"])))
            assert len(column(b, "table[data-search='Search threads']", 0)) == 1000
            says_nothing(b)
    finally:
        b.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
