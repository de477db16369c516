"""`assay power`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.shown import Outputs
from assay.errors import UsageError

_GOAL = "Goal"
_NUMBERS = "Numbers, instead of a pilot"
_SURVEY = "A survey, instead of items"


@with_groups
def power(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[A] [B]", help="A pilot: results of A and of B; [NAME=]PATH.")
    ] = None,
    difference: Annotated[float | None, options.option("The difference to detect.", panel=_GOAL, value="D")] = None,
    items: Annotated[int | None, options.option("The items there are.", panel=_GOAL, value="N")] = None,
    target: Annotated[
        float | None,
        options.option("Power. (default: 0.8)", "--power", panel=_GOAL, value="P"),
    ] = None,
    margin: Annotated[
        float | None,
        options.option("Plan to show equivalence within ±M instead.", panel=_GOAL, value="M"),
    ] = None,
    comparisons: Annotated[int, options.option("Tests that share the error (Bonferroni).", panel=_GOAL, value="M")] = 1,
    sequential: Annotated[
        bool,
        options.option("Look several times, and stop when the difference is shown.", "--sequential", panel=_GOAL),
    ] = False,
    looks: Annotated[
        int | None, options.option("With --sequential: look so often. (default: 5)", panel=_GOAL, value="N")
    ] = None,
    level: options.Level = options.DESIGN.level,
    test: Annotated[
        Literal["auto", "mcnemar-midp", "mcnemar"],
        options.option("Of 0/1 scores: auto is mcnemar-midp, mcnemar the exact test.", panel=options.STATISTICS),
    ] = "auto",
    sd: Annotated[
        float | None,
        options.option("Standard deviation of an item's difference.", panel=_NUMBERS, value="X"),
    ] = None,
    sd_a: Annotated[
        float | None, options.option("That of A's scores over items ...", panel=_NUMBERS, value="X")
    ] = None,
    sd_b: Annotated[
        float | None, options.option("... and of B's, with --correlation.", panel=_NUMBERS, value="X")
    ] = None,
    correlation: Annotated[float | None, options.option("Of A and B over items.", panel=_NUMBERS, value="R")] = None,
    p_a: Annotated[
        float | None, options.option("0/1 scores: the share A gets right.", panel=_NUMBERS, value="P")
    ] = None,
    p_b: Annotated[
        float | None,
        options.option("The share B gets right; gives --difference.", panel=_NUMBERS, value="P"),
    ] = None,
    discordant: Annotated[
        float | None,
        options.option("0/1 scores: items where exactly one is right.", panel=_NUMBERS, value="P"),
    ] = None,
    cluster_size: Annotated[
        float | None, options.option("Items per cluster, with --icc.", panel=_NUMBERS, value="M")
    ] = None,
    icc: Annotated[
        float | None,
        options.option("Correlation of differences within a cluster.", panel=_NUMBERS, value="R"),
    ] = None,
    sd_within: Annotated[
        float | None,
        options.option("Of one system's runs of an item, with --repeats.", panel=_NUMBERS, value="X"),
    ] = None,
    repeats: Annotated[
        int | None, options.option("Runs of each item; their mean counts.", panel=_NUMBERS, value="K")
    ] = None,
    survey: Annotated[
        bool, options.option("What would a perfect prediction of a survey score?", "--survey", panel=_SURVEY)
    ] = False,
    answer_options: Annotated[
        Sequence[int] | None,
        options.option(
            "Answer options of a question. (default: 3,4,5,6)",
            "--options",
            panel=_SURVEY,
            value="K,…",
            parser=options.whole_numbers_in,
        ),
    ] = None,
    respondents: Annotated[
        Sequence[int] | None,
        options.option(
            "Respondents. (default: 20,50,100,500)", panel=_SURVEY, value="N,…", parser=options.whole_numbers_in
        ),
    ] = None,
    shares: Annotated[
        Sequence[float] | None,
        options.option(
            "How likely each option is, instead of --options. (default: all alike)",
            panel=_SURVEY,
            value="P,…",
            parser=options.shares_in,
        ),
    ] = None,
    pilot: Annotated[
        Path | None, options.option("The pilot's first file, before B.", panel=options.DATA, value="A")
    ] = None,
    a_model: options.ModelA = None,
    b_model: options.ModelB = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    *,
    out: Outputs,
) -> None:
    """How many items for this difference?

    With --difference: the items it takes. With --items: the difference they detect. With both: the power. The spread
    of paired differences comes from numbers, or from a pilot: two files of results, or one with --a and --b.

    With --survey: what a perfect prediction of a survey scores, with so many answer options and respondents.

    Example: assay power --pilot base.csv int4.csv --difference 0.02
    """
    if target is not None and items is not None and (difference, p_b, margin) != (None, None, None):
        raise UsageError("--items and a difference give the power; leave out --power, or one of the two.")
    if looks is not None and not sequential:
        raise UsageError("--looks is of a plan that looks several times: add --sequential.")
    if survey and sequential:
        raise UsageError("--sequential plans the items for a difference, and --survey has none; leave one of them out.")
    from assay.analyses.power import power as run  # late: --help and errors of usage need none of it
    from assay.analyses.power.survey_noise import SurveyPlan
    from assay.stats.planning.plans import Goal, PlanNumbers

    paths = [*([pilot] if pilot is not None else []), *(files or [])]
    out.check(paths)
    asked: dict[str, Any] = {"options": answer_options, "respondents": respondents, "shares": shares}
    if survey:
        numbered = (difference, items, target, margin, sd, sd_a, sd_b, correlation, p_a, p_b, discordant, repeats)
        if paths or any(one is not None for one in (*numbered, cluster_size, icc, sd_within)):
            raise UsageError("--survey takes --options, --respondents and --shares, but no difference and no pilot.")
        plan_of_survey = SurveyPlan(**{name: value for name, value in asked.items() if value is not None})
        out.show(run(plan_of_survey))
        return
    if any(value is not None for value in asked.values()):
        raise UsageError("--options, --respondents and --shares are of a survey: add --survey.")
    if len(paths) > 2:
        raise UsageError(f"a pilot is one file or two, but got {len(paths)}.")
    numbers = PlanNumbers(
        sd=sd,
        sd_a=sd_a,
        sd_b=sd_b,
        correlation=correlation,
        p_a=p_a,
        p_b=p_b,
        discordant=discordant,
        cluster_size=cluster_size,
        icc=icc,
        sd_within=sd_within,
        repeats=repeats,
    )
    if paths:
        numbers.check_pilot()
    plan: Sequence[Any] = paths or [numbers.plan()]
    goal = Goal(level=level, margin=margin, comparisons=comparisons, test=test)
    result = run(
        *plan,
        difference=numbers.difference(difference),
        items=items,
        goal=goal if target is None else replace(goal, power=target),
        repeats=repeats if paths else None,
        models=(a_model, b_model),
        columns=columns,
        cluster=cluster,
        split=split,
        selection=picked.selection(),
    )
    if sequential:
        from assay.analyses.power.looks import with_looks

        result = with_looks(result, 5 if looks is None else looks)
    out.show(result)
