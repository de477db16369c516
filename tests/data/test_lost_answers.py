"""An error is not a wrong answer: lost answers are counted by model, and missing unless asked otherwise. By hand."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from assay import Policy, Selection, certify, compare, power, rank, read_table, reliability, summarize, verify
from assay.design import Missing
from assay.errors import InputError, UsageError
from tests.data.files import assert_refused

N = 40
RIGHT = [1, 0, 1, 1] * (N // 4)
WRONG = Selection(errors="wrong")


def table(**more: Any) -> dict[str, Any]:
    return {"item": list(range(N)), "score": list(RIGHT), **more}


def lost_at(*rows: int, sign: Any = None) -> dict[str, Any]:
    found = table()
    for row in rows:
        found["score"][row] = sign
    return found


@pytest.mark.parametrize(
    "sign",
    [None, float("nan"), "", "null", "N/A", "error", "TimeoutError: 6 s", "timed out", "unparsed", "Rate limit"],
)
def test_what_stands_for_no_answer(sign: Any) -> None:
    found = read_table(lost_at(2, sign=sign))
    assert found.lost is not None
    assert found.lost.nonzero()[0].tolist() == [2]
    assert found.answered().ids.tolist() == [str(i) for i in range(N) if i != 2]
    assert read_table(lost_at(2, sign=sign), selection=WRONG).numbers["score"][2] == 0.0


@pytest.mark.parametrize("sign", ["good", "B", "?", "1,5"])
def test_another_word_is_still_refused(sign: str) -> None:
    assert_refused(lost_at(2, sign=sign), "row 3, column 'score'", "is not a number")


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("error", ["", "429 Too Many Requests", "null"]),
        ("errors", [False, True, False]),
        ("exception", [None, "ReadTimeout", None]),
        ("info.error", ["", "boom", ""]),
        ("Status", ["success", "API error", "failed"]),
        ("status", ["completed", "timeout", "fail"]),
    ],
)
def test_a_column_of_errors_tells_them_apart(column: str, values: list[Any]) -> None:
    rows = {"id": ["a", "b", "c"], "passed": [1, 0, 0], column: values}
    found = read_table(rows)
    assert found.lost is not None
    assert found.lost.tolist() == [False, True, False]
    assert f"the table: column {column!r} tells of 1 error" in found.notes
    assert read_table(rows, columns={"error": ""}).lost is None


def test_lost_answers_are_missing_by_default_and_counted_by_model() -> None:
    """The means without and with the lost rows, by hand."""
    a, b = table(), lost_at(0, 2, 3)
    found = compare(a, b)
    kept = [i for i in range(N) if i not in (0, 2, 3)]
    assert found.n_pairs == N - 3
    assert found.b == pytest.approx(sum(RIGHT[i] for i in kept) / len(kept))
    (warning,) = (note for note in found.notes if note.startswith("warning: models lost"))
    assert "B 3 of 40, A 0 of 40" in warning
    assert "Selection(errors='wrong')" in warning
    wrong = compare(a, b, selection=WRONG)
    assert wrong.n_pairs == N
    assert wrong.b == pytest.approx((sum(RIGHT) - 3) / N)
    assert any("B 3 of 40, A 0 of 40" in note and "count as wrong" in note for note in wrong.notes)


def test_equal_losses_are_counted_without_a_warning() -> None:
    notes = compare(lost_at(1), lost_at(2)).notes
    assert not any(note.startswith("warning: models lost") for note in notes)
    assert any("A 1 of 40, B 1 of 40" in note for note in notes)


def test_every_verb_counts_them() -> None:
    runs = {name: values * 2 for name, values in lost_at(0).items()} | {"run": [1] * N + [2] * N}
    found: list[Any] = [
        rank(table(), lost_at(0), names=["x", "y"]),
        summarize(lost_at(0)),
        reliability(runs),
        power(table(), {**lost_at(0), "score": [*[None], *[1 - one for one in RIGHT[1:]]]}, items=100),
    ]
    for result in found:
        assert any("1 of 40" in note for note in result.notes), result
    assert [result.lost for result in found[:3]] == [{"x": 0, "y": 1}, {"the table": 1}, {"the model": 2}]
    assert compare(table(), lost_at(0, 5), names=("x", "y")).lost == {"x": 0, "y": 2}
    for result in found[:3]:
        assert type(result).from_dict(result.to_dict()) == result
        assert result.to_dict()["lost"] == result.lost
    assert "lost" not in compare(table(), table()).to_dict()


def test_a_model_without_losses_does_not_make_the_others_wrong() -> None:
    """Of one long table every model knows which rows were lost, also where none of its own was."""
    x, y = lost_at(0), table()
    found = summarize({name: x[name] + y[name] for name in x} | {"model": ["x"] * N + ["y"] * N})
    assert found.lost == {"x": 1, "y": 0}
    assert any("they are missing, not wrong" in note for note in found.notes)


# -------------------------------------------------------------------------------------------- a column for each model

WIDE = {"old": [1, 0, None, None, 1, 0], "new": [1, 1, 1, None, 1, 0]}


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_missing_answers_of_a_wide_frame(ids: bool, make: Any) -> None:
    """Rows 3 and 4 lack answers: of one model and of both."""
    frame = make({**({"item": list("abcdef")} if ids else {}), **WIDE})
    found = {how: summarize(frame, missing=how) for how in ("drop", "complete", "zero")}
    assert {how: {one.name: one.n for one in one_of.models} for how, one_of in found.items()} == {
        "drop": {"new": 5, "old": 4},
        "complete": {"new": 4, "old": 4},
        "zero": {"new": 6, "old": 6},
    }
    assert {one.name: one.value.value for one in found["zero"].models} == pytest.approx({"new": 4 / 6, "old": 2 / 6})
    assert all(one.lost == {"old": 2, "new": 1} for one in found.values())
    assert any("they count as 0" in note for note in found["zero"].notes)
    assert compare(frame, missing="zero").n_pairs == 6
    assert rank(frame, missing="complete").n_units == 4
    for verb in (compare, rank, summarize):
        with pytest.raises(InputError, match=r"row 4: no answer;|row 3: no answer, nor in 1 other row;"):
            verb(frame, missing="refuse")
    assert compare(frame, selection=WRONG).n_pairs == 6


def test_numbers_that_are_no_scores_are_no_models() -> None:
    """As in files: what an answer cost, and how long it took."""
    frame = pd.DataFrame({"old": [1, 0], "new": [1, 1], "latency_ms": [120.5, 80.0], "cost": [0.1, 0.2]}, ["p", "q"])
    assert {model.name for model in summarize(frame).models} == {"old", "new"}
    assert reliability(frame).models[0].runs == ("1", "2")


def test_tasks_of_a_wide_file(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("question_id,category,old,new\n1,law,1,1\n2,law,0,1\n3,math,1,0\n4,math,,0\n")
    found = summarize(path)
    means = {task: {one.name: one.value.value for one in models} for task, models in found.tasks.items()}
    assert means == {"law": {"old": 0.5, "new": 1.0}, "math": {"old": 1.0, "new": 0.0}}


# ----------------------------------------------------------------------------------------------------------- attempts

ATTEMPTS = """id,attempt,model,correct
a,1,x,1\na,2,x,0\na,3,x,1
b,1,x,0\nb,2,x,\nb,3,x,1
c,1,x,1\nc,2,x,1\nc,3,x,0
a,1,y,1\na,2,y,0\na,3,y,0
b,1,y,0\nb,2,y,0\nb,3,y,1
"""


@pytest.fixture
def attempts(tmp_path: Path) -> Path:
    path = tmp_path / "attempts.csv"
    path.write_text(ATTEMPTS)
    return path


#: pass@2 by enumeration of the pairs of attempts, for x: of a 1, b 1 (two attempts) or 2/3 (the lost one wrong), c 1;
#: for y: of a and b 2/3, of c nothing, or 0.
PASSED: dict[str, tuple[float, float]] = {
    "drop": (1.0, 2 / 3),
    "complete": (1.0, 2 / 3),
    "zero": ((1 + 2 / 3 + 1) / 3, (2 / 3 + 2 / 3 + 0) / 3),
}


@pytest.mark.parametrize("how", PASSED)
def test_pass_at_k_of_a_file_with_lost_attempts(attempts: Path, how: Missing) -> None:
    found = summarize(attempts, at=2, missing=how)
    assert {one.name: one.one.value for one in found.passes} == pytest.approx(dict(zip("xy", PASSED[how], strict=True)))
    assert {one.name: one.n for one in found.passes} == {
        "drop": {"x": 3, "y": 2},
        "complete": {"x": 2, "y": 2},
        "zero": {"x": 3, "y": 3},
    }[how]
    pair = compare(attempts, at=2, missing=how)
    assert pair.n_pairs == (3 if how == "zero" else 2)
    assert (pair.a, pair.b) == pytest.approx(PASSED[how])
    assert pair.lost == found.lost == {"x": 1, "y": 0}
    assert compare(attempts, at=2, missing=how, names=("p", "q")).lost == {"p": 1, "q": 0}


def test_lost_attempts_may_be_refused(attempts: Path) -> None:
    for verb in (summarize, compare):
        with pytest.raises(InputError, match="line 6: no answer"):
            verb(attempts, at=2, missing="refuse")
    attempts.write_text(ATTEMPTS.replace("b,2,x,\n", "b,2,x,1\n"))
    with pytest.raises(InputError, match=r"do not pair|lack an answer"):
        compare(attempts, at=2, missing="refuse")


def test_missing_answers_drop_complete_zero_refuse() -> None:
    a, b = table(), {name: values[:-4] for name, values in table().items()}
    assert compare(a, b).n_pairs == N - 4
    zero = compare(a, b, missing="zero")
    assert zero.n_pairs == N
    assert zero.b == pytest.approx(sum(RIGHT[:-4]) / N)
    assert any("4 answers that are not there count as 0" in note for note in zero.notes)
    with pytest.raises(InputError, match="4 items do not pair"):
        compare(a, b, missing="refuse")
    with pytest.raises(InputError, match="row 3: no answer"):
        compare(a, lost_at(2), missing="refuse")
    assert summarize(a, b, missing="complete").n == N - 4
    assert [model.n for model in summarize(a, b).models] == [N, N - 4]
    assert [model.value.n for model in summarize(a, b, missing="zero").models] == [N, N]


def test_lost_answers_are_zero_with_the_missing_ones() -> None:
    found = compare(table(), lost_at(0, 2), missing="zero")
    assert found.n_pairs == N
    assert found.b == pytest.approx((sum(RIGHT) - 2) / N)


def test_zero_is_refused_where_it_is_no_bad_score() -> None:
    losses = {"window": ["a", "b"], "tokens": [1, 1], "loss": [1.0, 2.0]}
    with pytest.raises(UsageError, match="higher is better"):
        compare(losses, losses, missing="zero")
    with pytest.raises(UsageError, match="higher is better"):
        compare(table(), lost_at(1), missing="zero", lower_is_better=True)
    with pytest.raises(UsageError, match="counts errors as 0"):
        compare(table(), lost_at(1), lower_is_better=True, selection=WRONG)


def test_a_run_that_lost_everything_is_refused() -> None:
    broken = table(error=["timeout"] * N)
    with pytest.raises(InputError, match="every answer was lost to an error"):
        compare(table(), broken)
    assert_refused({"item": [1, 2], "score": [None, None]}, "no row holds a score")


def test_attempts_are_averaged_over_those_with_an_answer() -> None:
    found = summarize({"item": ["a", "a", "b", "b"], "run": [1, 2, 1, 2], "score": [1, None, 0, 1]})
    assert found.models[0].value.value == pytest.approx((1 + 0.5) / 2)


def test_a_gate_refuses_lost_answers_unless_they_count_as_wrong(tmp_path: Path) -> None:
    """A subject that answers only what it knows would pass."""
    path, policy = tmp_path / "cert.json", Policy(min_windows=10, max_drop=0.5, note="few")
    with pytest.raises(InputError, match=r"2 of 40 answers were lost .*a gate needs them"):
        certify(table(), lost_at(0, 2), path, policy=policy)
    assert not path.exists()
    certify(table(), lost_at(0, 2), path, policy=policy, selection=WRONG)
    assert verify(path).true
