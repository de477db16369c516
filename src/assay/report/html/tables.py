"""Tables as HTML: numbers to the right, each column sorted by a click on its head, the data to save."""

import re
from collections.abc import Sequence
from html import escape
from math import inf, isfinite, nextafter

from assay.report.document import Table
from assay.report.names import file_name
from assay.results.explanations import Explanation

_NUMBER = r"[−+-]?\d[\d,]*(?:\.\d+)?(?:[eE][−+-]?\d+)?"
_QUANTITY = re.compile(
    rf"(?:p ?)?(?P<sign>[<≤>≥=×±]?) ?\[?(?P<number>{_NUMBER})"  # a sign of comparison, a number
    r"(?: ?(?P<unit>%|[A-Za-z]{1,12}))?"  # a unit, or the letter of a tier
    rf"(?: ?(?:to|–|±) ?{_NUMBER}\]?)?"  # a range
    r"(?: *[\[(][^\])]*[\])])*",  # an interval
    re.ASCII,
)
_ROUND_TRIP = str.maketrans({"−": "-", ",": None})
_BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}  # sizes are sorted, and saved, in bytes
_ABSENT = ("", "–", "—", "none", "not measured")


def table_html(name: str, table: Table) -> str:
    """A table that scrolls within itself where it is wider than the page."""
    numbers = _numbers(table) if table.sorted_by is None else table.sorted_by
    head = "".join(_head(text, right=found is not None) for text, found in zip(table.header, numbers, strict=True))
    body = "".join(_row(place, row, numbers) for place, row in enumerate(table.rows))
    buttons = "".join(
        f"<button type='button' data-table='{name}' data-file='{file_name(table.title)}' data-format='{kind}' "
        f"aria-describedby='{name}-caption'>"
        f"{kind.upper()}</button>"
        for kind in ("csv", "json")
    )
    return (
        f"<div class='table'><p class='caption' id='{name}-caption'>{escape(table.title)}</p>"
        f"<div class='scroll' tabindex='0' role='group' aria-labelledby='{name}-caption'>"
        f"<table id='{name}' aria-labelledby='{name}-caption'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{how_html(table.method)}<p class='save'>{buttons}</p></div>"
    )


def how_html(method: Explanation | None) -> str:
    """How a number was computed, folded."""
    if method is None:
        return ""
    page = f"<cite>Documentation: {escape(method.page)}</cite>"
    return f"<details class='how'><summary>How this was computed</summary><p>{escape(method.text)} {page}</p></details>"


def _head(text: str, *, right: bool) -> str:
    """A column without a name has nothing to press."""
    if not text:
        return "<td></td>"
    return f"<th scope='col'{_side(right=right)}><button type='button' data-sort>{escape(text)}</button></th>"


def _numbers(table: Table) -> list[tuple[float | None, ...] | None]:
    """What the cells say, where a table holds texts only."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    return [tuple(map(first_number, column)) if is_numeric(column) else None for column in columns]


def _row(place: int, row: Sequence[str], numbers: Sequence[tuple[float | None, ...] | None]) -> str:
    cells = []
    for column, (text, found) in enumerate(zip(row, numbers, strict=True)):
        value = None if found is None else found[place]
        key = "" if value is None else f" data-value='{value!r}'"
        tag = "th scope='row'" if column == 0 else "td"
        cells.append(f"<{tag}{_side(right=found is not None)}{key}>{escape(text)}</{tag.split(maxsplit=1)[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _side(*, right: bool) -> str:
    return " class='number'" if right else ""


def is_numeric(column: Sequence[str]) -> bool:
    """Does the column hold numbers? At least one, and nothing but numbers and words for their absence."""
    absent = [text in _ABSENT or text.startswith("undefined") for text in column]
    found = [first_number(text) is not None for text in column]
    return any(found) and all(a or b for a, b in zip(found, absent, strict=True))


def first_number(text: str) -> float | None:
    """The number of a cell that is one: `0.12 [0.1 to 0.2]`, `< 0.001`, `12 %`, `3 MiB`, `1–3`; not of a sentence."""
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return None
    value = float(found["number"].translate(_ROUND_TRIP))
    value *= _BYTES.get(found["unit"] or "", 1)
    if found["sign"] in ("<", ">"):  # just beside the number, so that it is sorted beside it
        value = nextafter(value, -inf if found["sign"] == "<" else inf)
    return value if isfinite(value) else None
