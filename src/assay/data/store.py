"""A run on disk: a manifest and numbered Parquet shards, each written whole. What is there is done.

The manifest is written once, before the first shard, and says everything that decides a number. A run that was killed
is resumed by writing the missing shards, so that the folder ends up with the same bytes as without the kill.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.data.json_text import read_json
from assay.data.writing import copy_columns, write_bytes, write_whole
from assay.errors import InputError

MANIFEST = "run.json"
SCHEMA = "assay/run/1"
_MOST_SHARDS = 1_000_000
_OLD_CUT = "fresh"  # how windows were cut before runs said so

Columns = Mapping[str, NDArray[np.object_] | NDArray[np.float64] | NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Run:
    """A run folder and its manifest."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def shards(self) -> int:
        """How many shards a complete run has."""
        return int(self.manifest["shards"])

    def shard(self, number: int, kind: str = "windows") -> Path:
        return self.folder / f"{kind}-{number:05d}.parquet"

    def missing(self) -> list[int]:
        """Shards that have not been written."""
        return [number for number in range(self.shards) if not self.shard(number).exists()]

    def write_shard(self, number: int, columns: Columns, kind: str = "windows") -> None:
        write_whole(self.shard(number, kind), lambda part: copy_columns(columns, part))

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
    """The run with this manifest: new, or the one that is there; another one is refused."""
    manifest = {"schema": SCHEMA, **manifest}
    if overwrite and folder.exists():
        _remove(folder)
    if (folder / MANIFEST).exists():
        found = open_run(folder)
        changed = [
            name for name in manifest.keys() | found.manifest.keys() if manifest.get(name) != found.manifest.get(name)
        ]
        if changed:
            names = ", ".join(sorted(changed))
            raise InputError(f"{folder}: holds another run ({names} differ); name another folder, or --overwrite it.")
        return found
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: exists and is not a run; name another folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); name another folder.") from error
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_bytes(folder / MANIFEST, (text + "\n").encode())
    return Run(folder, json.loads(text))


def _remove(folder: Path) -> None:
    if not (folder / MANIFEST).is_file():
        raise InputError(f"{folder}: not a run, and only a run is overwritten; name another folder.")
    shutil.rmtree(folder)


def open_run(folder: Path) -> Run:
    """The run in a folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"{folder}: no run is there; name a folder that `assay score` wrote.")
    manifest = read_json(path, label=f"{path}: the manifest cannot be read", advice="score again with --overwrite")
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        raise InputError(f"{path}: not the manifest of a run; name a folder that `assay score` wrote.")
    _check(manifest, path)
    if isinstance(manifest.get("layout"), dict):
        manifest["layout"].setdefault("cut", _OLD_CUT)
    return Run(folder, manifest)


def _check(manifest: dict[str, Any], path: Path) -> None:
    """Refuse a manifest without what every run has, or with a part of another type."""
    again = "score again with --overwrite"
    shards = manifest.get("shards")
    if isinstance(shards, bool) or not isinstance(shards, int) or not 0 <= shards <= _MOST_SHARDS:
        raise InputError(f"{path}: 'shards' must be a whole number up to {_MOST_SHARDS:,}; {again}.")
    for name in ("model", "layout", "text"):
        if not isinstance(manifest.get(name, {}), dict):
            raise InputError(f"{path}: {name!r} must be an object; {again}.")
    model = manifest.get("model", {})
    digests = model.get("digests", {})
    if not isinstance(model.get("name", ""), str) or not isinstance(digests, dict):
        raise InputError(f"{path}: 'model' must have a name, and digests that are an object; {again}.")
    texts = [*digests.values(), manifest.get("text", {}).get("sha256", "")]
    if not all(isinstance(text, str | None) for text in texts):
        raise InputError(f"{path}: a digest must be a text; {again}.")
