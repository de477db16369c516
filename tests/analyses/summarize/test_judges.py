"""What is said of judges: the oracles are counts over the files by a plain script, and statsmodels."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from assay import Selection, Summary, summarize
from tests.data.readers.harness.logs import ALPACA_EVAL, ARENA_HARD, MT_BENCH, VERDICTS

FILE = VERDICTS / "verdicts.csv"
ROWS = [row for row in csv.DictReader(FILE.read_text("utf-8").splitlines()) if row["winner"]]
_WON = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


def table(*games: tuple[str, str, str, str]) -> dict[str, list[str]]:
    """Prompt, model_a, model_b and winner of some games."""
    names = ("prompt", "model_a", "model_b", "winner")
    return {name: [game[i] for game in games] for i, name in enumerate(names)}


def test_the_longer_answer_against_a_plain_script() -> None:
    won, by_prompt = [], defaultdict(list)
    for row in ROWS:
        gap = len(row["response_a"]) - len(row["response_b"])
        if gap:
            share = _WON[row["winner"]] if gap > 0 else 1 - _WON[row["winner"]]
            won.append(share)
            by_prompt[row["prompt"]].append(share)
    [judge] = summarize(FILE).judges
    assert judge.longer is not None
    assert judge.longer.value == pytest.approx(np.mean(won), rel=1e-12)
    pulls = [sum(own) - np.mean(won) * len(own) for own in by_prompt.values()]
    g = len(pulls)
    assert judge.longer.standard_error == pytest.approx(
        np.sqrt(np.sum(np.square(pulls)) * g / (g - 1)) / len(won), rel=1e-12
    )
    assert judge.longer.n == len(won)


def test_lengths_against_a_plain_script() -> None:
    [judge] = summarize(FILE).judges
    for model in ("base", "merged", "tuned"):
        own = [len(row[f"response_{s}"]) for row in ROWS for s in "ab" if row[f"model_{s}"] == model]
        assert judge.lengths[model] == pytest.approx(np.mean(own), rel=1e-12)


def test_first_place_of_arena_hard_against_a_plain_script() -> None:
    """Both games of a question: the mean of what the first got in each, over all models and questions."""
    shares = []
    for path in ARENA_HARD.rglob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            games = json.loads(line)["games"]
            if any(game is None or game["score"] is None for game in games):
                continue
            for game in games:
                score = game["score"]
                better = score[0] if ">" in score else score[-1]
                shares.append(0.5 if "=" in score else float(better == "A"))
    [judge] = summarize(ARENA_HARD).judges
    assert judge.first is not None
    assert judge.first.value == pytest.approx(np.mean(shares), rel=1e-12)
    assert (judge.games, judge.prompts, judge.balanced) == (len(shares), 32, True)
    assert judge.both == len(shares) // 2


def test_agreement_of_both_orders_of_independent_prompts_against_statsmodels() -> None:
    games = [(f"p{i}", *pair, winner) for i in range(20) for pair, winner in _both(agree=i >= 4)]
    [judge] = summarize(table(*games)).judges
    low, high = proportion_confint(16, 20, method="agresti_coull")
    assert judge.agree is not None
    assert judge.agree.value == 16 / 20
    assert judge.agree.interval is not None
    assert [judge.agree.interval.low, judge.agree.interval.high] == pytest.approx([low, high])


def _both(*, agree: bool) -> list[tuple[tuple[str, str], str]]:
    return [(("x", "y"), "a"), (("y", "x"), "b" if agree else "a")]


def test_turns_of_a_question_are_pairs_of_their_own() -> None:
    path = MT_BENCH / "made-up-judge_pair.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    judged = [row for row in rows if "error" not in (row["g1_winner"], row["g2_winner"])]
    [judge] = summarize(path).judges
    assert judge.both == len(judged)
    assert judge.agree is not None
    assert judge.agree.value == pytest.approx(np.mean([row["g1_winner"] == row["g2_winner"] for row in judged]))
    assert judge.prompts == 24  # and drawn together


def test_wins_ties_and_losses_against_a_plain_script() -> None:
    rows = json.loads((ALPACA_EVAL / "early-7b/plain_judge/annotations.json").read_text("utf-8"))
    preferences = [row["preference"] for row in rows if row["preference"] is not None]
    want = tuple(sum(one in of for one in preferences) for of in ((2,), (0, 1.5), (1,)))
    [model] = summarize(ALPACA_EVAL / "early-7b").models
    assert model.record == want


@pytest.mark.parametrize(
    ("winners", "said"),
    [
        (["a"] * 40, "favours the first place"),
        (["b"] * 40, "favours the second place"),
        (["a", "b"] * 20, "no preference for either place is shown"),
    ],
)
def test_the_sentence_says_what_the_interval_says(winners: list[str], said: str) -> None:
    orders = [("x", "y"), ("y", "x")]
    games = [(f"p{i // 2}", *orders[(i // 2 + i) % 2], winner) for i, winner in enumerate(winners)]
    found = summarize(table(*games))
    [judge] = found.judges
    assert judge.first is not None
    assert judge.first.interval is not None
    assert said in found.judges_said[0]
    shown = judge.first.interval.low > 0.5 or judge.first.interval.high < 0.5
    assert shown == ("favours" in said)
    assert "all pairs were judged in both" in found.judges_said[0]


def test_what_cannot_be_known_is_said() -> None:
    always = summarize(table(*((f"p{i}", "x", "y", "ab"[i % 2]) for i in range(20))))
    assert always.judges[0].first is None
    assert "one was always shown first" in always.judges_said[0]
    alpaca = summarize(ALPACA_EVAL / "small-1b")
    assert alpaca.judges[0].first is None
    assert "not recorded" in alpaca.judges_said[0]
    assert "characters" in alpaca.judges_said[1].casefold()


def test_one_order_alone_is_not_corrected_for() -> None:
    games = [(f"p{i}", *(("x", "y") if i % 2 else ("y", "x")), "a") for i in range(30)]
    found = summarize(table(*games))
    assert not found.judges[0].balanced
    assert "win rates are not corrected" in found.judges_said[0]
    assert "between equals" in found.judges_said[0]


def test_the_same_games_are_counted_once_and_only_those_against_the_reference() -> None:
    assert summarize(FILE).judges[0].games == len(ROWS)
    against = [row for row in ROWS if "base" in (row["model_a"], row["model_b"])]
    [judge] = summarize(FILE, selection=Selection(reference="base")).judges
    assert judge.games == len(against)
    path = MT_BENCH / "made-up-judge_pair.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    own = [row for row in rows if row["model_2"] == "large-9b" and "error" not in (row["g1_winner"], row["g2_winner"])]
    [judge] = summarize(path, selection=Selection(reference="large-9b")).judges
    assert judge.games == 2 * len(own)


def test_judges_have_rows_of_their_own_and_many_are_taken_together() -> None:
    few = table(*((f"p{i}", "x", "y", "a") for i in range(12))) | {"judge": [f"j{i % 3}" for i in range(12)]}
    assert [judge.name for judge in summarize(few).judges] == ["j0", "j1", "j2"]
    many = few | {"judge": [f"j{i}" for i in range(12)]}
    assert [judge.name for judge in summarize(many).judges] == ["12 judges"]


def test_a_saved_summary_is_the_same_and_shows_the_same() -> None:
    found = summarize(FILE)
    again = Summary.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again == found
    assert str(again) == str(found)
    assert "judges" not in summarize([1, 0, 1]).to_dict()


def test_the_table_and_the_chart_show_what_there_is() -> None:
    found = summarize(FILE)
    judges = next(one for one in found.tables if one.key == "judges")
    assert judges.header[3:] == ("first place [95%]", "same in both orders [95%]", "longer answer [95%]")
    models = next(one for one in found.tables if one.key == "models")
    assert {"won", "tied", "lost"} <= set(models.header)
    forest: Any = found.figures[0]
    assert [mark.place for mark in forest.marks] == [0.5]
    assert not any(one.key == "judges" for one in summarize(ALPACA_EVAL_V1).tables)  # nothing but counts


ALPACA_EVAL_V1: dict[str, list[str]] = table(*((f"p{i}", "x", "y", "a") for i in range(5)))


def test_paths_and_frames_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(FILE.read_text("utf-8"), encoding="utf-8")
    columns = {name: [row[name] for row in csv.DictReader(path.read_text("utf-8").splitlines())] for name in ROWS[0]}
    assert summarize(columns).judges == summarize(path).judges
