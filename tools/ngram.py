"""A small but real language model: byte-pair tokens, and an interpolated Kneser-Ney n-gram model over them.

Kneser, R. and Ney, H. (1995), "Improved backing-off for m-gram language modeling", in the interpolated form of Chen and
Goodman (1998), with one fixed discount:

    p(w | h) = max(c(h w) - D, 0) / c(h)  +  D N(h) / c(h) * p(w | h without its first token)

where N(h) is the number of different tokens seen after h and, below the highest order, c(h w) is the number of
different tokens seen before h w. The recursion ends in the uniform distribution, so that no probability is 0.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

DISCOUNT = 0.75
PIECE = re.compile(r" ?[A-Za-z]+| ?[0-9]+| *\n *| +|[^A-Za-z0-9\s]+|\s", re.ASCII)

Context = tuple[int, ...]
Counts = dict[Context, Counter[int]]


@dataclass(frozen=True)
class BytePairs:
    """A byte-pair vocabulary: 256 bytes, then one token per merge, in the order they were learned."""

    parts: list[bytes]  # what each token stands for
    ranks: dict[tuple[int, int], int]  # (left, right) -> the token that replaces them

    @property
    def size(self) -> int:
        return len(self.parts)

    @classmethod
    def learn(cls, texts: list[str], merges: int) -> "BytePairs":
        """Merge the most frequent pair of neighbours, again and again; among equals the one with the smallest ids."""
        pieces = Counter(piece for text in texts for piece in PIECE.findall(text))
        words = Counter({tuple(piece.encode()): count for piece, count in pieces.items() if count > 1})
        parts = [bytes([byte]) for byte in range(256)]
        ranks: dict[tuple[int, int], int] = {}
        for _ in range(merges):
            pair = most_frequent_pair(words)
            ranks[pair] = len(parts)
            words = merged_words(words, pair, len(parts))
            parts.append(parts[pair[0]] + parts[pair[1]])
        return cls(parts, ranks)

    def encode(self, text: str) -> list[int]:
        cache: dict[str, list[int]] = {}
        for piece in PIECE.findall(text):
            if piece not in cache:
                cache[piece] = self._encode_piece(piece)
        return [token for piece in PIECE.findall(text) for token in cache[piece]]

    def _encode_piece(self, piece: str) -> list[int]:
        word = tuple(piece.encode())
        while candidates := [pair for pair in pairwise(word) if pair in self.ranks]:
            pair = min(candidates, key=self.ranks.__getitem__)
            word = merged(word, pair, self.ranks[pair])
        return list(word)


def most_frequent_pair(words: Counter[tuple[int, ...]]) -> tuple[int, int]:
    counts: Counter[tuple[int, int]] = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return min(counts, key=lambda pair: (-counts[pair], pair))


def merged_words(words: Counter[tuple[int, ...]], pair: tuple[int, int], token: int) -> Counter[tuple[int, ...]]:
    result: Counter[tuple[int, ...]] = Counter()
    for word, count in words.items():
        result[merged(word, pair, token) if pair[0] in word else word] += count
    return result


def merged(word: tuple[int, ...], pair: tuple[int, int], token: int) -> tuple[int, ...]:
    result: list[int] = []
    position = 0
    while position < len(word):
        found = word[position : position + 2] == pair
        result.append(token if found else word[position])
        position += 2 if found else 1
    return tuple(result)


@dataclass(frozen=True)
class Follow:
    """What follows one context: tokens, their discounted shares, and the weight left for the shorter context."""

    tokens: NDArray[np.int64]
    shares: NDArray[np.float64]
    rest: float


@dataclass(frozen=True)
class Model:
    """One table per context length 0, 1, ..., order - 1."""

    order: int
    size: int  # of the vocabulary
    tables: tuple[dict[Context, Follow], ...]
    rounded: bool = False  # rounded weights no longer sum to 1, so they are divided by their sum


def train(corpus: list[list[int]], order: int, size: int) -> Model:
    counts = [ngram_counts(corpus, order)]
    while len(counts) < order:
        counts.append(continuation_counts(counts[-1]))
    tables = tuple({context: follow(after) for context, after in table.items()} for table in reversed(counts))
    return Model(order, size, tables)


def ngram_counts(corpus: list[list[int]], order: int) -> Counts:
    counts: Counts = defaultdict(Counter)
    for tokens in corpus:
        for position in range(order - 1, len(tokens)):
            counts[tuple(tokens[position - order + 1 : position])][tokens[position]] += 1
    return counts


def continuation_counts(longer: Counts) -> Counts:
    """In how many different longer contexts a token was seen after the shorter one."""
    counts: Counts = defaultdict(Counter)
    for context, after in longer.items():
        for token in after:
            counts[context[1:]][token] += 1
    return counts


def follow(after: Counter[int]) -> Follow:
    total = after.total()
    tokens = np.fromiter(sorted(after), np.int64, len(after))
    shares = np.array([after[token] - DISCOUNT for token in tokens.tolist()]) / total
    return Follow(tokens, shares, DISCOUNT * len(after) / total)


def distribution(model: Model, context: Context) -> NDArray[np.float64]:
    """The probability of every token after a context: non-negative, sums to 1."""
    result = np.full(model.size, 1 / model.size)
    for length in range(len(context) + 1):
        after = model.tables[length].get(context[len(context) - length :])
        if after is None:
            break
        result *= after.rest
        result[after.tokens] += after.shares
    total = float(result.sum())
    if not model.rounded:
        assert abs(total - 1) < 1e-12, total
    result /= total
    return result


def quantized(model: Model, bits: int) -> Model:
    """The model with its weights stored in ``bits`` bits: rounded to 2^bits values, equal steps of the logarithm."""
    tables = tuple(quantized_table(table, 2**bits) for table in model.tables)
    return replace(model, tables=tables, rounded=True)


def quantized_table(table: dict[Context, Follow], levels: int) -> dict[Context, Follow]:
    shares = Grid.over(np.concatenate([after.shares for after in table.values()]), levels)
    rests = Grid.over(np.array([after.rest for after in table.values()]), levels)
    return {
        context: Follow(after.tokens, shares.nearest(after.shares), float(rests.nearest(np.array(after.rest))))
        for context, after in table.items()
    }


@dataclass(frozen=True)
class Grid:
    """Equal steps on a logarithmic scale."""

    low: float
    step: float

    @classmethod
    def over(cls, values: NDArray[np.float64], levels: int) -> "Grid":
        low, high = float(np.log(values.min())), float(np.log(values.max()))
        return cls(low, (high - low) / (levels - 1) or 1.0)

    def nearest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.exp(self.low + self.step * np.round((np.log(values) - self.low) / self.step)))
