"""inspect_ai: ``.eval`` archives and ``.json`` logs of one task and one model; epochs are runs of an item."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import Log, Measure, Rows, chosen, digest, field_of, label_of, number, shown_value
from assay.data.readers.harness.files import Archive, first_name, open_archive
from assay.errors import InputError
from assay.files.reading import ARCHIVE, opened, parse_json, read_json
from assay.names import listed

#: The keys of a .json log, and of its header or the first entry of its journal saved by themselves.
KEYS = (frozenset({"status", "eval"}), frozenset({"plan", "eval"}))
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
#: What inspect itself makes of these: correct, partially correct, incorrect, no answer.
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHMENT = "attachment://"

Sample = tuple[str, dict[str, Any]]  # where it is, and what it is


def is_archive(path: Path, head: bytes) -> bool:
    """Whether a ZIP archive is a log, be it whole or not."""
    first = first_name(head)
    if first in (_HEADER, _START) or (first.startswith(_SAMPLES) and first.endswith(".json")):
        return True
    try:
        with open_archive(path) as archive:
            return bool({_HEADER, _START} & set(archive.names()))
    except InputError:
        return False


def log_of(path: Path) -> "InspectLog":
    """The log of a file, its header read."""
    header = _header(path)
    spec = field_of(header, "eval", str(path), dict)
    model, task = (str(field_of(spec, name, str(path), str)) for name in ("model", "task"))
    return InspectLog(str(path), (path,), model, task, str(spec.get("created", "")), remarks=_remarks(header, spec))


def _remarks(header: dict[str, Any], spec: dict[str, Any]) -> tuple[str, ...]:
    """What a person should know of a log before its scores are used."""
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
        found = read_json(path)
        return _object(found, str(path))
    with open_archive(path) as archive:
        names = set(archive.names())
        name = _HEADER if _HEADER in names else _START
        if name not in names:
            raise InputError(f"{path}: no {_HEADER} in the archive, so it is no log of inspect; name another file.")
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
    """A task run by a model once, in one or several epochs."""

    remarks: tuple[str, ...] = ()

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        samples = list(self._kept(cluster))
        if not samples:
            raise self._empty()
        scorer = self._scorer(samples, selection.scorer)
        metric = self._metric(samples, scorer, selection)
        rows = Rows(
            "scores",
            Measure("inspect", metric, scorer=scorer, paired_on="sample id", compared="input"),
            _columns(cluster),
            [],
        )
        unscored = sum(not _add(rows, sample, scorer, metric, cluster) for sample in samples)
        if unscored:
            rows.notes.append(f"{self.label}: samples without a score left out: {unscored} of {len(samples)}")
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

    def _kept(self, cluster: str | None) -> Iterator["_Sample"]:
        for place, sample in _samples(self.files[0]):
            yield _sample(place, sample, cluster, self.task)

    def _scorer(self, samples: list["_Sample"], asked: str | None) -> str:
        names = dict.fromkeys(name for sample in samples for name in sample.scores)
        if not names:
            raise InputError(f"{self.label}: no sample has been scored; run `inspect score` on the log first.")
        return chosen(self.label, "scorer", names, asked)

    def _metric(self, samples: list["_Sample"], scorer: str, selection: Selection) -> str:
        """The part of a score that has several; else what the scorer says, called value."""
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
class _Sample:
    """What is kept of a sample."""

    place: str
    item: str
    epoch: str
    digest: str
    scores: dict[str, Any]
    cluster: str


def _samples(path: Path) -> Iterator[Sample]:
    if _zipped(path):
        with open_archive(path) as archive:
            yield from _members(archive)
        return
    found = _object(read_json(path), str(path))
    for at, sample in enumerate([] if found.get("samples") is None else field_of(found, "samples", str(path), list)):
        place = f"{path}, sample {at + 1}"
        yield place, _object(sample, place)


def _members(archive: Archive) -> Iterator[Sample]:
    for name in archive.names():
        if name.startswith(_SAMPLES) and name.endswith(".json"):
            place = f"{archive.path}, member {name!r}"
            yield place, _object(parse_json(archive.read(name), place), place)


def _sample(place: str, sample: dict[str, Any], cluster: str | None, task: str) -> _Sample:
    scores = sample.get("scores") or {}
    if not isinstance(scores, dict):
        raise InputError(f"{place}: 'scores' must be an object, but got {shown_value(scores)}; write the log again.")
    group = ""
    if cluster is not None:
        group = task if cluster == "task" else label_of([("metadata", sample.get("metadata"))], cluster, place)
    return _Sample(
        place,
        str(field_of(sample, "id", place, int, str)),
        str(field_of(sample, "epoch", place, int)),
        digest(_asked(field_of(sample, "input", place, str, list), sample.get("attachments"))),
        {str(name): field_of(score, "value", f"{place}, score {name!r}") for name, score in scores.items()},
        group,
    )


def _asked(found: object, attachments: object) -> object:
    """The input without the ids of messages, which differ in each run, and with its attachments put back."""
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


def _columns(cluster: str | None) -> dict[str, list[Any]]:
    return {name: [] for name in ("item", "run", "doc_hash", "score", *([cluster] if cluster else []))}


def _add(rows: Rows, sample: _Sample, scorer: str, metric: str, cluster: str | None) -> bool:
    """Add a row, unless inspect itself calls the sample unscored: no score, after an error, or NaN."""
    value = sample.scores.get(scorer)
    if isinstance(value, dict):
        value = field_of(value, metric, f"{sample.place}, scorer {scorer}")
    if value is None or (isinstance(value, float) and isnan(value)):
        return False
    values = (
        sample.item,
        sample.epoch,
        sample.digest,
        _graded(value, f"{sample.place}, scorer {scorer}"),
        sample.cluster,
    )
    for name, cell in zip(("item", "run", "doc_hash", "score", cluster), values, strict=True):
        if name is not None:
            rows.columns[name].append(cell)
    rows.places.append(sample.place)
    return True


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
