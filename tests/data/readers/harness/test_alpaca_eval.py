"""AlpacaEval: the oracle is a plain script that reads the same rows with `json`."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay import compare, summarize
from tests.data.readers.harness.logs import ALPACA_EVAL, assert_refused, copy, edit_json, one, read_json, scores

SMALL = ALPACA_EVAL / "small-1b/weighted_judge/annotations.json"
MEDIUM = ALPACA_EVAL / "medium-3b/weighted_judge/annotations.json"
EARLY = ALPACA_EVAL / "early-7b/plain_judge/annotations.json"


def by_hand(path: Path) -> dict[str, float | None]:
    """Instruction → the model's share of a win, by the rule of the format and nothing else."""
    shares: dict[str, float | None] = {}
    for row in json.loads(path.read_text("utf-8")):
        preference = row["preference"]
        shares[row["instruction"]] = None if preference is None else 0.5 if preference == 0 else preference - 1
    return shares


@pytest.mark.parametrize("path", [SMALL, MEDIUM, EARLY])
def test_scores_against_a_plain_script(path: Path) -> None:
    want = by_hand(path)
    found = scores(one(path))
    assert found.keys() == want.keys()
    for item, share in want.items():
        assert math.isnan(found[item]) if share is None else found[item] == share


@pytest.mark.parametrize("path", [SMALL, EARLY])
def test_the_win_rate_against_a_plain_script(path: Path) -> None:
    judged = [share for share in by_hand(path).values() if share is not None]
    [model] = summarize(path).models
    assert model.value.value == pytest.approx(sum(judged) / len(judged), rel=1e-14)
    assert model.n == len(judged)
    assert summarize(path).measure == "win rate"


def test_the_model_the_reference_and_the_annotator_come_from_the_rows() -> None:
    table = one(EARLY)
    assert table.name == "early-7b"
    assert any("against old_reference, by plain_judge" in note for note in table.notes)
    [games] = table.about["games"]
    assert (games.judge, games.models, games.ordered) == ("plain_judge", ("early-7b", "old_reference"), False)
    assert len(games) == 31  # the null is no verdict


def test_games_against_a_plain_script() -> None:
    [games] = one(SMALL).about["games"]
    rows = read_json(SMALL)
    assert games.won.tolist() == [1 - (row["preference"] - 1) for row in rows]  # of the reference
    assert games.lengths.tolist() == [[len(row["output_1"]), len(row["output_2"])] for row in rows]


def test_answers_that_were_emptied_have_no_length(tmp_path: Path) -> None:
    def emptied(rows: list[dict[str, str]]) -> None:
        for row in rows:
            row |= {"output_1": "", "output_2": ""}

    path = edit_json(copy(SMALL, tmp_path), emptied)
    [games] = one(path).about["games"]
    assert all(math.isnan(length) for pair in games.lengths.tolist() for length in pair)


def test_two_models_are_paired_by_instruction_by_hand() -> None:
    found = compare(SMALL, MEDIUM)
    a, b = by_hand(SMALL), by_hand(MEDIUM)
    differences = [b[item] - a[item] for item in a]  # type: ignore[operator]
    assert found.n_pairs == 32
    assert found.difference.value == pytest.approx(sum(differences) / 32, rel=1e-12)
    assert "win rate" in found.sentence


def test_nan_is_not_judged_too(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    path.write_text(path.read_text("utf-8").replace('"preference": 1.5\n', '"preference": NaN\n'), encoding="utf-8")
    assert sum(map(math.isnan, scores(one(path)).values())) == 1


def test_items_can_be_clustered_by_their_data_set() -> None:
    assert one(SMALL, cluster="dataset").labels["dataset"].names == ("helpful_base", "vicuna")


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda rows: rows[2].update(preference=3), ["record 3", "preference", "3"]),
        (lambda rows: rows[2].update(preference="2"), ["[2].preference", "must be a number or null, but got a text"]),
        (lambda rows: rows[4].pop("generator_2"), ["[4]", "no field 'generator_2'"]),
        (lambda rows: rows[4].update(generator_1="another"), ["2 references", "another"]),
        (lambda rows: rows[4].update(annotator="another"), ["2 annotators", "another"]),
        (lambda rows: rows[4].update(instruction=rows[3]["instruction"]), ["record 5", "record 4", "already"]),
    ],
)
def test_bad_rows_are_refused_by_name(tmp_path: Path, change: Any, parts: list[str]) -> None:
    assert_refused(edit_json(copy(SMALL, tmp_path), change), *parts)


def test_a_file_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = copy(SMALL, tmp_path)
    path.write_bytes(path.read_bytes()[:-400])
    assert_refused(path, "ends too early")
