"""The files that the harnesses wrote, and how to spoil them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.data import Selection, Table, read_tables
from assay.errors import InputError
from tests.data.files import checked_message

FOLDER = Path(__file__).parents[2] / "harness"
LM_EVAL, INSPECT, LIGHTEVAL, HELM, RESPONSES = (
    FOLDER / name for name in ("lm_eval", "inspect", "lighteval", "helm", "responses")
)
ALPACA_EVAL, ARENA_HARD, MT_BENCH, VERDICTS = (
    FOLDER / name for name in ("alpaca_eval", "arena_hard", "mt_bench", "verdicts")
)
SMALL, LARGE = "stories260K-hf", "stories15M-hf"


def one(path: Path | str, cluster: str | None = None, **picked: Any) -> Table:
    """The only model of a path."""
    [table] = read_tables([path], cluster=cluster, selection=Selection(**picked))
    return table


def by_name(*paths: Path | str, **picked: Any) -> dict[str, Table]:
    return {table.name: table for table in read_tables(paths, selection=Selection(**picked))}


def scores(table: Table, column: str = "score") -> dict[str, float]:
    """Item → score, or another column of numbers."""
    return dict(zip(table.ids.tolist(), table.numbers[column].tolist(), strict=True))


def assert_refused(path: Path | str, *parts: str, cluster: str | None = None, **picked: Any) -> str:
    """The message of a refusal: one line that has all the parts."""
    with pytest.raises(InputError) as caught:
        read_tables([path], cluster=cluster, selection=Selection(**picked))
    return checked_message(caught.value, *parts)


def only(folder: Path, pattern: str) -> Path:
    """The one file that a pattern names."""
    [path] = folder.rglob(pattern)
    return path


def copy(source: Path, folder: Path) -> Path:
    """A copy of a file in a folder, or of all the files of a folder."""
    if source.is_dir():
        return Path(shutil.copytree(source, folder / source.name))
    return Path(shutil.copyfile(source, folder / source.name))


def edit_lines(path: Path, change: Callable[[int, Any], Any]) -> Path:
    """Write the objects of a JSONL file again, each changed; one that becomes None is left out."""
    lines = [change(i, json.loads(line)) for i, line in enumerate(path.read_text("utf-8").splitlines())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines if line is not None), encoding="utf-8")
    return path


def edit_json(path: Path, change: Callable[[Any], None]) -> Path:
    found = json.loads(path.read_text("utf-8"))
    change(found)
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
