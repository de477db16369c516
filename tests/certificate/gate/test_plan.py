"""The plan of a gate: the order anybody can check, whole documents, looks that start late enough."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.certificate.gate.plan import (
    Candidate,
    PlannedLooks,
    as_it_follows,
    in_order,
    plan_of,
    planned_order,
    rank_of,
)
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.stats.sequential.boundaries import bounds

TEXT = "sha256:" + "1" * 64


def candidates(sizes: list[int]) -> list[Candidate]:
    """Documents of so many windows, the last of each a short one."""
    return [
        Candidate(f"d{d}:{w}", f"d{d}", 32 if w + 1 < size else 9, w + 1 < size)
        for d, size in enumerate(sizes)
        for w in range(size)
    ]


def policy(windows: int = 180, cluster: str | None = None, seed: int = 0) -> Policy:
    return Policy(min_windows=windows, cluster=cluster, seed=seed, note="a test").complete()


def test_order_by_hand() -> None:
    names = ["a", "b", "c", "d"]
    by_hand = sorted(range(4), key=lambda i: hashlib.sha256(f"5\n{names[i]}".encode()).digest())
    assert in_order(5, names, None) == by_hand
    assert rank_of(5, "a") == hashlib.sha256(b"5\na").hexdigest()


@given(st.lists(st.integers(1, 6), min_size=30, max_size=60), st.integers(0, 3))
def test_order_does_not_depend_on_what_else_is_there(sizes: list[int], seed: int) -> None:
    """Windows of a part of the text come in the same order as in all of it."""
    every = candidates(sizes)
    names = [one.name for one in every]
    whole = [names[i] for i in in_order(seed, names, None)]
    some = names[::2]
    assert [some[i] for i in in_order(seed, some, None)] == [name for name in whole if name in set(some)]


@given(st.lists(st.integers(1, 6), min_size=30, max_size=60), st.integers(20, 60))
def test_documents_stay_whole(sizes: list[int], wanted: int) -> None:
    every = candidates(sizes)
    order = planned_order(every, policy(wanted, "document"))
    chosen = [every[i].document for i in order]
    assert len(order) >= min(wanted, len(every))
    for document in set(chosen):
        places = [i for i, name in enumerate(chosen) if name == document]
        assert len(places) == sizes[int(document[1:])]
        assert places[-1] - places[0] == len(places) - 1  # next to each other


def test_full_windows_are_taken_if_there_are_enough() -> None:
    every = candidates([10] * 20)
    assert all(every[i].full for i in planned_order(every, policy(100)))
    assert len(planned_order(every, policy(500))) == 200


def test_plan_has_the_bounds_of_its_information() -> None:
    every = candidates([10] * 20)
    chosen = [every[i] for i in planned_order(every, policy(180))]
    plan = plan_of(chosen, policy(180), PlannedLooks(number=5), text=TEXT, context=32)
    expected = bounds([look.fraction for look in plan.looks], 0.025)
    assert [look.bound for look in plan.looks] == pytest.approx(expected.upper.tolist(), rel=1e-9)
    assert plan.looks[-1].windows == plan.windows == 180
    assert as_it_follows(plan) == plan


def test_futility_bounds_rise_to_the_upper_one() -> None:
    chosen = candidates([2] * 90)
    plan = plan_of(chosen, policy(180), PlannedLooks(number=4, beta=0.2), text=TEXT, context=32)
    lower = [look.futile for look in plan.looks]
    assert lower[-1] is None
    assert all(
        a is not None and look.bound is not None and a < look.bound
        for a, look in zip(lower[:-1], plan.looks[:-1], strict=True)
    )


def test_too_few_units_are_refused() -> None:
    with pytest.raises(InputError, match="worth 5 of equal length"):
        plan_of(candidates([10] * 5), policy(50, "document"), PlannedLooks(), text=TEXT, context=32)
    with pytest.raises(UsageError, match="cluster must be 'document'"):
        planned_order(candidates([3]), policy(3, "task"))
    with pytest.raises(UsageError, match="futility must be"):
        PlannedLooks(beta=0.7)
