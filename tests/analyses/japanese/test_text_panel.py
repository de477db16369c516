"""The panel of texts: every part against counting by hand, and what its metrics make of the totals."""

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analyses.japanese.text_panel import characters, text_panel, tokenizer_of
from assay.data import Panel
from assay.errors import InputError
from tests.analyses.japanese.texts import counts
from tests.stats.test_text_alignment import literal_programme

REFERENCES = ("猫がいる。", "カメラ", "abc")
TEXTS = st.lists(st.text(alphabet="猫犬がはカラa。", max_size=6), min_size=3, max_size=3)


def rows(predictions: Sequence[str], references: Sequence[str] = REFERENCES, **more: Any) -> dict[str, Any]:
    items = list(map(str, range(len(predictions))))
    return {"item": items, "prediction": list(predictions), "reference": list(references), **more}


def panel_of(*systems: dict[str, Any]) -> Panel:
    named = [system | {"model": [f"m{i}"] * len(system["item"])} for i, system in enumerate(systems)]
    return text_panel(*named, bleu=["char"], allow_empty=True)


def score(panel: Panel, name: str) -> float:
    """A metric of the first system."""
    return float(panel.metric_named(name).value(panel.sums(name, 0).sum(axis=0)))


@given(TEXTS)
def test_edits_and_matches_against_the_literal_programme(predictions: list[str]) -> None:
    found = panel_of(rows(predictions))
    aligned = [literal_programme(a, b) for a, b in zip(predictions, REFERENCES, strict=True)]
    assert found.parts["edits"][:, 0].tolist() == [edits for edits, _ in aligned]
    assert score(found, "cer") == pytest.approx(sum(edits for edits, _ in aligned) / 11)
    assert score(found, "accuracy") == pytest.approx(sum(matches for _, matches in aligned) / 11)


@given(TEXTS)
def test_bleu_and_its_sentences_against_sacrebleu_and_numpy(predictions: list[str]) -> None:
    """A sentence alone is a corpus of one: BLEU with the orders that it is long enough for."""
    sacrebleu = pytest.importorskip("sacrebleu", reason="the extra ja is not installed")
    found = panel_of(rows(predictions))
    single = [
        sacrebleu.sentence_bleu(a, [b], tokenize="char").score for a, b in zip(predictions, REFERENCES, strict=True)
    ]
    assert score(found, "sentence_bleu/char") == pytest.approx(np.mean(single), abs=1e-9)
    assert score(found, "sentence_bleu_std/char") == pytest.approx(np.std(single, ddof=1), abs=1e-6)
    corpus = sacrebleu.corpus_bleu(predictions, [list(REFERENCES)], tokenize="char").score
    assert found.estimate(0) == score(found, "bleu/char") == pytest.approx(corpus, abs=1e-9)
    assert score(found, "chrf") == pytest.approx(sacrebleu.corpus_chrf(predictions, [list(REFERENCES)]).score, abs=1e-9)


def test_scripts_add_up_to_all_characters() -> None:
    found = panel_of(rows(["猫はいる。", "カラ", "abcd"]))
    by_script = [found.parts[f"characters/{script}"] for script in ("hiragana", "katakana", "kanji", "other")]
    assert np.hstack(by_script).tolist() == [[3, 0, 1, 1], [0, 3, 0, 0], [0, 0, 0, 3]]
    assert found.units("accuracy", 0).denominators.tolist() == [5, 3, 3]
    assert found.units("accuracy/kanji", 0).denominators.tolist() == [1]  # the others have no part in it


def test_what_is_of_the_references_is_shared() -> None:
    found = panel_of(rows(["猫はいる。", "カラ", "abcd"]), rows(["猫", "カメ", "abc"]))
    shared = {name for name, part in found.parts.items() if part.shape == (3, 1)}
    wanted = {"bleu/char/wanted", *(f"chrf/wanted {n}" for n in range(1, 7))}
    assert shared == wanted | {"sentences"} | {name for name in found.parts if name.startswith("characters/")}
    assert found.parts["zipped"].tolist() == [[4, 1], [1, 2], [3, 3]]
    assert found.parts["both"].tolist() == [[5, 1], [2, 2], [3, 3]]


def test_clusters_are_sums_of_their_sentences() -> None:
    predictions = ["猫はいる。", "カラ", "abcd"]
    together = panel_of(rows(predictions, cluster=["y", "x", "y"]))
    assert (together.unit, together.n, together.cluster, together.n_clusters) == ("sentence", 3, "cluster", 2)
    found, apart = together.clusters_as_units(), panel_of(rows(predictions))
    assert (found.unit, found.ids.tolist(), found.clusters) == ("cluster", ["x", "y"], None)
    for name, part in apart.parts.items():
        np.testing.assert_array_equal(found.parts[name], [part[1], part[0] + part[2]])
    assert apart.clusters_as_units() is apart


def test_the_digest_is_of_counts_items_and_clusters() -> None:
    base = rows(["a", "b", "c"])
    others = [
        rows(["a", "b", "d"]) | {"reference": ["a", "b", "c"]},
        rows(["ab", "", "c"]),
        rows(["a", "b", "c"], ["猫がいる。", "カメラ", "abd"]),
        rows(["a", "b", "c"], cluster=["x", "x", "y"]),
        base | {"item": ["1", "2", "3"]},
    ]
    assert len({panel_of(one).digest for one in (base, *others)}) == 6
    assert panel_of({name: column[::-1] for name, column in base.items()}).digest == panel_of(base).digest


def test_a_panel_of_texts_survives_pickling() -> None:
    together = {"cluster": ["y", "x", "y"]}
    panel = panel_of(rows(["猫はいる。", "カラ", "abcd"], **together), rows(["猫", "カメ", "abc"], **together))
    again = pickle.loads(pickle.dumps(panel))  # noqa: S301
    assert (again.digest, again.metrics, again.settings) == (panel.digest, panel.metrics, panel.settings)
    assert again.estimate(1) == panel.estimate(1)


def test_texts_too_long_to_align_are_refused() -> None:
    long = "あ" * 20_000
    with pytest.raises(InputError, match=r"item '0' has 20,000 characters against 20,000, too many to align"):
        panel_of(rows([long], [long]))


def test_the_panel_of_characters_by_hand() -> None:
    first, other = counts(n=9), counts("n", n=9, seed=2)
    found = text_panel(first, other)
    assert (found.systems, found.unit, found.metric.name) == (("m", "n"), "document", "accuracy")
    for k, script in enumerate(first.scripts):
        np.testing.assert_array_equal(found.parts[f"right/{script}"], np.stack([first.right, other.right])[:, :, k].T)
        np.testing.assert_array_equal(found.parts[f"bits/{script}"], np.stack([first.bits, other.bits])[:, :, k].T)
        np.testing.assert_array_equal(found.parts[f"characters/{script}"], first.characters[:, [k]])
    assert score(found, "bits/kanji") == pytest.approx(first.bits[:, 2].sum() / first.characters[:, 2].sum())
    assert {metric.name for metric in found.metrics if metric.lower_is_better} == {
        "bits", "bits/hiragana", "bits/katakana", "bits/kanji", "bits/other",
    }  # fmt: skip
    assert found.settings == {"normalize": "none", "context": 16, "stride": 16}


def test_the_documents_of_characters_are_sorted_by_name() -> None:
    part = counts(n=3)
    turned = counts(
        n=3, units=("c", "a", "b"), **{name: getattr(part, name)[[2, 0, 1]] for name in ("right", "bits", "characters")}
    )
    plain = counts(n=3, units=("a", "b", "c"))
    assert text_panel(turned).ids.tolist() == ["a", "b", "c"]
    assert text_panel(turned).digest == text_panel(plain).digest


@given(st.text())
def test_characters_are_those_that_are_not_space(text: str) -> None:
    assert "".join(characters(text)) == "".join(text.split())


def test_a_tokenizer_has_a_version_for_the_signature() -> None:
    cut, version = tokenizer_of("char")
    assert (cut("猫 だ"), version) == (["猫", "だ"], "char")
    pytest.importorskip("MeCab", reason="the extra ja is not installed")
    cut, version = tokenizer_of("ja-mecab")
    assert cut("猫がいる。") == ["猫", "が", "いる", "。"]
    assert version.startswith("ja-mecab-")
