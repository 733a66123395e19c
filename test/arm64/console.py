"""Judges what the guest of test/guest printed. Argument: the file with its console."""
import sys

VERDICTS = {"@pass": "passed", "@fail": "FAILED", "@skip": "skipped"}


def main():
    with open(sys.argv[1], errors="replace") as f:
        lines = [line.rstrip() for line in f]
    counts = {verdict: 0 for verdict in VERDICTS}
    end = lines.index("@done") if "@done" in lines else len(lines)
    for line in lines[:end]:
        word, _, rest = line.partition(" ")
        if word in VERDICTS:
            counts[word] += 1
            print(f"{VERDICTS[word]}: {rest}")
        elif not line.startswith("@"):
            print(f"    {line}")
    if end == len(lines):
        print("FAILED: the guest did not come to its end")
        counts["@fail"] += 1
    print(f"{counts['@pass']} passed, {counts['@fail']} failed"
          + (f", {counts['@skip']} skipped" if counts["@skip"] else ""))
    return counts["@fail"] > 0


sys.exit(main())
