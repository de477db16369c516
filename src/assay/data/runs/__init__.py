"""A run on disk: a manifest and numbered Parquet shards, each written atomically.

The manifest is written once, before the first shard, and says everything that decides a number. A run that was killed
is resumed by writing the missing shards, so that the folder ends up with the same bytes as without the kill.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from assay.data.readers.database import copy_columns, parquet_scan
from assay.data.readers.parquet import Parquet
from assay.errors import InputError, WriteError
from assay.files.places import Owner, check_replaceable, discard, is_run, recover, replacement, swap
from assay.files.reading import TABLE, check_file, read_json
from assay.files.stores.addresses import is_copy
from assay.files.writing import make_folder, remove_parts, together, write_bytes, write_whole

MANIFEST = "run.json"
HALVED = "batch_halved_to"  # noted in a manifest where batches did not fit into memory
SCHEMA = "assay/run/1"
_MOST_SHARDS = 1_000_000
_OLD_CUT = "fresh"  # how windows were cut before runs said so
KINDS = ("windows", "tokens")  # of shards
#: What only the files of a harness tell, and no manifest may.
_OF_HARNESSES = frozenset({"measure", "files", "groups", "lower_is_better"})
_SHARD = re.compile(rf"({'|'.join(KINDS)})-([0-9]{{5,9}})\.parquet")

ShardColumns = Mapping[str, NDArray[np.object_] | NDArray[np.float64] | NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder and its manifest."""

    folder: Path
    manifest: dict[str, Any]
    replaces: Path | None = None  # the folder of another run, whose place it takes when it is complete

    def __fspath__(self) -> str:
        """A run can be used wherever its folder can."""
        return str(self.folder)

    @property
    def without_notes(self) -> dict[str, Any]:
        """What its manifest said at the start."""
        return {name: value for name, value in self.manifest.items() if name != HALVED}

    @property
    def shards(self) -> int:
        """How many shards a complete run has."""
        return int(self.manifest["shards"])

    def shard(self, number: int, kind: str = "windows") -> Path:
        return self.folder / _shard_name(kind, number)

    def missing(self) -> list[int]:
        """Shards that have not been written."""
        return [number for number in range(self.shards) if not self.shard(number).exists()]

    def write_shard(self, number: int, columns: ShardColumns, kind: str = "windows") -> None:
        try:
            write_whole(self.shard(number, kind), lambda part: copy_columns(columns, part))
        except WriteError as error:
            if any(self.folder.glob(f"{kind}-*.parquet")):  # these say better how much a shard takes
                raise
            raise error.needing(_bytes_of(columns) * len(self.missing())) from error.__cause__

    @contextmanager
    def naming_space(self) -> Iterator[None]:
        """Where a disk is full, say about how much the rest of the run needs, judged by what is there."""
        try:
            yield
        except WriteError as error:
            there = [file.stat().st_size for kind in KINDS for file in self.folder.glob(f"{kind}-*.parquet")]
            left = len(self.missing())
            if not there:
                raise
            raise error.needing(sum(there) / max(1, self.shards - left) * left) from error.__cause__

    def files(self, kind: str = "windows") -> list[Path]:
        """The shards of a complete run."""
        missing = self.missing()
        if missing:
            raise InputError(
                f"{self.folder}: the run is not complete, {len(missing)} of {self.shards} shards are missing; "
                "run the same `assay score` again to finish it."
            )
        return [self.shard(number, kind) for number in range(self.shards)]


def create_or_resume(folder: Path, manifest: dict[str, Any], *, overwrite: bool = False) -> Run:
    """Create the run with this manifest, or resume it; a folder with another run is refused.

    With ``overwrite`` the existing run is kept until `finish`; the new one is made beside it.
    """
    manifest = {"schema": SCHEMA, **manifest}
    look_for(folder, overwrite=overwrite)
    recover(folder, _OURS)
    remove_parts(folder / MANIFEST)
    if overwrite and _anything_in(folder):
        return _replacing(folder, manifest)
    if (folder / MANIFEST).exists():
        found = open_run(folder)
        names = (manifest.keys() | found.manifest.keys()) - {HALVED}
        changed = [name for name in names if manifest.get(name) != found.manifest.get(name)]
        if changed:
            differ = ", ".join(sorted(changed))
            raise InputError(
                f"{folder}: holds another run ({differ} differ); name another folder, or replace it with "
                "`overwrite=True`."
            )
        return found
    if _anything_in(folder):
        raise InputError(f"{folder}: exists and is not a run; name another folder.")
    return _created(folder, manifest)


def look_for(folder: Path, *, overwrite: bool = False) -> None:
    """Before a run in a store is made or resumed: take the right to write it, and copy what is there of it."""
    if is_copy(folder):
        from assay.files.stores.runs import begin_run  # late: few runs are in a store

        begin_run(folder, overwrite=overwrite)


def finish(run: Run) -> Run:
    """Move a complete run into place, if it replaces another; in a store, put its manifest there, at last."""
    if is_copy(run.folder):
        from assay.files.stores.runs import finish_run  # late: few runs are in a store

        finish_run(run.folder)
    if run.replaces is None:
        return run
    if is_copy(run.replaces):
        from assay.files.stores.runs import replace_run  # late: likewise

        replace_run(run.replaces)
    else:
        swap(run.replaces, _OURS)
    return Run(run.replaces, run.manifest)


def note_halving(run: Run, tokens: int | None) -> None:
    """Note in the manifest that batches did not fit into memory and were cut to so many tokens; ``None``: they did."""
    if tokens is not None and tokens < run.manifest.get(HALVED, inf):
        run.manifest[HALVED] = tokens
        write_bytes(run.folder / MANIFEST, _as_text(run.manifest))


def _as_text(manifest: dict[str, Any]) -> bytes:
    return (json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _created(folder: Path, manifest: dict[str, Any]) -> Run:
    text = _as_text(manifest)
    with together():
        make_folder(folder)
        write_bytes(folder / MANIFEST, text)
    return Run(folder, json.loads(text))


def _replacing(folder: Path, manifest: dict[str, Any]) -> Run:
    """Start or resume a run beside the one that it will replace."""
    check_replaceable(folder, _OURS)
    beside = replacement(folder)
    look_for(beside)
    remove_parts(beside / MANIFEST)
    if is_run(beside, MANIFEST) and (begun := open_run(beside)).without_notes == json.loads(json.dumps(manifest)):
        return replace(begun, replaces=folder)
    discard(beside, _OURS)
    return replace(_created(beside, manifest), replaces=folder)


def _anything_in(folder: Path) -> bool:
    """Whether a new run cannot be made here."""
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def owned_files(folder: Path) -> set[str] | None:
    """The existing files that a run's manifest accounts for; ``None`` if the manifest is not ours."""
    if not is_run(folder, MANIFEST):
        return None
    shards = json.loads((folder / MANIFEST).read_bytes()).get("shards")
    known = shards if _is_shard_count(shards) else 0
    return {MANIFEST, *(path.name for path in folder.iterdir() if _is_shard(path.name, known))}


def _is_shard(name: str, shards: int) -> bool:
    found = _SHARD.fullmatch(name)
    return found is not None and int(found[2]) < shards and name == _shard_name(found[1], int(found[2]))


def _shard_name(kind: str, number: int) -> str:
    return f"{kind}-{number:05d}.parquet"


def _bytes_of(columns: ShardColumns) -> int:
    """About what columns take in a file; texts by their characters."""
    return sum(
        sum(map(len, column)) if getattr(column, "dtype", None) == np.dtype(object) else len(column) * 8
        for column in columns.values()
    )


def _is_shard_count(shards: object) -> TypeGuard[int]:
    return isinstance(shards, int) and not isinstance(shards, bool) and 0 <= shards <= _MOST_SHARDS


_OURS = Owner("run", MANIFEST, owned_files)


def open_run(folder: Path) -> Run:
    """The run in a folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder}: no run is there; name a folder that `assay score` wrote.")
    manifest = read_json(
        path, label=f"{path}: the manifest cannot be read", advice="move the folder away, then score again"
    )
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise InputError(f"{path}: not the manifest of a run; name a folder that `assay score` wrote.")
    _check(manifest, path)
    if isinstance(manifest.get("layout"), dict):
        manifest["layout"].setdefault("cut", _OLD_CUT)
    return Run(folder, manifest)


def _check(manifest: dict[str, Any], path: Path) -> None:
    """Refuse a manifest with missing fields or fields of the wrong type."""
    again = "score again with `overwrite=True`"
    shards = manifest.get("shards")
    if not _is_shard_count(shards):
        raise InputError(f"{path}: 'shards' must be a whole number up to {_MOST_SHARDS:,}; {again}.")
    for name in ("model", "layout", "text"):
        if not isinstance(manifest.get(name, {}), dict):
            raise InputError(f"{path}: {name!r} must be an object; {again}.")
    model = manifest.get("model", {})
    digests = model.get("digests", {})
    if not isinstance(model.get("name", ""), str) or not isinstance(digests, dict):
        raise InputError(f"{path}: 'model' must have a name, and digests that are an object; {again}.")
    texts = [*digests.values(), *(manifest.get("text", {}).get(name) for name in ("sha256", "token_ids"))]
    if not all(isinstance(text, str | None) for text in texts):
        raise InputError(f"{path}: a digest must be a text; {again}.")


class RunSource(Parquet):
    """The windows of a run: its shards, one after the other."""

    def __init__(self, path: Path, label: str) -> None:
        run = open_run(path)
        self.about = {name: value for name, value in run.manifest.items() if name not in _OF_HARNESSES}
        self._files = self._shards(run)
        for file in self._files:
            check_file(file, TABLE)
        super().__init__(path, label)

    def _shards(self, run: Run) -> Sequence[Path]:
        return run.files()

    def scan(self, _columns: Sequence[str], /) -> str:
        return parquet_scan(*self._files)

    def fault(self) -> str | None:
        return ": a shard of the run is damaged; delete it and run the same `assay score` again."


class RunPart(RunSource):
    """Some of the shards of a run."""

    def __init__(self, path: Path, label: str, files: Sequence[Path]) -> None:
        self._chosen = files
        super().__init__(path, label)

    def _shards(self, run: Run) -> Sequence[Path]:  # noqa: ARG002 - it has its own
        return self._chosen
