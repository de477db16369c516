"""Runs of baselines, kept to be used again: found by the digests of model, text, context and tokenizer.

A run's folder is named after its model and those digests. A run that is found but was made in another way (by other
versions, in another precision) is stale, and one whose shards are not those that were sealed is damaged: both are
refused, and neither is ever used silently.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.data.runs import MANIFEST, Run, look_for, open_run
from assay.errors import InputError, UsageError
from assay.files.reading import read_json
from assay.files.stores.addresses import is_copy
from assay.files.writing import make_folder, together, write_bytes
from assay.names import file_name
from assay.scoring.checkpoint import files_digest

SEAL = "assay/sealed-run/1"
#: What a run is found by; what else its manifest says must be the same, or it is stale.
_DIGESTS = ("model", "tokenizer", "adapter", "tokenizer_definition")
_FOUND_BY = ("text", "layout", "bos", "draw", "gate")


@dataclass(frozen=True, slots=True)
class BaselineStore:
    """A folder of runs."""

    folder: Path

    def place(self, manifest: Mapping[str, Any], *, overwrite: bool = False) -> Path:
        """The folder for the run with this manifest: empty, or that of the run, checked; a stale one is refused."""
        wanted = json.loads(json.dumps(manifest))
        place = self.folder / f"{file_name(str(wanted['model']['name']))}-{key_of(wanted)[:16]}"
        look_for(place, overwrite=overwrite)
        if not overwrite and (place / MANIFEST).exists():
            run = open_run(place)
            _check_same(run, wanted)
            self._check_sealed(run)
        return place

    def seal(self, run: Run) -> None:
        """Write down what the shards are that a gate has used, so that a later one knows them."""
        sums = {path.name: files_digest(run.folder, [path.name]) for path in sorted(run.folder.glob("*.parquet"))}
        text = json.dumps({"schema": SEAL, "run": run.folder.name, "shards": sums}, indent=1, sort_keys=True)
        with together():
            make_folder(self.folder)
            write_bytes(self._seal(run.folder), (text + "\n").encode())

    def _seal(self, place: Path) -> Path:
        return place.with_name(f"{place.name}.sealed.json")

    def _check_sealed(self, run: Run) -> None:
        seal = self._seal(run.folder)
        if is_copy(seal):
            from assay.files.stores.copies import brought_again  # late: few caches are in a store

            brought_again(seal)
        if not seal.exists():  # a gate that was killed: what it wrote is whole, shard by shard
            return
        found = read_json(seal, label=str(seal), advice=f"delete it together with {run.folder}")
        shards = found.get("shards") if isinstance(found, dict) and found.get("schema") == SEAL else None
        if not isinstance(shards, dict):
            raise InputError(f"{seal}: not the seal of a run; delete it together with {run.folder}.")
        for name, digest in shards.items():
            path = run.folder / Path(str(name)).name
            if files_digest(run.folder, [path.name]) != digest:
                raise InputError(
                    f"{path}: not what was stored: the run was changed or damaged; delete {run.folder}, and it is "
                    "scored again."
                )


def key_of(manifest: Mapping[str, Any]) -> str:
    """The digest of what a run is found by.

    A model without a digest, such as one behind a server, may change and keep its name: its runs are not stored.
    """
    model = manifest["model"]
    digests = {name: model["digests"].get(name) for name in _DIGESTS}
    if digests["model"] is None:
        raise UsageError(
            f"{model['name']}: the model has no digest here, so that its run could not be told from that of another; "
            "leave `cache` out, or give a model on this machine."
        )
    parts = {"name": model["name"], "digests": digests, **{name: manifest.get(name) for name in _FOUND_BY}}
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _check_same(run: Run, wanted: dict[str, Any]) -> None:
    """Refuse the run of the same model and text that was made in another way."""
    found = {name: value for name, value in run.manifest.items() if name != "schema"}
    other = [name for name in sorted(wanted.keys() | found.keys()) if wanted.get(name) != found.get(name)]
    if not other:
        return
    told = ", ".join(_difference(name, found.get(name), wanted.get(name)) for name in other)
    raise InputError(
        f"{run.folder}: the stored run of the baseline is stale ({told}); delete it, or score it again with "
        "`overwrite=True`."
    )


def _difference(name: str, found: Any, wanted: Any) -> str:
    """``versions.torch 2.4 → 2.5``."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        key = next(key for key in sorted(found.keys() | wanted.keys()) if found.get(key) != wanted.get(key))
        return _difference(f"{name}.{key}", found.get(key), wanted.get(key))
    return f"{name} {found} → {wanted}"
