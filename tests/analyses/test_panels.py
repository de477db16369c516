"""Every verb takes a panel. Oracle: what the same verb says of the tables that the panel was made of."""

import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay import (
    Design,
    InputError,
    Panel,
    Selection,
    UsageError,
    certify,
    compare,
    japanese,
    power,
    rank,
    reliability,
    text_panel,
)
from assay.analyses.watch import watch
from assay.data.metrics import SCORE
from assay.data.panel_views import Runs
from tests.analyses.japanese.texts import counts

RNG = np.random.default_rng(7)
N = 24


def long(models: str = "AB", *, runs: int = 0) -> dict[str, list[Any]]:
    """Weighted scores of items in topics, a row for each model (and run)."""
    names = [(model, run) for model in models for run in range(max(runs, 1))]
    rows = [(i, model, run) for model, run in names for i in range(N)]
    found: dict[str, list[Any]] = {
        "item": [f"q{i:02d}" for i, _, _ in rows],
        "model": [model for _, model, _ in rows],
        "score": RNG.normal(size=len(rows)).round(3).tolist(),
        "weight": [1 + i % 3 for i, _, _ in rows],
        "topic": [f"t{i % 8}" for i, _, _ in rows],
    }
    return found | ({"run": [run for _, _, run in rows]} if runs else {})


def test_compare_takes_a_panel_of_two_systems() -> None:
    frame = long()
    panel = Panel.from_frame(frame, cluster="topic")
    expected = compare(frame, models=("A", "B"), cluster="topic", lower_is_better=True)
    assert compare(panel, lower_is_better=True) == expected
    swapped = compare(panel, models=("B", "A"))
    assert swapped.difference.value == -(expected.difference.value or 0.0)


def test_compare_leaves_holes_of_a_panel_out_and_counts_them() -> None:
    panel = Panel.from_arrays([[1.0, 0.0], [0.0, 1.0], [1.0, float("nan")], [1.0, 1.0]], holes=True)
    found = compare(panel)
    assert (found.n_pairs, found.dropped.only_a, found.dropped.examples) == (3, 1, ("2",))
    with pytest.raises(InputError, match="1 items lack an answer of one of the systems, such as '2'"):
        compare(panel, missing="refuse")


def test_compare_averages_the_runs_of_a_panel() -> None:
    scores = RNG.normal(size=(N, 5))
    found = compare(Panel.from_arrays(scores, models=["A", "A", "B", "B", "B"]))
    expected = scores[:, 2:].mean() - scores[:, :2].mean()
    assert found.difference.value == pytest.approx(expected, rel=1e-12)
    assert (found.systems.a, found.systems.b) == ("A", "B")


def test_a_split_of_a_panel_is_compared_as_that_of_tables() -> None:
    frame = {
        "window": ["a", "b", "c"] * 2,
        "model": ["A"] * 3 + ["B"] * 3,
        "tokens": [4, 5, 6] * 2,
        "split": ["final", "final", "preview"] * 2,
        "loss": [1.0, 2.0, 3.0, 1.5, 1.75, 3.0],
    }
    assert compare(Panel.from_frame(frame), split="final") == compare(frame, models=("A", "B"), split="final")


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"columns": {"score": "x"}}, "columns is about reading files, which a panel does not need"),
        ({"selection": Selection()}, "selection is about reading files"),
        ({"models": ("A", None)}, "name both systems"),
        ({"cluster": "passage"}, "no label 'passage' of the items was read, only topic"),
    ],
)
def test_options_that_a_panel_has_no_use_for(options: dict[str, Any], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        compare(Panel.from_frame(long(), cluster="topic"), **options)


def test_a_system_that_the_panel_does_not_have() -> None:
    with pytest.raises(InputError, match=r"no system 'first' among First, Second; did you mean 'First'\?"):
        compare(Panel.from_arrays(np.eye(2), systems=["First", "Second"]), models=("first", "Second"))


def panel_takers() -> dict[str, Any]:
    """The public functions that take a panel, by name."""
    public = {name: getattr(assay, name) for name in assay.__all__}
    functions = {name: found for name, found in public.items() if inspect.isfunction(found)}
    takes = {name: inspect.signature(found).parameters.values() for name, found in functions.items()}
    return {name: functions[name] for name, own in takes.items() if any("Panel" in str(one) for one in own)}


def test_the_page_on_panels_lists_every_verb_that_takes_one_and_each_says_so_itself() -> None:
    page = (Path(__file__).parents[2] / "docs" / "panel.md").read_text("utf-8")
    assert sorted(set(re.findall(r"^\| `assay\.(\w+)\(panel", page, re.MULTILINE))) == sorted(panel_takers())
    assert [name for name, verb in panel_takers().items() if "`Panel`" not in verb.__doc__] == []


@pytest.mark.parametrize("verb", ["compare", "power", "certify", "watch"])
def test_a_verb_for_two_systems_takes_no_three(verb: str, tmp_path: Path) -> None:
    call: dict[str, Callable[[Panel], object]] = {
        "compare": compare,
        "power": lambda panel: power(panel, difference=0.1),
        "certify": lambda panel: certify(panel, None, tmp_path / "c.json"),
        "watch": watch,
    }
    with pytest.raises(UsageError, match=f"^{verb} takes a panel of two systems, but got 3; choose two"):
        call[verb](Panel.from_arrays(np.eye(3)))


# ------------------------------------------------------------------------------------------ power and reliability


def test_power_takes_a_panel_as_its_pilot() -> None:
    frame = long()
    expected = power(frame, models=("A", "B"), cluster="topic", difference=0.2)
    assert power(Panel.from_frame(frame, cluster="topic"), difference=0.2) == expected


def test_power_finds_the_noise_of_runs_in_the_columns_of_a_panel() -> None:
    frame = long("ABC", runs=3) | {"weight": [1] * (9 * N)}
    panel = Panel.from_frame(frame, runs=True)
    expected = power(frame, models=("C", "A"), difference=0.2, repeats=5)
    found = power(panel, models=("C", "A"), difference=0.2, repeats=5)
    assert expected.pilot is not None
    assert found.pilot is not None
    assert found.pilot.sd_within == expected.pilot.sd_within
    assert (found.items, found.pilot.runs, found.pilot.systems) == (expected.items, 3.0, ("C", "A"))
    alone = Panel.from_arrays(RNG.normal(size=(9, 3)), models=["A", "A", "B"])
    with pytest.raises(UsageError, match="B: one run of each item, so what 5 repeats would save is unknown"):
        power(alone, difference=0.2, repeats=5)


def test_reliability_takes_a_panel_whose_columns_are_runs() -> None:
    frame = long("AB", runs=4)
    panel = Panel.from_frame(frame, runs=True, cluster="topic")
    assert [runs.model for runs in panel.models] == ["A", "B"]
    assert reliability(panel) == reliability(frame, cluster="topic")
    with pytest.raises(UsageError, match="does not say which of its columns are runs"):
        reliability(Panel.from_arrays(np.eye(3)))
    with pytest.raises(InputError, match="model 'B' has one run"):
        reliability(Panel.from_arrays(np.eye(3), models=["A", "A", "B"]))
    with pytest.raises(UsageError, match="one panel, or files and tables"):
        reliability(panel, frame)
    with pytest.raises(UsageError, match="files_are_runs is about reading files"):
        reliability(panel, files_are_runs=True)


# ------------------------------------------------------------------------------------------ rank


def test_rank_takes_a_panel_with_holes() -> None:
    frame = long("CAB")
    kept = [i for i in range(3 * N) if i % 7]
    frame = {name: [values[i] for i in kept] for name, values in frame.items()}
    panel = Panel.from_frame(frame, cluster="topic")
    assert not panel.whole
    assert rank(panel) == rank(frame, cluster="topic")
    assert rank(panel, missing="complete") == rank(frame, cluster="topic", missing="complete")
    assert rank(panel, weights="sqrt") == rank(frame, cluster="topic", weights="sqrt")
    backwards = panel.of_models(panel.systems[::-1])
    assert rank(backwards) == rank(panel)  # models are sorted by name


def test_rank_averages_the_runs_of_a_panel() -> None:
    scores = RNG.normal(size=(N, 4))
    board = rank(Panel.from_arrays(scores, models=["A", "A", "B", "B"]), names=["first", "second"])
    found = {model.name: model.estimate.value for model in board.models}
    assert found == pytest.approx({"first": scores[:, :2].mean(), "second": scores[:, 2:].mean()}, rel=1e-12)


@pytest.mark.parametrize(
    ("sources", "options", "error", "part"),
    [
        ([Panel.from_arrays(np.eye(3)), long()], {}, UsageError, "one panel, or files and tables"),
        ([Panel.from_arrays(np.eye(3))], {"names": ["x"]}, UsageError, "names must be 3"),
        ([Panel.from_arrays(np.eye(3))], {"names": ["x", "x", "y"]}, UsageError, "names must be 3 different ones"),
        ([Panel.from_arrays([1.0, 2.0])], {}, InputError, "at least two models, but got 1"),
        ([Panel.from_arrays(np.eye(3))], {"weights": "sqrt"}, InputError, "need the number behind each item"),
    ],
)
def test_panels_that_cannot_be_ranked(
    sources: list[Any], options: dict[str, Any], error: type[Exception], part: str
) -> None:
    with pytest.raises(error, match=part):
        rank(*sources, **options)


# ------------------------------------------------------------------------------------------ japanese


TEXTS = {
    "item": ["1", "2", "3", "4"],
    "reference": ["猫がいる。", "カメラだ。", "犬が走る。", "abc"],
    "prediction": ["猫はいる。", "カラだ。", "犬が走る。", "ab"],
}
SCORES = {"score": np.eye(4, 2), "weight": np.ones((4, 1))}
FAST = Design(resamples=300)


def two_texts(**more: list[str]) -> list[dict[str, list[str]]]:
    other = TEXTS | {"prediction": ["猫がいた。", "カメラだ。", "犬は走る。", "b"], "model": ["other"] * 4}
    return [TEXTS | {"model": ["first"] * 4} | more, other | more]


@pytest.mark.parametrize("more", [{}, {"cluster": ["y", "x", "y", "z"]}])
def test_japanese_takes_the_panel_of_generations(more: dict[str, list[str]]) -> None:
    options: dict[str, Any] = {"bleu": ["char", "13a"], "scripts": "wide", "normalize": "nfkc"}
    panel = text_panel(*two_texts(**more), **options)
    found = japanese(panel, design=FAST)
    assert found == japanese(*two_texts(**more), **options, design=FAST)
    assert found.signature.endswith(f"|data:{panel.digest[:16]}")
    assert japanese(pickle.loads(pickle.dumps(panel)), design=FAST) == found  # noqa: S301


def test_japanese_takes_the_panel_of_characters() -> None:
    both = counts(n=11), counts("n", n=11, seed=2)
    assert japanese(text_panel(*both), design=FAST) == japanese(*both, design=FAST)
    windows = counts(cluster_by="window")
    assert japanese(text_panel(windows), design=FAST) == japanese(windows, design=FAST)


def test_japanese_judges_by_the_first_metric_of_a_panel() -> None:
    panel = text_panel(*two_texts(), bleu=["char"])
    turned = replace(panel, metrics=panel.metrics[::-1])
    assert (panel.metric.name, turned.metric.name) == ("bleu/char", "chrf")
    found, usual = japanese(turned, design=FAST), japanese(panel, design=FAST)
    assert found.systems == usual.systems
    assert found.differences[0].headline == "chrf"
    assert found.differences[0].gaps == usual.differences[0].gaps
    assert "chrF" in found.differences[0].sentence


@pytest.mark.parametrize(
    ("change", "error", "part"),
    [
        (
            {"metrics": (SCORE,), "parts": {"score": np.eye(4, 2), "weight": np.ones((4, 1))}},
            UsageError,
            "metrics score",
        ),
        ({"models": (Runs("m", ("1", "2"), (0, 1)),)}, UsageError, "columns of this panel are runs"),
        ({"parts": {"edits": np.array([[1, 2], [0, np.nan], [1, 1], [2, 2.0]])}}, InputError, "this panel has holes"),
        ({"parts": {"edits": np.array([[1, 2], [0, -3], [1, 1], [2, 2.0]])}}, InputError, "but -3 is negative"),
        ({"parts": {"characters/kanji": np.ones((4, 2))}}, InputError, "'characters/kanji' must be shared"),
        ({"settings": {"normalize": "nfc"}}, UsageError, "normalize must be one of none, nfkc, but got 'nfc'"),
    ],
)
def test_panels_that_are_not_of_texts(change: dict[str, Any], error: type[Exception], part: str) -> None:
    panel = text_panel(*two_texts(), bleu=["char"])
    if "parts" in change:
        change = change | {"parts": {**panel.parts, **change["parts"]}}
    with pytest.raises(error, match=part):
        japanese(replace(panel, **change))


def test_options_of_counting_are_not_for_panels_that_have_been_counted() -> None:
    panel = text_panel(TEXTS, bleu=["char"])
    with pytest.raises(UsageError, match=r"scripts says how texts are counted.*assay\.text_panel"):
        japanese(panel, scripts="wide")
    with pytest.raises(UsageError, match="bleu says how texts are counted"):
        japanese(panel, bleu=["char"])
    with pytest.raises(UsageError, match="one panel, or files and tables"):
        japanese(panel, TEXTS)
    with pytest.raises(UsageError, match="need the part 'edits'"):
        replace(panel, parts={name: part for name, part in panel.parts.items() if name != "edits"})
