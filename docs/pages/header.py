"""The manual page of the library, from its header's comments and declarations."""

import re

from roff import Page

COMMENT = r"/\*(?P<comment>(?:(?!\*/).)*)\*/\n"
PART = re.compile(COMMENT + r"(?P<code>(?:(?!\n\n|/\*).|/\*(?:(?!\n).)*\*/)*)", re.S)
DECLARATION = re.compile(r"^NVMEMU_API (.*?(\w+)\(.*\));$", re.M)


def paragraphs(comment):
    lines = [re.sub(r"^ ?\* ?", "", line).strip() for line in comment.strip().split("\n")]
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip()]


def plain(code):
    return re.sub(r"^NVMEMU_API ", "", code.strip("\n"), flags=re.M).split("\n")


def write_functions(comment, declarations, page):
    tags = [(declaration, ";") for declaration, _ in declarations]
    said = paragraphs(comment)
    page.tags(tags, said[0])
    for text in said[1:]:
        page.more(text)


def page(path, version):
    text = path.read_text()
    head, body = text.split("#define NVMEMU_H\n", 1)
    c_part, cxx_part = body.split("namespace nvmemu\n", 1)
    about = paragraphs(PART.match(head)["comment"])
    parts = [(part["comment"], part["code"]) for part in PART.finditer(c_part)]
    functions = [(comment, DECLARATION.findall(code)) for comment, code in parts]
    names = [name for _, found in functions for _, name in found]
    if sorted(names) != sorted(re.findall(r"^NVMEMU_API .*?(\w+)\(", text, re.M)) or not names:
        raise SystemExit(f"{path}: a function without a comment before it")

    result = Page("nvmemu", 3, version, about[0].removeprefix("libnvmemu: ").rstrip("."), names)
    result.heading("SYNOPSIS")
    result.example(["#include <nvmemu.h>", ""] + [f"{declaration};" for _, found in functions
                                                  for declaration, _ in found])
    result.text("Compiled and linked with what pkg-config --cflags --libs nvmemu prints, or with "
                "the target nvmemu::nvmemu of CMake's find_package(nvmemu).")
    result.heading("DESCRIPTION")
    for said in about[1:]:
        result.text(said)
    result.heading("FUNCTIONS")
    for comment, found in functions:
        if found:
            write_functions(comment, found, result)
    result.heading("TYPES AND CONSTANTS")
    for constant, said in re.findall(r"^#define (NVMEMU_[A-Z]+) +\d+ /\* (.*) \*/$", c_part, re.M):
        result.item(constant, "", said)
    for comment, code in parts:
        if code.startswith("struct "):
            result.example(plain(code))
            for said in paragraphs(comment):
                result.text(said)
    result.heading("C++")
    for part in PART.finditer(cxx_part):
        if part["code"].startswith("class "):
            name = re.match(r"class (\w+)", part["code"])[1]
            parameters = re.search(rf"\t(?:explicit )?{name}(\(.*\))$", part["code"], re.M)[1]
            result.tags([(f"nvmemu::{name}", f" NAME{parameters}" if parameters != "()" else " NAME")],
                        " ".join(paragraphs(part["comment"])))
    return result
