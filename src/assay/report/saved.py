"""Results that were saved as JSON, recognised by their schema, as parts of a document."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from assay.design import Policy
from assay.errors import InputError, UsageError, WriteError
from assay.files.reading import read_json
from assay.report.document import Chart, Group, Part, part_of_result
from assay.results.record import SCHEMAS, Result, known_schema, record_type

#: Of every format, of one task or several, of a fixed number of windows or as many as were needed.
CERTIFICATES = (
    "assay.certificate.record:Certificate",
    "assay.certificate.suite.record:SuiteCertificate",
    "assay.certificate.gate.record:GateCertificate",
)

#: What records and charts raise for data that are not theirs.
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, AssertionError, RecursionError)


def part_of(result: Result | dict[str, Any]) -> Part:
    """A result, or what its `to_dict` gave, as a part of a document."""
    if isinstance(result, Result):
        return part_of_result(result)
    schema = str(result.get("schema"))
    if schema not in SCHEMAS:
        raise InputError(f"no page can be made of schema {schema!r}; known are {', '.join(SCHEMAS)}.")
    return part_of_result(record_type(schema).from_dict(result))


def read_part(path: Path, *, draw: bool = True, policy: Policy | None = None) -> Part:
    """The part of a result that was saved as JSON; ``draw`` makes its charts now, so that their errors show here.

    Certificates are judged by the ``policy`` of whoever reads the page, if there is one.
    """
    data = read_json(path, label=str(path), strict=True, advice="give a result that was saved as JSON")
    _check_schema(path, data)
    try:
        return check_part(
            _checked(path, policy) if SCHEMAS[data["schema"]] in CERTIFICATES else part_of(data), draw=draw
        )
    except (InputError, WriteError):
        raise
    except (UsageError, *_DAMAGE) as error:  # a setting that no command would have taken is damage too
        what = f"no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
        raise InputError(
            f"{path}: a damaged result of schema {data['schema']!r}, or one of another version of Assay "
            f"({what.partition(chr(10))[0]}); save it again."
        ) from error


def _check_schema(path: Path, data: Any) -> None:
    found = data.get("schema") if isinstance(data, dict) else type(data).__name__
    if isinstance(data, dict) and str(found) in SCHEMAS:
        return
    this = known_schema(found)
    if this is not None and SCHEMAS[this] in CERTIFICATES:
        from assay.certificate.verify import check_version  # late: only certificates need it

        check_version(path, found)
    if this is not None:
        raise InputError(f"{path}: written by another version of Assay (schema {found!r}); this one reads {this}.")
    raise InputError(f"{path}: not a result of Assay (schema {found!r}); give a result that was saved as JSON.")


def _checked(path: Path, policy: Policy | None) -> Part:
    """A certificate as a part, verified first."""
    from assay.certificate.verify import verify

    return part_of_result(verify(path, policy=policy))


def check_part(part: Part, *, draw: bool = True) -> Part:
    """Validate a part: every text is a string, every number finite. A record accepts whatever a file holds."""
    for text in (*_own_texts(part), *(text for group in part.groups for text in _texts(group, draw=draw))):
        if not isinstance(text, str):
            raise TypeError(f"a text was expected, but got {str(text)[:60]}")
    if part.gauge is not None:
        gauge = part.gauge
        for number in (gauge.value, gauge.low, gauge.high, *(mark.place for mark in gauge.marks)):
            if not isfinite(number):  # what is no number at all raises by itself
                raise ValueError(f"a number was expected, but got {number}")
    return part


def _own_texts(part: Part) -> Iterator[Any]:
    yield from (part.kind, part.name, part.title, part.sentence, part.signature, *part.notes)
    for fact in (*part.compared, *part.facts):
        yield from (fact.label, fact.text)
    if part.gauge is not None:
        yield from (part.gauge.label, part.gauge.text, *(mark.label for mark in part.gauge.marks))


def _check_rows(chart: Chart) -> None:
    """Refuse rows that hold anything but names and finite numbers, for instance a name that is a list."""
    for rows in chart.specification["datasets"].values():
        for value in (value for row in rows for value in row.values()):
            if value is not None and not isinstance(value, str) and not isfinite(value):
                raise ValueError(f"a number was expected, but got {value}")


def _texts(group: Group, *, draw: bool) -> Iterator[Any]:
    yield from (group.title, group.about, *group.said)
    for chart in group.charts if draw else ():
        _check_rows(chart)
        yield chart.text
    for table in group.tables:
        yield from (table.title, *table.header, *(cell for row in table.rows for cell in row))
        if any(len(row) != len(table.header) for row in table.rows):
            raise ValueError(f"a row of the table {table.title!r} is not as wide as its header")
