"""The language model behind the example files, against values worked out by hand."""

from itertools import product

import numpy as np
import pytest

from tools.ngram import BytePairs, distribution, quantized, train

CORPUS = [[0, 1, 0, 1, 2, 0, 1], [2, 2, 1, 0]]


def test_bigram_probability_by_hand() -> None:
    """Bigrams: 01 three times, 10 twice, 12, 20, 22, 21. After 0 there is only 1, three times.

    Each token is seen after two different ones (0 after 1 and 2, 1 after 0 and 2, 2 after 1 and 2): 2 of 6.
    """
    unigram = (2 - 0.75) / 6 + 0.75 * 3 / 6 / 3
    expected = (3 - 0.75) / 3 + 0.75 * 1 / 3 * unigram
    assert distribution(train(CORPUS, 2, 3), (0,))[1] == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_every_distribution_sums_to_one_and_has_no_zero(order: int) -> None:
    model = train(CORPUS, order, 5)
    for length in range(order):
        for context in product(range(5), repeat=length):
            probabilities = distribution(model, context)
            assert probabilities.sum() == pytest.approx(1, abs=1e-12)
            assert probabilities.min() > 0


def test_rounded_weights_give_distributions_close_to_the_unrounded() -> None:
    model = train(CORPUS, 3, 5)
    for bits, far in ((16, 1e-4), (8, 0.02)):
        after = distribution(quantized(model, bits), (0, 1))
        assert after.sum() == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(after, distribution(model, (0, 1)), rtol=far)


def test_byte_pairs_by_hand() -> None:
    """The commonest pair of neighbours is a and b, four times; then a space and ab, twice."""
    pairs = BytePairs.learn(["ab(ab( ab( ab"], merges=2)
    assert pairs.parts[256:] == [b"ab", b" ab"]
    assert pairs.encode("ab abc") == [256, 257, ord("c")]


def test_byte_pairs_lose_nothing() -> None:
    text = "def f(x):\n    return {x: 'naïve – ✓'}\t\r\n"
    pairs = BytePairs.learn([text * 3], merges=10)
    assert b"".join(pairs.parts[token] for token in pairs.encode(text)).decode() == text
