"""`assay report RESULT…`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options
from assay.cli.output import check_outputs, say, terminal_width
from assay.errors import UsageError


def report(
    results: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULT…", help="Results that --save or --json wrote, certificates; or folders of them."
        ),
    ],
    output: Annotated[
        Path | None,
        options.option("Write a page: .html or .md. (default: print)", "-o", "--output", value="PAGE"),
    ] = None,
    title: Annotated[str | None, options.option("Title of the page.", value="TEXT")] = None,
    chart_format: Annotated[
        Literal["svg", "png"] | None,
        options.option("Also write every chart as a file, into a folder beside the page."),
    ] = None,
    policy: Annotated[
        Path | None,
        options.option("Judge certificates by your own policy: YAML, TOML or JSON.", value="FILE"),
    ] = None,
    serve: Annotated[
        bool, options.option("Show a folder of results on this machine, and new ones as they appear.", "--serve")
    ] = False,
    port: Annotated[int, options.option("Of --serve; 0 takes a free one.", value="PORT")] = 8321,
) -> None:
    """One page to read and send, from any results.

    The HTML page is one file that loads nothing: verdicts first, then charts, tables and how each number was computed.
    Certificates are checked before they are shown.

    Example: assay report results/*.json -o page.html
    """
    if serve:
        if policy is not None:
            raise UsageError("--policy is for a page that is written or printed; --serve shows certificates as issued.")
        _serve(results, output, port)
        return
    from assay.report.files import (  # late: --help and errors of usage need none of it
        check_page,
        document_of,
        write_document,
    )

    if output is not None:
        check_page(output)
        check_outputs([output], [*results, policy])
    if chart_format is not None and output is None:
        raise UsageError("--chart-format writes charts beside a page; say where with -o PAGE.")
    document, left_out = document_of(results, title, draw=output is not None, policy=policy)
    for line in left_out:
        say(f"left out: {line}", err=True)
    if output is None:
        from assay.report.markdown import document_text

        say(document_text(document, terminal_width()), nl=False)
        return
    for path in write_document(document, output, chart_format):
        say(f"Written: {path}", err=True)


def _serve(results: list[Path], output: Path | None, port: int) -> None:
    if len(results) != 1 or output is not None:
        raise UsageError("--serve takes one folder, and writes nothing: assay report --serve FOLDER.")
    from assay.files.stores.addresses import is_copy
    from assay.report.serve import serve

    if is_copy(results[0]):
        raise UsageError(f"{results[0]}: --serve shows a folder on this machine; write a page with -o instead.")

    raise typer.Exit(128 + serve(results[0], port=port, ready=say))
