"""`assay calibrate [FILES…]`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from assay.cli import options, which_results
from assay.cli.option_groups import with_groups
from assay.cli.options import POLICY, STATISTICS
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design, Policy, said_by

if TYPE_CHECKING:
    from assay.data.readers import Selection

_SIMULATION = "Simulation"


@with_groups
def calibrate(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[FILES…]", help="Results, as the verb takes them; none: built-in scenarios."),
    ] = None,
    verb: Annotated[
        Literal["compare", "summarize", "rank", "certify", "survey"],
        options.option("What to simulate.", "--verb", panel=_SIMULATION),
    ] = "compare",
    scenario: Annotated[
        str | None,
        options.option(
            "A built-in scenario instead of files: normal-30, skewed-180, … (default: all)",
            panel=_SIMULATION,
            value="NAME",
        ),
    ] = None,
    simulations: Annotated[
        int | None,
        options.option("How often. (default: 2000; rank, certify 1000; survey 200)", panel=_SIMULATION, value="N"),
    ] = None,
    quick: Annotated[bool, options.option("A fifth of the simulations.", "--quick", panel=_SIMULATION)] = False,
    a_model: options.ModelA = None,
    b_model: options.ModelB = None,
    columns: options.Columns = None,
    cluster: options.Cluster = None,
    split: options.Split = None,
    lower_is_better: options.LowerIsBetter = None,
    missing: options.MissingAnswers = "drop",
    picked: which_results.PicksToCompare = which_results.TO_COMPARE,
    method: options.IntervalMethod = options.DESIGN.method,
    test: options.PairedTest = options.DESIGN.test,
    level: options.Level = options.DESIGN.level,
    seed: options.Seed = options.DESIGN.seed,
    adjust: Annotated[
        Literal["holm", "bh", "max-t", "none"], options.option("Of rank.", "--adjust", panel=STATISTICS)
    ] = "holm",
    tier: Annotated[
        Literal["balanced", "conservative", "aggressive"] | None,
        options.option("Of certify: its limits. (default: balanced)", panel=POLICY),
    ] = None,
    max_ratio: options.MaxRatio = None,
    max_drop: options.MaxDrop = None,
    where: OnWorkers = HERE,
    *,
    out: Outputs,
) -> None:
    """Are Assay's own intervals and verdicts honest on data like mine?

    Draws your items again and again, with a truth that is then known, and runs the verb on each draw: how often does
    the interval hold the truth, how wide is it, how often is a difference claimed that is not there? Says which method
    to ask for. Without files it simulates built-in scenarios.

    Example: assay calibrate base.csv int4.csv --quick
    """
    from assay.analyses.calibrate import calibrate as run  # late: --help and errors of usage need none of it

    out.check(files or [])
    asked = Design(method=method, level=level, seed=seed, test=test)
    selection = picked.selection()
    found = run(
        *(files or []),
        verb=verb,
        scenario=scenario,
        simulations=simulations,
        quick=quick,
        design=asked,
        adjust=adjust,
        policy=Policy(tier=tier, max_ratio=max_ratio, max_drop=max_drop),
        models=(a_model, b_model),
        columns=columns,
        cluster=cluster,
        split=split,
        missing=missing,
        lower_is_better=lower_is_better,
        selection=selection,
        engine=where.chosen(),
    )
    if files:
        given: dict[str, Any] = {"a": a_model, "b": b_model, "columns": columns, "cluster": cluster, "split": split}
        given |= {"missing": None if missing == "drop" else missing, "lower_is_better": lower_is_better}
        given |= _picked(selection) | _options(verb, asked, found.recommended)
        if verb == "rank" and adjust != "holm":
            given["adjust"] = adjust
        if verb == "certify":
            given |= {"split": None, "tier": tier, "max_ratio": max_ratio, "max_drop": max_drop}
            changed = max_ratio is not None or max_drop is not None
            given |= {"note": "calibrated" if changed else None, "output": "certificate.json"}
        found = found.with_command(_command(verb, files, given))
    out.show(found)


def _options(verb: str, design: Design, recommended: str | None) -> dict[str, Any]:
    """What the verb must be told of its statistics."""
    said = said_by(design) | ({} if recommended is None else {"method": recommended})
    return {name: value for name, value in said.items() if name != "seed" and verb != "survey"}


def _picked(selection: "Selection | None") -> dict[str, Any]:
    """Which results of a harness were meant."""
    if selection is None:
        return {}
    names = ("task", "metric", "filter", "scorer", "format", "newest", "reference", "tried")
    found = {name: getattr(selection, name) for name in names}
    wrong, by_row = selection.errors == "wrong", selection.pair_by == "row"
    return found | {"errors": "wrong" if wrong else None, "pair_by": "row" if by_row else None}


def _command(verb: str, files: list[Path], given: dict[str, Any]) -> str:
    """The command to type next."""
    written = [part for name, value in given.items() for part in _written(f"--{name.replace('_', '-')}", value)]
    return shlex.join(["assay", verb, *map(str, files), *written])


def _written(option: str, value: object) -> list[str]:
    if value is None or value is False:
        return []
    if isinstance(value, dict):
        return [option, ",".join(f"{ours}={theirs}" for ours, theirs in value.items())]
    return [option] if value is True else [option, str(value)]
