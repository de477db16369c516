"""The analyses of a survey, in the order in which they are run and shown."""

from collections.abc import Callable, Sequence
from importlib import import_module

from assay.analyses.survey.loaded import Survey
from assay.analyses.survey.section import Section
from assay.design import Design
from assay.errors import UsageError

Analysis = Callable[[Survey, Design], Section]

#: Name → "module:function:record"; the module is imported when it is asked for.
ANALYSES: dict[str, str] = {
    "scores": "assay.analyses.survey.scores:scores:Scores",
    "baselines": "assay.analyses.survey.baselines:baselines:Baselines",
    "noise": "assay.analyses.survey.noise:noise:Noise",
    "intervals": "assay.analyses.survey.intervals:intervals:Intervals",
    "pairs": "assay.analyses.survey.pairs:pairs:Pairs",
    "weighting": "assay.analyses.survey.weighting:weighting:Weighting",
    "fairness": "assay.analyses.survey.fairness:fairness:Fairness",
    "context": "assay.analyses.survey.context:context:Context",
    "repeats": "assay.analyses.survey.repeats:repeats:Repeats",
}


def chosen(only: Sequence[str] | None) -> tuple[str, ...]:
    """The names that were asked for, in the order of the registry; all of them if none were."""
    if not only:
        return tuple(ANALYSES)
    unknown = [name for name in only if name not in ANALYSES]
    if unknown:
        raise UsageError(f"--only must name analyses among {', '.join(ANALYSES)}, but got {unknown[0]!r}.")
    return tuple(name for name in ANALYSES if name in only)


def analysis(name: str) -> Analysis:
    module, function, _ = ANALYSES[name].split(":")
    found: Analysis = getattr(import_module(module), function)
    return found


def record(name: str) -> type[Section]:
    module, _, kind = ANALYSES[name].split(":")
    found: type[Section] = getattr(import_module(module), kind)
    return found
