"""Writes pages of man(7)."""

import gzip
import re


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^\.", r"\\&.", text)


def quote(text):
    return '"' + escape(text).replace('"', "\\(dq") + '"'


def fold(text):
    """In lines of at most 80 characters or a word, none of which begins with a full stop."""
    lines, words = [""], escape(text).split()
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > 78:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return [re.sub(r"^\.", r"\\&.", line) for line in lines]


class Page:
    """also: other names that the page is found by."""

    def __init__(self, name, section, version, summary, also=()):
        self.name, self.section, self.also = name, section, also
        self.lines = [f'.TH {quote(name.upper())} {section} "" '
                      f'{quote("nvmemu " + version)}', ".SH NAME",
                      f"{escape(', '.join([name, *also]))} \\- {escape(summary)}"]
        self.fresh = False

    def more(self, text):
        """Another paragraph of the last item."""
        self.lines += [".IP", *fold(text)]

    def heading(self, text):
        self.lines.append(f".SH {quote(text)}" if " " in text else f".SH {escape(text)}")
        self.fresh = True

    def text(self, text):
        if not self.fresh:
            self.lines.append(".PP")
        self.lines += fold(text)
        self.fresh = False

    def item(self, bold, italic, text):
        """A tagged paragraph; an empty text is one of the tag alone."""
        tag = f"\\fB{escape(bold)}\\fR" + (f" \\fI{escape(italic)}\\fR" if italic else "")
        self.lines += [".TP", tag] + (fold(text) if text else ["\\&"])
        self.fresh = False

    def tags(self, tags, text):
        """Several tags of one text, each (bold, rest)."""
        for number, (bold, rest) in enumerate(tags):
            self.lines += [".TP" if number == 0 else ".TQ", f"\\fB{escape(bold)}\\fR{escape(rest)}"]
        self.lines += fold(text)
        self.fresh = False

    def example(self, lines):
        if not self.fresh:
            self.lines.append(".PP")
        self.lines += [".RS 4", ".nf"]
        self.lines += [re.sub(r"^\.", r"\\&.", escape(line.replace("\t", "    "))) or "\\&"
                       for line in lines]
        self.lines += [".fi", ".RE"]
        self.fresh = False

    def see_also(self, names):
        self.heading("SEE ALSO")
        names = sorted(set(names) - {(self.name, self.section)},
                       key=lambda name: (name[1], name[0]))
        for number, (name, section) in enumerate(names):
            comma = "," if number < len(names) - 1 else ""
            self.lines.append(f".BR {escape(name)} ({section}){comma}")

    def write(self, directory):
        """Compressed, the same bytes each time."""
        there = directory / f"man{self.section}"
        there.mkdir(parents=True, exist_ok=True)
        data = gzip.compress(("\n".join(self.lines) + "\n").encode(), 9, mtime=0)
        file = f"{self.name}.{self.section}.gz"
        (there / file).write_bytes(data)
        for name in self.also:
            (there / f"{name}.{self.section}.gz").symlink_to(file)
