"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from assay.analyses.result import Result
from assay.errors import UsageError

_PANEL = "Output"

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.", rich_help_panel=_PANEL)]
Save = Annotated[
    Path | None,
    typer.Option(
        "--save", metavar="FILE", help="Also write the result as JSON, for assay report.", rich_help_panel=_PANEL
    ),
]


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | str | None] = ()) -> None:
    """Refuse to write over what is read, or two outputs to one file, before anything is computed."""
    taken = {_place(path): f"{path} is read" for path in inputs if path is not None}
    for path in outputs:
        if path is None:
            continue
        if path.is_dir():
            raise UsageError(f"{path}: a folder; name a file to write.")
        if (why := taken.get(_place(path))) is not None:
            raise UsageError(f"{path}: cannot be written, as {why}; name another file.")
        taken[_place(path)] = f"{path} is written already"


def _place(path: Path | str) -> Path:
    """Where NAME=PATH or a path is."""
    text = str(path)
    whole = Path(text)
    return (whole if whole.exists() or "=" not in text else Path(text.partition("=")[2])).absolute()


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
