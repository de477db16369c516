"""Scores without a table around them. Oracle: what the same verb says of the table that says the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import Design, Goal, InputError, Panel, Selection, UsageError, compare, power, rank, reliability, summarize

RNG = np.random.default_rng(18)
A = (RNG.random(30) < 0.5).astype(int)
B = np.where(RNG.random(30) < 0.4, 1, A)
ITEMS = [f"q{i:02d}" for i in range(30)]
NAN = float("nan")


def table(scores: Any, model: str) -> dict[str, Any]:
    return {"item": [f"{i:02d}" for i in range(len(scores))], "model": [model] * len(scores), "score": list(scores)}


def said(found: Any) -> dict[str, Any]:
    """A result without its notes and pictures."""
    return {name: value for name, value in found.to_dict().items() if name not in ("notes", "chart_data", "picture")}


def but_lost(found: Any) -> dict[str, Any]:
    """The same, without the numbers of lost answers."""
    return {name: value for name, value in said(found).items() if name != "lost"}


@pytest.mark.parametrize("kind", [np.asarray, list, tuple, pd.Series, lambda x: x.astype(bool), pd.array])
def test_two_arrays_are_compared_as_two_tables(kind: Callable[[Any], Any]) -> None:
    found = compare(kind(A), kind(B))
    assert said(found) == said(compare(table(A, "A"), table(B, "B")))
    assert found.notes == ("paired by position",)


def test_names_and_fields_of_a_design_are_keywords() -> None:
    found = compare(A, B, names=("x", "y"), level=0.9, test="t", method="bca")
    assert (found.systems.a, found.systems.b) == ("x", "y")
    assert found.design == Design(level=0.9, test="t", method="bca")
    assert found == compare(A, B, names=("x", "y"), design=Design(level=0.9, test="t", method="bca"))


def test_series_are_paired_by_their_index() -> None:
    a, b = pd.Series(A, ITEMS, name="old"), pd.Series(B, ITEMS, name="new")
    found = compare(a, b.sample(frac=1, random_state=1))
    assert (found.systems.a, found.systems.b, found.n_pairs) == ("old", "new", 30)
    assert found.difference == compare(A, B).difference
    assert found.notes == ("paired by the index of the Series",)
    fewer = compare(a, b[5:])
    assert (fewer.n_pairs, fewer.dropped.only_a, fewer.dropped.examples[0]) == (25, 5, "q00")


def test_a_series_beside_an_array_is_paired_by_position() -> None:
    found = compare(pd.Series(A, ITEMS), B)
    assert found.notes == ("paired by position, the index of a Series beside arrays is not used",)
    assert found.difference == compare(A, B).difference


@pytest.mark.parametrize("missing", [NAN, None, pd.NA])
def test_a_missing_answer_is_a_hole(missing: Any) -> None:
    b = [*B[:3].tolist(), missing, *B[4:].tolist()]
    found = compare(A, b)
    assert (found.n_pairs, found.dropped.only_a, found.dropped.examples) == (29, 1, ("03",))
    assert found.difference == compare(np.delete(A, 3), np.delete(B, 3)).difference


def test_a_missing_answer_counts_as_0_where_errors_are_wrong() -> None:
    """Oracle: the same scores with the 0 written out."""
    b, zero, wrong = B.astype(float), B.astype(float), Selection(errors="wrong")
    b[[3, 7]], zero[[3, 7]] = NAN, 0
    found = compare(A, b, selection=wrong)
    assert but_lost(found) == said(compare(A, zero))
    assert found.lost == {"A": 0, "B": 2}
    assert any("they count as wrong (`Selection(errors='missing')` leaves them out)" in note for note in found.notes)
    assert compare(A, b, selection=Selection()).n_pairs == 28
    series = pd.Series(A, ITEMS), pd.Series(b, ITEMS)[::-1]
    assert compare(*series, selection=wrong).difference == found.difference
    assert but_lost(rank(A, b, selection=wrong)) == said(rank(A, zero))
    assert but_lost(summarize(A, b, selection=wrong)) == said(summarize(A, zero))
    runs = np.column_stack([A, b])
    assert but_lost(reliability(runs, selection=wrong)) == said(reliability(np.column_stack([A, zero])))


def test_a_frame_with_a_column_per_model() -> None:
    frame = pd.DataFrame({"old": A, "new": B.astype(float), "topic": ["x", "y"] * 15}, index=ITEMS)
    found = compare(frame)
    assert found.difference == compare(A, B).difference
    assert found.notes[:3] == (
        "the table: 2 columns of scores read as one model each: old, new",
        "the table: columns not used: topic",
        "no column item: the index of the frame names the items",
    )
    assert compare(frame, models=("new", "old")).difference.value == -(found.difference.value or 0)
    clustered = compare(frame, cluster="topic")
    assert (clustered.n_clusters, clustered.cluster_by) == (2, "topic")
    with_items = frame.rename_axis("item").reset_index()
    assert compare(with_items).signature == found.signature


def test_a_long_frame_of_two_models_needs_no_names() -> None:
    long = pd.DataFrame(table(A, "old")), pd.DataFrame(table(B, "new"))
    found = compare(pd.concat(long))
    assert (found.systems.a, found.systems.b) == ("new", "old")
    assert "old is compared with new, in the order of the table" in found.notes[0]


def test_frames_without_ids_are_paired_by_index_or_by_row() -> None:
    by_row = compare({"score": A}, {"score": B})
    assert by_row.difference == compare(A, B).difference
    assert "rows are items, by their position" in by_row.notes[0]
    by_index = compare(pd.DataFrame({"score": A}, ITEMS), pd.DataFrame({"score": B[::-1]}, ITEMS[::-1]))
    assert by_index.difference == by_row.difference


def test_rank_and_summarize_take_what_compare_takes() -> None:
    c = RNG.integers(0, 2, 30)
    tables = [table(scores, name) for scores, name in ((A, "A"), (B, "B"), (c, "C"))]
    matrix = np.column_stack([A, B, c])
    frame = pd.DataFrame(matrix, columns=["A", "B", "C"])
    for sources in ((A, B, c), (matrix,), (matrix.tolist(),), (frame,)):
        assert said(rank(*sources)) == said(rank(*tables))
        assert said(summarize(*sources)) == said(summarize(*tables))
    named = summarize(A, B, names=["x", "y"], level=0.9, method="t")
    assert {model.name for model in named.models} == {"x", "y"}
    assert named.design == Design(level=0.9, method="t")
    assert rank(A, B, names=["x", "y"]).models[0].name == "y"
    assert summarize(Panel.from_arrays(matrix), names=["x", "y", "z"]).models[0].name in "xyz"
    assert [model.name for model in summarize(pd.Series(A, name="gpt")).models] == ["gpt"]


def test_reliability_takes_runs_as_arrays() -> None:
    runs = (RNG.random((30, 4)) < 0.6).astype(float)
    other = (RNG.random((30, 3)) < 0.5).astype(float)
    found = reliability(runs, other, names=["x", "y"], level=0.9)
    columns = ["x"] * 4 + ["y"] * 3
    expected = reliability(Panel.from_arrays(np.hstack([runs, other]), models=columns), goal=Goal(level=0.9))
    assert said(found) == said(expected)
    one = said(reliability(Panel.from_arrays(runs, models=["the model"] * 4)))
    assert one == said(reliability(runs)) == said(reliability(*runs.T)) == said(reliability(pd.DataFrame(runs)))


def test_runs_in_series_are_paired_by_their_index() -> None:
    a, b = pd.Series(A, ITEMS), pd.Series(B, ITEMS)
    shuffled = b.sample(frac=1, random_state=1)
    found = reliability(a, shuffled)
    assert found.notes[0] == "paired by the index of the Series"
    assert found == reliability(a, shuffled.reindex(a.index)) == reliability(a[::-1], shuffled)
    assert {**said(found), "signature": ""} == {**said(reliability(A, B)), "signature": ""}
    fewer = reliability(a, shuffled.drop("q03"))
    assert (fewer.n, fewer.dropped.examples, fewer.lost) == (29, ("q03",), {})
    assert fewer.models == reliability(np.delete(A, 3), np.delete(B, 3)).models
    beside = reliability(a, B)
    assert beside.models == found.models
    assert beside.notes[0].endswith("; the index of a Series beside arrays is not used")


def test_frames_of_runs_are_paired_by_their_index() -> None:
    runs = [pd.DataFrame((RNG.random((30, 3)) < 0.6).astype(int), ITEMS, ["r1", "r2", "r3"]) for _ in range(2)]
    found = reliability(runs[0], runs[1].sample(frac=1, random_state=2))
    assert found == reliability(*runs)
    assert found.models == reliability(*(one.to_numpy() for one in runs)).models
    assert found.notes[2] == "paired by the column item or the index of the frames"
    tables = [one.rename_axis("item").reset_index() for one in runs]
    assert found == reliability(tables[0], tables[1].sample(frac=1, random_state=3))
    assert found.notes[:2] == tuple(f"3 columns read as runs of {model}: r1, r2, r3" for model in "AB")


def test_what_was_read_as_runs_and_what_was_left_out_is_said() -> None:
    frame = pd.DataFrame({"m1": A, "m2": B.astype(float), "m3": A.astype(float)})
    assert reliability(frame).notes[0] == "3 columns read as runs of one model: m1, m2, m3"
    frame.loc[4, "m2"] = frame.loc[9, "m3"] = NAN
    found = reliability(frame)
    assert (found.n, found.notes[1]) == (28, "28 of 30 items: 2 lack a run")
    assert found.models == reliability(frame.drop([4, 9])).models
    frame.loc[9, "m3"] = 1
    assert reliability(frame.to_numpy()).notes[0] == "29 of 30 items: 1 lacks a run"


def test_every_verb_takes_the_fields_as_keywords() -> None:
    from assay import Spread

    assert power(Spread(sd=0.145), difference=0.02, power=0.9) == power(
        Spread(sd=0.145), difference=0.02, goal=Goal(power=0.9)
    )
    with pytest.raises(UsageError, match="power takes either a goal or its fields, but got a goal and level"):
        power(Spread(sd=0.145), difference=0.02, goal=Goal(), level=0.9)
    with pytest.raises(UsageError, match=r"level must be at least 0\.5"):
        compare(A, B, level=2)
    with pytest.raises(UsageError, match="compare takes either a design or its fields, but got a design and level"):
        compare(A, B, design=Design(), level=0.9)
    with pytest.raises(TypeError, match=r"compare\(\) has no argument 'lvel'; did you mean 'level'\?"):
        compare(A, B, lvel=0.9)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"rank\(\) has no argument 'x'; it takes those of its signature, and method"):
        rank(A, B, x=1)  # type: ignore[call-arg]


BAD: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "unequal": (lambda: compare([1, 0], [1, 0, 1]), InputError, "must be equally long, but have 2, 3 scores"),
    "unequal frames": (lambda: compare({"score": [1, 0]}, {"score": [1, 0, 1]}), InputError, "equally long"),
    "an array and a file": (lambda: compare(A, "b.csv"), UsageError, "give arrays only, or tables only"),
    "texts": (lambda: compare(["a.csv", "b.csv"]), UsageError, "give paths one by one"),
    "a word": (lambda: compare([1, "yeah"], [1, 0]), InputError, "row 2, column 'A': 'yeah' is not a number"),
    "infinite": (lambda: compare([1, 1e999], [1, 0]), InputError, "must be finite"),
    "nothing but holes": (lambda: compare([NAN, NAN], [1, 0]), InputError, "no row holds a score"),
    "nothing": (lambda: compare([], []), InputError, "every cell is empty|no rows"),
    "an index twice": (
        lambda: compare(pd.Series([1, 0], ["a", "a"]), pd.Series([1, 0], ["a", "b"])),
        InputError,
        "the index of a Series has 'a' twice",
    ),
    "no index in common": (
        lambda: compare(pd.Series([1, 0], ["a", "b"]), pd.Series([1, 0], ["c", "d"])),
        InputError,
        "no label is in the index of every Series: A has a, b; B has c, d",
    ),
    "runs with no index in common": (
        lambda: reliability(pd.Series([1, 0], ["a", "b"]), pd.Series([1, 0], ["c", "d"])),
        InputError,
        "no label is in the index of every Series: A has a, b; B has c, d",
    ),
    "runs with an index twice": (
        lambda: reliability(pd.Series([1, 0], ["a", "a"]), pd.Series([1, 0], ["a", "b"])),
        InputError,
        "the index of a Series has 'a' twice",
    ),
    "three models": (lambda: compare(np.eye(3)), UsageError, "two of its models among A, B, C"),
    "a cube": (lambda: summarize(np.zeros((2, 2, 2))), InputError, r"\(items,\) or \(items, models\)"),
    "ragged": (lambda: summarize([[1, 0], [1]]), InputError, "rows of equal length"),
    "a number": (lambda: summarize(5), UsageError, "but got int"),  # type: ignore[arg-type]
    "columns": (lambda: summarize([1, 0], columns={"score": "x"}), UsageError, "arrays have no columns"),
    "cluster": (lambda: summarize([1, 0], cluster="x"), UsageError, "arrays have no columns"),
    "names": (lambda: compare(A, B, names=["x"]), UsageError, "names must be 2 different names"),
    "names alike": (lambda: summarize(A, B, names=["x", "x"]), UsageError, "names must be 2 different ones"),
    "two wide": (lambda: compare(pd.DataFrame(np.eye(2)), pd.DataFrame(np.eye(2))), UsageError, "two sources of one"),
    "runs": (lambda: reliability(np.eye(3), names=["x", "y"]), UsageError, "names must be 1"),
    "one run": (lambda: reliability([1, 0, 1]), InputError, "has one run"),
    "unequal runs": (lambda: reliability(np.eye(3), np.eye(4)), InputError, "equally long"),
    "names of tables": (lambda: reliability(table([1], "m"), names=["x"]), UsageError, "names are of arrays"),
}


@pytest.mark.parametrize("what", sorted(BAD))
def test_arrays_that_are_refused(what: str) -> None:
    call, error, part = BAD[what]
    with pytest.raises(error, match=part):
        call()


@given(st.lists(st.tuples(st.sampled_from([0, 1, NAN]), st.sampled_from([0, 1])), min_size=4, max_size=12))
def test_arrays_make_the_panel_of_from_arrays(pairs: list[tuple[float, float]]) -> None:
    values = np.array(pairs, dtype=float)
    if np.isnan(values[:, 0]).all():
        return
    panel = Panel.from_arrays(values, systems=["A", "B"], holes=True)
    for found, expected in (
        (compare(values[:, 0], values[:, 1]), compare(panel)),
        (summarize(values), summarize(panel)),
    ):
        holes = np.isnan(values).sum(axis=0).tolist()
        assert found.lost == ({"A": holes[0], "B": holes[1]} if any(holes) else {})
        assert {**said(found), "lost": {}} == {**said(expected), "lost": {}}


class _Series:
    """What polars has of a Series: a name, no index, and numpy can read it."""

    def __init__(self, name: str, values: Any) -> None:
        self.name, self._values = name, values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values, dtype=dtype)

    def __len__(self) -> int:
        return len(self._values)


class _Frame:
    """What polars has of a frame: names of columns, and a Series for each."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> _Series:
        return _Series(name, self._columns[name])


def test_frames_and_series_of_another_library() -> None:
    frame = _Frame({"old": A, "new": B, "topic": ["x"] * 30})
    expected = compare(A, B).difference
    assert compare(frame).difference == expected
    found = compare(_Series("old", A), _Series("new", B))
    assert (found.difference, found.systems.a, found.systems.b) == (expected, "old", "new")
    long = _Frame(table(A, "old")), _Frame(table(B, "new"))
    assert compare(*long).difference == expected


@pytest.mark.parametrize("verb", [compare, rank, summarize, reliability])
def test_a_way_to_treat_missing_answers_that_does_not_exist_is_refused(verb: Any) -> None:
    """Also where nothing is missing, so that a misspelling is found before it matters."""
    for b in ([0.0, 1.0, 1.0], [0.0, NAN, 1.0]):
        with pytest.raises(UsageError, match="missing must be one of drop, complete, zero, refuse, but got 'Zero'"):
            verb([1.0, 0.0, 1.0], b, missing="Zero")


def test_a_level_that_is_a_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"level must be at least 0.5 and below 1, but got '0.9'"):
        compare([1.0, 0.0, 1.0], [0.0, 0.0, 1.0], level="0.9")  # type: ignore[arg-type]  # which is refused
