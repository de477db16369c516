"""What the other arms are compared with, why that, and whether a comparison is fair yet."""

from collections.abc import Sequence

from assay.analyses.tuning_records import Arm, RunSummary
from assay.data.training import TrainingLog
from assay.errors import UsageError

_EVERYTHING = ("full", "sft")  # in the name of an arm that trains every weight
_A_PART = ("lora", "peft", "adapter")  # in the name of one that does not, whatever else is in it


def baseline_of(arms: Sequence[Arm], asked: str | None) -> tuple[str | None, str | None]:
    """Its name, and a note where neither the user nor the numbers of parameters say so."""
    names = [arm.name for arm in arms]
    if asked is not None and asked not in names:
        raise UsageError(f"no arm {asked!r}; the arms are {', '.join(names)}.")
    if asked is not None or len(arms) < 2:
        return asked or next(iter(names), None), None
    good = [arm for arm in arms if not lost(arm)] or list(arms)
    chosen, why = _chosen(good)
    preferred, _ = _chosen(arms)
    if preferred is not chosen:
        why = f"{preferred.name} would be, but diverged"
    if why is None:
        return chosen.name, None
    return chosen.name, f"{chosen.name} is the baseline: {why}; --baseline NAME changes it"


def _chosen(arms: Sequence[Arm]) -> tuple[Arm, str | None]:
    """The arm that trains everything: by its parameters, else by its name; else the first."""
    whole = [arm for arm in arms if arm.share == 1]
    if len(whole) == 1:
        return whole[0], None
    known = f"{len(whole)} arms train every parameter" if whole else "no log says that it trains every parameter"
    named = [arm for arm in whole or arms if _named_whole(arm.name)]
    if named:
        return named[0], f"{known}, and its name says so"
    return (whole or arms)[0], f"{known}, and it is the first"


def _named_whole(name: str) -> bool:
    plain = name.casefold()
    return any(word in plain for word in _EVERYTHING) and not any(word in plain for word in _A_PART)


def lost(arm: Arm) -> bool:
    """Every run diverged."""
    return all(run.diverged_at is not None for run in arm.runs)


def stops(name: str, runs: Sequence[RunSummary | TrainingLog]) -> list[str]:
    """Which runs of an arm are not finished, in words without a full stop; a divergence is another matter."""
    found = [run for run in runs if not run.finished and run.diverged_at is None]
    one = len(runs) == 1
    return [f"{name}{'' if one else f' ({run.label})'} {_stopped(run)}" for run in found]


def _stopped(run: RunSummary | TrainingLog) -> str:
    return f"stopped at step {run.last_step:,}" + ("" if run.max_steps is None else f" of {run.max_steps:,}")


def divergences(arm: Arm) -> list[str]:
    """Which runs of an arm diverged."""
    found = [run for run in arm.runs if run.diverged_at is not None]
    return [f"{arm.name} diverged at step {run.diverged_at:,} ({run.label})" for run in found]
