"""Tables of verdicts on two models: the oracle is a plain script over the same rows, and counts by hand."""

import csv
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import InputError, Selection, UsageError, compare, rank, read_tables, summarize
from assay.data.readers.database import copy_columns
from tests.data.files import checked_message
from tests.data.readers.harness.logs import VERDICTS, scores

FILE = VERDICTS / "verdicts.csv"
ROWS = list(csv.DictReader(FILE.read_text("utf-8").splitlines()))
_WON = {"model_a": 1.0, "tie": 0.5, "model_b": 0.0}


def by_hand(model: str, opponent: str | None = None) -> dict[str, float]:
    """Prompt → the mean of what a model got, row by row."""
    won: dict[str, list[float]] = defaultdict(list)
    for row in ROWS:
        pair = row["model_a"], row["model_b"]
        if model not in pair or not row["winner"] or (opponent is not None and opponent not in pair):
            continue
        share = _WON[row["winner"]]
        won[row["prompt"]].append(share if model == row["model_a"] else 1 - share)
    return {prompt: sum(own) / len(own) for prompt, own in won.items()}


def found(source: Any, **how: Any) -> dict[str, dict[str, float]]:
    selection = Selection(**how.pop("selection", {}))
    return {table.name: scores(table) for table in read_tables([source], selection=selection, **how)}


def refused(source: Any, *parts: str, kind: type[Exception] = InputError, **how: Any) -> None:
    with pytest.raises(kind) as caught:
        found(source, **how)
    if isinstance(caught.value, InputError):
        checked_message(caught.value, *parts)
    assert [part for part in parts if part not in str(caught.value)] == []


def written(folder: Path, *rows: str) -> Path:
    path = folder / "verdicts.csv"
    path.write_text("\n".join(("prompt,model_a,model_b,winner", *rows)) + "\n", encoding="utf-8")
    return path


# ----------------------------------------------------------------------------------------------------------- win rates


def test_every_model_against_all_others_against_a_plain_script() -> None:
    assert found(FILE) == {name: pytest.approx(by_hand(name)) for name in ("base", "merged", "tuned")}


def test_against_a_reference_against_a_plain_script() -> None:
    assert found(FILE, selection={"reference": "base"}) == {
        name: pytest.approx(by_hand(name, "base")) for name in ("merged", "tuned")
    }


def test_the_same_from_csv_json_lines_parquet_and_a_frame(tmp_path: Path) -> None:
    lines = tmp_path / "v.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    parquet = tmp_path / "v.parquet"
    copy_columns({name: np.array([row[name] for row in ROWS], dtype=object) for name in ROWS[0]}, parquet)
    want = found(FILE)
    assert found(lines) == found(parquet) == found(pd.DataFrame(ROWS)) == want
    assert found({name: [row[name] for row in ROWS] for name in ROWS[0]}) == want


@pytest.mark.parametrize(
    ("winner", "share"),
    [
        *(("model_a", 1.0), ("A", 1.0), ("a", 1.0), ("x", 1.0), ("MODEL_B", 0.0), ("b", 0.0), ("y", 0.0)),
        *(("tie", 0.5), ("Tie (bothbad)", 0.5), ("both_bad", 0.5), ("draw", 0.5)),
    ],
)
def test_what_stands_for_the_winner_by_hand(tmp_path: Path, winner: str, share: float) -> None:
    path = written(tmp_path, f"p,x,y,{winner}", "q,x,y,a")
    assert found(path) == {"x": {"p": share, "q": 1.0}, "y": {"p": 1 - share, "q": 0.0}}


@pytest.mark.parametrize("winner", ["", "null", "error", "timeout"])
def test_no_verdict_is_missing(tmp_path: Path, winner: str) -> None:
    path = written(tmp_path, f"p,x,y,{winner}", "q,x,y,a", f"q,y,x,{winner}")
    own = found(path)["x"]
    assert math.isnan(own["p"])
    assert own["q"] == 1.0  # one of two has a verdict
    assert summarize(path).lost == {"x": 1, "y": 1}


def test_names_that_mean_the_other_side_are_refused(tmp_path: Path) -> None:
    """A model called b that is shown as A: who won?"""
    refused(written(tmp_path, "p,b,a,b"), "line 2", "'winner'", "not clearly")
    assert found(written(tmp_path, "p,a,b,b"))["b"] == {"p": 1.0}  # both readings agree


def test_two_models_compare_head_to_head_by_hand(tmp_path: Path) -> None:
    path = written(tmp_path, *(f"p{i},old,new,{'b' if i % 4 else 'a'}" for i in range(40)))
    result = compare(path)
    assert result.difference.value == pytest.approx(2 * 0.75 - 1)
    assert "win rate 0.25 → 0.75" in result.sentence


def test_two_models_against_the_same_reference_are_paired_by_prompt_by_hand() -> None:
    result = compare(FILE, models=("merged", "tuned"), selection=Selection(reference="base"))
    a, b = by_hand("merged", "base"), by_hand("tuned", "base")
    assert result.n_pairs == 32
    assert result.difference.value == pytest.approx(sum(b[prompt] - a[prompt] for prompt in a) / 32, rel=1e-12)
    assert rank(FILE, selection=Selection(reference="base")).models[0].name == "tuned"


def test_what_is_said_of_opponents(tmp_path: Path) -> None:
    even = written(tmp_path, "p,x,y,a", "p,y,z,a", "p,x,z,b")
    assert any("against all others" in note for note in summarize(even).notes)
    assert not any("different opponents" in note for note in summarize(even).notes)
    uneven = written(tmp_path, "p,x,y,a", "p,y,z,a")
    assert any(note.startswith("warning: models met different opponents") for note in summarize(uneven).notes)
    assert any("against y" in note for note in summarize(uneven, selection=Selection(reference="y")).notes)


def test_several_judges_are_averaged_or_one_is_taken_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(
        "prompt,model_a,model_b,winner,judge\np,x,y,a,one\np,x,y,b,two\np,x,y,a,three\nq,x,y,tie,one\n",
        encoding="utf-8",
    )
    assert found(path)["x"] == {"p": pytest.approx(2 / 3), "q": 0.5}
    assert found(path, selection={"filter": "two"})["x"] == {"p": 0.0}
    assert any("verdicts of 3 judges averaged" in note for note in summarize(path).notes)
    refused(path, "no judge 'four'", "one, three, two", selection={"filter": "four"})


def test_tables_of_different_judges_are_not_compared(tmp_path: Path) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for path, judge, model in zip(paths, ("j1", "j2"), ("x", "y"), strict=True):
        rows = "".join(f"p{i},{model},base,a,{judge}\n" for i in range(30))
        path.write_text("prompt,model_a,model_b,winner,judge\n" + rows, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        compare(*paths, selection=Selection(reference="base"))
    checked_message(caught.value, "has the judge j1", "j2", "allow_different=['judge']")
    allowed = Selection(reference="base", allow_different=["judge"])
    assert compare(*paths, selection=allowed).difference.value == 0


def test_games_against_a_plain_script() -> None:
    table = read_tables([FILE])[0]
    [games] = table.about["games"]
    judged = [row for row in ROWS if row["winner"]]
    assert games.won.tolist() == [_WON[row["winner"]] for row in judged]
    assert [games.models[i] for i in games.first] == [row["model_a"] for row in judged]
    assert games.lengths.tolist() == [[len(row["response_a"]), len(row["response_b"])] for row in judged]
    tables = read_tables([FILE])
    assert tables[0].about["games"][0] is tables[1].about["games"][0]  # shared, so that they are counted once


def test_a_category_of_prompts_is_their_task_and_clusters_are_of_prompts() -> None:
    assert set(summarize(FILE).tasks) == {"nature", "things"}
    result = summarize(FILE, cluster="category", columns={"task": ""})
    assert result.models[0].n_clusters == 2


def test_columns_may_be_named() -> None:
    frame = pd.DataFrame(ROWS).rename(columns={"prompt": "text", "model_a": "left", "winner": "verdict"})
    columns = {"item": "text", "model_a": "left", "winner": "verdict"}
    assert found(frame, columns=columns) == found(FILE)


def test_every_row_may_be_a_prompt_of_its_own() -> None:
    frame = {name: [row[name] for row in ROWS] for name in ("model_a", "model_b", "winner")}
    refused(frame, "no column prompt", "`Selection(pair_by='row')`")
    own = found(frame, selection={"pair_by": "row"})["base"]
    assert len(own) == sum("base" in (row["model_a"], row["model_b"]) for row in ROWS)


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("p,x,x,a", ["line 2", "both 'x'"]),
        ("p,x,y,maybe", ["line 2", "'maybe'", "model_a, model_b, a, b, tie, 'x' and 'y'"]),
        ("p,,y,a", ["line 2", "'model_a'", "empty"]),
        (",x,y,a", ["line 2", "'prompt'", "empty"]),
    ],
)
def test_bad_rows_are_refused_by_name(tmp_path: Path, row: str, parts: list[str]) -> None:
    refused(written(tmp_path, row), *parts)


def test_bad_columns_and_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("prompt,model_a,model_b,won_by\np,x,y,a\n", encoding="utf-8")
    refused(path, "no column winner", "won_by", "`columns={'winner': ")
    refused(path, "no column 'w'", columns={"winner": "w"})
    refused(path, "'winer'", kind=UsageError, columns={"winer": "won_by"})
    refused(FILE, "`Selection(task='x')`", kind=UsageError, selection={"task": "x"})
    refused(FILE, "'bse'", "did you mean", selection={"reference": "bse"})
    refused(FILE, "'categ'", "did you mean", cluster="categ")


_NAMES = st.sampled_from(["x", "y", "z"])
_GAMES = st.lists(
    st.tuples(st.sampled_from("pqrs"), _NAMES, _NAMES, st.sampled_from(["a", "b", "tie", ""])).filter(
        lambda game: game[1] != game[2]
    ),
    min_size=1,
    max_size=30,
)


@given(_GAMES)
def test_scores_of_any_table_against_a_slow_twin(games: list[tuple[str, str, str, str]]) -> None:
    table = {name: [game[i] for game in games] for i, name in enumerate(("prompt", "model_a", "model_b", "winner"))}
    if not any(table["winner"]):
        return
    read = read_tables([table]) if all(_judged(games, name) for name in {n for g in games for n in g[1:3]}) else []
    for one in read:
        for prompt, score in scores(one).items():
            own = _shares(games, one.name, prompt)
            assert math.isnan(score) if not own else score == pytest.approx(sum(own) / len(own))


def _judged(games: list[tuple[str, str, str, str]], model: str) -> bool:
    return any(winner and model in (a, b) for _, a, b, winner in games)


def _shares(games: list[tuple[str, str, str, str]], model: str, prompt: str) -> list[float]:
    own = [(a, winner) for p, a, b, winner in games if p == prompt and model in (a, b) and winner]
    return [0.5 if winner == "tie" else float((winner == "a") == (a == model)) for a, winner in own]
