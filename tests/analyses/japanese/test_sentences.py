"""The sentences of `japanese`, word by word."""

from assay.analyses.japanese.result import Quantity, QuantityDifference, QuantityValue, SystemScores
from assay.analyses.japanese.sentences import pair_sentence, system_sentence
from assay.design import Design
from assay.stats.records import Estimate, Interval, Test

ACCURACY, KANJI, KATAKANA = (
    Quantity(key, label, "share")
    for key, label in (
        ("accuracy", "accuracy"), ("accuracy/kanji", "accuracy, kanji"), ("accuracy/katakana", "accuracy, katakana"),
    )
)  # fmt: skip
BITS = Quantity("bits", "bits per character", "bits", lower_is_better=True)
CER = Quantity("cer", "character error rate", "share", lower_is_better=True)
BLEU = Quantity("bleu/char", "BLEU (char)", "score")
NOTHING = Estimate(None, None, None, 0, "no katakana characters in the text")


def estimate(value: float, low: float, high: float, n: int = 40) -> Estimate:
    return Estimate(value, Interval(low, high, 0.95, "bca"), (high - low) / 4, n)


def read(name: str = "m", accuracy: Estimate | None = None) -> SystemScores:
    return SystemScores(
        name,
        (
            QuantityValue(ACCURACY, accuracy or estimate(0.7, 0.65, 0.75), 1200),
            QuantityValue(KANJI, estimate(0.5, 0.4, 0.6), 300),
            QuantityValue(KATAKANA, NOTHING, 0),
            QuantityValue(BITS, estimate(1.5, 1.4, 1.6), 1200),
        ),
    )


def wrote(name: str, cer: Estimate, bleu: Estimate) -> SystemScores:
    return SystemScores(name, (QuantityValue(CER, cer, 1200), QuantityValue(BLEU, bleu)))


def gap(quantity: Quantity, difference: Estimate, p: float | None) -> QuantityDifference:
    test = Test("exact randomization", 1.0, p, difference.n)
    return QuantityDifference(quantity, difference, test, test)


def test_what_a_model_would_have_written() -> None:
    assert system_sentence(read(), "document", 40) == (
        "m would have written 70% of the characters (95% CI 65.0 to 75.0; kanji 50%; 1,200 characters in "
        "40 documents), at 1.500 bits per character."
    )


def test_without_an_interval_and_with_few_documents() -> None:
    one = Estimate(0.7, None, None, 1, "only one document counts in it")
    assert system_sentence(read(accuracy=one), "document", 1) == (
        "m would have written 70% of the characters (kanji 50%; 1,200 characters in 1 document), "
        "at 1.500 bits per character, too few to rely on."
    )


def test_what_a_model_wrote() -> None:
    system = wrote("m", estimate(0.2, 0.15, 0.25), estimate(25.0, 20.0, 30.0))
    assert system_sentence(system, "sentence", 56) == (
        "m: character error rate 20% (95% CI 15.0 to 25.0), BLEU (char) 25 (95% CI 20.0 to 30.0); 56 sentences."
    )
    bare = wrote("m", Estimate(0.2, None, None, 1, "one"), Estimate(25.0, None, None, 1, "one"))
    assert system_sentence(bare, "sentence", 1) == (
        "m: character error rate 20%, BLEU (char) 25; 1 sentence, too few to rely on."
    )


def test_the_headline_decides_which_is_better() -> None:
    a = wrote("A", estimate(0.2, 0.15, 0.25), estimate(25.0, 20.0, 30.0))
    b = wrote("B", estimate(0.3, 0.25, 0.35), estimate(20.0, 15.0, 25.0))
    gaps = [gap(CER, estimate(0.1, 0.05, 0.15), 0.001), gap(BLEU, estimate(-5.0, -7.0, -3.0), 0.002)]
    assert pair_sentence((a, b), gaps, "bleu/char", "sentence", Design()) == (
        "B is worse than A: BLEU (char) 25.00 → 20.00, −5.00 (95% CI −7.00 to −3.00, p = 0.002, 40 sentences)."
    )
    assert pair_sentence((a, b), gaps, "cer", "sentence", Design()) == (
        "B is worse than A: character error rate 20.0% → 30.0%, +10.0 points "
        "(95% CI +5.0 to +15.0, p = 0.001, 40 sentences)."
    )
    fewer = [gap(CER, estimate(-0.1, -0.15, -0.05), 0.001)]
    assert pair_sentence((a, b), fewer, "cer", "sentence", Design()).startswith("B is better than A: ")


def test_what_is_not_shown_is_not_said() -> None:
    systems = (read("A"), read("B"))
    unsure = [gap(ACCURACY, estimate(0.01, -0.02, 0.04), 0.4)]
    assert pair_sentence(systems, unsure, "accuracy", "document", Design()).startswith(
        "No difference shown between A and B: accuracy 70.00% → 70.00%, +1.00 points ("
    )
    undefined = [gap(ACCURACY, Estimate(0.01, None, None, 1, "one"), None)]
    assert pair_sentence(systems, undefined, "accuracy", "document", Design()).endswith(
        "+1 point (1 document, too few to rely on)."
    )
