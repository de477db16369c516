"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from assay.cli.arguments import as_options
from assay.cli.progress import printed
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.names import one_line, visible, visible_json
from assay.results.record import Result

__all__ = [
    "as_text",
    "check_outputs",
    "check_replaced",
    "say",
    "say_json",
    "terminal_width",
]

_NARROW, _WIDE = 80, 120  # columns of a table


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


_CERTIFICATE = re.compile(rb'"schema"\s*:\s*"assay/(?:suite-|gate-)?certificate/')
_LARGEST = 50_000_000  # bytes of a certificate


def check_replaced(output: Path) -> None:
    """Refuse to write a certificate over a file that holds something else, before anything is computed."""
    try:
        with output.open("rb") as file:
            found = file.read(_LARGEST + 1) if output.is_file() else b""
    except OSError:
        return  # it is not there, or writing it will say why
    if found.strip() and (len(found) > _LARGEST or not _CERTIFICATE.search(found)):
        raise UsageError(
            f"{one_line(str(output))}: holds something that is no certificate, and is not written over; name another "
            "file with `output`, or move it away."
        )


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print, with options for arguments; names in the text come from files, and no terminal shall obey them."""
    printed(visible(as_options(text)), err=err, nl=nl)


def say_json(data: dict[str, Any], *, sort_keys: bool = False) -> None:
    """Print data as JSON, every character of it in a form that no terminal obeys."""
    printed(visible_json(json.dumps(data, ensure_ascii=False, indent=2, sort_keys=sort_keys)))
