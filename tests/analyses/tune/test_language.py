"""Generated text and bits per character in reports on training runs, against sacrebleu and sums by hand."""

import json
import sys
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sacrebleu

from assay.analyses.tune import tune
from assay.analyses.tune.result import TuningReport
from assay.data import read_table
from assay.errors import InputError
from tests.analyses.japanese import texts
from tests.analyses.tune.shipped import FULL, LORA
from tests.training.runs import write_run


def with_generations(folder: Path, arm: str, seed: int, predictions: list[str], references: list[str]) -> Path:
    write_run(folder, [3.0, 2.0, 1.0], arm=arm, seed=seed)
    rows = [
        {"item": str(i), "model": arm, "prediction": a, "reference": b, "finish": "stop"}
        for i, (a, b) in enumerate(zip(predictions, references, strict=True))
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "generations.jsonl").write_text(lines, encoding="utf-8")
    return folder


def edits(a: str, b: str) -> int:
    """Levenshtein's table, cell by cell."""
    above = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        row = [i]
        for j, y in enumerate(b, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (x != y)))
        above = row
    return above[-1]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> TuningReport:
    """Two seeds of each arm: the arm "full" writes what the shipped model wrote, and "lora" what its int3 copy did."""
    folder, references = tmp_path_factory.mktemp("runs"), texts.shipped("base")["reference"]
    for arm, model in (("lora", "int3"), ("full", "base")):
        first = texts.shipped(model)["prediction"]
        for seed, said in enumerate((first, [text[: len(text) // 2] for text in first])):
            with_generations(folder / f"{arm}-{seed}", arm, seed, said, references)
    return tune(folder, baseline="full")


@pytest.mark.parametrize(("arm", "model"), [("full", "base"), ("lora", "int3")])
def test_scores_of_all_seeds_against_sacrebleu_on_all_their_text(report: TuningReport, arm: str, model: str) -> None:
    """The counts of seeds add up, so that a corpus of both has the same score."""
    said, references = texts.shipped(model)["prediction"], texts.shipped(model)["reference"]
    both, wanted = [*said, *(text[: len(text) // 2] for text in said)], references * 2
    assert report.language is not None
    found: dict[str, Any] = {quantity.key: estimate for quantity, estimate in report.language.scores()[arm].items()}
    for tokenizer in ("ja-mecab", "char"):
        oracle = sacrebleu.corpus_bleu(both, [wanted], tokenize=tokenizer).score
        assert found[f"bleu/{tokenizer}"].value == pytest.approx(oracle, abs=1e-9)
    assert found["chrf"].value == pytest.approx(sacrebleu.corpus_chrf(both, [wanted]).score, abs=1e-9)
    errors = sum(edits(a, b) for a, b in zip(both, wanted, strict=True)) / sum(map(len, wanted))
    assert found["cer"].value == pytest.approx(errors, abs=1e-12)
    for key in ("bleu/ja-mecab", "bleu/char", "chrf", "cer", "accuracy/kanji"):
        low, high = found[key].interval.low, found[key].interval.high
        assert low < found[key].value < high


def test_arms_are_compared_with_the_baseline_in_table_and_sentence(report: TuningReport) -> None:
    assert report.language is not None
    generations = report.language.generations
    assert generations is not None
    assert generations.names == ["full", "lora"]  # the baseline first, whatever the order of the runs
    (pair,) = generations.differences
    section = next(section for section in report.sections if section.title == "Japanese-specific metrics")
    assert section.said == (pair.sentence,)
    assert pair.sentence.startswith("lora is worse than full: BLEU (ja-mecab)")
    table = next(table for table in section.tables if table.key == "language")
    assert [column.name for column in table.columns] == ["quantity", "full", "lora"]
    assert "BLEU (char)" in report.to_text(verbose=True)
    assert TuningReport.from_dict(report.to_dict()) == report
    frame = report.to_frame()
    (row,) = frame[(frame.arm == "lora") & (frame.quantity == "bleu/char")].value
    assert row == generations.systems[1].value("bleu/char").estimate.value


def test_bits_per_character_of_the_shipped_runs_by_hand() -> None:
    report = tune(*LORA, *FULL)
    assert report.language is not None
    assert report.language.generations is None
    for arm, runs in (("lora r=16", LORA), ("full", FULL)):
        tables = [read_table(run / "windows") for run in runs]
        bits = [(t.numbers["loss"] * t.numbers["tokens"]).sum() / log(2) / t.numbers["chars"].sum() for t in tables]
        found = report.language.bits_per_character[arm]
        assert found.value == pytest.approx(np.mean(bits), rel=1e-12)
        assert found.interval is not None
        assert found.interval.low < np.mean(bits) < found.interval.high
    perplexity = report.arm("full").quality["perplexity"].value
    assert perplexity is not None
    tokens, chars = (tables[0].numbers[name].sum() for name in ("tokens", "chars"))
    assert report.language.bits_per_character["full"].value == pytest.approx(log(perplexity) / log(2) * tokens / chars)


def test_runs_without_generations_have_none_and_a_note_says_so(tmp_path: Path) -> None:
    with_generations(tmp_path / "a", "full", 0, ["犬だ。"] * 2, ["犬だ。", "猫だ。"])
    write_run(tmp_path / "b", [3.0, 2.0, 1.0], arm="lora")
    found = tune(tmp_path / "a", tmp_path / "b")
    assert "no generations of lora: not every run has them" in found.notes
    assert found.language is not None
    assert found.language.generations is not None
    assert found.language.generations.names == ["full"]
    assert tune(tmp_path / "b").language is None


def test_text_without_kana_is_cut_as_western_text_is(tmp_path: Path) -> None:
    said, wanted = ["The cat sat on the mat.", "A dog!"], ["The cat sat on a mat.", "The dog."]
    with_generations(tmp_path / "a", "full", 0, said, wanted)
    found = tune(tmp_path / "a").language
    assert found is not None
    assert found.generations is not None
    value = found.generations.systems[0].value("bleu/13a").estimate.value
    assert value == pytest.approx(sacrebleu.corpus_bleu(said, [wanted]).score)


def test_without_sacrebleu_there_is_bleu_of_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_generations(tmp_path / "a", "full", 0, ["犬だ。"] * 2, ["犬だ。", "猫だ。"])
    monkeypatch.setitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", None)
    found = tune(tmp_path / "a")
    assert any("pip install 'assay-eval[ja]'" in note for note in found.notes)
    assert found.language is not None
    assert {quantity.key for quantity in found.language.scores()["full"]} >= {"bleu/char", "chrf", "cer"}


def test_answers_to_other_prompts_are_refused(tmp_path: Path) -> None:
    with_generations(tmp_path / "a", "full", 0, ["犬"], ["犬。"])
    with_generations(tmp_path / "b", "lora", 0, ["犬"], ["猫。"])
    with pytest.raises(InputError, match="has two references"):
        tune(tmp_path / "a", tmp_path / "b")
