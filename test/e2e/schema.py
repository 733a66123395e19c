"""Documents against the schema of reports, which must know every key that there is."""
import json
import pathlib

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "report.schema.json"
THREADS = 16  # of these the others are like

try:
    import jsonschema
except ImportError:
    jsonschema = None


def closed(schema):
    """The same, but a key that it does not describe is an error."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    stricter = {k: closed(v) for k, v in schema.items()}
    if "properties" in schema and "additionalProperties" not in schema:
        stricter["unevaluatedProperties"] = False
    return stricter


def load():
    schema = json.loads(SCHEMA.read_text())
    # A thread has the keys of the totals and its own: neither part may forbid the other's.
    strict = closed(schema)
    del strict["$defs"]["totals"]["unevaluatedProperties"]
    for holder in (strict["$defs"]["report"], strict["$defs"]["run"]):
        holder["properties"]["totals"]["unevaluatedProperties"] = False
    return schema, strict


def validator(strict=True):
    kind = jsonschema.Draft202012Validator
    schema = load()[strict]
    kind.check_schema(schema)
    return kind(schema)


_strict = validator() if jsonschema else None


def shortened(document):
    document = dict(document)
    for key, of in (("threads", lambda t: t), ("processes", shortened)):
        if key in document:
            document[key] = [of(item) for item in document[key][:THREADS]]
    return document


def check_schema(document):
    if not _strict:
        return
    error = jsonschema.exceptions.best_match(_strict.iter_errors(shortened(document)))
    assert not error, f"{SCHEMA.name}: {error.json_path}: {error.message}"
