"""How every verb shows its result: as text or JSON on stdout, and saved for a report."""

import json
import shutil
import sys
import time
from math import inf
from typing import Any

import typer

from assay.cli.arguments import as_options
from assay.files.places import check_outputs
from assay.names import visible, visible_json
from assay.results.record import Result

__all__ = [
    "Progress",
    "as_text",
    "check_outputs",
    "progress_of",
    "prompts_of",
    "say",
    "say_json",
    "starting",
    "terminal_width",
]

_NARROW, _WIDE = 80, 120  # columns of a table
_SECONDS_BETWEEN_LINES = 10.0


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


class Progress:
    """A line on stderr that is written over on a terminal, plain lines now and then elsewhere; speed and time left.

    Nothing is said where there are fewer than ``least`` to do.
    """

    def __init__(self, unit: str, name: str = "", least: int = 0) -> None:
        self.unit, self.name, self.least = unit, f"{name}: " if name else "", least
        self.began, self.first, self.last = time.monotonic(), -1, -inf

    def __call__(self, done: int, total: int) -> None:
        """So many are done; the first and the last time it is always said."""
        self.first = done if self.first < 0 else self.first
        now, terminal, finished = time.monotonic(), sys.stderr.isatty(), done >= total
        pause = 0.2 if terminal else _SECONDS_BETWEEN_LINES
        if total < self.least or (not finished and now - self.last < pause):
            return
        self.last = now
        rate = (done - self.first) / max(now - self.began, 1e-9)  # after the first batch nothing is known yet
        speed = f", {rate:,.0f} {self.unit}/s" if rate > 0 else ""
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 and not finished else ""
        text = visible(f"{self.name}{done:,} of {total:,} {self.unit}{speed}{left}")
        typer.echo(f"\r{text:<79}" if terminal else text, err=True, nl=not terminal or finished)


def starting(name: str) -> None:
    """Say at once what is being done: a model takes its time to load."""
    say(f"{name}: starting", err=True)


def progress_of(name: str) -> Progress:
    """How far a model has come, in tokens."""
    starting(name)
    return Progress("tokens", name)


def prompts_of(name: str) -> Progress:
    """How many prompts a model has answered."""
    starting(name)
    return Progress("prompts", name)
