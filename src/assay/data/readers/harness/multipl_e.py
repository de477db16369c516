"""MultiPL-E: a folder with a file for each problem, ``*.results.json`` or ``*.results.json.gz``, of all its attempts.

An attempt is right if its status is OK *and* its exit code 0: some languages leave 0 although an assertion failed.
"""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from assay.data.readers.harness import Log
from assay.data.readers.harness.answers import Answers, AnswersLog
from assay.data.readers.harness.code_status import broken_run
from assay.data.readers.harness.decoding import decoded
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.named_after import model_named
from assay.errors import InputError
from assay.files.reading import DOCUMENT, megabytes, read_bytes
from assay.names import one_line

_FOLDER = re.compile(
    r"(?P<task>(?:(?:humaneval|mbpp)-)?[a-z+#]+)-(?P<model>.+)-(?P<temperature>\d+(?:\.\d+)?)-(?P<prompt>[a-z_]+)"
)
_PACKED = ".results.json.gz"
_GZIP = b"\x1f\x8b"


class _Attempt(Struct):
    status: str
    exit_code: int | None = None


class _Problem(Struct):
    name: str
    results: list[_Attempt]
    language: str = ""


def recognises(look: FirstLook) -> bool:
    found = _unpacked_look(look).record
    results = found.get("results")
    attempts = results if isinstance(results, list) else []
    told = found.keys() >= {"name", "language", "results"}
    return told and bool(attempts) and isinstance(attempts[0], dict) and "exit_code" in attempts[0]


def _unpacked_look(look: FirstLook) -> FirstLook:
    """The look at what is packed, for a file that is called as this program's packed files are."""
    if not look.path.name.endswith(_PACKED) or not look.head.startswith(_GZIP):
        return look
    try:
        return FirstLook(look.path, zlib.decompressobj(31).decompress(look.head, 1 << 20))
    except zlib.error:
        return look


def logs_of(files: Sequence[Path]) -> list[Log]:
    """A log for each folder of problems."""
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent, []).append(path)
    return [_log(folder, own) for folder, own in folders.items()]


def _log(folder: Path, files: Sequence[Path]) -> "MultiplELog":
    whole = folder if folder.name not in ("", "..") else folder.resolve()
    told = _FOLDER.fullmatch(whole.name)
    named = whole.with_name(f"{told['model'] if told else whole.name}.json")
    language = _unpacked_look(look_at(files[0])).record.get("language")
    return MultiplELog(
        one_line(str(folder)),
        tuple(files),
        model_named(named),
        told["task"] if told else str(language or ""),
        "",
        named_by=named,
        settings={name: told[name] for name in ("temperature", "prompt")} if told else {},
    )


@dataclass(frozen=True)
class MultiplELog(AnswersLog):
    """The problems of a folder."""

    format: ClassVar[str] = "multipl-e"
    paired_on: ClassVar[str] = "name of the problem"

    def read(self) -> Answers:
        items, places, runs, scores = list[str](), list[str](), list[str](), list[float]()
        late = 0
        for path in self.files:
            label = one_line(str(path))
            found = decoded(_content(path, label), _Problem, label)
            for number, one in enumerate(found.results, start=1):
                items.append(found.name)
                places.append(f"{label}, result {number}")
                runs.append(str(number))
                scores.append(float(one.status == "OK" and one.exit_code == 0))
                late += one.status == "Timeout"
        return broken_run(Answers(items, places, {"pass": scores}, runs=runs), late, self.label)


def _content(path: Path, label: str) -> bytes:
    data = read_bytes(path, DOCUMENT, label=label)
    if not data.startswith(_GZIP):
        return data
    packed = zlib.decompressobj(31)
    try:
        found = packed.decompress(data, DOCUMENT.bytes + 1)
    except zlib.error as error:
        raise InputError(f"{label}: cannot be unpacked ({error}); copy it again.") from error
    if len(found) > DOCUMENT.bytes:
        raise InputError(f"{label}: unpacked, it has more than {megabytes(DOCUMENT.bytes)}; split it.")
    if not packed.eof:
        raise InputError(f"{label}: cannot be unpacked, it ends too early; copy it again.")
    return found
