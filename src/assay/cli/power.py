"""`assay power`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import options, output, sources
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.stats.planning.plans import Shares, Spread, Structure

_GOAL = "Goal"
_NUMBERS = "From numbers"
_PILOT = options.PILOT


def power(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[A] [B]", help="A pilot: results of A and of B; [NAME=]PATH.")
    ] = None,
    difference: Annotated[
        float | None, typer.Option(metavar="D", help="The difference to detect.", rich_help_panel=_GOAL)
    ] = None,
    items: Annotated[int | None, typer.Option(metavar="N", help="The items there are.", rich_help_panel=_GOAL)] = None,
    target: Annotated[
        float | None,
        typer.Option("--power", metavar="P", help="Power. (default: 0.8)", rich_help_panel=_GOAL, show_default=False),
    ] = None,
    level: Annotated[
        float, typer.Option(help="Confidence level; the test is two-sided at 1 − level.", rich_help_panel=_GOAL)
    ] = 0.95,
    margin: Annotated[
        float | None,
        typer.Option(metavar="M", help="Plan to show equivalence within ±M instead.", rich_help_panel=_GOAL),
    ] = None,
    comparisons: Annotated[
        int, typer.Option(metavar="M", help="Tests that share the error (Bonferroni).", rich_help_panel=_GOAL)
    ] = 1,
    test: Annotated[
        Literal["auto", "mcnemar-midp", "mcnemar"],
        typer.Option(help="Of 0/1 scores: auto is mcnemar-midp, mcnemar the exact test.", rich_help_panel=_GOAL),
    ] = "auto",
    sd: Annotated[
        float | None,
        typer.Option(metavar="X", help="Standard deviation of an item's difference.", rich_help_panel=_NUMBERS),
    ] = None,
    sd_a: Annotated[
        float | None, typer.Option(metavar="X", help="That of A's scores over items ...", rich_help_panel=_NUMBERS)
    ] = None,
    sd_b: Annotated[
        float | None, typer.Option(metavar="X", help="... and of B's, with --correlation.", rich_help_panel=_NUMBERS)
    ] = None,
    correlation: Annotated[
        float | None, typer.Option(metavar="R", help="Of A and B over items.", rich_help_panel=_NUMBERS)
    ] = None,
    p_a: Annotated[
        float | None, typer.Option(metavar="P", help="0/1 scores: the share A gets right.", rich_help_panel=_NUMBERS)
    ] = None,
    p_b: Annotated[
        float | None,
        typer.Option(metavar="P", help="The share B gets right; gives --difference.", rich_help_panel=_NUMBERS),
    ] = None,
    discordant: Annotated[
        float | None,
        typer.Option(metavar="P", help="0/1 scores: items where exactly one is right.", rich_help_panel=_NUMBERS),
    ] = None,
    cluster_size: Annotated[
        float | None, typer.Option(metavar="M", help="Items per cluster, with --icc.", rich_help_panel=_NUMBERS)
    ] = None,
    icc: Annotated[
        float | None,
        typer.Option(metavar="R", help="Correlation of differences within a cluster.", rich_help_panel=_NUMBERS),
    ] = None,
    sd_within: Annotated[
        float | None,
        typer.Option(metavar="X", help="Of one system's runs of an item, with --repeats.", rich_help_panel=_NUMBERS),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(metavar="K", help="Runs of each item; their mean counts.", rich_help_panel=_NUMBERS)
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(metavar="A", help="The pilot's first file, before B.", rich_help_panel=_PILOT)
    ] = None,
    a_model: Annotated[
        str | None, typer.Option("--a", metavar="NAME", help="The model to take from A.", rich_help_panel=_PILOT)
    ] = None,
    b_model: Annotated[
        str | None,
        typer.Option(
            "--b", metavar="NAME", help="The model to take from B, or from A if it holds both.", rich_help_panel=_PILOT
        ),
    ] = None,
    columns: options.PilotColumns = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Clusters of the pilot: document, passage, ...", rich_help_panel=_PILOT),
    ] = None,
    split: Annotated[
        Literal["preview", "final"] | None, typer.Option(help="Only this split of the windows.", rich_help_panel=_PILOT)
    ] = None,
    task: sources.Task = None,
    metric: sources.MetricName = None,
    filter_name: sources.Filter = None,
    scorer: sources.Scorer = None,
    format_name: sources.FormatName = None,
    newest: sources.Newest = False,
    chart: Annotated[Path | None, options.chart("the curve")] = None,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """How many items for this difference?

    With --difference: the items it takes. With --items: the difference they detect. With both: the power. The spread
    of paired differences comes from numbers, or from a pilot: two files of results, or one with --a and --b.
    """
    if target is not None and items is not None and (difference, p_b, margin) != (None, None, None):
        raise UsageError("--items and a difference give the power; leave out --power, or one of the two.")
    from assay.analyses.power import power as run  # late: --help and errors of usage need none of it
    from assay.stats.planning.plans import Goal

    power_wanted = 0.8 if target is None else target
    goal = Goal(level=level, power=power_wanted, margin=margin, comparisons=comparisons, test=test)
    paths = [*([pilot] if pilot is not None else []), *(files or [])]
    output.check_outputs([chart, save], paths)
    numbers = _Numbers(sd, sd_a, sd_b, correlation, p_a, p_b, discordant, cluster_size, icc, sd_within, repeats)
    if paths:
        _check_pilot(paths, numbers)
        result = run(
            *paths,
            difference=difference,
            items=items,
            goal=goal,
            repeats=repeats,
            models=(a_model, b_model),
            columns=columns,
            cluster=cluster,
            split=split,
            selection=sources.selection_of(task, metric, filter_name, scorer, format_name, newest=newest),
        )
    else:
        _check_no_pilot(a_model, b_model, columns, cluster, split, task, metric, filter_name, scorer, format_name)
        result = run(numbers.plan(), difference=numbers.difference(difference), items=items, goal=goal)

    output.show(result, as_json=as_json, save=save, chart=chart)


def _check_no_pilot(*options: object) -> None:
    if any(option is not None for option in options):
        raise UsageError(
            "--a, --b, --columns, --cluster, --split and the picks are of a pilot; name its files as well."
        )


def _check_pilot(paths: list[Path], numbers: "_Numbers") -> None:
    if len(paths) > 2:
        raise UsageError(f"a pilot is one file or two, but got {len(paths)}.")
    given = [
        part.name for part in fields(numbers) if part.name != "repeats" and getattr(numbers, part.name) is not None
    ]
    if given:
        option = "--" + given[0].replace("_", "-")
        raise UsageError(f"{option} is a number that the pilot gives; leave out the one or the other.")


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What was said of the spread, and the plan it makes."""

    sd: float | None
    sd_a: float | None
    sd_b: float | None
    correlation: float | None
    p_a: float | None
    p_b: float | None
    discordant: float | None
    cluster_size: float | None
    icc: float | None
    sd_within: float | None
    repeats: int | None

    def plan(self) -> "Spread | Shares":
        from assay.stats.planning.plans import Shares, Spread

        kinds = {
            "--sd": self.sd is not None,
            "--sd-a and --sd-b": self.sd_a is not None or self.sd_b is not None,
            "--p-a or --discordant": any(x is not None for x in (self.p_a, self.p_b, self.discordant)),
        }
        chosen = [name for name, given in kinds.items() if given]
        if len(chosen) != 1:
            seen = f"but got {' and '.join(chosen)}" if chosen else "or a pilot: two files of results"
            raise UsageError(f"the spread is given by --sd, by --sd-a and --sd-b, or by --p-a or --discordant, {seen}.")
        structure = self._structure()
        if self.sd is not None:
            if self.correlation is not None:
                raise UsageError("--sd is of the differences, in which the correlation is already; leave out one.")
            return Spread(sd=self.sd, structure=structure)
        if self.sd_a is not None or self.sd_b is not None:
            if self.sd_a is None or self.sd_b is None or self.correlation is None:
                raise UsageError("--sd-a, --sd-b and --correlation belong together; give all three.")
            return Spread.of_arms(self.sd_a, self.sd_b, self.correlation, structure)
        return Shares(p_a=self.p_a, discordant=self.discordant, correlation=self.correlation, structure=structure)

    def _structure(self) -> "Structure":
        from assay.stats.planning.plans import Structure

        if (self.cluster_size is None) != (self.icc is None):
            raise UsageError("--cluster-size and --icc belong together; give both or neither.")
        if (self.repeats is None) != (self.sd_within is None):
            raise UsageError("--repeats and --sd-within belong together; give both or neither.")
        return Structure(
            cluster_size=self.cluster_size if self.cluster_size is not None else 1.0,
            icc=self.icc if self.icc is not None else 0.0,
            repeats=self.repeats if self.repeats is not None else 1,
            sd_within=self.sd_within if self.sd_within is not None else 0.0,
        )

    def difference(self, given: float | None) -> float | None:
        """What was asked for, or what the shares of both systems say."""
        if self.p_b is None:
            return given
        if self.p_a is None or given is not None:
            raise UsageError("--p-b is the share beside --p-a, and their difference is the one to detect.")
        if not 0 <= self.p_b <= 1:
            raise UsageError(f"p_b must be between 0 and 1, but got {self.p_b}.")
        return self.p_b - self.p_a
