"""Pairing. Oracles: sums by hand, and invariance: row order, file format and the order of the tables."""

import math
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.data import Panel, Table, pair, read_table
from assay.errors import InputError, UsageError
from tests.data.files import FORMATS, Rows, checked_message, losses, panel_of, scores, write_rows

IDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(str.strip)
_numbers = count()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("panels")


def unpaired(*parts: str, tables: list[Table], **options: Any) -> None:
    with pytest.raises(InputError) as caught:
        panel_of(tables, **options)
    checked_message(caught.value, *parts)


@st.composite
def pairs_of_rows(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """The same windows under two models, with everything that a table of losses can have."""
    ids = draw(st.lists(IDS, min_size=1, max_size=12, unique=True))
    n = len(ids)
    shared: dict[str, Any] = {
        "window": ids,
        "tokens": draw(st.lists(st.integers(1, 10**6), min_size=n, max_size=n)),
        "document": draw(st.lists(IDS, min_size=n, max_size=n)),
        "split": draw(st.lists(st.sampled_from(["preview", "final"]), min_size=n, max_size=n)),
        "bytes": draw(st.lists(st.integers(1, 10**6), min_size=n, max_size=n)),
    }
    values = st.lists(st.floats(0, 1e6), min_size=n, max_size=n)
    return shared | {"loss": draw(values)}, shared | {"loss": draw(values)}


def permuted(rows: Rows, order: list[int]) -> dict[str, list[Any]]:
    return {name: [values[i] for i in order] for name, values in rows.items()}


def same_bits(a: Panel, b: Panel) -> bool:
    numbers = [(a.numerators, b.numerators), (a.denominators, b.denominators), (a.clusters, b.clusters)]
    numbers += [(a.sizes[name], b.sizes[name]) for name in a.sizes | b.sizes]
    alike = all(np.asarray(x).tobytes() == np.asarray(y).tobytes() for x, y in numbers)
    return alike and a.ids.tolist() == b.ids.tolist() and a.digest == b.digest


@given(pairs_of_rows(), st.data())
def test_the_order_of_rows_changes_no_bit(both: tuple[Rows, Rows], data: st.DataObject) -> None:
    panel = pair(*map(read_table, both), cluster="document")
    orders = [data.draw(st.permutations(range(panel.n))) for _ in both]
    again = [read_table(permuted(rows, order)) for rows, order in zip(both, orders, strict=True)]
    assert same_bits(panel, pair(*again, cluster="document"))


@settings(max_examples=25)  # eight files each
@given(both=pairs_of_rows())
def test_the_format_of_a_file_changes_no_bit(folder: Path, both: tuple[Rows, Rows]) -> None:
    panel = pair(*map(read_table, both), cluster="document")
    for extension in FORMATS:
        paths = [write_rows(folder / f"{next(_numbers)}.{extension}", rows) for rows in both]
        assert same_bits(panel, pair(*map(read_table, paths), cluster="document"))
        for path in paths:
            path.unlink()


@given(pairs_of_rows())
def test_swapping_the_arms_swaps_the_columns(both: tuple[Rows, Rows]) -> None:
    a, b = map(read_table, both)
    panel, swapped = pair(a, b, names=("a", "b")), pair(b, a, names=("b", "a"))
    assert same_bits(panel, swapped.pair(1, 0))
    assert swapped.pair(1, 0).systems == panel.systems
    assert [panel.estimate(0), panel.estimate(1)] == [swapped.estimate(1), swapped.estimate(0)]


@given(pairs_of_rows())
def test_estimates_against_fsum(both: tuple[Rows, Rows]) -> None:
    panel = pair(*map(read_table, both))
    for system, rows in enumerate(both):
        total = math.fsum(loss * tokens for loss, tokens in zip(rows["loss"], rows["tokens"], strict=True))
        assert panel.estimate(system) == total / math.fsum(rows["tokens"])


@pytest.mark.parametrize("extension", FORMATS)
def test_two_windows_of_the_source_document(tmp_path: Path, extension: str) -> None:
    paths = []
    for name, perplexities in (("a", (40.0, 220.0)), ("b", (38.0, 260.0))):
        rows = {"window": ["1", "2"], "tokens": [512, 256], "loss": [math.log(x) for x in perplexities]}
        paths.append(write_rows(tmp_path / f"{name}.{extension}", rows))
    panel = pair(*map(read_table, paths))
    assert round(math.exp(panel.estimate(1) - panel.estimate(0)), 4) == 1.0217
    assert (panel.systems, panel.unit, panel.metric.lower_is_better) == (("a", "b"), "window", True)


def test_weighted_scores_by_hand() -> None:
    a = scores("a.csv", score=[1.0, 0.0], weight=[3.0, 1.0])
    b = scores("b.csv", score=[0.5, 0.5], weight=[3.0, 1.0])
    panel = pair(a, b)
    assert [panel.estimate(0), panel.estimate(1)] == [0.75, 0.5]
    assert panel.denominators.tolist() == [3.0, 1.0]
    assert not panel.equal_denominators
    assert (panel.unit, panel.metric.lower_is_better) == ("item", False)
    assert pair(a, b, lower_is_better=True).metric.lower_is_better


def test_scores_without_weights_have_weight_one() -> None:
    panel = pair(scores("a"), scores("b"))
    assert panel.denominators.tolist() == [1.0, 1.0]
    assert panel.equal_denominators


def test_ids_pair_as_text_not_as_numbers(tmp_path: Path) -> None:
    for name, ids in (("a", ["007", "1e5", "x, y", '"q"']), ("b", ['"q"', "x, y", "1e5", "007"])):
        write_rows(tmp_path / f"{name}.csv", {"item": ids, "score": [1, 2, 3, 4]})
    panel = pair(read_table(tmp_path / "a.csv"), read_table(tmp_path / "b.csv"))
    assert panel.ids.tolist() == sorted(["007", "1e5", "x, y", '"q"'])
    assert panel.numerators[panel.ids.tolist().index("007")].tolist() == [1.0, 4.0]


def test_several_systems_keep_the_units_of_all() -> None:
    tables = [
        read_table({"item": ids, "score": [1.0] * len(ids)}, name=f"t{i}")
        for i, ids in enumerate(["abcd", "bcde", "cdaf"])
    ]
    panel = panel_of(tables)
    assert panel.ids.tolist() == ["c", "d"]
    assert (panel.dropped.only_a, panel.dropped.only_b, panel.dropped.examples) == (2, 2, ("a", "b", "e", "f"))
    assert panel.pair(0, 2).systems == ("t0", "t2")


def test_what_does_not_pair_is_counted_and_the_first_five_listed() -> None:
    a = read_table({"item": list("zyxwbacd"), "score": range(8)}, name="a.csv")
    b = read_table({"item": list("abq"), "score": range(3)}, name="b.csv")
    panel = pair(a, b)
    assert panel.ids.tolist() == ["a", "b"]
    assert panel.numerators.tolist() == [[5.0, 0.0], [4.0, 1.0]]
    assert (panel.dropped.only_a, panel.dropped.only_b) == (6, 1)
    assert panel.dropped.examples == ("c", "d", "q", "w", "x")
    parts = ("7 items do not pair", "6 only in a.csv", "1 only in b.csv", "'c'", "`missing`")
    unpaired(*parts, tables=[a, b], missing="refuse")
    assert pair(a, a, missing="refuse").n == 8


def test_nothing_in_common_shows_ids_of_both_sides() -> None:
    a = read_table({"item": ["q1", "q2"], "score": [1, 0]}, name="a.csv")
    b = read_table({"item": ["1", "2"], "score": [1, 0]}, name="b.csv")
    unpaired("no item", "a.csv has 'q1', 'q2'", "b.csv has '1', '2'", "`columns={'item': 'NAME'}`", tables=[a, b])


@pytest.mark.parametrize(
    ("column", "a", "b", "shown"),
    [
        ("tokens", [512, 256], [512, 255], "tokens 256 and 255"),
        ("bytes", [9, 10], [9, 11], "bytes 10 and 11"),
        ("chars", [9, 10], [9, 11], "chars 10 and 11"),
        ("document", ["x", "y"], ["x", "z"], "document 'y' and 'z'"),
    ],
)
def test_what_a_window_has_must_not_differ_between_arms(column: str, a: list[Any], b: list[Any], shown: str) -> None:
    tables = [losses("a.csv", **{column: a}), losses("b.csv", **{column: b})]
    cluster = column if column == "document" else None
    place = f"a.csv, row 2, and b.csv, row 2, column {column!r}: window 'w2'"
    unpaired(place, shown, f"the same {column}", tables=tables, cluster=cluster)


def test_what_an_item_has_must_not_differ_between_arms() -> None:
    tables = [scores("a.csv", weight=[1, 2]), scores("b.csv", item=["q2", "q1"], weight=[2.5, 1])]
    unpaired("a.csv, row 2, and b.csv, row 1, column 'weight': item 'q2'", "weight 2 and 2.5", tables=tables)


def test_a_column_that_only_one_arm_has() -> None:
    unpaired(
        "a.csv has a column 'weight'",
        "b.csv has none",
        "`columns={'weight': ''}`",
        tables=[scores("a.csv", weight=[1, 2]), scores("b.csv")],
    )
    unpaired(
        "b.csv has clusters",
        "a.csv has none",
        "`columns={'cluster': ''}`",
        tables=[scores("a.csv"), scores("b.csv", cluster=["c", "c"])],
    )
    split = losses("b.csv", split=["final", "final"])
    unpaired("b.csv has a column 'split'", "a.csv has none", "`columns={'split': ''}`", tables=[losses("a.csv"), split])
    panel = pair(losses("a.csv", bytes=[1, 2]), losses("b.csv"))
    assert panel.sizes == {}
    assert panel.notes == ("column 'bytes' not used: b.csv has none",)


def test_clusters_become_codes() -> None:
    document = {"document": ["y", "x"], "window": ["w1", "w2"]}
    panel = pair(losses("a", **document), losses("b", **document), cluster="document")
    assert panel.clusters is not None
    assert (panel.clusters.tolist(), panel.n_clusters, panel.cluster_by) == ([0, 1], 2, "document")
    assert pair(losses("a", **document), losses("b", **document)).notes == ()  # each window is a document of its own
    together = document | {"document": ["y", "y"]}
    unasked = pair(losses("a", **together), losses("b", **together))
    assert unasked.clusters is None
    assert "`cluster='document'`" in unasked.notes[0]


def test_a_cluster_may_span_preview_and_final() -> None:
    both = {"window": ["w", "w"], "split": ["preview", "final"], "document": ["d", "d"], "tokens": [5, 6]}
    panel = pair(losses("a", **both), losses("b", **both), cluster="document")
    assert panel.n_clusters == 1
    assert panel.cluster_sums().denominators.tolist() == [11.0]


def test_clusters_of_scores_are_used_unasked_and_others_on_demand() -> None:
    a, b = (scores(name, cluster=["c", "c"]) for name in "ab")
    assert pair(a, b).n_clusters == 1
    a, b = (
        read_table({"item": ["x", "y"], "score": [1, 0], "topic": ["t", "u"]}, cluster="topic", name=n) for n in "ab"
    )
    panel = pair(a, b)
    assert (panel.n_clusters, panel.cluster_by) == (2, "topic")


def test_a_cluster_that_was_not_read_is_refused() -> None:
    unpaired(
        "a.csv", "no column 'topic'", "`cluster='topic'`", tables=[scores("a.csv"), scores("b.csv")], cluster="topic"
    )


def splits(name: str) -> Table:
    return losses(
        name, window=["w", "v", "w"], tokens=[1, 2, 4], loss=[1.0, 2.0, 3.0], split=["preview", "final", "final"]
    )


def test_a_window_is_another_unit_in_another_split() -> None:
    panel = pair(splits("a"), splits("b"))
    assert panel.ids.tolist() == ["final/v", "final/w", "preview/w"]
    assert panel.denominators.tolist() == [2.0, 4.0, 1.0]


def test_one_split_can_be_picked() -> None:
    panel = pair(splits("a"), splits("b"), split="final")
    assert panel.ids.tolist() == ["v", "w"]
    assert panel.denominators.tolist() == [2.0, 4.0]


def test_a_window_does_not_pair_with_itself_in_another_split() -> None:
    a = losses("a", split=["final", "preview"])
    b = losses("b", split=["final", "final"])
    panel = pair(a, b)
    assert panel.ids.tolist() == ["final/w1"]
    assert panel.dropped.examples == ("final/w2", "preview/w2")


def test_a_split_that_is_not_there_is_refused() -> None:
    final = [losses(name, split=["final", "final"]) for name in ("a.csv", "b.csv")]
    unpaired("a.csv", "no row of the split 'preview'", "final", tables=final, split="preview")
    unpaired("a.csv", "no column 'split'", "`columns={'split': 'NAME'}`", tables=[losses("a.csv")], split="final")
    with pytest.raises(UsageError, match="split must be preview or final, but got 'test'"):
        pair(*final, split="test")


def runs(values: dict[tuple[str, str], float], **columns: list[Any]) -> Table:
    rows = {"item": [item for item, _ in values], "run": [run for _, run in values], "score": list(values.values())}
    return read_table(rows | columns, name="a.csv")


def test_runs_are_averaged_by_hand() -> None:
    a = runs({("q2", "1"): 1.0, ("q1", "1"): 0.0, ("q2", "2"): 0.5, ("q1", "2"): 1.0})
    panel = pair(a, scores("b.csv"))
    assert panel.numerators.tolist() == [[0.5, 1.0], [0.75, 0.0]]
    assert panel.notes == ("a.csv: 2 runs of each item averaged",)


def test_unequal_numbers_of_runs_are_averaged_and_said() -> None:
    panel = panel_of(
        [runs({("q1", "1"): 3.0, ("q2", "1"): 1.0, ("q2", "2"): 2.0, ("q2", "3"): 6.0}, weight=[2, 1, 1, 1])]
    )
    assert panel.numerators[:, 0].tolist() == [6.0, 3.0]
    assert panel.notes == ("a.csv: 1 to 3 runs of each item averaged",)


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=9).flatmap(
        lambda x: st.tuples(st.just(x), st.permutations(range(len(x))))
    )
)
def test_the_order_of_runs_changes_no_bit(data: tuple[list[float], list[int]]) -> None:
    values, order = data
    panels = []
    for rows in (range(len(values)), order):
        table = {"item": ["q"] * len(values), "run": [str(i) for i in rows], "score": [values[i] for i in rows]}
        panels.append(panel_of([read_table(table)]))
    assert panels[0].numerators.tobytes() == panels[1].numerators.tobytes()
    assert math.isclose(panels[0].estimate(0), math.fsum(values) / len(values), rel_tol=1e-12, abs_tol=1e-6)


def test_one_run_is_no_average() -> None:
    panel = panel_of([runs({("q1", "1"): 3.0, ("q2", "1"): 1.0})])
    assert (panel.numerators[:, 0].tolist(), panel.notes) == ([3.0, 1.0], ())


def test_runs_of_an_item_share_weight_and_cluster() -> None:
    values = {("q", "1"): 1.0, ("p", "1"): 1.0, ("q", "2"): 0.0}
    parts = ("a.csv, row 3, column", "row 1", "item 'q'", "the same")
    unpaired("'weight'", *parts, tables=[runs(values, weight=[1, 1, 2])])
    unpaired("'cluster'", *parts, tables=[runs(values, cluster=["c", "c", "d"])])


def test_both_arms_in_one_file(tmp_path: Path) -> None:
    rows = {"item": ["q1", "q1", "q2", "q2"], "score": [1.0, 0.0, 1.0, 0.5], "model": ["A", "B", "A", "B"]}
    table = read_table(write_rows(tmp_path / "both.csv", rows))
    panel = pair(table.select("A"), table.select("B"))
    assert panel.systems == ("A", "B")
    assert [panel.estimate(0), panel.estimate(1)] == [1.0, 0.25]
    unpaired("both.csv", "2 models (A, B)", "say which", tables=[table, table])


def test_a_difference_between_models_of_one_file_names_both() -> None:
    columns = {"item": ["q", "q"], "score": [1, 0], "model": ["A", "B"], "weight": [1, 2]}
    table = read_table(columns, name="both.csv")
    parts = ("both.csv (model 'A'), row 1, and both.csv (model 'B'), row 2", "weight 1 and 2")
    unpaired(*parts, tables=[table.select("A"), table.select("B")])


def test_losses_and_scores_do_not_pair() -> None:
    unpaired("a.csv holds losses", "b.csv holds scores", "`columns`", tables=[losses("a.csv"), scores("b.csv")])


def test_values_too_large_to_add_up_are_refused() -> None:
    huge = losses("a.csv", loss=[1e308, 1.0])
    unpaired("a.csv", "too large to add up", tables=[huge, losses("b.csv")])
    unpaired("a.csv", "too large to add up", tables=[runs({("q", "1"): 1e308, ("q", "2"): 1e308})])


def names_of(*tables: Table, **options: Any) -> Iterator[str]:
    yield from panel_of(tables, **options).systems


def test_systems_are_named_so_that_they_differ(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "scores.csv" for folder in ("x", "y")]
    for path in paths:
        path.parent.mkdir()
        write_rows(path, {"item": ["q"], "score": [1]})
    x, y = map(read_table, paths)
    assert tuple(names_of(x, y)) == ("x", "y")
    assert tuple(names_of(x, x)) == ("scores (1)", "scores (2)")
    assert tuple(names_of(x, y, names=("A", "B"))) == ("A", "B")
    for wrong in (("A",), ("A", "A")):
        with pytest.raises(UsageError, match="names must be 2 different names"):
            pair(x, y, names=wrong)


def test_no_table_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="at least one table"):
        panel_of([])


def test_notes_of_the_files_are_kept() -> None:
    panel = pair(scores("a.csv", prompt=["x", "y"]), scores("b.csv"))
    assert panel.notes == ("a.csv: columns not used: prompt",)
