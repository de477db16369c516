"""Japanese results against sacrebleu and numpy, and properties: order, swaps, identity, whole records."""

import json
import sys
from typing import Any

import numpy as np
import pytest

from assay.analyses.japanese import japanese
from assay.analyses.japanese.result import Japanese
from assay.design import Design
from assay.errors import InputError, UsageError
from tests.analyses.japanese.texts import FAST, ROWS, counts, shipped
from tests.data.test_writing_systems import source_class
from tests.stats.test_text_alignment import literal_programme


@pytest.fixture(scope="module")
def found() -> Japanese:
    return japanese(shipped("base"), shipped("int3"), bleu=["char"], design=FAST)


def values(result: Japanese, system: int = 0) -> dict[str, float | None]:
    return {value.quantity.key: value.estimate.value for value in result.systems[system].values}


def test_scores_of_the_shipped_generations_against_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="the extra ja is not installed")
    data = shipped("base")
    written, wanted = data["prediction"], data["reference"]
    got = values(japanese(data, bleu=["ja-mecab", "char", "13a"], design=FAST))
    for name in ("ja-mecab", "char", "13a"):
        corpus = sacrebleu.corpus_bleu(written, [wanted], tokenize=name, force=True).score
        single = [sacrebleu.sentence_bleu(a, [b], tokenize=name).score for a, b in zip(written, wanted, strict=True)]
        assert got[f"bleu/{name}"] == pytest.approx(corpus, abs=1e-9)
        assert got[f"sentence_bleu/{name}"] == pytest.approx(np.mean(single), abs=1e-9)
        assert got[f"sentence_bleu_std/{name}"] == pytest.approx(np.std(single, ddof=1), abs=1e-9)
    assert got["chrf"] == pytest.approx(sacrebleu.corpus_chrf(written, [wanted]).score, abs=1e-9)


def test_errors_and_accuracy_against_the_literal_programme(found: Japanese) -> None:
    data = shipped("int3")
    pairs = list(zip(data["prediction"], data["reference"], strict=True))
    aligned = [literal_programme(a, b) for a, b in pairs]
    length = sum(len(b) for _, b in pairs)
    got = values(found, 1)
    assert got["cer"] == pytest.approx(sum(edits for edits, _ in aligned) / length)
    assert got["accuracy"] == pytest.approx(sum(matches for _, matches in aligned) / length)
    zipped = [x == y for a, b in pairs for x, y in zip(a, b, strict=False)]
    assert got["zipped_accuracy"] == pytest.approx(np.mean(zipped))
    for value in found.systems[1].values[2:6]:
        of = sum(source_class(c) == value.quantity.part for _, b in pairs for c in b)
        assert value.characters == of


def test_a_case_worked_by_hand() -> None:
    got = values(japanese(ROWS, bleu=["char"], design=FAST))
    assert got["cer"] == pytest.approx(3 / 11)  # は for が, メ is missing, d is too much
    assert got["accuracy/hiragana"] == pytest.approx(2 / 3)
    assert got["accuracy/katakana"] == pytest.approx(2 / 3)
    assert got["accuracy/kanji"] == 1
    assert got["accuracy/other"] == 1  # 。abc
    assert got["accuracy"] == pytest.approx(9 / 11)
    assert got["zipped_accuracy"] == pytest.approx((4 + 1 + 3) / (5 + 2 + 3))


def test_the_order_of_rows_changes_nothing(found: Japanese) -> None:
    turned = [{key: column[::-1] for key, column in shipped(name).items()} for name in ("base", "int3")]
    assert japanese(*turned, bleu=["char"], design=FAST) == found


def test_swapping_the_systems_flips_the_sign(found: Japanese) -> None:
    other = japanese(shipped("int3"), shipped("base"), bleu=["char"], design=FAST)
    for a, b in zip(found.differences[0].gaps, other.differences[0].gaps, strict=True):
        assert a.difference.value == pytest.approx(-(b.difference.value or 0.0), abs=1e-12)
        assert a.randomization.p_value == pytest.approx(b.randomization.p_value)
        assert a.bootstrap.p_value == pytest.approx(b.bootstrap.p_value)
    assert "int3 is worse than base" in found.differences[0].sentence
    assert "base is better than int3" in other.differences[0].sentence


def test_a_system_does_not_differ_from_itself() -> None:
    data = shipped("base")
    got = japanese(data, data | {"model": ["copy"] * len(data["item"])}, bleu=["char"], design=FAST)
    assert all(gap.randomization.p_value == 1 == gap.bootstrap.p_value for gap in got.differences[0].gaps)
    assert "No difference shown between base and copy" in got.sentence


def test_a_cluster_per_sentence_is_no_cluster_and_one_of_copies_counts_once() -> None:
    data = shipped("base")
    alone = japanese(data, bleu=["char"], design=FAST)
    single = japanese(data | {"cluster": data["item"]}, bleu=["char"], design=FAST)
    assert single.systems == alone.systems
    twice = {key: column * 2 for key, column in data.items()}
    twice |= {"item": [*data["item"], *(f"{item}-2" for item in data["item"])], "cluster": data["item"] * 2}
    copied = japanese(twice, bleu=["char"], design=FAST)
    assert (copied.n_units, copied.unit) == (len(data["item"]), "cluster")
    for key in ("cer", "bleu/char", "chrf"):
        a, b = (result.systems[0].value(key).estimate for result in (alone, copied))
        assert a.value == pytest.approx(b.value)
        assert a.interval is not None
        assert b.interval is not None
        assert (a.interval.low, a.interval.high) == pytest.approx((b.interval.low, b.interval.high), rel=1e-6)


def test_nfkc_makes_half_width_equal_and_is_in_the_signature() -> None:
    data = {"item": ["1", "2"], "reference": ["ガラス", "１２"], "prediction": ["ｶﾞﾗｽ", "12"]}
    plain, same = (japanese(data, bleu=["char"], normalize=form, design=FAST) for form in ("none", "nfkc"))
    assert values(plain)["accuracy"] == 0
    assert values(same)["cer"] == 0
    assert "|normalize:nfkc|" in same.signature
    assert "|normalize:none|" in plain.signature


def test_wide_scripts_add_full_width_and_half_width() -> None:
    data = {"item": ["1", "2"], "reference": ["ｱＡ々", "㐀１a"], "prediction": ["ｱＡ々", "㐀１a"]}
    wide = japanese(data, bleu=["char"], scripts="wide", design=FAST)
    found = {value.quantity.part: value.characters for value in wide.systems[0].values[2:7]}
    assert found == {"hiragana": 0, "katakana": 1, "kanji": 2, "full-width": 2, "other": 1}


def test_text_without_japanese_has_reasons_instead_of_numbers() -> None:
    data = {"item": list("abcd"), "reference": ["one", "two", "six", "ten"], "prediction": ["one", "too", "sex", "ten"]}
    got = japanese(data, bleu=["char"], design=FAST)
    for script in ("hiragana", "katakana", "kanji"):
        estimate = got.systems[0].value(f"accuracy/{script}").estimate
        assert (estimate.value, estimate.reason) == (None, f"no {script} characters in the references")
    assert "no Japanese character" in " ".join(got.notes)
    assert "undefined: no kanji characters" in str(got)
    both = japanese(data, {**data, "model": ["x"] * 4}, bleu=["char"], design=FAST)
    gap = both.differences[0].gap("accuracy/kanji")
    assert (gap.difference.value, gap.randomization.p_value, gap.bootstrap.p_value) == (None, None, None)
    assert json.loads(json.dumps(both.to_dict(), allow_nan=False)) == both.to_dict()


def test_a_system_that_wrote_nothing_scores_0() -> None:
    got = japanese(ROWS | {"prediction": ["", "", ""]}, bleu=["char"], allow_empty=True, design=FAST)
    assert (values(got)["cer"], values(got)["accuracy"], values(got)["bleu/char"]) == (1, 0, 0)
    assert got.systems[0].value("zipped_accuracy").estimate.reason == "every prediction is empty"


def test_one_sentence_has_values_and_no_intervals() -> None:
    one = {key: column[:1] for key, column in ROWS.items()}
    got = japanese(one, bleu=["char"], design=FAST)
    assert values(got)["cer"] == pytest.approx(0.2)
    assert all(value.estimate.interval is None for value in got.systems[0].values)
    assert "too few to rely on" in got.sentence


def test_counts_of_characters_are_ratios_of_sums() -> None:
    part = counts()
    got = japanese(part, design=FAST)
    size = part.characters.sum()
    assert values(got)["accuracy"] == pytest.approx(part.right.sum() / size)
    assert values(got)["bits"] == pytest.approx(part.bits.sum() / size)
    assert values(got)["bits/kanji"] == pytest.approx(part.bits[:, 2].sum() / part.characters[:, 2].sum())
    assert "m would have written" in got.sentence
    assert "|kind:characters|units:documents|n:12|" in got.signature
    assert "|context:16|stride:16|" in got.signature
    assert "3 characters at the start" in got.notes[0]
    assert "several scripts" in got.notes[1]
    with pytest.raises(KeyError):
        got.systems[0].value("cer")


def test_windows_of_one_document_are_a_fallback() -> None:
    got = japanese(counts(cluster_by="window"), design=FAST)
    assert got.fallbacks[0].used == "windows as clusters"
    assert "12 windows" in got.sentence


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"text": "sha256:other"}, "different text"),
        ({"ranges": "wide"}, "different text or scripts"),
        ({"tokenizer": "sha256:other"}, r"different tokenizers or windows.*`per='character'`"),
        ({"context": 32}, "different tokenizers or windows"),
        ({"characters": np.ones((12, 4))}, "different tokenizers or windows"),
        ({"name": "m"}, "two models are called 'm'"),
    ],
)
def test_counts_that_do_not_pair_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        japanese(counts(), counts(**({"name": "n"} | changed)))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="not both at once"):
        japanese(counts(), ROWS)
    with pytest.raises(UsageError, match="leave out the rest"):
        japanese(ROWS, design=Design(margin=0.1))
    with pytest.raises(UsageError, match=r"bleu must be of ja-mecab, char, 13a, but got 'mecab'"):
        japanese(ROWS, bleu=["mecab"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="each once"):
        japanese(ROWS, bleu=["char", "char"])
    with pytest.raises(UsageError, match="each once"):
        japanese(ROWS, bleu=[])
    long = "あ" * 20_000
    with pytest.raises(InputError, match=r"item '1' has 20,000 characters against 20,000, too many to align"):
        japanese({"item": ["1"], "prediction": [long], "reference": [long]}, bleu=["char"])


def test_without_the_extra_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu.tokenizers.tokenizer_ja_mecab", None)
    with pytest.raises(UsageError, match=r"pip install 'assay-eval\[ja\]'.*`bleu=\['char'\]`"):
        japanese(ROWS)
    assert japanese(ROWS, bleu=["char"], design=FAST).tokenizers == {"char": "char"}
