"""Arena-Hard: the oracle is a plain script that reads the same lines with `json`."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay import compare, rank, summarize
from tests.data.readers.harness.logs import ARENA_HARD, assert_refused, by_name, copy, edit_lines, one, scores

SMALL = ARENA_HARD / "model_judgment/made-up-judge/small-1b.jsonl"
MEDIUM = ARENA_HARD / "model_judgment/made-up-judge/medium-3b.jsonl"


def of_a(score: str) -> float:
    """What A gets, read letter by letter."""
    left, sign, right = score[0], score[1:-1], score[-1]
    assert {left, right} == {"A", "B"}
    if "=" in sign:
        return 0.5
    return float((left if ">" in sign else right) == "A")


def by_hand(path: Path) -> dict[str, float | None]:
    """Question → the mean of both games, the model being B in the first and A in the second."""
    found: dict[str, float | None] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        labels = [None if game is None else game["score"] for game in row["games"]]
        first, second = labels
        if first is None or second is None:
            found[row["question_id"]] = None
        else:
            found[row["question_id"]] = ((1 - of_a(first)) + of_a(second)) / 2
    return found


@pytest.mark.parametrize("path", [SMALL, MEDIUM])
def test_one_value_per_question_against_a_plain_script(path: Path) -> None:
    want, found = by_hand(path), scores(one(path))
    assert found.keys() == want.keys()
    for item, share in want.items():
        assert math.isnan(found[item]) if share is None else found[item] == share


def test_a_strong_win_is_not_three(tmp_path: Path) -> None:
    def strong(_: int, row: dict[str, Any]) -> dict[str, Any]:
        return row | {"games": [{"score": "B>>A"}, {"score": "A>B" if row["question_id"] < "q016" else "B>A"}]}

    [model] = summarize(edit_lines(copy(SMALL, tmp_path), strong)).models
    assert model.value.value == (16 * 1.0 + 16 * 0.5) / 32  # three battles of >> would give another mean


def test_null_games_are_missing_and_counted() -> None:
    lost = [item for item, share in by_hand(MEDIUM).items() if share is None]
    assert lost == ["q007", "q020"]
    found = summarize(ARENA_HARD)
    assert found.lost == {"medium-3b": 2, "small-1b": 0}
    assert {model.name: model.n for model in found.models} == {"medium-3b": 30, "small-1b": 32}


def test_games_have_the_baseline_first_and_then_the_model_by_hand() -> None:
    [games] = one(SMALL).about["games"]
    rows = [json.loads(line) for line in SMALL.read_text("utf-8").splitlines()]
    assert [games.models[i] for i in games.first[:4]] == ["the baseline", "small-1b"] * 2
    assert games.won.tolist() == [of_a(game["score"]) for row in rows for game in row["games"]]
    answers = [part.split("\n")[1] for part in rows[0]["games"][0]["user_prompt"].split("The Start of Assistant")[1:]]
    assert games.lengths[0].tolist() == [len(text) for text in answers]


def test_a_folder_has_a_model_per_file_and_pairs_and_ranks_them() -> None:
    assert set(by_name(ARENA_HARD)) == {"small-1b", "medium-3b"}
    a, b = by_hand(SMALL), by_hand(MEDIUM)
    differences = [b[item] - a[item] for item in a if a[item] is not None and b[item] is not None]  # type: ignore[operator]
    found = compare(SMALL, MEDIUM)
    assert found.n_pairs == 30
    assert found.difference.value == pytest.approx(sum(differences) / 30, rel=1e-12)
    assert rank(ARENA_HARD).models[0].name == "medium-3b"


def test_version_2_has_uid_category_and_messages(tmp_path: Path) -> None:
    """Categories are tasks: each has a baseline of its own."""

    def newer(at: int, row: dict[str, Any]) -> dict[str, Any]:
        games = [
            {"score": game["score"], "prompt": [{"role": "user", "content": game["user_prompt"]}]}
            for game in row["games"]
        ]
        category = "coding" if at % 2 else "hard_prompt"
        return {"uid": row["question_id"], "category": category, "model": row["model"], "judge": "j", "games": games}

    path = edit_lines(copy(SMALL, tmp_path), newer)
    found = summarize(path)
    assert set(found.tasks) == {"coding", "hard_prompt"}
    [games] = one(path, task="coding").about["games"]
    assert len(games) == 32
    assert not any(math.isnan(length) for pair in games.lengths.tolist() for length in pair)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda row: row.update(games=row["games"][:1]), ["line 2", "two games", "1"]),
        (lambda row: row["games"][1].update(score="A?B"), ["line 2, game 2", "A>>B", "'A?B'"]),
        (lambda row: row["games"][1].update(score=1), ["line 2, games[1].score", "must be a text or null"]),
        (lambda row: row.pop("games"), ["line 2", "games"]),
        (lambda row: row.pop("question_id"), ["line 2", "question_id"]),
        (lambda row: row.update(question_id="q000"), ["line 2", "line 1", "already"]),
    ],
)
def test_bad_lines_are_refused_by_name(tmp_path: Path, change: Any, parts: list[str]) -> None:
    def spoil(at: int, row: dict[str, Any]) -> dict[str, Any]:
        if at == 1:
            change(row)
        return row

    assert_refused(edit_lines(copy(SMALL, tmp_path), spoil), *parts)
