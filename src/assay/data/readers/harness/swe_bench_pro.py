"""SWE-bench Pro: ``eval_results.json``, an object of instances, each true or false. The folder names the run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from assay.data.readers.harness import Log, shown_value
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.instances import InstancesLog, Outcome
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import one_line


def recognises(look: FirstLook) -> bool:
    found = look.start
    return (
        isinstance(found, dict)
        and bool(found)
        and all(key.startswith("instance_") and "__" in key for key in found)
        and all(isinstance(value, bool) for value in found.values())
    )


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [_log(path) for path in files]


def _log(path: Path) -> "SweBenchProLog":
    label = one_line(str(path))
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{label}: must be an object of instances, but got {shown_value(found)}; evaluate it again.")
    for instance, resolved in found.items():
        if not isinstance(resolved, bool):
            told = f"must be true or false, but got {shown_value(resolved)}"
            raise InputError(f"{label}, {instance}: {told}; evaluate it again.")
    named = named_after(path, path.stem)
    outcomes = tuple(Outcome(instance, resolved) for instance, resolved in found.items())
    return SweBenchProLog(
        label, (path,), model_named(named), "", "", named_by=named, part_of="SWE-bench Pro", outcomes=outcomes
    )


@dataclass(frozen=True)
class SweBenchProLog(InstancesLog):
    """The instances of a repository in one run."""

    format: ClassVar[str] = "swe-bench-pro"
