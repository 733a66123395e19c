#!/usr/bin/env python3
"""docs/pages/manual.py NVMEMU SOURCE-DIRECTORY DIRECTORY VERSION

Writes the manual pages into DIRECTORY: of the command and its subcommands from what NVMEMU prints,
of the library from include/nvmemu.h, of reports from docs/report.schema.json."""

import pathlib
import shutil
import sys

import header
import helptext
import schema
from roff import Page, escape


def synopsis(command, page):
    page.heading("SYNOPSIS")
    for number, usage in enumerate(command.usage):
        rest = usage.removeprefix(command.name)
        page.lines += [".br"] * (number > 0)
        page.lines += [f"\\fB{escape(command.name)}\\fR{escape(rest)}"]


def write_block(kind, block, page):
    if kind == "text":
        page.text(block)
    elif kind == "example":
        page.example(block)
    elif block.value and not block.bound:
        bold, _, value = block.shown.rpartition(" ")
        page.item(bold, value, block.text)
    else:
        page.item(block.shown, "", block.text)


def split_blocks(blocks):
    """Those that describe, those among the options, and those that come after."""
    places = [place for place, (kind, _) in enumerate(blocks) if kind == "option"]
    if not places:
        return blocks, [], []
    first, last = places[0], places[-1] + 1
    # What introduces the options.
    if first and str(blocks[first - 1][1]).endswith(":"):
        first -= 1
    return blocks[:first], blocks[first:last], blocks[last:]


def subcommand_page(name, summary, command, version):
    page = Page(f"nvmemu-{name}", 1, version, summary)
    before, options, after = split_blocks(command.blocks)
    synopsis(command, page)
    page.heading("DESCRIPTION")
    for kind, block in before + after:
        write_block(kind, block, page)
    if options:
        page.heading("OPTIONS")
    shown = None
    for kind, block in options:
        if kind != "option" or block.shown != shown:
            write_block(kind, block, page)
        shown = block.shown if kind == "option" else None
    page.heading("EXIT STATUS")
    page.text(command.status)
    return page


def command_page(main, commands, variables, version):
    page = Page("nvmemu", 1, version, "emulate slower memory under unmodified programs")
    synopsis(main, page)
    page.heading("DESCRIPTION")
    listed = main.blocks.index(("text", "Commands:"))
    for kind, block in main.blocks[:listed] + main.blocks[listed + 2:]:
        write_block(kind, block, page)
    page.heading("COMMANDS")
    for name, summary, _ in commands:
        page.item(name, "", f"{summary}; see nvmemu-{name}(1)")
    page.heading("ENVIRONMENT")
    page.text("What the library reads; in brackets what holds where a variable is not set. Each is "
              "an option of nvmemu run too, whose page tells the accepted forms.")
    for name, fallback, meaning in variables:
        page.item(name, "", f"{meaning} ({fallback})")
    page.heading("EXIT STATUS")
    page.text(main.status)
    return page


def main(nvmemu, source, directory, version):
    source, directory = pathlib.Path(source), pathlib.Path(directory)
    main_command, commands = helptext.read_all(nvmemu)
    pages = [command_page(main_command, commands, helptext.read_variables(nvmemu), version)]
    pages += [subcommand_page(*row, version) for row in commands]
    pages += [header.page(source / "include/nvmemu.h", version),
              schema.page(source / "docs/report.schema.json", version)]

    # A page of a command that is no more must not stay.
    shutil.rmtree(directory, ignore_errors=True)
    for page in pages:
        page.see_also([(other.name, other.section) for other in pages])
        page.write(directory)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
