"""An error is not a wrong answer: lost answers are counted by model, and missing unless asked otherwise. By hand."""

from pathlib import Path
from typing import Any

import pytest

from assay import Policy, Selection, certify, compare, power, rank, read_table, reliability, summarize, verify
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
    assert f"the table: column {column!r} tells of 1 errors" in found.notes
    assert read_table(rows, columns={"error": ""}).lost is None


def test_lost_answers_are_missing_by_default_and_counted_by_model() -> None:
    """The means without and with the lost rows, by hand."""
    a, b = table(), lost_at(0, 2, 3)
    found = compare(a, b)
    kept = [i for i in range(N) if i not in (0, 2, 3)]
    assert found.n_pairs == N - 3
    assert found.b == pytest.approx(sum(RIGHT[i] for i in kept) / len(kept))
    (warning,) = (note for note in found.notes if note.startswith("warning"))
    assert "B 3 of 40, A 0 of 40" in warning
    assert "Selection(errors='wrong')" in warning
    wrong = compare(a, b, selection=WRONG)
    assert wrong.n_pairs == N
    assert wrong.b == pytest.approx((sum(RIGHT) - 3) / N)
    assert any("B 3 of 40, A 0 of 40" in note and "count as wrong" in note for note in wrong.notes)


def test_equal_losses_are_counted_without_a_warning() -> None:
    notes = compare(lost_at(1), lost_at(2)).notes
    assert not any(note.startswith("warning") for note in notes)
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
