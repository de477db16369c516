"""What a board says of the one before it: every sentence by hand, from records that were written by hand."""

from typing import Any

import msgspec
import pytest

from assay.analyses.rank.changes import BoardChanges, ClaimChange, PlaceChange, change_table, changes_section, said_of

KEPT = "The old models keep their ranks."
NO_TIER = "No tier of the old models split, and none merged."


def place(name: str, rank: int, before: int | None = None, ranks: tuple[int, int] | None = None) -> PlaceChange:
    found = PlaceChange(name=name, rank=rank, ranks=ranks or (rank, rank), tier=rank)
    if before is None:
        return found
    return msgspec.structs.replace(found, rank_before=before, ranks_before=(before, before), tier_before=before)


def claim(a: str, b: str, before: Any, now: Any, p: tuple[float | None, float | None] = (0.04, 0.06)) -> ClaimChange:
    return ClaimChange(a=a, b=b, before=before, now=now, p_before=p[0], p_now=p[1])


#: A new model between two old ones.
BETWEEN = BoardChanges(
    previous="assay:0.1|…",
    added=("new",),
    places=(place("old", 1, 1), place("new", 2), place("older", 3, 2)),
    reordered=False,
    split=(),
    merged=(),
    claims=(),
    pairs=1,
    pairs_now=3,
    moved=(),
    changed=(),
)


def said(**change: Any) -> tuple[str, ...]:
    return said_of(msgspec.structs.replace(BETWEEN, **change))


def test_a_new_model_moves_those_below_it() -> None:
    assert said() == (
        "New: new, rank 2 of 3, tier 2.",
        "The old models keep their order; moved down: older 2 → 3.",
        NO_TIER,
        "No estimate, unadjusted interval or p of the old pair moved; adjusted ones are now for 3 pairs instead of 1.",
    )


def test_a_place_that_the_tests_leave_open_is_said() -> None:
    open_ = (place("old", 1, 1), place("new", 2, ranks=(1, 2)), place("older", 3, 3))
    assert said(places=open_)[:2] == ("New: new, rank 2 of 3 (the tests leave 1–2 open), tier 2.", KEPT)


def test_of_many_new_models_three_are_named() -> None:
    places = tuple(place(f"m{i}", i + 1) for i in range(5))
    first = said(places=places, added=tuple(one.name for one in places))
    assert [text.partition(",")[0] for text in first[:3]] == ["New: m0", "New: m1", "New: m2"]
    assert first[3] == "Further new models: 2."
    assert said(added=())[0] == "No model is new."


def test_old_models_that_change_places_are_named() -> None:
    turned = (place("older", 1, 2), place("old", 2, 1))
    assert said(places=turned, added=(), reordered=True)[1] == "Old models changed places: older 2 → 1 and old 1 → 2."


def test_tiers_that_split_or_merge_are_named() -> None:
    assert "A tier split: a and b | c." in said(split=((("a", "b"), ("c",)),))
    assert "Tiers merged: a with b and c." in said(merged=((("a",), ("b", "c")),))
    assert NO_TIER not in said(merged=((("a",), ("b", "c")),))


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (claim("a", "b", "better", "not told apart"), "No longer shown: a > b (adjusted p 0.04 → 0.06)."),
        (claim("a", "b", "not told apart", "worse"), "Now shown: a < b (adjusted p 0.04 → 0.06)."),
        (claim("a", "b", "not told apart", "better", (None, 0.01)), "Now shown: a > b (adjusted p – → 0.01)."),
    ],
)
def test_claims_that_came_or_went_are_named(one: ClaimChange, text: str) -> None:
    assert text in said(claims=(one,))


def test_of_many_claims_three_are_named_and_the_rest_counted() -> None:
    lost = tuple(claim("a", f"b{i}", "better", "not told apart") for i in range(5))
    found = next(text for text in said(claims=lost) if text.startswith("No longer"))
    assert (found.count(">"), found.endswith("and 2 more.")) == (3, True)


def test_old_pairs_that_moved_have_a_reason() -> None:
    with_others = said(moved=(("old", "older"),), changed=("old",))[-1]
    assert with_others.startswith("1 of the old pair moved by themselves (old and older): the answers of old are not")
    assert "with the same answers, so that options" in said(moved=(("old", "older"),))[-1]


def test_the_table_has_every_model_before_and_now() -> None:
    table = change_table(BETWEEN)
    columns = {column.key or column.name: column for column in table.columns}
    assert columns["name"].values == ["old", "new", "older"]
    assert columns["rank"].written == ["1", "new → 2", "2 → 3"]
    assert columns["rank_before"].values == [1, None, 2]
    section = changes_section(BETWEEN)
    assert section.said == said()
