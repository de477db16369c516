"""Tables: numbers to the right, columns that a click on their heads sorts, and their data to save."""

from collections.abc import Sequence
from html import escape

from assay.names import file_name
from assay.report.document import ShownTable
from assay.report.html.how import how_html


def table_html(name: str, table: ShownTable) -> str:
    """A table that scrolls within itself where it is wider than the page."""
    numbers = table.sorted_by or (None,) * len(table.header)
    head = "".join(_head(text, right=found is not None) for text, found in zip(table.header, numbers, strict=True))
    body = "".join(_row(place, row, numbers) for place, row in enumerate(table.rows))
    buttons = "".join(
        f"<button type='button' data-table='{name}' data-file='{file_name(table.title)}' data-format='{kind}' "
        f"aria-describedby='{name}-caption'>"
        f"{kind.upper()}</button>"
        for kind in ("csv", "json")
    )
    return (
        f"<div class='table'><p class='caption'><span id='{name}-caption'>{escape(table.title)}</span>"
        f"{how_html(table.method)}</p>"
        f"<div class='scroll' tabindex='0' role='group' aria-labelledby='{name}-caption'>"
        f"<table id='{name}' aria-labelledby='{name}-caption'>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"<p class='save'>{buttons}</p></div>"
    )


def _head(text: str, *, right: bool) -> str:
    """A column without a name has nothing to press."""
    if not text:
        return "<td></td>"
    return f"<th scope='col'{_side(right=right)}><button type='button' data-sort>{escape(text)}</button></th>"


def _row(place: int, row: Sequence[str], numbers: Sequence[tuple[float | None, ...] | None]) -> str:
    cells = []
    for column, (text, found) in enumerate(zip(row, numbers, strict=True)):
        value = None if found is None else found[place]
        key = "" if value is None else f" data-value='{value:.10g}'"
        tag = "th scope='row'" if column == 0 else "td"
        cells.append(f"<{tag}{_side(right=found is not None)}{key}>{escape(text)}</{tag.split(maxsplit=1)[0]}>")
    return f"<tr>{''.join(cells)}</tr>"


def _side(*, right: bool) -> str:
    return " class='number'" if right else ""
