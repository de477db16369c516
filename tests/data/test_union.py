"""One panel of all units. Oracles: a join by dictionaries, and the same panel made another way, to the last bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import Panel, Table, read_table
from assay.data.panel_views import Dropped
from assay.errors import InputError, NoPairsError
from tests.data.files import panel_of
from tests.data.test_pairing import same_bits

UNITS = [f"u{i:02d}" for i in range(10)]
TOKENS = {unit: 1 + i * i for i, unit in enumerate(UNITS)}


@st.composite
def overlapping(draw: st.DrawFn) -> list[dict[str, list[Any]]]:
    """Losses of two to four models, each on some of the same windows, in any order."""
    tables: list[dict[str, list[Any]]] = []
    for _ in range(draw(st.integers(2, 4))):
        units = draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=10, unique=True))
        tables.append(
            {
                "window": units,
                "tokens": [TOKENS[unit] for unit in units],
                "bytes": [3 * TOKENS[unit] for unit in units],
                "document": [f"d{TOKENS[unit] % 3}" for unit in units],
                "split": ["final" if TOKENS[unit] % 2 else "preview" for unit in units],
                "loss": draw(st.lists(st.floats(0, 1e6), min_size=len(units), max_size=len(units))),
            }
        )
    return tables


def read(tables: list[dict[str, list[Any]]]) -> list[Table]:
    return [read_table(rows, name=f"m{i}") for i, rows in enumerate(tables)]


@given(overlapping(), st.sampled_from([None, "document"]))
def test_the_union_against_dictionaries(tables: list[dict[str, list[Any]]], cluster: str | None) -> None:
    panel = Panel.from_tables(read(tables), cluster=cluster)
    split = {unit: "final" if TOKENS[unit] % 2 else "preview" for unit in UNITS}
    have = sorted(f"{split[unit]}/{unit}" for unit in {unit for rows in tables for unit in rows["window"]})
    assert panel.ids.tolist() == have
    for system, rows in enumerate(tables):
        losses = dict(zip(rows["window"], rows["loss"], strict=True))
        expected = [losses[u] * TOKENS[u] if (u := name.split("/")[1]) in losses else None for name in have]
        found = panel.numerators[:, system].tolist()
        assert [None if np.isnan(value) else value for value in found] == expected
    assert panel.denominators.tolist() == [TOKENS[name.split("/")[1]] for name in have]
    assert panel.sizes["bytes"].tolist() == [3 * TOKENS[name.split("/")[1]] for name in have]
    assert panel.cluster == cluster


@given(overlapping(), st.sampled_from([None, "document"]))
def test_the_union_completed_is_the_inner_join_to_the_last_bit(
    tables: list[dict[str, list[Any]]], cluster: str | None
) -> None:
    union = Panel.from_tables(read(tables), cluster=cluster)
    common = set.intersection(*(set(rows["window"]) for rows in tables))
    if not common:
        with pytest.raises(NoPairsError):
            panel_of(read(tables), cluster=cluster)
        with pytest.raises(NoPairsError):
            union.complete()
        return
    inner, found = panel_of(read(tables), cluster=cluster), union.complete()
    assert same_bits(inner, found)
    assert inner.dropped == found.dropped
    assert [inner.estimate(i) for i in range(inner.k)] == [found.estimate(i) for i in range(found.k)]


@given(overlapping())
def test_one_split_of_the_union_is_the_panel_of_that_split(tables: list[dict[str, list[Any]]]) -> None:
    panel = Panel.from_tables(read(tables), cluster="document")
    chosen = [split for split in ("final", "preview") if all(split in rows["split"] for rows in tables)]
    for split in chosen:
        alone = Panel.from_tables(read(tables), cluster="document", split=split)
        assert same_bits(panel.where(split=split), alone)


def test_labels_and_numbers_that_all_tables_agree_on_are_kept() -> None:
    rows: dict[str, list[Any]] = {
        "window": ["a", "b"],
        "tokens": [1, 1],
        "loss": [1.0, 2.0],
        "start": [0, 5],
        "stop": [5, 9],
    }
    other = rows | {"window": ["b", "c"], "start": [5, 9], "document": ["x", "y"]}
    panel = Panel.from_tables(read([rows | {"document": ["x", "x"]}, other]))
    assert panel.numbers["start"].tolist() == [0.0, 5.0, 9.0]
    assert "stop" not in panel.numbers  # 9 and 5 for the window b
    assert [panel.labels["document"].names[code] for code in panel.labels["document"].codes] == ["x", "x", "y"]
    assert "document" not in Panel.from_tables(read([rows | {"document": ["x", "y"]}, other])).labels


def test_what_belongs_to_a_unit_must_be_the_same_in_all_files() -> None:
    rows: dict[str, list[Any]] = {"item": ["a", "b"], "score": [1, 0], "weight": [1, 2]}
    tables = read([rows, rows | {"item": ["b", "c"], "weight": [2, 3]}, rows | {"item": ["c", "a"], "weight": [4, 1]}])
    with pytest.raises(InputError, match=r"item 'c' has weight 3 and 4; the same item must have .* in all files"):
        Panel.from_tables(tables)


def test_a_long_and_a_wide_frame_are_the_same_panel() -> None:
    pandas = pytest.importorskip("pandas")
    long = pandas.DataFrame(
        {"item": [1, 2, 3, 1, 3], "model": ["A"] * 3 + ["B"] * 2, "score": [1, 0, 1, 0.5, 0], "topic": list("xyxxx")}
    )
    wide = long.pivot_table(index=["item", "topic"], columns="model", values="score").reset_index()
    one, two = Panel.from_frame(long, cluster="topic"), Panel.from_frame(wide, systems=["A", "B"], cluster="topic")
    assert same_bits(one, two)
    assert (one.systems, one.whole, one.n_clusters) == (("A", "B"), False, 2)
    assert one.complete().dropped == Dropped(1, 0, ("2",))
    assert (one.notes, one.lost, two.lost) == ((), {}, {"A": 0, "B": 1})  # of B the wide frame has an empty cell


def test_a_frame_of_losses() -> None:
    frame = {"window": [1, 1], "model": ["A", "B"], "tokens": [4, 4], "loss": [1.5, 2.0]}
    panel = Panel.from_frame(frame)
    assert (panel.metric.name, panel.unit, panel.estimate(1)) == ("perplexity", "window", 2.0)


@pytest.mark.parametrize(
    ("frame", "systems", "part"),
    [
        ({"item": [1], "A": [1]}, ["B"], "no column 'B' among item, A"),
        ({"item": [1], "A": [None]}, ["A"], "no row holds a score"),
        ({"item": [1, 2, 3], "A": [None, 1, "x"]}, ["A"], "row 3, column 'A': 'x' is not a number"),
    ],
)
def test_wide_frames_that_are_refused(frame: dict[str, list[Any]], systems: list[str], part: str) -> None:
    with pytest.raises(InputError, match=part):
        Panel.from_frame(frame, systems=systems)
