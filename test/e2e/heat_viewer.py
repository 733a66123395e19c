"""DHAT's export in DHAT's own viewer, in a browser. Arguments: the command, unit_report."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import browser
import made_up

nvmemu = sys.argv[1]
clean = {k: v for k, v in os.environ.items() if not k.startswith("NVM_")}
SKIPPED = 77
SITES = 20
VIEWERS = [pathlib.Path(d, "valgrind/dh_view.html") for d in ("/usr/libexec", "/usr/lib", "/usr/local/libexec")]

# What its file dialog would do.
LOAD = """
const files = new DataTransfer();
files.items.add(new File([arguments[1]], arguments[0]));
gInput.files = files.files;
gInput.onchange();
"""


def export(scratch):
    report, dhat = scratch / "report.json", scratch / "dhat.json"
    report.write_text(json.dumps(made_up.report(made_up.printed(sys.argv[2]), 1, SITES, ["main"])))
    done = subprocess.run([nvmemu, "heat", "--format", "dhat", "--top", "0", report], env=clean, check=True,
                          timeout=60, capture_output=True, text=True)
    dhat.write_text(done.stdout)
    return done.stdout


def text_once(b, wanted):
    """The viewer's text, as soon as it has that in it."""
    for _ in range(300):
        text = " ".join(b.run("return document.body.innerText").split())
        if wanted in text or "error" in text.lower():
            break
        time.sleep(0.1)
    assert wanted in text, text
    return text


def main():
    viewer = next((v for v in VIEWERS if v.exists()), None)
    if not viewer or not browser.is_there():
        print("no viewer, or no browser: skipped")
        return SKIPPED
    b = browser.Browser()
    try:
        with tempfile.TemporaryDirectory() as name:
            dhat = export(pathlib.Path(name))
            points = json.loads(dhat)["pps"]
            assert len(points) == SITES
            b.open(viewer)
            b.run(LOAD, "dhat.json", dhat)
            text = text_once(b, "Invocation {")
            # each of the program points has blocks and bytes, and heat where accesses are
            assert f"Total: {sum(p['tb'] for p in points):,} bytes" in text, text
            assert f"{sum(p['tbk'] for p in points):,} blocks" in text, text
            assert f"Reads: {sum(p['rb'] for p in points):,} bytes" in text, text
            assert f"Writes: {sum(p['wb'] for p in points):,} bytes" in text, text
            assert f"PP 1.{SITES}/{SITES}" in text, text
            assert not b.log()
    finally:
        b.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
