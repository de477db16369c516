"""A table of a result for a paper, a page or a spreadsheet: LaTeX, Markdown, HTML, CSV. All from the same numbers."""

import csv
import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Literal, get_args

from assay.errors import UsageError
from assay.names import visible
from assay.results.parts import Column, ResultTable
from assay.stats.records import Estimate, Interval

TableFormat = Literal["latex", "markdown", "csv", "html"]
FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\ge$",
    "≤": r"$\le$",
    "–": "-" * 2,
}
_Part = tuple[str, str, list[str]]  # a column of LaTeX: heading, kind, cells
_SIGNIFICANT = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
_PLAIN = re.compile(r"[+-]?\d[\d,]*(\.\d+)?(e[+-]?\d+)?")  # what siunitx reads, once commas are out
_FORMULA = re.compile(r"[=+@\t\r-]")  # a text that a spreadsheet would run


def table_as(table: ResultTable, form: TableFormat) -> str:
    """The table in a format, ending in a line feed.

    >>> table = ResultTable("models", "models", (Column("model", ["x_1"]), Column("score", [0.5])))
    >>> print(table_as(table, "markdown"), end="")
    | model | score |
    | :--- | ---: |
    | x_1 | 0.5 |
    """
    writers: dict[TableFormat, Callable[[ResultTable], str]] = {
        "latex": latex,
        "markdown": markdown,
        "csv": comma_separated,
        "html": html,
    }
    if form not in writers:
        raise UsageError(f"a table is written as one of {', '.join(FORMATS)}, but got {form!r}.")
    return writers[form](table)


# ---------------------------------------------------------------------------------------------------------------- LaTeX


def latex(table: ResultTable) -> str:
    """With booktabs and siunitx: plain numbers in S columns, intervals beside their values, a rule between tiers."""
    p = _marked(table)
    columns = [part for column in table.shown for part in _parts(column, marked=column is p)]
    head = " & ".join(f"{{{_tex(name)}}}" for name, _, _ in columns)
    rows = [" & ".join(cells) + r" \\" for cells in zip(*(cells for _, _, cells in columns), strict=True)]
    for place in reversed(_breaks(table)):
        rows.insert(place, r"\midrule")
    note = ["% * p < .05, ** p < .01, *** p < .001"] if p is not None else []
    return "\n".join(
        [
            r"% needs \usepackage{booktabs} and \usepackage{siunitx}",
            *note,
            rf"\begin{{tabular}}{{{''.join(kind for _, kind, _ in columns)}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _parts(column: Column, *, marked: bool) -> list[_Part]:
    """A column as LaTeX has it: heading, kind and cells; an estimate is a number and the interval beside it."""
    if any(isinstance(value, Estimate) and value.interval is not None for value in column.values):
        pairs = [_split(text) for text in column.texts]
        name, _, level = column.name.removesuffix("]").partition(" [")
        if not any(limits for _, limits in pairs):  # the column writes its values in another way
            return [_numbers(name, column.texts)]
        interval = f"{level} CI" if level.endswith("%") else "CI"
        return [_numbers(name, [value for value, _ in pairs]), (interval, "l", [_tex(limits) for _, limits in pairs])]
    if column.numeric and not any(isinstance(value, Interval) for value in column.values):
        marks = [_stars(p) for p in column.numbers or ()] if marked else None
        return [_numbers(column.name, column.texts, marks)]
    return [(column.name, "l", [_tex(text) for text in column.texts])]


def _split(text: str) -> tuple[str, str]:
    """``0.72 [0.68 to 0.76]`` as value and interval."""
    value, bracket, limits = text.partition("[")
    return value.strip(), f"[{limits.replace(',', '').replace(' to ', ', ')}" if bracket else ""


def _numbers(name: str, texts: Sequence[str], marks: Sequence[str] | None = None) -> _Part:
    """A column that siunitx lines up, where it can read all numbers."""
    plain = [text.replace("−", "-") for text in texts]
    if not all(_PLAIN.fullmatch(text) or text == "–" for text in plain):
        return name, "r", [_tex(text) for text in texts]
    pairs = zip(plain, marks or [""] * len(plain), strict=True)
    kind = "S[retain-explicit-plus]" if any(text.startswith("+") for text in plain) else "S"
    return name, kind, ["{--}" if text == "–" else text.replace(",", "") + mark for text, mark in pairs]


def _marked(table: ResultTable) -> Column | None:
    """The column of p-values that marks stand at: adjusted ones, where there are any."""
    found = [column for column in table.shown if "adjusted" in (column.key or column.name)]
    found += [column for column in table.shown if (column.key or column.name).startswith("p_") or column.name == "p"]
    return next(iter(found), None)


def _stars(p: float | None) -> str:
    return (
        "" if p is None else next((f"{{\\textsuperscript{{{mark}}}}}" for limit, mark in _SIGNIFICANT if p < limit), "")
    )


def _breaks(table: ResultTable) -> list[int]:
    """Before which rows a new tier begins, or the total stands."""
    kinds = next((column.values for column in table.columns if column.name == "kind"), ())
    if "total" in kinds:
        return [list(kinds).index("total")]
    tiers = next((column for column in table.shown if column.name == "tier"), None)
    if tiers is None:
        return []
    values = [str(value) for value in tiers.values]
    return [place for place in range(1, len(values)) if values[place] != values[place - 1]]


def _tex(text: str) -> str:
    signed = re.sub(r"(?<![\w-])-(?=\d)", "−", visible(text))
    return "".join(_LATEX.get(letter, letter) for letter in signed)


# ---------------------------------------------------------------------------------------------------------- other forms


def markdown(table: ResultTable) -> str:
    """A table of GitHub's Markdown; numbers to the right."""
    sides = ["---:" if column.to_the_right else ":---" for column in table.shown]
    lines = [table.header, sides, *table.rows]
    return "".join(f"| {' | '.join(_cell(text) for text in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"([|<>`\\])", r"\\\1", " ".join(visible(text).split()))


def comma_separated(table: ResultTable) -> str:
    """The numbers without rounding, an interval in two columns; no cell is a formula of a spreadsheet."""
    records = table.records()
    file = StringIO()
    names = list(dict.fromkeys(name for record in records for name in record))
    writer = csv.DictWriter(file, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _safe(value) for name, value in record.items()} for record in records)
    return file.getvalue()


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if _FORMULA.match(text) else text


def html(table: ResultTable) -> str:
    """A plain table, to be styled by the page it stands in."""
    sides = [" style='text-align:right'" if column.to_the_right else "" for column in table.shown]
    head = "".join(f"<th{side}>{_text(name)}</th>" for name, side in zip(table.header, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_text(text)}</td>' for text, side in zip(row, sides, strict=True))}</tr>\n"
        for row in table.rows
    )
    caption = f"<caption>{_text(table.heading)}</caption>\n" if table.title else ""
    return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _text(text: str) -> str:
    from html import escape

    return escape(visible(text))
