"""inspect_ai: ``.eval`` archives and ``.json`` logs of one task and one model; epochs are runs of an item."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from pathlib import Path
from typing import Any

from assay.data.readers import Selection
from assay.data.readers.harness import (
    ABSENT,
    Log,
    Measure,
    Rows,
    SampleText,
    chosen,
    field_of,
    number,
    shown_value,
    told,
)
from assay.data.readers.harness.first_look import FirstLook
from assay.data.readers.harness.inspect_archive import first_name, open_archive
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted
from assay.data.readers.harness.inspect_json import header_of_json
from assay.data.readers.harness.inspect_records import SAMPLES, asked, every_sample, zipped
from assay.data.readers.harness.inspect_samples import read_samples
from assay.errors import InputError
from assay.files.reading import parse_json
from assay.names import listed

HEADER, START = "header.json", "_journal/start.json"
#: The keys of a .json log, and of its header or the first entry of its journal saved by themselves.
KEYS = (frozenset({"status", "eval"}), frozenset({"plan", "eval"}))
#: What inspect itself makes of these: correct, partially correct, incorrect, no answer.
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def recognises(look: FirstLook) -> bool:
    if look.head.startswith(b"PK\x03\x04"):
        return _is_archive(look.path, look.head)
    return any(look.keys >= some for some in KEYS)


def logs_of(files: Sequence[Path]) -> list[Log]:
    return [log_of(path) for path in files]


def _is_archive(path: Path, head: bytes) -> bool:
    """Whether a ZIP archive is a log, even if truncated."""
    first = first_name(head)
    if first in (HEADER, START) or (first.startswith(SAMPLES) and first.endswith(".json")):
        return True
    try:
        with open_archive(path) as archive:
            return bool({HEADER, START} & set(archive.names()))
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
        spec_model=model,
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
    if not zipped(path):
        return _object(header_of_json(path), str(path))
    with open_archive(path) as archive:
        name = HEADER if HEADER in archive else START
        if name not in archive:
            raise InputError(f"{path}: no {HEADER} in the archive, so it is not an inspect log; name another file.")
        return _object(parse_json(archive.read(name), f"{path}, member {name!r}"), str(path))


def _object(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{place}: not a log of inspect, which is a JSON object; name another file.")
    return found


@dataclass(frozen=True)
class InspectLog(Log):
    """One run of a task by a model, in one or several epochs."""

    remarks: tuple[str, ...] = ()
    spec_model: str = ""  # as the log calls the model, whatever the user calls it

    def rows(self, selection: Selection, cluster: str | None) -> Rows:
        samples = self._samples(cluster)
        scorer = self._scorer(samples, selection.scorer)
        metric = self._metric(samples, scorer, selection)
        measure = Measure("inspect", metric, scorer=scorer, paired_on="sample id", compared="input")
        columns: dict[str, Any] = {"item": samples.items}
        if len(set(samples.epochs)) > 1:
            columns["run"] = samples.epochs
        columns |= {"doc_hash": samples.digests, "score": _scores(samples, scorer, metric)}
        columns |= ({cluster: samples.clusters} if cluster else {}) | samples.costs
        if any(samples.errors):
            columns["error"] = samples.errors
        notes = [f"{self.label}: {remark}" for remark in self.remarks]
        lists = {name: list(column) for name, column in columns.items()}
        return Rows("scores", measure, lists, samples.places, notes=notes)

    def measures(self, selection: Selection) -> list[Selection]:
        samples, found = self._samples(None), []
        for scorer in [selection.scorer] if selection.scorer is not None else samples.scorers:
            parts: list[str] | list[None] = samples.parts(scorer) or [None]
            parts = parts if selection.metric is None else [selection.metric]
            found += [replace(selection, scorer=scorer, metric=part) for part in parts]
        return found

    def texts(self) -> Iterator[SampleText]:
        return (_text(sample) for _, sample in every_sample(self.files[0]))

    def _samples(self, cluster: str | None) -> InspectSamples:
        known = self._read_before
        if cluster not in known:
            known[cluster] = read_samples(Wanted(self.files[0], self.spec_model, self.task, cluster))
        if not len(known[cluster]):
            raise self._empty()
        return known[cluster]

    @cached_property
    def _read_before(self) -> dict[str | None, InspectSamples]:
        """The samples, by what they are clustered by."""
        return {}

    def _empty(self) -> InputError:
        if self.remarks:
            return InputError(f"{self.label}: no samples in the log ({self.remarks[0]}); run it again.")
        return InputError(
            f"{self.label}: the header of an inspect log, without its samples; name the log itself, .eval or .json."
        )

    def _scorer(self, samples: InspectSamples, asked: str | None) -> str:
        names = samples.scorers
        if not names:
            raise InputError(f"{self.label}: no sample has been scored; run `inspect score` on the log first.")
        return chosen(self.label, "scorer", names, asked)

    def _metric(self, samples: InspectSamples, scorer: str, selection: Selection) -> str:
        """The chosen part of scores that have several; else ``value``."""
        parts = samples.parts(scorer)
        if parts:
            return chosen(f"{self.label}, scorer {scorer}", "metric", parts, selection.metric)
        if selection.metric not in (None, "value"):
            raise InputError(
                f"{self.label}: the scores of {scorer} have no parts to choose with `Selection(metric=...)`; leave it "
                "out."
            )
        return "value"


def _text(sample: dict[str, Any]) -> SampleText:
    question = asked(sample.get("input"), sample.get("attachments"))
    target, choices, output = (sample.get(name) for name in ("target", "choices", "output"))
    return SampleText(
        str(sample.get("id")),
        str(sample.get("epoch")),
        _plain(question),
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


def _scores(samples: InspectSamples, scorer: str, metric: str) -> list[float]:
    """The scores; NaN where inspect treats the sample as unscored: no score, an error, or NaN."""
    values = samples.scores.get(scorer, [])
    plain = {grade: score for grade, score in _GRADES.items() if grade in ("C", "I")}
    if set(map(type, values)) == {str} and plain.keys() >= set(values) and not any(samples.errors):
        return [plain[value] for value in values]
    return [
        plain[value]
        if not samples.errors[at] and isinstance(value, str) and value in plain
        else _score(samples, at, value, scorer, metric)
        for at, value in enumerate(values)
    ]


def _score(samples: InspectSamples, at: int, value: object, scorer: str, metric: str) -> float:
    value = None if samples.errors[at] or value is ABSENT else value
    if isinstance(value, dict):
        value = field_of(value, metric, f"{samples.places[at]}, scorer {scorer}")
    unscored = value is None or (isinstance(value, float) and isnan(value))
    return nan if unscored else _graded(value, f"{samples.places[at]}, scorer {scorer}")


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
