"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
from pathlib import Path
from typing import Annotated

import typer

from assay.analyses.result import Result

_PANEL = "Output"

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_PANEL)]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Also write the result as JSON, for assay report.", rich_help_panel=_PANEL
    ),
]


def show(result: Result, *, as_json: bool, save: Path | None = None, text: str | None = None) -> None:
    """Save the result where that was asked for, then print it."""
    if save is not None:
        from assay.data.writing import make_folder, write_bytes

        make_folder(save.parent)
        write_bytes(save, (as_text(result) + "\n").encode())
        typer.echo(f"Saved: {save}", err=True)
    typer.echo(as_text(result) if as_json else str(result) if text is None else text)


def as_text(result: Result) -> str:
    """The result as JSON."""
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=2, allow_nan=False)
