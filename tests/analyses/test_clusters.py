"""One cluster shows no spread between clusters: every verb refuses it with the same words, and what to type."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError

ITEMS = [f"q{i}" for i in range(40)]
RIGHT = [int(i % 4 > 0) for i in range(40)]


def table(name: str, **more: Any) -> dict[str, Any]:
    return {"item": ITEMS, "score": RIGHT, "model": [name] * 40, "cluster": ["c"] * 40} | more


def runs(**more: Any) -> dict[str, Any]:
    both = {"item": ITEMS * 2, "score": RIGHT + RIGHT[::-1], "run": [1] * 40 + [2] * 40, "cluster": ["c"] * 80}
    return both | more


VERBS: dict[str, Callable[..., Any]] = {
    "compare": lambda **how: assay.compare(table("a"), table("b"), **how),
    "compare, attempts": lambda **how: assay.compare(runs(), runs(), at=1, **how),
    "compare_suite": lambda **how: assay.compare_suite(
        table("a", task=["x", "y"] * 20), table("b", task=["x", "y"] * 20), **how
    ),
    "summarize": lambda **how: assay.summarize(table("a"), **how),
    "rank": lambda **how: assay.rank(table("a"), table("b"), **how),
    "certify": lambda **how: assay.certify(table("a"), table("b"), "certificate.json", **how),
    "reliability": lambda **how: assay.reliability(runs(), **how),
}
ALL_IN_ONE = "all 40 items are in one cluster ('c' of the column 'cluster'), which shows no spread between clusters; "


@pytest.mark.parametrize("verb", VERBS)
def test_a_column_of_one_cluster_is_refused_with_how_to_leave_it_out(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        VERBS[verb]()
    assert str(refused.value) == ALL_IN_ONE + (
        "draw items alone with `columns={'cluster': ''}`, or name a column with several groups as `cluster`."
    )
    assert VERBS[verb](columns={"cluster": ""}) is not None


@pytest.mark.parametrize("verb", VERBS)
def test_one_cluster_that_was_asked_for_is_refused_with_its_option(verb: str) -> None:
    with pytest.raises(InputError) as refused:
        VERBS[verb](cluster="cluster")
    assert str(refused.value) == ALL_IN_ONE + "leave `cluster` out, or name a column with several groups."


@pytest.mark.parametrize("verb", ["compare", "summarize", "rank"])
def test_so_is_a_panel_of_one_cluster(verb: str) -> None:
    panel = assay.Panel.from_arrays([[1, 0], [1, 1], [0, 1]], systems=["a", "b"], clusters=["c"] * 3)
    with pytest.raises(InputError, match=r"all 3 items are in one cluster \('c' of the column 'clusters'\)"):
        getattr(assay, verb)(panel)


def test_a_task_of_one_cluster_among_several_is_no_reason_to_refuse() -> None:
    both = [table(name, task=["x", "y"] * 20, cluster=["c", "d"] * 20) for name in "ab"]
    assert [row.task for row in assay.compare_suite(*both).tasks] == ["x", "y"]
    assert list(assay.summarize(both[0]).tasks) == ["x", "y"]
