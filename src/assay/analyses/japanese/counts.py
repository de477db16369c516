"""Sufficient statistics of Japanese text: a row of counts per sentence or document, and what their sums give."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np

from assay.analyses.japanese.result import Quantity, Scale
from assay.data.generations import CharacterCounts, Generations
from assay.data.writing_systems import Normalization, Ranges, codes_of, normalized, script_names, scripts_of
from assay.errors import InputError, UsageError
from assay.stats.bootstrap.totals import Score
from assay.stats.text import MOST_CELLS, Alignment, align, bleu_counts, bleu_of, chrf_counts, chrf_of
from assay.stats.units import Floats

BleuTokenizer = Literal["ja-mecab", "char", "13a"]

_SACREBLEU = {"ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab"), "13a": ("tokenizer_13a", "Tokenizer13a")}

Tokenize = Callable[[str], list[str]]


@dataclass(frozen=True, eq=False)
class TextMeasure:
    """A quantity as a function of the sums of columns; a ratio of sums with the same bottom in all systems says so."""

    quantity: Quantity
    score: Score
    top: slice | None = None
    bottom: slice | None = None
    reason: str = "nothing to measure"  # where the bottom is 0

    @classmethod
    def ratio(cls, quantity: Quantity, top: slice, bottom: slice, reason: str) -> "TextMeasure":
        return cls(quantity, lambda sums: quotient(sums[..., top], sums[..., bottom]), top, bottom, reason)


def quotient(top: Floats, bottom: Floats) -> Floats:
    """Σ top / Σ bottom over the last axis, NaN where there is nothing below."""
    below = bottom.sum(axis=-1)
    return np.asarray(np.where(below > 0, top.sum(axis=-1) / np.where(below > 0, below, 1.0), np.nan))


@dataclass(frozen=True, eq=False)
class TextCounts:
    """The counts of every system on the same units."""

    names: tuple[str, ...]
    columns: tuple[Floats, ...]  # (n, c) of each system
    measures: tuple[TextMeasure, ...]
    unit: str  # "sentence", "document", "window"
    headline: str  # the key of the quantity that a comparison is judged by
    digest: str
    tokenizers: dict[str, str]  # of BLEU, with their versions
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.columns[0])


def counts_of_characters(counts: Sequence[CharacterCounts]) -> TextCounts:
    """Accuracy and bits per character, over all and by script."""
    scripts = counts[0].scripts
    size = len(scripts)
    right, bits, below = slice(0, size), slice(size, 2 * size), slice(2 * size, 3 * size)
    measures = [
        TextMeasure.ratio(Quantity("accuracy", "accuracy", "share"), right, below, "no characters"),
        *_by_script("accuracy", "share", right, below, scripts, "text"),
        TextMeasure.ratio(
            Quantity("bits", "bits per character", "bits", lower_is_better=True), bits, below, "no characters"
        ),
        *_by_script("bits", "bits", bits, below, scripts, "text"),
    ]
    hashed = sha256(b"assay japanese characters 1")
    for part in counts:
        for values in (part.characters, part.right, part.bits):
            hashed.update(np.ascontiguousarray(values).astype("<f8").tobytes())
    return TextCounts(
        tuple(part.name for part in counts),
        tuple(np.concatenate([part.right, part.bits, part.characters], axis=1) for part in counts),
        tuple(measures),
        counts[0].cluster_by,
        "accuracy",
        hashed.hexdigest()[:16],
        {},
    )


def _by_script(
    key: str, scale: Scale, top: slice, bottom: slice, scripts: Sequence[str], where: str
) -> list[TextMeasure]:
    return [
        TextMeasure.ratio(
            Quantity(f"{key}/{script}", f"{key}, {script}", scale, scale == "bits"),
            slice(top.start + k, top.start + k + 1),
            slice(bottom.start + k, bottom.start + k + 1),
            f"no {script} characters in the {where}",
        )
        for k, script in enumerate(scripts)
    ]


def counts_of_generations(
    systems: Sequence[Generations], *, ranges: Ranges, normalize: Normalization, bleu: Sequence[str]
) -> TextCounts:
    """Edits, matched characters by script, BLEU and chrF counts of every sentence."""
    cutters = {name: tokenizer_of(name) for name in bleu}
    wanted = [normalized(text, normalize) for text in systems[0].references]
    made = []
    for system in systems:
        written = [normalized(text, normalize) for text in system.predictions]
        _check_sizes(system, written, wanted)
        made.append(_columns_of(written, wanted, ranges, {name: cut for name, (cut, _) in cutters.items()}))
    clusters = systems[0].clusters
    names = None if clusters is None else sorted(set(clusters))
    count = len(wanted)
    return TextCounts(
        tuple(system.name for system in systems),
        tuple(_by_cluster(columns.joined(), clusters) for columns in made),
        tuple(made[0].measures),
        "sentence" if names is None else "cluster",
        f"bleu/{bleu[0]}",
        _digest(systems),
        {name: version for name, (_, version) in cutters.items()},
        () if names is None else (f"{count:,} sentences in {len(names):,} clusters, which are drawn whole",),
    )


def _by_cluster(columns: Floats, clusters: Sequence[str] | None) -> Floats:
    """Sums of the sentences that belong together."""
    if clusters is None:
        return columns
    names = {name: code for code, name in enumerate(sorted(set(clusters)))}
    sums = np.zeros((len(names), columns.shape[1]))
    np.add.at(sums, [names[name] for name in clusters], columns)
    return sums


def _columns_of(
    written: Sequence[str], wanted: Sequence[str], ranges: Ranges, cutters: Mapping[str, Tokenize]
) -> "_Columns":
    made = _Columns()
    _edit_columns(made, written, wanted, ranges)
    pairs = list(zip(written, wanted, strict=True))
    for name, cut in cutters.items():
        _bleu_columns(made, name, np.array([bleu_counts(cut(a), cut(b)) for a, b in pairs], dtype=np.float64))
    at = made.add(np.array([chrf_counts(a, b) for a, b in pairs], dtype=np.float64))
    made.measures.append(TextMeasure(Quantity("chrf", "chrF", "score"), lambda sums: chrf_of(sums[..., at])))
    return made


class _Columns:
    """Columns of counts as they come, and the measures made of them."""

    def __init__(self) -> None:
        self.measures: list[TextMeasure] = []
        self._parts: list[Floats] = []

    def add(self, part: Floats) -> slice:
        """Where the columns went."""
        start = sum(known.shape[1] for known in self._parts)
        self._parts.append(part)
        return slice(start, start + part.shape[1])

    def joined(self) -> Floats:
        return np.concatenate(self._parts, axis=1)


def _check_sizes(system: Generations, written: Sequence[str], wanted: Sequence[str]) -> None:
    for item, a, b in zip(system.items, written, wanted, strict=True):
        if (len(a) + 1) * (len(b) + 1) > MOST_CELLS:
            raise InputError(
                f"{system.label}: item {item!r} has {len(a):,} characters against {len(b):,}, too many to align; cut "
                "the texts into sentences."
            )


def _edit_columns(made: _Columns, written: Sequence[str], wanted: Sequence[str], ranges: Ranges) -> None:
    """Edit distance: the character error rate, and accuracy by script of the reference (C7)."""
    predictions, references = [codes_of(text) for text in written], [codes_of(text) for text in wanted]
    alignments = align(predictions, references)
    names = script_names(ranges)
    edits = made.add(np.array([[alignment.edits] for alignment in alignments], dtype=np.float64))
    matched, below = (made.add(part) for part in _matched_columns(alignments, references, ranges))
    zipped = made.add(np.array([_zipped(a, b) for a, b in zip(written, wanted, strict=True)], dtype=np.float64))
    top, bottom = slice(zipped.start, zipped.start + 1), slice(zipped.start + 1, zipped.stop)
    made.measures += [
        TextMeasure.ratio(
            Quantity("cer", "character error rate", "share", lower_is_better=True), edits, below, "no characters"
        ),
        TextMeasure.ratio(Quantity("accuracy", "accuracy", "share"), matched, below, "no characters"),
        *_by_script("accuracy", "share", matched, below, names, "references"),
        TextMeasure(
            Quantity("zipped_accuracy", "accuracy, zipped", "share"),
            lambda sums: quotient(sums[..., top], sums[..., bottom]),
            reason="every prediction is empty",
        ),
    ]


def _matched_columns(
    alignments: Sequence[Alignment],
    references: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.int32]]],
    ranges: Ranges,
) -> tuple[Floats, Floats]:
    size = len(script_names(ranges))
    matched, all_of = np.zeros((len(references), size)), np.zeros((len(references), size))
    for row, (alignment, reference) in enumerate(zip(alignments, references, strict=True)):
        scripts = scripts_of(reference, ranges)
        all_of[row] = np.bincount(scripts, minlength=size)
        matched[row] = np.bincount(scripts[alignment.matched], minlength=size)
    return matched, all_of


def _zipped(written: str, wanted: str) -> tuple[int, int]:
    """Equal characters at the same place, and the places that both have."""
    return sum(a == b for a, b in zip(written, wanted, strict=False)), min(len(written), len(wanted))


def _bleu_columns(made: _Columns, name: str, counts: Floats) -> None:
    """BLEU of the corpus, and the mean and standard deviation of the sentences' (T9)."""
    at = made.add(counts)
    single = bleu_of(counts, effective_order=True)[:, None]
    values, squares = made.add(single), made.add((single - 50) ** 2)  # centred, so that squares do not cancel
    ones = made.add(np.ones_like(single))
    made.measures += [
        TextMeasure(Quantity(f"bleu/{name}", f"BLEU ({name})", "score"), lambda sums: bleu_of(sums[..., at])),
        TextMeasure.ratio(
            Quantity(f"sentence_bleu/{name}", f"sentence BLEU ({name})", "score"), values, ones, "no sentences"
        ),
        TextMeasure(
            Quantity(f"sentence_bleu_std/{name}", f"sentence BLEU, std ({name})", "score"),
            lambda sums: _deviation(sums[..., values.start], sums[..., squares.start], sums[..., ones.start]),
            reason="one sentence has no spread",
        ),
    ]


def _deviation(total: Floats, squares: Floats, n: Floats) -> Floats:
    """The standard deviation (n − 1) from Σ x, Σ (x − 50)² and n."""
    shift = total - 50 * n
    spread = np.maximum(squares - shift * shift / n, 0.0)
    return np.asarray(np.where(n > 1, np.sqrt(spread / np.where(n > 1, n - 1, 1.0)), np.nan))


def _digest(systems: Sequence[Generations]) -> str:
    hashed = sha256(b"assay japanese generations 1")
    for system in systems:
        for part in (system.items, system.references, system.predictions, system.clusters or ()):
            for text in part:
                data = text.encode()
                hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()[:16]


def check_tokenizers(names: Sequence[str]) -> None:
    known = get_args(BleuTokenizer)
    for name in names:
        if name not in known:
            raise UsageError(f"bleu must be of {', '.join(known)}, but got {name!r}.")
    if not names or len(set(names)) < len(names):
        raise UsageError(f"bleu must name tokenizers, each once ({', '.join(known)}), but got {', '.join(names)!r}.")


def tokenizer_of(name: str) -> tuple[Tokenize, str]:
    """How a sentence is cut, and the version of it for the signature."""
    if name == "char":
        return characters, "char"
    made = _sacrebleu(name)
    return lambda text: made(text.rstrip()).split(), str(made.signature())


def characters(text: str) -> list[str]:
    """Every character that is not white space.

    >>> characters("猫 だ。")
    ['猫', 'だ', '。']
    """
    return [character for character in text if not character.isspace()]


def _sacrebleu(name: str) -> Any:
    try:
        module, tokenizer = _SACREBLEU[name]
        return getattr(import_module(f"sacrebleu.tokenizers.{module}"), tokenizer)()
    except (ImportError, RuntimeError) as error:  # sacrebleu without MeCab raises a RuntimeError
        raise UsageError(
            f"BLEU with {name} needs the extra ja: pip install 'assay-eval[ja]'. Or pass --bleu char, which needs none."
        ) from error
