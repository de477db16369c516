"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.analyses.result import Result
from assay.errors import UsageError
from assay.names import visible, visible_json

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
        say(f"Saved: {save}", err=True)
    if as_json:
        typer.echo(as_text(result))
    else:
        say(str(result) if text is None else text)


def as_text(result: Result) -> str:
    """The result as JSON."""
    return visible_json(json.dumps(result.to_dict(), ensure_ascii=False, indent=2, allow_nan=False))


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print; names in the text come from files, and no terminal shall obey them."""
    typer.echo(visible(text), err=err, nl=nl)


def say_json(data: dict[str, Any], *, sort_keys: bool = False) -> None:
    """Print data as JSON, every character of it in a form that no terminal obeys."""
    typer.echo(visible_json(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=sort_keys)))


def say_over(text: str, *, last: bool) -> None:
    """Progress on stderr: a line that is written over on a terminal, until the last one; plain lines elsewhere."""
    terminal = sys.stderr.isatty()
    typer.echo(f"\r{visible(text):<79}" if terminal else visible(text), err=True, nl=not terminal or last)
