"""Is a survey benchmark signal or noise? The verb, and what its analyses share.

What an analysis is
-------------------
A function ``(survey: Survey, design: Design) -> SurveyAnalysis``, listed by name in
`assay.analyses.survey.result.ANALYSES` as ``"module:function:record"``, and imported when asked for.
``assay survey --only NAME`` runs it alone; without ``--only`` all run in that order. To add one, write the function
and its record, add a line there, and say how to read it in `assay.analyses.survey.sentences`.

What it is given
----------------
A frozen `assay.analyses.survey.evidence.Survey`, whose expensive parts are cached properties that analyses share; see
there. In a report all models have a score in every cell of ``truth``; ``everyone`` and ``whole`` hold the other cells.
Of the design an analysis uses ``level``, ``resamples`` (None: its own default), ``seed``, ``method`` and ``test``.

What it gives
-------------
A frozen `assay.analyses.survey.result.SurveyAnalysis`: ``sections[name]`` of the JSON, read back by its ``kind``. Its
fields are numbers and records of numbers; the last, ``statements``, is filled from the others by ``sentences()``: what
a paper may say, each true, or withheld (``holds`` False) with the reason in the text; a warning says that a number is
not what it seems to be. ``advice()`` is what to do, ``tables`` and ``figures`` are what is shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Unpack, get_args

import numpy as np

from assay.analyses.survey.evidence import (
    MIN_RESPONDENTS,
    THRESHOLD,
    Breakdown,
    OwnScore,
    Population,
    Survey,
    overall,
    panel_of_cells,
)
from assay.analyses.survey.paper import paper_of
from assay.analyses.survey.result import ANALYSES, SurveyAnalysis, SurveyReport
from assay.data.survey import (
    FilesRead,
    SurveySource,
    Variants,
    merged,
    merged_round,
    read_merging,
    read_predictions,
    read_truth,
)
from assay.data.survey.survey_json import read_summary
from assay.design import Design, DesignFields, as_given, signature
from assay.errors import InputError, UsageError
from assay.progress import counted


def survey(
    truth: SurveySource,
    *results: SurveySource,
    prior: SurveySource | None = None,
    summary: str | PathLike[str] | None = None,
    only: Sequence[str] | None = None,
    design: Design | None = None,
    min_n: int = MIN_RESPONDENTS,
    threshold: float = THRESHOLD,
    variants: Variants = "apart",
    marginal: Population = "left-out",
    merge: SurveySource | None = None,
    by: Breakdown | None = None,
    progress: FilesRead | None = None,
    **settings: Unpack[DesignFields],
) -> SurveyReport:
    """Find out whether a survey benchmark is signal or noise.

    ``truth`` is the survey; ``results`` are the benchmark's result files, folders of them, or tables of predictions.
    ``prior`` is an earlier or later round, ``summary`` the published summary, ``only`` the analyses to run (by default
    all). Answers of fewer than ``min_n`` respondents are left out. ``marginal`` is how a segment is predicted from the
    others: "left-out" leaves out its people, "pooled" only its row, so that the same people come back in other rows.
    ``merge`` is a table of ``segment, into``: segments that become one, their respondents added. ``by`` also shows the
    scores of each category, segment or question.

    >>> answers = {"question": ["q1", "q1", "q2", "q2"], "segment": ["a", "b"] * 2, "n": [80, 60, 80, 60]}
    >>> answers |= {"yes": [60, 30, 45, 80], "no": [40, 70, 55, 20]}
    >>> guess = {name: answers[name] for name in ("question", "segment")}
    >>> guess |= {"yes": [55, 35, 50, 75], "no": [45, 65, 50, 25]}
    >>> found = survey(answers, {"model": ["guess"] * 4, **guess}, only=["scores"])
    >>> round(found.analyses["scores"].models[0].score, 3)
    0.955
    """
    asked, names = as_given("survey", Design, design, settings), chosen(only)
    _check(asked, min_n, threshold, marginal)
    if by is not None and by not in get_args(Breakdown):
        raise UsageError(f"by must be one of {', '.join(get_args(Breakdown))}, but got {by!r}.")
    if by is not None and "intervals" not in names:
        raise UsageError("`by` is shown with the intervals: name them in `only`, or leave one of the two out.")
    loaded = load(
        truth,
        results,
        prior=prior,
        summary=summary,
        min_n=min_n,
        threshold=threshold,
        variants=variants,
        population=marginal,
        merge=merge,
        progress=progress,
    )
    return report_of(replace(loaded, by=by), asked, names)


def _check(design: Design, min_n: int, threshold: float, marginal: str) -> None:
    if replace(design, scheme=Design().scheme) != design:
        raise UsageError("survey takes every part of a design but the scheme; leave it out.")
    if design.test in ("mcnemar", "mcnemar-midp"):
        raise UsageError(f"{design.test} is for 0/1 scores; a survey's are between 0 and 1: leave `test` out.")
    if min_n < 1:
        raise UsageError(f"min_n must be at least 1, but got {min_n}.")
    if marginal not in get_args(Population):
        raise UsageError(f"marginal must be one of {', '.join(get_args(Population))}, but got {marginal!r}.")
    if not 0 < threshold < 1:
        raise UsageError(f"threshold must be between 0 and 1, but got {threshold}.")


def load(
    truth: SurveySource,
    results: Sequence[SurveySource],
    *,
    prior: SurveySource | None = None,
    summary: str | PathLike[str] | None = None,
    min_n: int = MIN_RESPONDENTS,
    threshold: float = THRESHOLD,
    variants: Variants = "apart",
    population: Population = "left-out",
    merge: SurveySource | None = None,
    progress: FilesRead | None = None,
) -> Survey:
    """Read a survey and what was predicted of it."""
    if merge is not None and summary is not None:
        raise UsageError("a published summary is of the segments as they were: leave out `summary` or `merge`.")
    whole = read_truth(truth)
    into = {} if merge is None else read_merging(merge, whole)
    coarser = merged(whole, into)  # first, so that small segments may grow
    kept, few = coarser.truth.at_least(min_n), coarser.truth.n < min_n
    answers = read_predictions(results, whole, left_out=None if into else few, variants=variants, progress=progress)
    predictions = (coarser.predictions(answers) if into else answers).only(~few)
    published = None if summary is None else read_summary(Path(summary))
    both = published is not None and None not in (published.survey_id, kept.survey_id)
    if both and published is not None and published.survey_id != kept.survey_id:
        raise InputError(f"{published.source}: about {published.survey_id!r}, but the survey is {kept.survey_id!r}.")
    other = None if prior is None else merged_round(read_truth(prior), into)
    return Survey(kept, predictions, other, published, threshold, coarser.truth, population)


def on_shared_cells(survey: Survey) -> Survey:
    """The survey without the cells that some model has no score for, so that all numbers are over the same cells.

    Models without any score are ignored.
    """
    there = ~np.isnan(survey.scores)  # (C, M)
    scored = np.asarray(there.any(axis=0))
    shared = np.asarray(there[:, scored].all(axis=1))
    if not scored.any() or shared.all():
        return survey
    means, counts = overall(panel_of_cells(survey.truth, survey.scores, survey.models)), there.sum(axis=0)
    own = tuple(OwnScore(name, float(means[m]), int(counts[m])) for m, name in enumerate(survey.models) if scored[m])
    fewest = min(own, key=lambda one: one.cells)
    if not shared.any():
        raise InputError(
            f"no question × segment has an answer of every model ({fewest.model} has {fewest.cells:,} of "
            f"{len(survey.truth):,}), so nothing can be compared; leave models out, or look at them one by one."
        )
    who = "every model" if len(own) > 1 else own[0].model
    note = f"every number is over the {shared.sum():,} of {len(shared):,} questions × segments that {who} answered"
    if len(own) > 1 and fewest.cells < max(one.cells for one in own):
        note += f"; {fewest.model} answered the fewest, {fewest.cells:,}"
    return replace(
        survey,
        truth=survey.truth.only(shared),
        predictions=replace(survey.predictions.only(shared), notes=(*survey.predictions.notes, note)),
        own=own if len({one.cells for one in own}) > 1 else (),
        whole=survey,
        shared=shared,
        _resampled={},
    )


def chosen(only: Sequence[str] | None) -> tuple[str, ...]:
    """The analyses asked for, in the order in which they run; all if none were."""
    if not only:
        return tuple(ANALYSES)
    unknown = [name for name in only if name not in ANALYSES]
    if unknown:
        raise UsageError(f"`only` must name analyses among {', '.join(ANALYSES)}, but got {unknown[0]!r}.")
    return tuple(name for name in ANALYSES if name in only)


def report_of(loaded: Survey, design: Design, names: Sequence[str] = tuple(ANALYSES)) -> SurveyReport:
    """The report on a survey that has been read, over the cells that every model answered."""
    data = f"{loaded.truth.digest[:8]}{loaded.predictions.digest[:8]}"
    loaded = on_shared_cells(loaded)
    places = {name: ANALYSES[name].split(":") for name in names}
    functions = {name: getattr(import_module(module), function) for name, (module, function, _) in places.items()}
    analyses: dict[str, SurveyAnalysis] = {
        name: functions[name](loaded, design) for name in counted(tuple(functions), "survey", "analyses")
    }
    truth = loaded.truth
    return SurveyReport(
        kind="survey",
        sentence=_sentence(loaded, analyses),
        survey=truth.survey_id or truth.source,
        n_questions=len(truth.questions),
        n_segments=len(truth.segments),
        n_cells=len(truth),
        models=loaded.models,
        analyses=analyses,
        paper=tuple(paper_of(analyses)),
        advice=tuple(one for analysis in analyses.values() for one in analysis.advice()),
        notes=loaded.notes,
        design=design,
        signature=signature(
            "survey",
            questions=len(truth.questions),
            segments=len(truth.segments),
            models=len(loaded.models),
            answers=len(loaded.predictions),
            only=None if tuple(names) == tuple(ANALYSES) else "+".join(names),
            method=_method(analyses, design),
            resamples=design.resamples,
            level=design.level,
            margin=design.margin,
            seed=design.seed,
            marginal=None if loaded.population == "left-out" else loaded.population,
            data=data,
        ),
    )


def _method(analyses: Mapping[str, SurveyAnalysis], design: Design) -> str:
    """The interval that differences from the baselines have, where it was left to us."""
    against = getattr(analyses.get("baselines"), "against", ())
    return design.ran(one.difference.interval for one in against)


def _sentence(loaded: Survey, analyses: dict[str, SurveyAnalysis]) -> str:
    """The best model between the population marginal and the ceiling, over the same cells."""
    marginal = loaded.of_baseline(loaded.reference)
    known = marginal.answered[:, 0]
    cells = known if known.any() else np.ones(len(known), dtype=bool)
    values = zip(loaded.models, overall(loaded.of_models.rows(cells)).tolist(), strict=True)
    scores = {name: value for name, value in values if not np.isnan(value)}
    if not scores:
        return "No model has an answer that could be scored."
    best = max(scores, key=lambda name: (scores[name], name))
    who = f"The best of {len(scores)} models, {best}," if len(scores) > 1 else best
    parts = [f"{who} scores {scores[best]:.3f}"]
    if known.any():
        parts.append(f"the population marginal, {overall(marginal.rows(cells))[0]:.3f}")
    if "noise" in analyses:
        ceiling = overall(loaded.panel_of(loaded.ceiling).rows(cells))[0]
        parts.append(f"a perfect prediction would score {ceiling:.3f} with so many respondents")
    asked = len(cells if loaded.shared is None else loaded.shared)
    count = int(cells.sum())
    over = "" if count == asked else f" These are over {count:,} of {asked:,} questions × segments."
    beyond = any(best in analysis.above_ceiling for analysis in analyses.values())
    warned = f" {best} must have seen the sample: see the warnings." if beyond else ""
    return "; ".join(parts) + "." + over + warned
