"""The baseline's run, kept and found again: against the certificate of a gate without a cache."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError, UsageError
from assay.models import path, round_weights
from assay.scoring.noise_floor import NoiseFloor
from assay.scoring.windows import Plan

pytest.importorskip("torch")


class Counting:
    """How many tokens the models were asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from assay.scoring.hf import ModelScorer

        self.tokens, real = 0, ModelScorer.losses

        def losses(scorer: Any, rows: Any, counts: Any) -> Any:
            self.tokens += sum(counts)
            return real(scorer, rows, counts)

        monkeypatch.setattr(ModelScorer, "losses", losses)


@pytest.fixture(scope="module")
def int8(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return round_weights(path("base"), tmp_path_factory.mktemp("models") / "int8", bits=8)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("text") / "text.txt"
    found.write_text("\n\n".join(path("en.txt").read_text().split("\n\n")[:60]))
    return found


def gate(int8: Path, text: Path, output: Path, **asked: Any) -> assay.GateCertificate:
    return assay.gate(path("base"), int8, text, output, **{"plan": Plan(context=32), "split_on": "\n\n", **asked})


def test_the_second_gate_scores_only_the_model_and_finds_the_same(
    int8: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting(monkeypatch)
    plain = gate(int8, text, tmp_path / "plain.json")
    both, counting.tokens = counting.tokens, 0
    first = gate(int8, text, tmp_path / "first.json", cache=tmp_path / "cache")
    assert counting.tokens == both
    counting.tokens = 0
    second = gate(int8, text, tmp_path / "second.json", cache=tmp_path / "cache")
    assert counting.tokens == both // 2
    for found in (first, second):
        assert found.looks == plain.looks
        assert assay.verify(found.path).true
    counting.tokens = 0
    gate(int8, text, tmp_path / "strict.json", cache=tmp_path / "cache", max_ratio=1.05, note="another limit")
    assert counting.tokens == both // 2  # what is judged has no part in it


def test_another_text_or_context_is_scored_anew(int8: Path, text: Path, tmp_path: Path) -> None:
    gate(int8, text, tmp_path / "a.json", cache=tmp_path / "cache")
    gate(int8, text, tmp_path / "b.json", cache=tmp_path / "cache", plan=Plan(context=48))
    other = tmp_path / "other.txt"
    other.write_text(text.read_text() + "\n\nOnce more.")
    gate(int8, other, tmp_path / "c.json", cache=tmp_path / "cache")
    assert len([one for one in (tmp_path / "cache").iterdir() if one.is_dir()]) == 3


def test_a_stale_run_is_refused_and_replaced_only_when_asked(int8: Path, text: Path, tmp_path: Path) -> None:
    gate(int8, text, tmp_path / "a.json", cache=tmp_path / "cache")
    (manifest,) = (tmp_path / "cache").glob("*/run.json")
    made = json.loads(manifest.read_text())
    made["versions"]["torch"] = "1.0"
    manifest.write_text(json.dumps(made))
    with pytest.raises(InputError, match=r"is stale \(versions\.torch 1\.0 → "):
        gate(int8, text, tmp_path / "b.json", cache=tmp_path / "cache")
    assert not (tmp_path / "b.json").exists()
    gate(int8, text, tmp_path / "b.json", cache=tmp_path / "cache", overwrite=True)
    gate(int8, text, tmp_path / "c.json", cache=tmp_path / "cache")


def test_a_run_has_nothing_to_keep_and_cannot_be_repeated(int8: Path, text: Path, tmp_path: Path) -> None:
    run = assay.score(path("base"), text, tmp_path / "run", plan=Plan(context=32), split_on="\n\n")["base"]
    for asked in ({"cache": tmp_path / "cache"}, {"repeat_baseline": print}):
        with pytest.raises(UsageError, match="this one is a run"):
            assay.gate(run, int8, text, tmp_path / "a.json", plan=Plan(context=32), split_on="\n\n", **asked)


def test_the_noise_is_told_before_anything_is_judged(int8: Path, text: Path, tmp_path: Path) -> None:
    told: list[NoiseFloor] = []
    found = gate(int8, text, tmp_path / "a.json", repeat_baseline=told.append)
    (noise,) = told
    assert (noise.name, noise.windows) == ("base", found.plan.looks[0].windows)
    assert noise.largest < 1e-5  # what single precision rounds


def test_a_baseline_that_is_noisier_than_the_limit_judges_nothing(
    int8: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.scoring.hf import ModelScorer

    real = ModelScorer.losses

    def noisy(scorer: Any, rows: Any, counts: Any) -> Any:
        return [found + 0.2 * (len(rows) > 1) for found in real(scorer, rows, counts)]

    monkeypatch.setattr(ModelScorer, "losses", noisy)
    with pytest.raises(InputError, match=r"beyond the limit of × 1\.1: nothing can be judged by it"):
        gate(int8, text, tmp_path / "a.json", repeat_baseline=lambda _: None)
    assert not (tmp_path / "a.json").exists()
