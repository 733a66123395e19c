"""Reads what `nvmemu --help` and `nvmemu COMMAND --help` print: the one source of the manual pages
and of the shells' completions. Form that is not understood is an error, so that the build tells of a
help text that has lost it."""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Option:
    names: list  # ["-o", "--output"]
    value: str  # "FILE"; empty: takes none
    bound: bool  # the value comes after a '=' alone, and may be left out
    shown: str  # as the help shows it: "-o, --output FILE"
    text: str


@dataclass
class Command:
    name: str  # "nvmemu run"
    usage: list
    blocks: list = field(default_factory=list)  # ("text", str), ("option", Option), ("example", [str])
    status: str = ""

    @property
    def options(self):
        return [block for kind, block in self.blocks if kind == "option"]


def run(nvmemu, *arguments):
    return subprocess.run([nvmemu, *arguments], check=True, stdout=subprocess.PIPE, text=True,
                          env={"LC_ALL": "C"}).stdout


NAME = r"(-[a-z]|--[a-z][a-z0-9-]*)(\[=\w+\])?(?: ([A-Z][^\s,]*|\.\.\.|[a-z]+(?:\|[a-z]+)+))?"
SHOWN = re.sub(r"(?<!\\)\((?!\?)", "(?:", NAME)
OPTION = re.compile(rf"^ {{2,6}}({SHOWN}(?:, {SHOWN})*)(?: +(\S.*))?$")


def read_option(shown, text):
    """One line may name several that have no more in common than what is said of them."""
    result = []
    for part in shown.split(", "):
        name, bound, value = re.fullmatch(NAME, part).groups()
        result.append((name, value or (bound or "")[2:-1], bool(bound)))
    if len(result) > 2 or all(name.startswith("--") for name, _, _ in result):
        return [Option([name], value, bound, shown, text) for name, value, bound in result]
    return [Option([name for name, _, _ in result], result[-1][1], result[-1][2], shown, text)]


def read_paragraph(lines):
    """A paragraph of the help, as blocks."""
    blocks = []
    for line in lines:
        match = OPTION.match(line)
        if match:
            blocks += [("option", option) for option in read_option(match[1], match[2] or "")]
        elif re.match(r" {2,6}-", line):
            raise SystemExit(f"the help: cannot read the option '{line.strip()}'")
        elif line.startswith("        ") and blocks and blocks[-1][0] == "option":
            shown = blocks[-1][1].shown
            for kind, block in blocks:
                if kind == "option" and block.shown == shown:
                    block.text = f"{block.text} {line.strip()}".strip()
        elif line.startswith("  "):
            if not blocks or blocks[-1][0] != "example":
                blocks.append(("example", []))
            blocks[-1][1].append(line[2:])
        elif blocks and blocks[-1][0] == "text":
            blocks[-1] = ("text", f"{blocks[-1][1]} {line}")
        else:
            blocks.append(("text", line))
    return blocks


def read_command(nvmemu, name=""):
    paragraphs = [part.split("\n") for part in re.split(r"\n\n+", run(
        nvmemu, *([name] if name else []), "--help").rstrip("\n"))]
    usage = [line.strip().removeprefix("usage: ") for line in paragraphs[0]]
    full = f"nvmemu {name}".strip()
    if not paragraphs[0][0].startswith("usage: ") or not all(u.startswith(full) for u in usage):
        raise SystemExit(f"the help: '{full}' does not begin with its usage")
    command = Command(full, usage)
    for lines in paragraphs[1:]:
        for kind, block in read_paragraph(lines):
            head, _, rest = block.partition("Exit status: ") if kind == "text" else (block, "", "")
            if rest:
                command.status = rest
            if head:
                command.blocks.append((kind, head))
    if not command.status:
        raise SystemExit(f"the help: '{full}' tells no exit status")
    return command


def read_all(nvmemu):
    """The command itself, its subcommands as (name, summary, Command)."""
    main = read_command(nvmemu)
    rows = [line for kind, block in main.blocks if kind == "example" for line in block]
    found = [re.match(r"([a-z]+) {2,}(\S.*)$", row) for row in rows]
    commands = [(row[1], row[2], read_command(nvmemu, row[1])) for row in found if row]
    if len(commands) < 2:
        raise SystemExit("the help: no list of commands")
    return main, commands


def read_variables(nvmemu):
    """Rows (name, default, meaning)."""
    lines = run(nvmemu, "env", "--markdown").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
