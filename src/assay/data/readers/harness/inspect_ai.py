"""inspect_ai: ``.eval`` archives and ``.json`` logs of one task and one model; epochs are runs of an item.

Members of an archive are deflated or compressed with zstandard. Python's own ``zipfile`` knows zstandard (method 93)
from 3.14 on; before that the member is found by its header.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Measure, Rows, chosen, digest, field_of, label_of, number, shown_value
from assay.errors import InputError
from assay.files.reading import ARCHIVE, DOCUMENT, cannot_open, check_file, megabytes, opened, parse_json, read_json
from assay.names import listed

#: The keys of a .json log, and of its header or the first entry of its journal saved by themselves.
KEYS = (frozenset({"status", "eval"}), frozenset({"plan", "eval"}))
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
#: What inspect itself makes of these: correct, partially correct, incorrect, no answer.
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHMENT = "attachment://"

Sample = tuple[str, dict[str, Any]]  # where it is, and what it is


def is_archive(path: Path, head: bytes) -> bool:
    """Whether a ZIP archive is a log, even if truncated."""
    first = first_name(head)
    if first in (_HEADER, _START) or (first.startswith(_SAMPLES) and first.endswith(".json")):
        return True
    try:
        with open_archive(path) as archive:
            return bool({_HEADER, _START} & set(archive.names()))
    except InputError:
        return False


def log_of(path: Path) -> "InspectLog":
    """Read the header of a log."""
    header = _header(path)
    spec = field_of(header, "eval", str(path), dict)
    model, task = (str(field_of(spec, name, str(path), str)) for name in ("model", "task"))
    return InspectLog(str(path), (path,), model, task, str(spec.get("created", "")), remarks=_remarks(header, spec))


def _remarks(header: dict[str, Any], spec: dict[str, Any]) -> tuple[str, ...]:
    """Warnings to show before the scores of a log are used."""
    remarks = []
    if (status := header.get("status", "started")) != "success":
        remarks.append(f"the run ended with the status {status}")
    if header.get("invalidated"):
        remarks.append("the log is marked as invalid")
    config = spec.get("config")
    reducers = config.get("epochs_reducer") if isinstance(config, dict) else None
    if reducers and reducers != ["mean"]:
        remarks.append(f"inspect reduces epochs by {shown_value(reducers)}, here they are averaged")
    return tuple(remarks)


def _header(path: Path) -> dict[str, Any]:
    if not _zipped(path):
        return _object(read_json(path), str(path))
    with open_archive(path) as archive:
        names = set(archive.names())
        name = _HEADER if _HEADER in names else _START
        if name not in names:
            raise InputError(f"{path}: no {_HEADER} in the archive, so it is not an inspect log; name another file.")
        return _object(parse_json(archive.read(name), f"{path}, member {name!r}"), str(path))


def _zipped(path: Path) -> bool:
    with opened(path, ARCHIVE) as file:
        return file.read(4) == b"PK\x03\x04"


def _object(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{place}: not a log of inspect, which is a JSON object; name another file.")
    return found


@dataclass(frozen=True)
class InspectLog(Log):
    """One run of a task by a model, in one or several epochs."""

    remarks: tuple[str, ...] = ()

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        samples = [_sample(place, sample, cluster, self.task) for place, sample in _samples(self.files[0])]
        if not samples:
            raise self._empty()
        scorer = self._scorer(samples, selection.scorer)
        metric = self._metric(samples, scorer, selection)
        measure = Measure("inspect", metric, scorer=scorer, paired_on="sample id", compared="input")
        names = ("item", "run", "doc_hash", "score", *([cluster] if cluster else []))
        rows = Rows("scores", measure, {name: [] for name in names}, [])
        for sample in samples:
            _add(rows, sample, scorer, metric)
        rows.notes.extend(f"{self.label}: {remark}" for remark in self.remarks)
        if len(set(rows.columns["run"])) == 1:
            del rows.columns["run"]
        return rows

    def _empty(self) -> InputError:
        if self.remarks:
            return InputError(f"{self.label}: no samples in the log ({self.remarks[0]}); run it again.")
        return InputError(
            f"{self.label}: the header of an inspect log, without its samples; name the log itself, .eval or .json."
        )

    def _scorer(self, samples: "list[InspectSample]", asked: str | None) -> str:
        names = dict.fromkeys(name for sample in samples for name in sample.scores)
        if not names:
            raise InputError(f"{self.label}: no sample has been scored; run `inspect score` on the log first.")
        return chosen(self.label, "scorer", names, asked)

    def _metric(self, samples: "list[InspectSample]", scorer: str, selection: Selection) -> str:
        """The chosen part of scores that have several; else ``value``."""
        parts = dict.fromkeys(
            str(name) for sample in samples if isinstance(value := sample.scores.get(scorer), dict) for name in value
        )
        if parts:
            return chosen(f"{self.label}, scorer {scorer}", "metric", parts, selection.metric)
        if selection.metric not in (None, "value"):
            raise InputError(
                f"{self.label}: the scores of {scorer} have no parts to choose with `Selection(metric=...)`; leave it "
                "out."
            )
        return "value"


@dataclass(frozen=True, slots=True)
class InspectSample:
    """What is kept of a sample."""

    place: str
    item: str
    epoch: str
    digest: str
    scores: dict[str, Any]
    cluster: str
    failed: bool  # with an error


def _samples(path: Path) -> Iterator[Sample]:
    if _zipped(path):
        with open_archive(path) as archive:
            yield from _members(archive)
        return
    found = _object(read_json(path), str(path))
    for at, sample in enumerate([] if found.get("samples") is None else field_of(found, "samples", str(path), list)):
        place = f"{path}, sample {at + 1}"
        yield place, _object(sample, place)


def _members(archive: "Archive") -> Iterator[Sample]:
    for name in archive.names():
        if name.startswith(_SAMPLES) and name.endswith(".json"):
            place = f"{archive.path}, member {name!r}"
            yield place, _object(parse_json(archive.read(name), place), place)


def _sample(place: str, sample: dict[str, Any], cluster: str | None, task: str) -> InspectSample:
    scores = sample.get("scores") or {}
    if not isinstance(scores, dict):
        raise InputError(f"{place}: 'scores' must be an object, but got {shown_value(scores)}; write the log again.")
    group = ""
    if cluster is not None:
        group = task if cluster == "task" else label_of([("metadata", sample.get("metadata"))], cluster, place)
    return InspectSample(
        place,
        str(field_of(sample, "id", place, int, str)),
        str(field_of(sample, "epoch", place, int)),
        digest(_asked(field_of(sample, "input", place, str, list), sample.get("attachments"))),
        {str(name): field_of(score, "value", f"{place}, score {name!r}") for name, score in scores.items()},
        group,
        bool(sample.get("error")),
    )


def _asked(found: object, attachments: object) -> object:
    """The input without message ids, which differ in each run, and with its attachments restored."""
    if isinstance(found, list):
        return [_asked(part, attachments) for part in found]
    if isinstance(found, dict):
        return {
            name: _asked(found[name], attachments)
            for name in ("role", "type", "text", "content", "image")
            if name in found
        }
    if isinstance(found, str) and found.startswith(_ATTACHMENT) and isinstance(attachments, Mapping):
        return attachments.get(found.removeprefix(_ATTACHMENT), found)
    return found


def _add(rows: Rows, sample: InspectSample, scorer: str, metric: str) -> None:
    """Add a row; its score is NaN where inspect treats the sample as unscored: no score, an error, or NaN."""
    value = None if sample.failed else sample.scores.get(scorer)
    if isinstance(value, dict):
        value = field_of(value, metric, f"{sample.place}, scorer {scorer}")
    unscored = value is None or (isinstance(value, float) and isnan(value))
    score = nan if unscored else _graded(value, f"{sample.place}, scorer {scorer}")
    for column, cell in zip(
        rows.columns.values(), (sample.item, sample.epoch, sample.digest, score, sample.cluster), strict=False
    ):
        column.append(cell)
    rows.places.append(sample.place)


def _graded(value: object, place: str) -> float:
    if not isinstance(value, str):
        return number(value, place, "the score")
    grade = _GRADES.get(value, _GRADES.get(value.lower()) if value.lower() in ("yes", "no", "true", "false") else None)
    if grade is not None:
        return grade
    try:
        return number(float(value), place, "the score")
    except ValueError:
        raise InputError(
            f"{place}: the score {shown_value(value)} is neither a number nor one of {listed(_GRADES)}; map it first."
        ) from None


if TYPE_CHECKING:
    from zipfile import ZipFile, ZipInfo

_ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")

#: Unpacked bytes of a member, and of all that is read of an archive for each byte of the file: more is no log.
LARGEST_MEMBER = DOCUMENT.bytes
LARGEST_RATIO = 1000


class Archive:
    """The members of a ZIP archive by name; of duplicates the last counts, as in ``zipfile``."""

    def __init__(self, path: Path, archive: "ZipFile") -> None:
        self.path = path
        self._archive = archive
        self._left = LARGEST_MEMBER + LARGEST_RATIO * path.stat().st_size

    def names(self) -> list[str]:
        return list(dict.fromkeys(self._archive.namelist()))

    def read(self, name: str) -> bytes:
        """A member, unpacked and checked."""
        info = self._archive.getinfo(name)
        place = f"{self.path}, member {name!r}"
        self._left -= info.file_size
        if info.file_size > LARGEST_MEMBER or self._left < 0:
            raise InputError(
                f"{place}: {megabytes(info.file_size)} when unpacked, too much for a log (at most "
                f"{megabytes(LARGEST_MEMBER)} a member and {LARGEST_RATIO:,} times the archive); check the file."
            )
        try:
            data = self._zstandard(info, place) if info.compress_type == _ZSTANDARD else self._archive.read(info)
        except _REFUSALS as error:
            raise InputError(f"{place}: cannot be unpacked ({error}); write or copy the archive again.") from error
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise InputError(f"{place}: not what was packed; write or copy the archive again.")
        return data

    def _zstandard(self, info: "ZipInfo", place: str) -> bytes:
        import zstandard  # late: only such members need it

        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            fields = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
            if fields[0] != b"PK\x03\x04":
                raise InputError(f"{place}: no member where the index says; write or copy the archive again.")
            file.seek(fields[9] + fields[10], 1)  # the name, and what follows it
            packed = file.read(info.compress_size)
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as reader:
                return bytes(reader.read(info.file_size + 1))
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


_REFUSALS = (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, struct.error, zlib.error)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive; errors say what is wrong with it."""
    from zipfile import BadZipFile, ZipFile

    check_file(path, ARCHIVE)
    try:
        archive = ZipFile(path)
    except OSError as error:
        raise cannot_open(path, error) from error
    except (BadZipFile, *_REFUSALS) as error:
        raise InputError(f"{path}: the archive is truncated or damaged ({error}); write or copy it again.") from error
    with archive:
        try:
            yield Archive(path, archive)
        except BadZipFile as error:
            raise InputError(f"{path}: the archive is damaged ({error}); write or copy it again.") from error


def first_name(head: bytes) -> str:
    """The name of the first member, read from the first bytes, so it works for truncated archives."""
    if len(head) < _LOCAL_HEADER.size:
        return ""
    length = _LOCAL_HEADER.unpack_from(head)[9]
    return head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + length].decode("utf-8", errors="replace")
