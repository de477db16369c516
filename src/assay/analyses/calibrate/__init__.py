"""Are Assay's own intervals and verdicts honest on data like mine? Simulated, with the truth known."""

from collections.abc import Mapping
from importlib import import_module
from typing import Unpack, get_args

from assay.analyses.calibrate.result import CalibratedVerb, Calibration
from assay.analyses.calibrate.scenarios import BUILT_IN
from assay.analyses.calibrate.sentences import sentence_of
from assay.analyses.calibrate.studies import Adjustment, Evidence, Setup, Studied
from assay.analyses.calibrate.tallies import recommended
from assay.analyses.compare.reading import Asked
from assay.data import Panel, Selection
from assay.data.sources import Models, Source
from assay.design import Design, DesignFields, Missing, Policy, as_given, signature
from assay.engines import LOCAL, Engine
from assay.errors import UsageError

#: Who simulates which verb; imported when asked for. A certificate is made of comparisons, and stands above them.
STUDIES: dict[CalibratedVerb, str] = {
    "compare": "assay.analyses.calibrate.pairs",
    "summarize": "assay.analyses.calibrate.summarizing",
    "rank": "assay.analyses.calibrate.ranking",
    "certify": "assay.certificate.calibrated",
    "survey": "assay.analyses.calibrate.surveying",
}
#: Simulations: what takes longer is simulated less often.
USUAL: dict[CalibratedVerb, int] = {
    "compare": 2_000,
    "summarize": 2_000,
    "rank": 1_000,
    "certify": 1_000,
    "survey": 200,
}
QUICK = 5  # times fewer
_SCENARIOS = 5  # times fewer of each, where all built-in scenarios are simulated
LEAST, MOST = 20, 1_000_000


def calibrate(
    *sources: Source | Panel,
    verb: CalibratedVerb = "compare",
    scenario: str | None = None,
    simulations: int | None = None,
    quick: bool = False,
    design: Design | None = None,
    adjust: Adjustment = "holm",
    policy: Policy | None = None,
    models: Models = (None, None),
    columns: Mapping[str, str] | None = None,
    cluster: str | None = None,
    split: str | None = None,
    missing: Missing = "drop",
    lower_is_better: bool | None = None,
    selection: Selection | None = None,
    engine: Engine = LOCAL,
    **settings: Unpack[DesignFields],
) -> Calibration:
    """Simulate a verb on data like yours, with the truth known: how often is it right?

    ``sources`` are as for the verb. Your units, or whole clusters, are drawn again with replacement, with their weights
    and all their answers; the truth is then known. For ``"compare"`` every method of intervals is set beside the one of
    the design: how often it holds the true difference, how wide it is, and how often a difference is claimed where
    there is none. ``"summarize"`` does so for one system. ``"rank"`` counts false claims among equal models (with the
    adjustment ``adjust``), ``"certify"`` how often a model exactly at the limit of the ``policy`` passes, ``"survey"``
    what its intervals and tests do when other respondents are asked. Without sources, built-in scenarios are simulated,
    all or the ``scenario`` of this name.

    One source may be a `Panel`. ``quick`` makes a fifth of the ``simulations``. The numbers do not depend on the
    ``engine`` and its workers.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> a = rng.normal(size=60)
    >>> found = calibrate(a, a + rng.exponential(size=60), simulations=40)
    >>> found.worlds[0].methods[0].covered.n
    40

    It shows what happens on data like these. A sample that missed the tail of its population makes a world without that
    tail.
    """
    asked = as_given("calibrate", Design, design, settings)
    if verb not in STUDIES:
        raise UsageError(f"verb must be one of {', '.join(get_args(CalibratedVerb))}, but got {verb!r}.")
    if scenario is not None and sources:
        raise UsageError("a built-in scenario takes the place of results: leave out `scenario`, or the files.")
    if not sources and verb not in ("compare", "certify"):
        raise UsageError(f"there are no built-in scenarios of {verb}: give results to simulate from.")
    _check_options(verb, adjust, policy)
    evidence = Evidence(sources, Asked(models, None, columns, cluster, split, missing, lower_is_better, selection))
    many = not sources and scenario is None
    setup = Setup(
        asked,
        _simulations(verb, simulations, quick=quick, many=many),
        asked.seed,
        engine,
        scenario,
        adjust,
        policy or Policy(),
    )
    module = import_module(STUDIES[verb])
    return _calibration(verb, module.calibrated(evidence, setup), evidence, setup)


def _check_options(verb: CalibratedVerb, adjust: Adjustment, policy: Policy | None) -> None:
    """Refuse what another verb is told, rather than ignore it."""
    if adjust != "holm" and verb != "rank":
        raise UsageError(f"`adjust` is of rank, and {verb} is simulated; leave it out, or say `verb='rank'`.")
    if policy not in (None, Policy()) and verb != "certify":
        raise UsageError(f"limits are of certify, and {verb} is simulated; leave them out, or say `verb='certify'`.")


def _simulations(verb: CalibratedVerb, asked: int | None, *, quick: bool, many: bool) -> int:
    """How often to simulate; ``many``: each of all built-in scenarios."""
    if asked is None:
        return USUAL[verb] // (QUICK if quick else 1) // (_SCENARIOS if many else 1)
    if quick:
        raise UsageError("`quick` says how many simulations there are: leave out `simulations`, or `quick`.")
    if not LEAST <= asked <= MOST:
        raise UsageError(f"simulations must be from {LEAST} to {MOST:,}, but got {asked:,}.")
    return asked


def _calibration(verb: CalibratedVerb, found: Studied, evidence: Evidence, setup: Setup) -> Calibration:
    first = found.worlds[0].methods
    method = recommended(first, setup.design.level) if first and len(found.worlds) == 1 else None
    made = Calibration(
        verb=verb,
        systems=found.systems,
        level=setup.design.level,
        simulations=setup.simulations,
        seed=setup.seed,
        worlds=found.worlds,
        recommended=method,
        command=None,
        sentence="",
        notes=found.notes,
        signature=signature(
            "calibrate",
            verb=verb,
            scenario=setup.scenario or (None if evidence.sources else f"all {len(BUILT_IN)}"),
            n=found.worlds[0].n if len(found.worlds) == 1 else None,
            clusters=found.worlds[0].n_clusters if len(found.worlds) == 1 else None,
            method=setup.design.method,
            level=setup.design.level,
            simulations=setup.simulations,
            seed=setup.seed,
            data=None if found.data is None else found.data[:16],
        ),
    )
    return made.with_sentence(sentence_of(made))
