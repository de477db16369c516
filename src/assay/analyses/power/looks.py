"""A plan with several looks: how many items at the most, and how many are expected."""

from math import ceil
from typing import TYPE_CHECKING

import msgspec

from assay.errors import UsageError
from assay.results import words
from assay.results.parts import Column, Fact, ResultTable, Section
from assay.stats.sequential.spending import Spending
from assay.stats.sequential.study import Study, study

if TYPE_CHECKING:
    from assay.analyses.power.result import Power


def with_looks(found: "Power", looks: int, spending: Spending = "obrien-fleming") -> "Power":
    """The plan of a study that looks so often and stops when the difference is shown.

    The items of a single look are multiplied by what looking several times costs; Lan and DeMets' bounds on both sides.
    """
    if found.solved_for != "items" or found.goal.margin is not None:
        raise UsageError("a study of several looks plans the items for a difference; give neither items nor a margin.")
    if not 2 <= looks <= 100:
        raise UsageError(f"looks must be from 2 to 100, but got {looks}.")
    plan = study(looks, found.goal.adjusted_level, found.goal.power, spending)
    most, mean, without = _items(found, plan)
    saved = 1 - mean / found.items
    said = (
        f" With {looks} looks: at most {words.count(most, found.unit)}, about {mean:,} if the difference is there "
        f"({saved:.0%} fewer than with one look), about {without:,} if there is none."
    )
    return msgspec.structs.replace(found, study=plan, sentence=found.sentence + said)


def _items(found: "Power", plan: Study) -> tuple[int, int, int]:
    """The most items, and how many are expected if the difference is there, and if it is not."""
    most, mean, without = (
        ceil(found.items * share) for share in (plan.inflation, plan.expected, plan.expected_without)
    )
    return most, mean, without


def looks_fact(found: "Power") -> Fact:
    """What several looks cost and save."""
    assert found.study is not None  # asked for by whoever knows that it is there
    most, mean, without = _items(found, found.study)
    text = f"at most {most:,}; about {mean:,} if the difference is there, {without:,} if not"
    return Fact(f"with {len(found.study.looks)} looks", mean, "items", text)


def looks_section(found: "Power") -> Section:
    """When the study looks, what stops it, and how often it does."""
    assert found.study is not None  # asked for by whoever knows that it is there
    rows = found.study.looks
    most = found.items * found.study.inflation
    columns = (
        Column("look", list(range(1, len(rows) + 1))),
        Column(f"{found.unit}s", [ceil(most * one.fraction) for one in rows], key="items"),
        Column("stops at p", [one.nominal for one in rows], words.p_alone),
        Column("standard errors", [one.bound for one in rows], words.fixed(3)),
        Column("ends here, if real", [one.stops for one in rows], words.fixed(3), key="stops"),
        Column("if not", [one.stops_without for one in rows], words.fixed(3), key="stops_without"),
    )
    table = ResultTable("looks", "Looks", columns, explained="gate looks")
    return Section("looks", "Looking more than once", tables=(table,))
