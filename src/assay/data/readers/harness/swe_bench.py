"""SWE-bench: reports of runs, reports of single instances, and lists of what was resolved.

Of a report, what was submitted counts: ``total_instances`` is the size of the data set. An empty patch has failed; an
error of the harness is a lost answer. A bare list of resolved instances says nothing of the others, so that what was
tried must be told: by the predictions beside it, or by the user.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from assay.data.readers import Selection
from assay.data.readers.harness import Log, field_of, shown_value
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.data.readers.harness.instance_ids import read_ids
from assay.data.readers.harness.instances import InstancesLog, Outcome, of_lists, texts_of
from assay.data.readers.harness.named_after import model_named, named_after
from assay.errors import InputError
from assay.files.reading import read_json
from assay.names import one_line

_PART_OF = "SWE-bench"
#: What a bare list of resolved instances is called in objects that hold one.
_RESOLVED = ("resolved_ids", "resolvedIds", "resolved")
_MODEL = ("model_name_or_path", "system", "model", "name")
_PREDICTIONS = (
    "predictions.jsonl",
    "all_preds.jsonl",
    "preds.jsonl",
    "predictions.json",
    "all_preds.json",
    "preds.json",
)
#: Lists of older reports in which the harness, and not the patch, failed.
_LOST_2023 = ("install_fail", "reset_failed", "no_logs")


def recognises(look: FirstLook) -> bool:
    return _kind(look) is not None


def _kind(look: FirstLook) -> str | None:
    """What a file is: a report of a run, of an instance, a list of resolved ones, or predictions."""
    start, keys = look.start, look.keys
    if isinstance(start, list) and start and all(_is_id(one) for one in start):
        return "list"
    if keys >= {"instance_id", "model_patch"}:
        return "predictions"
    if not isinstance(start, dict):
        return None
    if keys >= {"submitted_instances", "resolved_instances"} or keys >= {"submitted_ids", "resolved_ids"}:
        return "report"
    if any(_ids(start.get(name)) for name in _RESOLVED) or keys >= {"resolved", "no_generation"}:
        return "report" if "generated" in keys else "list"
    first = next(iter(start.values()), None)
    if isinstance(first, dict) and all("__" in key for key in start):
        return "instance" if "resolved" in first or "patch_exists" in first else _of_predictions(first)
    return None


def _of_predictions(found: Mapping[str, Any]) -> str | None:
    return "predictions" if "model_patch" in found else None


def _is_id(found: object) -> bool:
    return isinstance(found, str) and "__" in found and not any(sign.isspace() for sign in found)


def _ids(found: object) -> bool:
    return isinstance(found, list) and bool(found) and all(_is_id(one) for one in found)


def logs_of(files: Sequence[Path]) -> list[Log]:
    kinds: dict[str, list[Path]] = {}
    for path in files:
        kinds.setdefault(_kind(look_at(path, 1 << 24)) or "report", []).append(path)
    reports = {path: _report(path) for path in kinds.get("report", ())}
    logs: list[Log] = [*reports.values()]
    told = {path.stem for path in reports}
    trees: dict[Path, list[Path]] = {}
    for path in kinds.get("instance", ()):
        trees.setdefault(path.parent.parent, []).append(path)
    # Of a run with a report, that has them all: MODEL.RUN.json beside logs/run_evaluation/RUN/MODEL.
    alone = {one: own for one, own in trees.items() if f"{one.name}.{one.parent.name}" not in told}
    logs += [_tree(folder, own) for folder, own in alone.items()]
    logs += [_list(path) for path in kinds.get("list", ())]
    if not logs:
        raise InputError(
            f"{one_line(str(files[0]))}: predictions, which have no scores; name the report that the evaluation wrote."
        )
    return logs


# -------------------------------------------------------------------------------------------------------- whole runs


def _report(path: Path) -> "SweBenchLog":
    label = one_line(str(path))
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{label}: must be a report, but got {shown_value(found)}; evaluate the run again.")
    if "generated" in found:
        return replace(_run(path, found), outcomes=_outcomes_2023(found, label))
    if "resolved_ids" not in found:
        raise InputError(
            f"{label}: a report without the ids of what was resolved (resolved_ids); name the folder of the reports of "
            "single instances, or write the report again."
        )
    named = {name: texts_of(found, f"{name}_ids", label) for name in ("submitted", "resolved", "unresolved", "error")}
    others = [*texts_of(found, "completed_ids", label), *texts_of(found, "empty_patch_ids", label)]
    tried = named["submitted"] or dict.fromkeys([*others, *named["resolved"], *named["unresolved"], *named["error"]])
    return replace(_run(path, found), outcomes=of_lists([*tried], named["resolved"], _lost(found, label)))


def _lost(found: Mapping[str, Any], label: str) -> dict[str, str]:
    """Instances without a verdict, and why: errors, and failures of the infrastructure."""
    reasons = found.get("failure_reasons")
    told = reasons if isinstance(reasons, dict) else {}
    lost = dict.fromkeys(texts_of(found, "error_ids", label), "error")
    lost |= dict.fromkeys(texts_of(found, "infra_failure_ids", label), "failure of the infrastructure")
    return {one: str(told.get(one) or why) for one, why in lost.items()}


def _outcomes_2023(found: Mapping[str, Any], label: str) -> tuple[Outcome, ...]:
    tried = dict.fromkeys([*texts_of(found, "generated", label), *texts_of(found, "no_generation", label)])
    lost = {one: name for name in _LOST_2023 for one in texts_of(found, name, label)}
    return of_lists([*tried], texts_of(found, "resolved", label), lost)


def _run(path: Path, found: Mapping[str, Any]) -> "SweBenchLog":
    """A run, called as the report says, or as its file is: MODEL.RUN.json."""
    model = next((found[name] for name in _MODEL if isinstance(found.get(name), str) and found[name]), "")
    label = one_line(str(path))
    if model:
        return SweBenchLog(label, (path,), model, "", "", part_of=_PART_OF)
    model, _, run = path.stem.rpartition(".")
    number = run.isdigit() and len(run) < 4  # gpt-4.1.json: a version rather than a run
    named = named_after(path, path.stem if not model or number else model)
    return SweBenchLog(label, (path,), model_named(named), "", "", named_by=named, part_of=_PART_OF)


def _tree(folder: Path, reports: Sequence[Path]) -> "SweBenchLog":
    """The reports of instances below logs/run_evaluation/RUN/MODEL; an instance without one was lost."""
    outcomes = [one for path in reports for one in _instances(path)]
    seen = {one.instance for one in outcomes}
    entries = [entry for entry in sorted(folder.iterdir()) if entry.is_dir() and _is_id(entry.name)]
    places = {entry.name: one_line(str(entry)) for entry in entries if entry.name not in seen}
    outcomes += [Outcome(one, resolved=False, lost="no report", place=place) for one, place in places.items()]
    label = one_line(str(folder))
    note = f"{label}: an empty patch leaves no report and is not counted; the report of the whole run has it"
    run = SweBenchLog(label, tuple(reports), folder.name, "", "", part_of=_PART_OF)
    return replace(run, outcomes=tuple(outcomes), notes=(note,))


def _instances(path: Path) -> list[Outcome]:
    label = one_line(str(path))
    found = read_json(path)
    if not isinstance(found, dict):
        raise InputError(f"{label}: must be an object of instances, but got {shown_value(found)}; evaluate it again.")
    return [
        Outcome(instance, bool(field_of(report, "resolved", f"{label}, {instance}", bool)), place=label)
        for instance, report in found.items()
    ]


@dataclass(frozen=True)
class SweBenchLog(InstancesLog):
    """The instances of a repository in one run."""

    format: ClassVar[str] = "swe-bench"


# ---------------------------------------------------------------------------------------------------- bare lists


@dataclass(frozen=True)
class ResolvedLog(SweBenchLog):
    """A list of resolved instances, of which what was tried is not known yet."""

    resolved: tuple[str, ...] = ()
    beside: Path | None = None  # predictions that say what was tried

    def prepared(self, selection: Selection) -> list[Log]:
        told = self.beside if selection.tried is None else Path(selection.tried)
        if told is None:
            raise InputError(
                f"{self.label}: a list of what was resolved, which does not say what was tried; say it with "
                "`Selection(tried='FILE')`: predictions, a report, or ids, one per line."
            )
        tried = read_ids(told)
        other = len({*self.resolved} - {*tried})
        note = f"{self.label}: {len(tried):,} instances were tried, by {one_line(str(told))}"
        note += f"; {other:,} more that are listed as resolved are left out" if other else ""
        outcomes = of_lists(tried, self.resolved, {})
        return super(ResolvedLog, replace(self, outcomes=outcomes, notes=(note,))).prepared(selection)


def _list(path: Path) -> ResolvedLog:
    found, label = read_json(path), one_line(str(path))
    if isinstance(found, list):
        name, found = "resolved", {"resolved": found}
    else:
        name = next((name for name in _RESOLVED if name in found), "resolved")
    run = _run(path, found)
    if run.named_by is not None:
        stem = path.stem.removesuffix("resolved").rstrip("-_.") or "resolved"
        named = named_after(path, "results" if stem == "resolved" else stem)
        run = replace(run, model=model_named(named), named_by=named)
    resolved = tuple(texts_of(found, name, label))
    return ResolvedLog(
        label,
        (path,),
        run.model,
        "",
        "",
        named_by=run.named_by,
        part_of=_PART_OF,
        resolved=resolved,
        beside=_beside(path),
    )


def _beside(path: Path) -> Path | None:
    """The predictions in the folder of a list, or above a folder ``results``, as in SWE-bench's experiments."""
    folders = [path.parent, *([path.parent.parent] if path.parent.name == "results" else [])]
    return next((file for folder in folders for name in _PREDICTIONS if (file := folder / name).is_file()), None)
