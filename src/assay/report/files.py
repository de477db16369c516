"""Results from files and folders as a document, and a document as files."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from os import PathLike
from os.path import realpath
from pathlib import Path
from typing import Any, Literal
from warnings import warn

from assay.design import Policy
from assay.errors import AssayWarning, InputError, UsageError
from assay.files.places import check_outputs
from assay.files.writing import make_folder, together, write_bytes
from assay.names import file_name
from assay.report.charts import can_draw, write_chart
from assay.report.document import Part, ReportDocument
from assay.report.html import write_page
from assay.report.markdown import document_markdown, part_markdown, sections_markdown
from assay.report.saved import part_of, read_part
from assay.results.parts import ResultTable, Section
from assay.results.record import Result

PAGES = (".html", ".md")
ReportSource = Result | dict[str, Any] | str | PathLike[str]
PolicySource = Policy | str | PathLike[str]
NO_TABLES: Mapping[str, ResultTable] = {}


def write_report(
    page: str | PathLike[str],
    *results: ReportSource,
    title: str | None = None,
    chart_format: Literal["svg", "png"] | None = None,
    policy: PolicySource | None = None,
) -> list[Path]:
    """Write results as one page, .html or .md by its name; the files that were written.

    Results are records, what their ``to_dict`` gave, files that were saved, or folders of these. Certificates are
    checked, and judged by the ``policy`` if there is one.

    >>> import assay, tempfile
    >>> before = {"item": ["q1", "q2", "q3"], "score": [1, 0, 1]}
    >>> found = assay.compare(before, before | {"score": [1, 1, 1]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(f"{folder}/page.html", found)]
    ['page.html']
    """
    path = Path(page)
    check_page(path)
    check_outputs([path], results)
    document, _ = document_of(results, title, policy=policy)
    return write_document(document, path, chart_format)


def write_markdown(result: Result, path: Path) -> None:
    """Write one result as Markdown, without charts: for a pull request or an appendix."""
    write_bytes(path, result_markdown(result).encode())


def write_markdown_with_charts(result: Result, page: Path, last: str = "") -> list[Path]:
    """Write one result as Markdown with its charts beside it, and ``last`` as the last line; the files written."""
    part = part_of(result)
    if not can_draw():
        warn(
            f"{page.name} is without its charts: pip install 'assay-eval[charts]' draws them.",
            AssayWarning,
            stacklevel=2,
        )
    charts = {chart.name: f"{file_name(chart.name)}.svg" for chart in part.charts if can_draw()}
    for chart in part.charts if charts else ():
        write_chart(chart.specification, page.with_name(charts[chart.name]))
    text = part_markdown(part, charts, level=1)
    write_bytes(page, ("\n\n".join([text, *([last] if last else [])]) + "\n").encode())
    return [*(page.with_name(name) for name in charts.values()), page]


def write_folder(
    result: Result,
    folder: Path,
    name: str,
    statements: Sequence[Section],
    tables: Mapping[str, ResultTable] = NO_TABLES,
) -> list[Path]:
    """A result as NAME.json, NAME.md with its charts, and statements.md, its sentences for a paper: all or none.

    ``tables`` are written beside them, each as the CSV file of its name.
    """
    beside = "The sentences for a paper are in [statements.md](statements.md), every number is in "
    beside += f"[{name}.json]({name}.json)."
    beside += "".join(f" [{file}]({file}) is a table: {table.about}." for file, table in tables.items())
    record, said = folder / f"{name}.json", folder / "statements.md"
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
    with together():
        make_folder(folder)
        write_bytes(record, (text + "\n").encode())
        written = write_markdown_with_charts(result, folder / f"{name}.md", beside)
        write_bytes(said, sections_markdown(f"Statements: {result.subject}", statements, result.signature).encode())
        for file, table in tables.items():
            write_bytes(folder / file, table_csv(table).encode())
    return [record, *written, said, *(folder / file for file in tables)]


def table_csv(table: ResultTable) -> str:
    """The numbers of a table without rounding, a line for each row; what is not known is empty."""
    text = StringIO()
    records = table.records()
    writer = csv.DictWriter(text, list(records[0]) if records else table.header, lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def result_markdown(result: Result) -> str:
    """One result as Markdown, a heading of the second level on top."""
    return part_markdown(part_of(result), level=2) + "\n"


def check_page(path: Path) -> None:
    """Refuse a page that cannot be written, before anything is read for it."""
    if path.suffix.lower() not in PAGES:
        raise UsageError(f"a page is written as {' or '.join(PAGES)}, but got {path.name!r}.")


def document_of(
    results: Sequence[ReportSource], title: str | None = None, *, draw: bool = True, policy: PolicySource | None = None
) -> tuple[ReportDocument, list[str]]:
    """One part for each result, and the files in folders that are not results. A file named by itself must be one.

    ``draw`` makes the charts now, so that what is wrong with a file shows here. ``policy`` judges certificates.
    """
    read = partial(read_part, draw=draw, policy=None if policy is None else _policy(policy))
    parts: list[Part] = []
    left_out: list[str] = []
    for result in _each_once(results):
        if isinstance(result, Result | dict):
            parts.append(part_of(result))
        elif (path := Path(result)).is_dir():
            _add_folder(path, parts, left_out, read)
        else:
            parts.append(read(path))
    if not parts:
        named = ", ".join(str(result) for result in results) or "nothing was given"
        raise InputError(f"{named}: no results here; save some as JSON first.")
    return ReportDocument(title or _title(parts), tuple(parts)), left_out


def _policy(source: PolicySource) -> Policy:
    from assay.certificate.policy_file import policy_of  # late: only certificates are judged by one

    return policy_of(source)


def _each_once(results: Sequence[ReportSource]) -> Iterator[ReportSource]:
    """Each result once; files and folders that were named before are dropped."""
    seen: set[Path] = set()
    for result in results:
        if not isinstance(result, Result | dict):
            place = Path(realpath(result))  # follows links as far as they lead, also in a circle
            if place in seen:
                continue
            seen.add(place)
        yield result


def _add_folder(folder: Path, parts: list[Part], left_out: list[str], read: Callable[[Path], Part]) -> None:
    for file in _results_in(folder):
        try:
            parts.append(read(file))
        except InputError as error:
            left_out.append(str(error))


def _results_in(folder: Path) -> Iterator[Path]:
    hidden = (path for path in sorted(folder.rglob("*.json")) if path.is_file())
    return (path for path in hidden if not any(part.startswith(".") for part in path.relative_to(folder).parts))


def _title(parts: Sequence[Part]) -> str:
    if len(parts) > 1:
        return f"{len(parts)} results"
    return f"{parts[0].kind[:1].upper()}{parts[0].kind[1:]}: {parts[0].name}"


def write_document(document: ReportDocument, page: Path, charts: Literal["svg", "png"] | None = None) -> list[Path]:
    """Write the page, and its charts in a folder of the page's name; the files written."""
    with together():
        make_folder(page.parent)
        drawn = {} if charts is None else write_charts(document, page.with_name(f"{page.stem}-charts"), charts)
        if page.suffix.lower() == ".md":
            names = {name: path.relative_to(page.parent).as_posix() for name, path in drawn.items()}
            write_bytes(page, document_markdown(document, names).encode())
        else:
            write_page(document, page)
    return [page, *drawn.values()]


def write_charts(document: ReportDocument, folder: Path, ending: str) -> dict[str, Path]:
    """Write every chart as a file in this folder; the files, by the identifiers that renderers use."""
    written: dict[str, Path] = {}
    for name, part, chart in document.charts():
        make_folder(folder)
        path = folder / f"{name.partition('-')[0]}-{part.kind.lower()}-{file_name(chart.name)}.{ending}"
        write_chart(chart.specification, path)
        written[name] = path
    return written
