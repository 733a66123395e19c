"""What may stand after an option or a subcommand, as far as their help tells it."""

import re
from dataclasses import dataclass


@dataclass
class Values:
    words: list
    kind: str = ""  # "files", "devices", or only words


def without_brackets(text):
    return re.sub(r" ?\([^()]*\)", "", text)


def listed(text):
    """Those of "auto, spin, sleep or off" and "all, or a guidance file" that are words to be typed."""
    items = re.split(r", or |, | or ", text)
    return [item for item in items if re.fullmatch(r"[a-z]+", item)]


def enumerated(text):
    """Those of "rows of a site (default), arena, thread or kind"; none of a text that lists nothing."""
    head, *rest = re.split(r", | or ", without_brackets(text).partition(";")[0])
    words = [head.split()[-1], *rest] if len(rest) > 1 else []
    return words if all(re.fullmatch(r"[a-z]+", word) for word in words) else []


def of_option(option, options):
    alike = re.match(r"(?:.* )?as (?:for )?(--[a-z-]+)", option.text)
    if alike and option.value in ("...", "COLUMN"):
        return next(of_option(other, options) for other in options if alike[1] in other.names)
    if "|" in option.value and "[" not in option.value:
        return Values(option.value.split("|"))
    if option.value == "FILE":
        return Values([], "files")
    if option.value == "..." or option.bound:
        form = without_brackets(option.text).rpartition("; ")[2]
        if "nvmemu devices" in form:
            return Values([], "devices")
        return Values(listed(form), "files" if re.search(r"\bfile\b", form) else "")
    if option.value in ("WHAT", "COLUMN", "FORM", "FORMAT"):
        return Values(enumerated(option.text))
    return Values([])


def of_command(command):
    """What a subcommand takes besides options."""
    words = [usage.split()[2] for usage in command.usage[1:]]
    first = command.usage[0]
    if re.search(r"\b(FILE|REPORT)\b", first):
        return Values(words, "files")
    return Values(words, "devices" if command.name == "nvmemu devices" else "")


def program(command):
    """Whether a program to run is named: "word" (by the first word that is no option), "dashes" (after
    a "--" alone) or ""."""
    if "[--] PROGRAM" in command.usage[0]:
        return "word"
    return "dashes" if "[-- PROGRAM" in command.usage[0] else ""
