"""The manual page of the report format, from its schema."""

import json

from roff import Page

KINDS = {"integer": "integer", "number": "number", "string": "string", "boolean": "true or false",
         "object": "object", "array": "array", "null": "null"}
# Short names of kinds of figures; all other definitions have a section of their own.
UNITS = {"count": "count", "nanoseconds": "ns", "share": "0 to 1", "latency": "ns", "time": "time"}


def kind(node):
    """What a value is, in a word or two, and the definition that tells more of it."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return (UNITS[name], None) if name in UNITS else ("object", name)
    if "const" in node:
        return json.dumps(node["const"]), None
    if "enum" in node:
        return " or ".join(json.dumps(value) for value in node["enum"]), None
    for choice in ("oneOf", "anyOf"):
        if choice in node:
            found = [kind(other) for other in node[choice]]
            return " or ".join(word for word, _ in found), next((d for _, d in found if d), None)
    types = node.get("type", "object")
    types = types if isinstance(types, list) else [types]
    word = " or ".join(KINDS[name] for name in types)
    if "array" in types and "items" in node:
        of, more = kind(node["items"])
        return f"{word} of {of}s" if of == "object" else f"{word} of {of}", more
    return word, None


def write_keys(node, prefix, page, count):
    """The keys of an object, and of those in it, by their path. Returns how many."""
    for key, value in node.get("properties", {}).items():
        word, more = kind(value)
        said = value.get("description", "")
        said += (": " if said else "") + f"see {more}" if more else ""
        absent = "" if key in node.get("required", []) else ", may be absent"
        page.item(f"{prefix}{key}", f"({word}{absent})", said)
        count = write_keys(value, f"{prefix}{key}.", page, count + 1)
        if isinstance(value.get("items"), dict):
            count = write_keys(value["items"], f"{prefix}{key}[].", page, count)
    return count


def page(path, version):
    schema = json.loads(path.read_text())
    result = Page("nvmemu-report", 5, version, schema["title"][0].lower() + schema["title"][1:])
    result.heading("DESCRIPTION")
    result.text(schema["description"])
    result.text("Reports are JSON in UTF-8. What follows is a digest of the schema, "
                "report.schema.json, by which a validator can check a report: a key's path, in "
                "brackets its value, and what it says. Times are nanoseconds where a key ends in _ns; "
                "a share is a number from 0 to 1; a date is written as 2026-01-31T12:00:00Z.")
    definitions = schema["$defs"]
    # Documents first, what they are made of in the schema's order.
    tops = [choice["$ref"].rpartition("/")[2] for choice in schema["oneOf"]]
    total = 0
    for name in tops + [name for name in definitions if name not in tops and name not in UNITS]:
        node = definitions[name]
        result.heading(name.upper())
        word, _ = kind(node)
        result.text(node.get("description", "A document." if name in tops else f"An {word}."))
        for other in node.get("allOf", []):
            result.text(f"All keys of {kind(other)[1]}, and:")
        total += write_keys(node, "", result, 0)
        if isinstance(node.get("items"), dict):
            total += write_keys(node["items"], "[].", result, 0)
    if not total:
        raise SystemExit(f"{path}: no keys")
    return result
