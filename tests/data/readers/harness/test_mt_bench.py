"""MT-Bench: the oracle is a plain script that reads the same lines with `json`, by the rules of FastChat."""

import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from assay import Selection, compare, summarize
from tests.data.readers.harness.logs import MT_BENCH, assert_refused, by_name, copy, edit_lines, one, scores

SINGLE = MT_BENCH / "made-up-judge_single.jsonl"
PAIR = MT_BENCH / "made-up-judge_pair.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


# -------------------------------------------------------------------------------------------------------------- single


def by_hand(model: str, turn: int | None = None) -> dict[tuple[int, int], list[float]]:
    """(Turn, question) → the scores that could be parsed."""
    found: dict[tuple[int, int], list[float]] = defaultdict(list)
    for row in lines(SINGLE):
        if row["model"] == model and turn in (None, row["turn"]) and row["score"] != -1:
            found[row["turn"], row["question_id"]].append(row["score"])
    return found


def test_scores_of_a_turn_against_a_plain_script() -> None:
    want = {str(question): own[0] for (_, question), own in by_hand("medium-3b", 1).items()}
    assert scores(by_name(SINGLE, task="turn 1")["medium-3b"]) == want


def test_the_mean_of_both_turns_against_a_plain_script() -> None:
    found = {model.name: model for model in summarize(SINGLE).models}
    for name in ("small-1b", "medium-3b"):
        means = [sum(own) / len(own) for own in by_hand(name).values()]
        assert found[name].value.value == pytest.approx(sum(means) / len(means), rel=1e-14)
        assert (found[name].n, found[name].n_clusters) == (48, 24)
    assert found["small-1b"].runs == (1, 2)  # judged twice, once in vain


def test_minus_one_is_missing_and_no_score() -> None:
    table = by_name(SINGLE, task="turn 2")["small-1b"]
    assert sum(map(math.isnan, table.numbers["score"].tolist())) == 1
    assert summarize(SINGLE).lost == {"small-1b": 1, "medium-3b": 0}


def test_the_mean_that_the_program_prints_is_told_where_it_is_another_by_hand() -> None:
    every = [score for own in by_hand("small-1b").values() for score in own]
    said = f"small-1b: the mean of all 95 judgments is {sum(every) / 95:.4f}"
    assert any(note.startswith(said) for note in summarize(SINGLE).notes)
    assert not any("medium-3b: the mean" in note for note in summarize(SINGLE).notes)


def test_the_turns_of_a_question_are_drawn_together_by_hand() -> None:
    """The cluster-robust error of a mean: √(Σ (sum of a question − its share)² · G/(G − 1)) / n."""
    question: dict[int, float] = defaultdict(float)
    for (_, name), own in by_hand("medium-3b").items():
        question[name] += own[0]
    sums = list(question.values())
    mean = sum(sums) / 48
    error = math.sqrt(sum((one - 2 * mean) ** 2 for one in sums) * 24 / 23) / 48
    found = summarize(SINGLE)
    [medium] = [model for model in found.models if model.name == "medium-3b"]
    assert medium.value.standard_error == pytest.approx(error, rel=1e-12)
    assert found.macro["medium-3b"].standard_error == pytest.approx(error, rel=1e-12)


def test_two_models_are_compared_by_turn_and_in_total_by_hand() -> None:
    found = compare(SINGLE, models=("small-1b", "medium-3b"), selection=Selection(task="turn 1"))
    a, b = by_hand("small-1b", 1), by_hand("medium-3b", 1)
    means = [sum(b[key]) / len(b[key]) - sum(a[key]) / len(a[key]) for key in a]
    assert found.n_pairs == 24
    assert found.n_clusters is None  # one turn: a question is an item
    assert found.difference.value == pytest.approx(sum(means) / 24, rel=1e-12)


def test_several_judges_are_refused_until_one_is_chosen(tmp_path: Path) -> None:
    def other(at: int, row: dict[str, Any]) -> dict[str, Any]:
        return row | {"judge": ["another", "single-v1"]} if at % 2 else row

    path = edit_lines(copy(SINGLE, tmp_path), other)
    assert_refused(path, "2 judges (another, made-up-judge)", "`Selection(filter=...)`", task="turn 1")
    assert len(by_name(path, task="turn 1", filter="another")["medium-3b"]) == 12


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda row: row.update(score=-2), ["line 2", "score", "-2"]),
        (lambda row: row.update(score="8"), ["line 2, score", "must be a number or null"]),
        (lambda row: row.pop("model"), ["line 2", "no field 'model'"]),
        (lambda row: row.update(turn="one"), ["line 2, turn", "a whole number"]),
    ],
)
def test_bad_lines_are_refused_by_name(tmp_path: Path, change: Any, parts: list[str]) -> None:
    def spoil(at: int, row: dict[str, Any]) -> dict[str, Any]:
        if at == 1:
            change(row)
        return row

    assert_refused(edit_lines(copy(SINGLE, tmp_path), spoil), *parts, every_task=True)


# --------------------------------------------------------------------------------------------------------------- pairs


def verdicts(turn: int) -> dict[tuple[str, str], dict[str, float]]:
    """(Model, opponent) → question → 1, ½ or 0, as FastChat counts; rows with an error are left out."""
    found: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in lines(PAIR):
        first, second = row["g1_winner"], row["g2_winner"]
        if row["turn"] != turn or "error" in (first, second):
            continue
        tie = first == "tie" or first != second
        one = 0.5 if tie else float(first == "model_1")
        found[row["model_1"], row["model_2"]][str(row["question_id"])] = one
        found[row["model_2"], row["model_1"]][str(row["question_id"])] = 1 - one
    return found


def test_a_win_needs_both_games_against_fastchat_s_rule() -> None:
    found = by_name(PAIR, task="turn 1", reference="large-9b")
    assert set(found) == {"small-1b", "medium-3b"}
    for name, table in found.items():
        assert scores(table) == verdicts(1)[name, "large-9b"]


def test_without_a_reference_a_question_is_the_mean_over_all_opponents_by_hand() -> None:
    tables = by_name(PAIR, task="turn 1")
    assert set(tables) == {"small-1b", "medium-3b", "large-9b"}
    both = [verdicts(1)["small-1b", other] for other in ("medium-3b", "large-9b")]
    assert scores(tables["small-1b"]) == {name: (both[0][name] + both[1][name]) / 2 for name in both[0]}
    assert any("against all others" in note for note in tables["small-1b"].notes)


def test_an_error_is_missing() -> None:
    table = by_name(PAIR, task="turn 2", reference="large-9b")["small-1b"]
    lost = [name for name, score in scores(table).items() if math.isnan(score)]
    assert lost == [str(row["question_id"]) for row in lines(PAIR) if row["g2_winner"] == "error"][:1]


def test_win_rates_of_two_models_add_up_to_one(tmp_path: Path) -> None:
    def two(_: int, row: dict[str, Any]) -> dict[str, Any] | None:
        return row if {row["model_1"], row["model_2"]} == {"small-1b", "medium-3b"} else None

    path = edit_lines(copy(PAIR, tmp_path), two)
    small, medium = (by_name(path, task="turn 1")[name] for name in ("small-1b", "medium-3b"))
    assert [a + b for a, b in zip(scores(small).values(), scores(medium).values(), strict=True)] == [1.0] * 24


def test_games_against_a_plain_script() -> None:
    [games] = by_name(PAIR, task="turn 1")["small-1b"].about["games"]
    rows = [row for row in lines(PAIR) if row["turn"] == 1]
    won = {"model_1": 1.0, "tie": 0.5, "model_2": 0.0}
    want = [value for row in rows for value in (won[row["g1_winner"]], 1 - won[row["g2_winner"]])]
    assert games.won.tolist() == want
    shown = [name for row in rows for name in (row["model_1"], row["model_2"])]
    assert [games.models[i] for i in games.first] == shown
    assert games.lengths[0].tolist() == games.lengths[1].tolist()[::-1]  # the same two answers, swapped
    assert not any(math.isnan(value) for value in games.lengths.ravel().tolist())


def test_games_are_those_against_the_reference() -> None:
    [games] = by_name(PAIR, task="turn 1", reference="small-1b")["medium-3b"].about["games"]
    assert all("small-1b" in (games.models[i], games.models[j]) for i, j in zip(games.first, games.second, strict=True))


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda row: row.update(g2_winner="A"), ["line 2", "model_1, tie, model_2, error", "'A'"]),
        (lambda row: row.update(model_2=row["model_1"]), ["line 2", "both"]),
        (lambda row: row.pop("g2_winner"), ["line 2", "no field 'g2_winner'"]),
    ],
)
def test_bad_pairs_are_refused_by_name(tmp_path: Path, change: Any, parts: list[str]) -> None:
    def spoil(at: int, row: dict[str, Any]) -> dict[str, Any]:
        if at == 1:
            change(row)
        return row

    assert_refused(edit_lines(copy(PAIR, tmp_path), spoil), *parts, every_task=True)


def test_a_reference_that_nobody_met_is_refused() -> None:
    assert_refused(PAIR, "'large9b'", "large-9b", "did you mean", reference="large9b", task="turn 1")


def test_one_model_is_left_against_the_other_of_two(tmp_path: Path) -> None:
    def two(_: int, row: dict[str, Any]) -> dict[str, Any] | None:
        return row if {row["model_1"], row["model_2"]} == {"small-1b", "medium-3b"} else None

    assert one(edit_lines(copy(PAIR, tmp_path), two), reference="medium-3b", task="turn 1").name == "small-1b"
