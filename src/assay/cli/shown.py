"""What becomes of a result: printed, saved, drawn, as a table. Options of every verb that has a result."""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer
from msgspec import Struct

from assay.cli import options
from assay.cli.arguments import as_options
from assay.cli.output import as_text, say, terminal_width
from assay.cli.progress import printed
from assay.cli.recipe import add_to_recipe, check_recipe
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.files.writing import make_folder, together, write_bytes
from assay.names import listed, nearest, visible
from assay.results.figures import Figure
from assay.results.parts import ResultTable
from assay.results.record import Result, Status
from assay.results.table_formats import TableFormat, table_as

_COLOURS: dict[Status, str] = {"good": "green", "bad": "red", "unsure": "yellow", "plain": "cyan"}

Charts = Annotated[
    list[str] | None,
    options.option(
        "Also draw it, to a .svg, .png or .pdf file; NAME=FILE draws another figure. May be given several times.",
        "--chart",
        panel=options.OUTPUT,
        value="[NAME=]FILE",
    ),
]
Tables = Annotated[
    list[str] | None,
    options.option(
        "Print its main table as latex, markdown, csv or html instead; csv:NAME another one; csv=FILE to a file.",
        "--table",
        panel=options.OUTPUT,
        value="FORMAT[:NAME][=FILE]",
    ),
]
RecipeOption = Annotated[
    Path | None,
    options.option(
        "Also write, or add to, a shell script that runs this again on the same files and compares what it says.",
        "--recipe",
        panel=options.OUTPUT,
        value="FILE.sh",
    ),
]
SentenceOnly = Annotated[bool, options.option("Print the sentence only.", "--sentence", panel=options.OUTPUT)]
Verbose = Annotated[
    bool,
    options.option(
        "Print every number, how it was computed, and the signature.", "--verbose", "-v", panel=options.OUTPUT
    ),
]
Full = Annotated[bool, options.option("Print every row of long tables.", "--full", panel=options.OUTPUT)]


class TableTarget(Struct, frozen=True):
    """A table to write: its format, its name (``None``: the main one), where to (``None``: print it)."""

    form: TableFormat
    name: str | None
    path: Path | None


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a result goes, as the command line says."""

    chart: Charts = None
    table: Tables = None
    markdown: options.Markdown = None
    save: options.Save = None
    recipe: RecipeOption = None
    sentence: SentenceOnly = False
    verbose: Verbose = False
    full: Full = False
    as_json: options.Json = False

    def check(self, inputs: Iterable[Path | None], *others: Path | None) -> None:
        """Refuse what cannot be written, before anything is read."""
        given = [path for _, path in self.charts] + [target.path for target in self.tables]
        check_outputs([*given, self.markdown, self.save, self.recipe, *others], list(inputs))
        if self.recipe is not None:
            check_recipe(self.recipe)

    @property
    def charts(self) -> list[tuple[str | None, Path]]:
        return [_chart_target(text) for text in self.chart or ()]

    @property
    def tables(self) -> list[TableTarget]:
        return [_table_target(text) for text in self.table or ()]

    def show(
        self,
        result: Result,
        *,
        draw: Callable[[Path], None] | None = None,
        text: str | None = None,
        junit: Path | None = None,
        **how: Any,
    ) -> None:
        """Write the result wherever that was asked for, all files or none; then print it.

        ``draw`` draws a chart without a name instead of the main figure; ``text`` is printed instead of its own.
        """
        self.write(result, draw=draw, junit=junit)
        self.print(result, text=text, junit=junit, **how)

    def write(
        self,
        result: Result,
        *,
        draw: Callable[[Path], None] | None = None,
        markdown: str | None = None,
        junit: Path | None = None,
    ) -> None:
        """Write the result wherever that was asked for, all files or none; ``markdown`` instead of its own."""
        tables = [(target, _table(result, target.name)) for target in self.tables]
        figures = [(None if name is None and draw else _figure(result, name), path) for name, path in self.charts]
        with together():
            for figure, path in figures:
                _draw(figure, path, draw)
            for target, table in tables:
                if target.path is not None:
                    write_bytes(target.path, table_as(table, target.form).encode())
            if self.markdown is not None and markdown is not None:
                write_bytes(self.markdown, markdown.encode())
            elif self.markdown is not None:
                from assay.report.files import write_markdown  # late: reports load what draws charts

                write_markdown(result, self.markdown)
            if junit is not None:
                from assay.report.junit import write_junit  # late, as above

                write_junit(result, junit, as_options)
            if self.recipe is not None:
                add_to_recipe(self.recipe, result)
            if self.save is not None:
                make_folder(self.save.parent)
                write_bytes(self.save, (as_text(result) + "\n").encode())

    def _say_files(self, junit: Path | None) -> None:
        said: list[tuple[str, Path | None]] = [("Chart", path) for _, path in self.charts]
        said += [("Table", target.path) for target in self.tables]
        for what, path in [
            *said,
            ("Markdown", self.markdown),
            ("JUnit", junit),
            ("Saved", self.save),
            ("Recipe", self.recipe),
        ]:
            if path is not None:
                say(f"{what}: {path}", err=True)

    def print(self, result: Result, *, text: str | None = None, junit: Path | None = None, **how: Any) -> None:
        """Say which files were written, on stderr; then print what was asked for, or the text."""
        self._say_files(junit)
        tables = [table_as(_table(result, one.name), one.form) for one in self.tables if one.path is None]
        if self.as_json:
            printed(as_text(result))
        elif self.sentence:
            say(result.sentence)
        elif tables:
            printed("\n".join(tables), nl=False)
        else:
            wide = terminal_width() if sys.stdout.isatty() else None
            made = result.to_text(wide, verbose=self.verbose, full=self.full, **how) if text is None else text
            printed(_coloured(visible(as_options(made)), result.status))


def _coloured(text: str, status: Status) -> str:
    """The verdict in the colour of its answer, where a terminal shows colours."""
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    verdict, blank, rest = text.partition("\n\n")
    return typer.style(verdict, fg=_COLOURS[status], bold=True) + blank + rest


# ------------------------------------------------------------------------------------------------------------- targets


def _chart_target(text: str) -> tuple[str | None, Path]:
    """FILE, or NAME=FILE; refused where its ending is no picture's."""
    from assay.report.charts import check_chart  # late: only if a chart is asked for

    name, equals, rest = text.partition("=")
    path = Path(rest if equals and "/" not in name else text)
    try:
        check_chart(path)
    except UsageError as error:
        raise options.OptionError(str(error)) from None
    return (name if equals and "/" not in name else None), path


def _table_target(text: str) -> TableTarget:
    """FORMAT, FORMAT:NAME, either with =FILE."""
    what, equals, file = text.partition("=")
    form, _, name = what.partition(":")
    known = get_args(TableFormat)
    if form not in known or (equals and not file):
        raise options.OptionError(f"--table must look like {known[0]}, csv:NAME or csv=FILE, but got {text!r}.")
    return TableTarget(cast(TableFormat, form), name or None, Path(file) if file else None)


def _table(result: Result, name: str | None) -> ResultTable:
    return result.main_table if name is None else result.table(name)


def _figure(result: Result, name: str | None) -> Figure:
    figures = {figure.name: figure for figure in result.figures}
    if name is None:
        first = next(iter((*result.main_figures, *result.figures)), result.gauge)
        if first is None:
            raise UsageError(f"this {result.kind_name} has nothing to draw; leave `chart` out.")
        return first
    if name not in figures:
        close = nearest(name, list(figures))
        hint = f"did you mean {close!r}?" if close else f"there are {listed(figures) or 'none'}."
        raise UsageError(f"no figure {name!r} in this result; {hint}")
    return figures[name]


def _draw(figure: Figure | None, path: Path, draw: Callable[[Path], None] | None) -> None:
    if figure is None:
        assert draw is not None
        draw(path)
        return
    from assay.report.charts import write_figure  # late: only if a chart is asked for

    write_figure(figure, path)
