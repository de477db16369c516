"""inspect_ai: ``.eval`` archives and ``.json`` logs of one task and one model; epochs are runs of an item."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import (
    Log,
    Measure,
    Rows,
    SampleText,
    chosen,
    digest,
    field_of,
    label_of,
    number,
    shown_value,
    told,
)
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.inspect_archive import Archive, first_name, open_archive
from assay.errors import InputError
from assay.files.reading import ARCHIVE, opened, parse_json, read_json
from assay.names import listed, one_line

#: The keys of a .json log, and of its header or the first entry of its journal saved by themselves.
KEYS = (frozenset({"status", "eval"}), frozenset({"plan", "eval"}))
_HEADER, _START, _SAMPLES = "header.json", "_journal/start.json", "samples/"
#: What inspect itself makes of these: correct, partially correct, incorrect, no answer.
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHMENT = "attachment://"
_TOKENS = {"tokens_in": "input_tokens", "tokens_out": "output_tokens", "tokens_total": "total_tokens"}

Sample = tuple[str, dict[str, Any]]  # where it is, and what it is


def recognises(look: FirstLook) -> bool:
    if look.head.startswith(b"PK\x03\x04"):
        return _is_archive(look.path, look.head)
    return any(look.keys >= some for some in KEYS)


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log_of(path) for path in files]


def _is_archive(path: Path, head: bytes) -> bool:
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
    return InspectLog(
        str(path),
        (path,),
        model,
        task,
        str(spec.get("created", "")),
        conditions=told({"judge": _judges(spec)}),
        settings=_settings(header, spec),
        version=_version(spec),
        remarks=_remarks(header, spec),
    )


def _judges(spec: dict[str, Any]) -> str | None:
    """The models that grade answers, where the log names them."""
    roles, scorers = spec.get("model_roles"), spec.get("scorers")
    grader = roles.get("grader") if isinstance(roles, dict) else None
    found = [grader.get("model") if isinstance(grader, dict) else grader]
    for scorer in scorers if isinstance(scorers, list) else []:
        options = scorer.get("options") if isinstance(scorer, dict) else None
        found.append(options.get("model") if isinstance(options, dict) else None)
    return ", ".join(sorted({name for name in found if isinstance(name, str)})) or None


def _version(spec: dict[str, Any]) -> str:
    packages = spec.get("packages")
    return str(packages.get("inspect_ai", "")) if isinstance(packages, dict) else ""


def _settings(header: dict[str, Any], spec: dict[str, Any]) -> dict[str, str]:
    """How the model was asked: the arguments of the task, and of generation."""
    plan = header.get("plan")
    asked = (
        spec.get("task_args"),
        spec.get("model_generate_config"),
        plan.get("config") if isinstance(plan, dict) else {},
    )
    found: dict[str, str] = {}
    for some in asked:
        found |= told({str(name): value for name, value in some.items()}) if isinstance(some, dict) else {}
    return found


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
        samples = self._samples(cluster)
        scorer = self._scorer(samples, selection.scorer)
        metric = self._metric(samples, scorer, selection)
        measure = Measure("inspect", metric, scorer=scorer, paired_on="sample id", compared="input")
        names = ("item", "run", "doc_hash", "score", *([cluster] if cluster else []))
        places = [sample.place for sample in samples]
        rows = Rows("scores", measure, {name: [] for name in names}, places)
        for sample in samples:
            _add(rows, sample, scorer, metric)
        known = dict.fromkeys(name for sample in samples for name in sample.costs)
        rows.columns |= {name: [sample.costs.get(name, nan) for sample in samples] for name in known}
        if any(sample.error for sample in samples):
            rows.columns["error"] = [sample.error for sample in samples]
        rows.notes.extend(f"{self.label}: {remark}" for remark in self.remarks)
        if len(set(rows.columns["run"])) == 1:
            del rows.columns["run"]
        return rows

    def measures(self, selection: Selection) -> list[Selection]:
        samples, found = self._samples(None), []
        for scorer in [selection.scorer] if selection.scorer is not None else _scorers(samples):
            parts: list[str] | list[None] = _parts(samples, scorer) or [None]
            parts = parts if selection.metric is None else [selection.metric]
            found += [replace(selection, scorer=scorer, metric=part) for part in parts]
        return found

    def texts(self) -> Iterator[SampleText]:
        return (_text(sample) for _, sample in _samples(self.files[0]))

    def _samples(self, cluster: str | None) -> "list[InspectSample]":
        known = self._read_before
        if cluster not in known:
            known[cluster] = [_sample(place, one, cluster, self.task) for place, one in _samples(self.files[0])]
        if not known[cluster]:
            raise self._empty()
        return known[cluster]

    @cached_property
    def _read_before(self) -> "dict[str | None, list[InspectSample]]":
        """The samples, by what they are clustered by."""
        return {}

    def _empty(self) -> InputError:
        if self.remarks:
            return InputError(f"{self.label}: no samples in the log ({self.remarks[0]}); run it again.")
        return InputError(
            f"{self.label}: the header of an inspect log, without its samples; name the log itself, .eval or .json."
        )

    def _scorer(self, samples: "list[InspectSample]", asked: str | None) -> str:
        names = _scorers(samples)
        if not names:
            raise InputError(f"{self.label}: no sample has been scored; run `inspect score` on the log first.")
        return chosen(self.label, "scorer", names, asked)

    def _metric(self, samples: "list[InspectSample]", scorer: str, selection: Selection) -> str:
        """The chosen part of scores that have several; else ``value``."""
        parts = _parts(samples, scorer)
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
    error: str  # "" where there was none
    costs: dict[str, float]


def _scorers(samples: Sequence[InspectSample]) -> list[str]:
    return list(dict.fromkeys(name for sample in samples for name in sample.scores))


def _parts(samples: Sequence[InspectSample], scorer: str) -> list[str]:
    """The parts of the scores of a scorer, where they have several."""
    values = (sample.scores.get(scorer) for sample in samples)
    return list(dict.fromkeys(str(name) for value in values if isinstance(value, dict) for name in value))


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
        _error(sample.get("error")),
        _costs(sample),
    )


def _error(found: object) -> str:
    if not found:
        return ""
    message = found.get("message") if isinstance(found, dict) else found
    return one_line(str(message)) or "an error"


def _costs(sample: dict[str, Any]) -> dict[str, float]:
    """Tokens of the model itself and not of a grader, and seconds, where they are told."""
    output = sample.get("output")
    every = sample.get("model_usage")
    own = output.get("model") if isinstance(output, dict) else None
    usage = every.get(own) if isinstance(every, dict) else None
    usage = usage or (output.get("usage") if isinstance(output, dict) else None)
    told = {ours: usage.get(theirs) for ours, theirs in _TOKENS.items()} if isinstance(usage, dict) else {}
    known = {**told, "seconds": sample.get("total_time")}
    numbers = {name: value for name, value in known.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if 0 <= value < inf}


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


def _text(sample: dict[str, Any]) -> SampleText:
    asked = _asked(sample.get("input"), sample.get("attachments"))
    target, choices, output = (sample.get(name) for name in ("target", "choices", "output"))
    return SampleText(
        str(sample.get("id")),
        str(sample.get("epoch")),
        _plain(asked),
        tuple(map(str, target)) if isinstance(target, list) else (str(target),),
        (_plain(output.get("completion")),) if isinstance(output, dict) and "completion" in output else (),
        tuple(map(str, choices)) if isinstance(choices, list) else None,
    )


def _plain(found: object) -> str:
    """Messages as one text."""
    if isinstance(found, list):
        return "\n\n".join(filter(None, map(_plain, found)))
    if isinstance(found, dict):
        return _plain(found.get("content", found.get("text", "")))
    return "" if found is None else str(found)


def _add(rows: Rows, sample: InspectSample, scorer: str, metric: str) -> None:
    """Add a row; its score is NaN where inspect treats the sample as unscored: no score, an error, or NaN."""
    value = None if sample.error else sample.scores.get(scorer)
    if isinstance(value, dict):
        value = field_of(value, metric, f"{sample.place}, scorer {scorer}")
    unscored = value is None or (isinstance(value, float) and isnan(value))
    score = nan if unscored else _graded(value, f"{sample.place}, scorer {scorer}")
    for column, cell in zip(
        rows.columns.values(), (sample.item, sample.epoch, sample.digest, score, sample.cluster), strict=False
    ):
        column.append(cell)


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
