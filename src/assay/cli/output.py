"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.arguments import as_options
from assay.files.places import check_outputs
from assay.files.writing import make_folder, together, write_bytes
from assay.names import visible, visible_json
from assay.results.record import Result

__all__ = ["Json", "Save", "as_text", "check_outputs", "say", "say_json", "say_over", "show", "terminal_width"]

_PANEL = "Output"
_NARROW, _WIDE = 80, 120  # columns of a table

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_PANEL)]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Also write the result as JSON, for assay report.", rich_help_panel=_PANEL
    ),
]


def show(
    result: Result,
    *,
    as_json: bool,
    save: Path | None = None,
    markdown: Path | None = None,
    chart: Path | None = None,
    draw: Callable[[Path], None] | None = None,
    text: str | None = None,
) -> None:
    """Write the result wherever that was asked for, all files or, where one cannot be written, none; then print it."""
    with together():
        if chart is not None and draw is not None:
            draw(chart)
        elif chart is not None:
            from assay.report.charts import write_figure  # late: only if a chart is asked for

            write_figure(result.figures[0], chart)
        if markdown is not None:
            from assay.report.files import write_markdown  # late: reports load what draws charts

            write_markdown(result, markdown)
        if save is not None:
            make_folder(save.parent)
            write_bytes(save, (as_text(result) + "\n").encode())
    for what, path in {"Chart": chart, "Markdown": markdown, "Saved": save}.items():
        if path is not None:
            say(f"{what}: {path}", err=True)
    if as_json:
        typer.echo(as_text(result))
    else:
        say(str(result) if text is None else text)


def terminal_width() -> int:
    """Columns that tables may take: those of the terminal, within reason."""
    return min(max(shutil.get_terminal_size((_NARROW, 24)).columns, _NARROW), _WIDE)


def as_text(result: Result) -> str:
    """The result as JSON."""
    return visible_json(json_lines(result.to_dict()))


def json_lines(data: Any, margin: str = "") -> str:
    """JSON in lines, with a list of plain values in one: a column of numbers is no page."""
    inner = f"{margin}  "
    if isinstance(data, dict) and data:
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {json_lines(value, inner)}" for key, value in data.items()]
    elif isinstance(data, list) and any(isinstance(value, dict | list) for value in data):
        lines = [json_lines(value, inner) for value in data]
    else:
        return json.dumps(data, ensure_ascii=False, allow_nan=False)
    start, end = "{}" if isinstance(data, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(lines) + f"\n{margin}{end}"


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print, with options for arguments; names in the text come from files, and no terminal shall obey them."""
    typer.echo(visible(as_options(text)), err=err, nl=nl)


def say_json(data: dict[str, Any], *, sort_keys: bool = False) -> None:
    """Print data as JSON, every character of it in a form that no terminal obeys."""
    typer.echo(visible_json(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=sort_keys)))


def say_over(text: str, *, last: bool) -> None:
    """Progress on stderr: a line that is written over on a terminal, until the last one; plain lines elsewhere."""
    terminal = sys.stderr.isatty()
    typer.echo(f"\r{visible(text):<79}" if terminal else visible(text), err=True, nl=not terminal or last)
