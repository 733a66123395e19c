"""nvmemu report --format html: what the page is, and what it is not. Arguments: the command, unit_report."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import made_up

nvmemu = sys.argv[1]
base = made_up.printed(sys.argv[2])
clean = {k: v for k, v in os.environ.items() if not k.startswith("NVM_")}
MOST_BYTES = 5 * 10 ** 6
VOID = {"meta", "input", "br", "img", "link"}
# What ends when the next one begins.
IMPLIED = {"td": {"td", "th", "tr", "tbody"}, "th": {"td", "th", "tr", "tbody"}, "tr": {"tr", "tbody"}}


class Page(html.parser.HTMLParser):
    """Is every element closed where it must be? Collects what is in it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts, self.attributes, self.ids = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def close_implied(self, tag):
        while self.open and tag in IMPLIED.get(self.open[-1], ()):
            self.open.pop()

    def handle_starttag(self, tag, attributes):
        self.close_implied(tag)
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in IMPLIED:
            self.open.pop()
        assert self.open and self.open[-1] == tag, (self.open, tag, self.getpos())
        self.open.pop()

    def handle_data(self, data):
        self.texts.append(data)


def run(*args, **options):
    return subprocess.run([nvmemu, "report", "--format", "html", *map(str, args)], env=clean,
                          capture_output=True, text=True, timeout=60, **options)


def put(directory, name, report):
    path = directory / name
    path.write_text(json.dumps(report))
    return path


def page(*paths):
    done = run(*paths)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout, Page(done.stdout)


def needs_nothing(text, parsed):
    policy, = [value for tag, name, value in parsed.attributes
               if name == "content" and "default-src" in (value or "")]
    assert re.match(r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/]{43}='; ", policy)
    for tag, name, value in parsed.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "action", "data", "srcset"), (tag, name, value)
        assert name != "href" or (tag == "a" and value[1:] in parsed.ids and value[0] == "#"), (tag, name, value)
    assert parsed.tags.count("script") == 1 and parsed.tags.count("style") == 1
    assert not {"iframe", "img", "link", "object", "embed", "form", "base"} & set(parsed.tags)
    assert "@import" not in text and text.count("url(") == text.count("url(#hatch)")
    assert len(parsed.ids) == len(set(parsed.ids)), parsed.ids


def has_parts(parsed, *ids):
    for part in ids:
        assert part in parsed.ids, (part, parsed.ids)


def has_no_control(text):
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)


with tempfile.TemporaryDirectory() as name:
    scratch = pathlib.Path(name)

    # one as the library writes it; every chart has a table, and each axis its title and unit
    text, parsed = page(put(scratch, "plain.json", made_up.report(base, 2, 0, ["main", "worker"])))
    needs_nothing(text, parsed)
    has_parts(parsed, "time", "course", "prediction", "regions", "threads", "sources")
    assert "sites" not in parsed.ids
    for figure in re.findall(r"<figure.*?</figure>", text, re.S):
        assert "<table" in figure, figure[:200]
        for drawing in re.findall(r"<svg class=\"(?:wide|narrow)\".*?</svg>", figure, re.S):
            titles = re.findall(r"<text class=\"title\"[^>]*>([^<]+)<", drawing)
            assert titles, figure[:200]
            assert re.search(r"\((h|min|s|ms|µs|ns)\)$", titles[-1] if "time" in titles[-1] else titles[0]) or \
                "latency (ns)" in titles, titles
    for word in ("Slowdown", "read <b>", "NVM_WLAT", "600ns", "a CPU"):
        assert word.replace("read <b>", "reads <b>300") in text, word

    # bytes, where they were counted, and nothing of them elsewhere
    still = made_up.report(base, 2, 0, ["main", "worker"])
    still["sources"]["traffic"] = "none"
    text, parsed = page(put(scratch, "still.json", still))
    assert "traffic" not in parsed.ids and "Bandwidth" not in "".join(parsed.texts)
    moved = made_up.report(base, 2, 0, ["main", "worker"])
    made_up.put_traffic(moved)
    text, parsed = page(put(scratch, "moved.json", moved))
    needs_nothing(text, parsed)
    has_parts(parsed, "traffic")
    everything = "".join(parsed.texts)
    for words in ("Limits: reads 4GB/s, writes 2GB/s.", "In all 3.000 GB were read, 0.300 GB/s of run time",
                  "0.750 GB written, 0.075 GB/s; the delay for it is 300 ms.", "source: look-ahead."):
        assert words in everything, (words, everything)
    rows = re.findall(r"<tr><th scope=\"row\"><bdi>(\w+)</bdi></th><td data-n=\"(\d+)\">.*? GB</td>"
                      r"<td [^>]*>([\d.]+) GB</td><td [^>]*>([\d.]+) GB/s</td><td [^>]*>([\d.]+) GB/s</td>", text)
    assert rows == [("main", "1000", "0.250", "5.000", "1.250"), ("worker", "1001", "0.500", "5.000", "1.250")], rows

    # names are text, whatever is in them
    evil = made_up.report(base, len(made_up.HOSTILE), 300, made_up.HOSTILE)
    evil["program"] |= {"name": made_up.HOSTILE[0], "host": made_up.HOSTILE[1]}
    made_up.put_traffic(evil, made_up.HOSTILE[0])
    evil["sources"] |= {"timer": made_up.HOSTILE[2]}
    text, parsed = page(put(scratch, "evil.json", evil))
    needs_nothing(text, parsed)
    has_no_control(text)
    has_parts(parsed, "sites", "heat-map", "regions")
    everything = "".join(parsed.texts)
    for hostile in made_up.HOSTILE:
        if hostile.isprintable() and len(hostile) < 100:
            assert hostile in everything, hostile
    assert "tab\u2409here\u240aline" in everything and "\u2407bell\u2421" in everything

    # several processes; the page is that of the run
    two = [made_up.report(base, 3, 5, ["t"], seed) for seed in (1, 2)]
    two[1]["program"] |= {"pid": 5000, "name": "child"}
    text, parsed = page(*(put(scratch, f"{i}.json", r) for i, r in enumerate(two)))
    needs_nothing(text, parsed)
    has_parts(parsed, "processes", "course", "sites")
    assert "2 processes" in "".join(parsed.texts)

    # nothing measured: native, short, of an earlier build without the sections
    bare = made_up.plain(base)
    for key in ("timeline", "regions", "heat", "sites"):
        bare.pop(key, None)
    bare |= {"emulated": "no", "why_not": "no timer", "threads": [], "threads_total": 0, "threads_not_listed": 0}
    text, parsed = page(put(scratch, "bare.json", bare))
    needs_nothing(text, parsed)
    assert "nothing was emulated" in text and "no timer" in text
    assert not {"course", "prediction", "sites", "threads"} & set(parsed.ids), parsed.ids

    # of 1,000 threads and 10,000 sites
    large = put(scratch, "large.json", made_up.report(base, 1000, 10000, ["worker", "loader", "io"]))
    text, parsed = page(large)
    needs_nothing(text, parsed)
    assert len(text.encode()) < MOST_BYTES, len(text)
    assert "The other 9800 sites" in text and "984 others" in text
    print(f"1,000 threads, 10,000 sites: {len(text.encode()) / 1e6:.2f} MB")

    # what is no report, and where there is no room: nothing under the final name
    out = scratch / "out.html"
    for harm in ({"total": {}}, {"bucket_ns": -1}, {"buckets": 10 ** 9}, {"threads": 5}, {"rest_threads": "many"}):
        broken = made_up.report(base, 20, 0, ["t"])
        broken["timeline"] |= harm
        done = run("-o", out, put(scratch, "broken.json", broken))
        assert done.returncode == 1 and "broken.json: no whole report: timeline" in done.stderr, done
        assert not out.exists() and done.stdout == "", done
    broken["timeline"] = None
    broken["regions"]["list"][0]["exclusive"].pop("cpu_ns")
    done = run("-o", out, put(scratch, "broken.json", broken))
    assert done.returncode == 1 and "regions.list[0].cpu_ns: missing" in done.stderr and not out.exists(), done
    with open("/dev/full", "w") as full:
        done = subprocess.run([nvmemu, "report", "--format", "html", large], env=clean, stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1 and "No space left" in done.stderr, done
