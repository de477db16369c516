"""Character accuracy under teacher forcing, and bits per character, by script.

At every position the model sees the true text so far and predicts its most probable (greedy) token. A character is
correct if, at every token that holds bytes of it, the greedy token begins with the bytes of the true token up to the
end of the character. So of a token with several characters, those that the greedy token begins with are correct, and a
character split over several tokens is correct if all its parts are. A greedy token shorter than the true one leaves the
rest wrong, since what the model would have written next is unknown.

The bits of a token are spread evenly over its bytes. A character counts if all its tokens were predicted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assay.data.generations import CharacterCounts
from assay.data.writing_systems import (
    Normalization,
    Ranges,
    check_normalization,
    check_ranges,
    codes_of,
    normalized,
    script_names,
    scripts_of,
)
from assay.engines import LOCAL, Engine
from assay.engines.blocks import OnDemand
from assay.errors import InputError, UsageError
from assay.scoring import Encoded, TokenProgress, local_scorer
from assay.scoring.checkpoint import ids_digest
from assay.scoring.loading import tokenized
from assay.scoring.models_and_texts import (
    Document,
    Model,
    ModelSpec,
    Text,
    check_folders,
    read_documents,
    specs_of,
    texts_digest,
)
from assay.scoring.token_bytes import TokenBytes
from assay.scoring.windows import Layout, Plan, Window, batches_of, layout_for, start_token, windows_of
from assay.stats.units import Floats

if TYPE_CHECKING:
    from assay.scoring.hf import ModelScorer
    from assay.scoring.on_workers import BatchRows, LossesAndGreedy, PredictorOnWorkers


def characters(
    models: Model | Sequence[Model] | Mapping[str, Model],
    texts: Text | Sequence[Text],
    *,
    scripts: Ranges = "basic",
    normalize: Normalization = "none",
    plan: Plan | None = None,
    field: str | None = None,
    split_on: str | None = None,
    engine: Engine = LOCAL,
    progress: Callable[[str], TokenProgress] | None = None,
) -> list[CharacterCounts]:
    """Count, for one or several models, the characters of a text that they would have written, and their bits.

    `assay.japanese` makes accuracies with intervals of them. Models and texts are named as for `score`, and ``engine``
    says, as there, where a model runs.

    >>> import assay
    >>> from assay.models import path
    >>> (counts,) = assay.characters(path("base"), assay.Document("story", "むかし、犬がいた。"))
    >>> dict(zip(counts.scripts, counts.characters.sum(axis=0).tolist(), strict=True))
    {'hiragana': 6.0, 'katakana': 0.0, 'kanji': 1.0, 'other': 2.0}
    """
    check_ranges(scripts)
    check_normalization(normalize)
    plan, specs = plan or Plan(), specs_of(models, whole_names=True)
    if not specs:
        raise UsageError("characters needs a model.")
    check_folders(specs.values())
    if plan.draw is not None:
        raise UsageError("characters takes the whole text; leave out the draw of windows.")
    read = read_documents(texts, field=field, split_on=split_on)
    documents = [Document(document.name, normalized(document.text, normalize)) for document in read]
    digest = texts_digest(documents)
    found = []
    for name, spec in specs.items():
        if not isinstance(spec, ModelSpec):
            raise UsageError("characters needs a model that is loaded here: a server does not say what it would write.")
        shown = None if progress is None else progress(name)  # first: a model takes its time to load
        with _predictor(spec, engine) as predictor:
            predicted = _predicted(predictor, name, documents, plan, shown)
        counts = _counted(predicted, name, scripts)
        tokens = ids_digest(part.encoded.ids for part in predicted.documents)
        found.append(replace(counts, normalize=normalize, text=digest, tokenizer=tokens))
    return found


@dataclass(frozen=True, eq=False)
class Prediction:
    """A tokenized document, and the prediction of each token."""

    encoded: Encoded
    starts: NDArray[np.int64]  # (tokens + 1,) in bytes
    spaced: bool  # the tokenizer put a space before the text: it goes with the first character
    losses: Floats  # (tokens,) in nats; 0 where the token was not predicted
    agreed: NDArray[np.int64]  # (tokens,) bytes that the greedy token begins with
    window: NDArray[np.int64]  # (tokens,) its window, −1 where the token was not predicted


@dataclass(frozen=True, eq=False)
class _Predicted:
    documents: list[Prediction]
    windows: list[Window]
    layout: Layout


@contextmanager
def _predictor(spec: ModelSpec, engine: Engine) -> Iterator["_Here | PredictorOnWorkers"]:
    """A model in this process, or one on each worker of an engine."""
    if engine.here:
        yield _Here(local_scorer(spec))
        return
    from assay.scoring.on_workers import predictor_on_workers  # late: few need it

    with predictor_on_workers(spec, engine, local_scorer) as found:
        yield found


class _Here:
    """A model that predicts batches in this process, one after the other."""

    def __init__(self, scorer: "ModelScorer") -> None:
        self._scorer = scorer
        self.tokenizer, self.bos, self.start = scorer.tokenizer, scorer.bos, scorer.start
        self.context, self.batch_tokens = scorer.context, scorer.batch_tokens

    def predictions(self, batches: "Sequence[BatchRows]") -> "Iterator[LossesAndGreedy]":
        return (self._scorer.losses_and_greedy(*rows) for rows in batches)


def _predicted(
    scorer: "_Here | PredictorOnWorkers",
    name: str,
    documents: Sequence[Document],
    plan: Plan,
    progress: TokenProgress | None,
) -> _Predicted:
    table = TokenBytes.of(scorer.tokenizer, name)
    pairs = zip(documents, tokenized(scorer.tokenizer, [document.text for document in documents]), strict=True)
    parts = [_empty(Encoded(document, ids, ends), table) for document, (ids, ends) in pairs if len(ids)]
    start = start_token(plan, scorer)
    layout = layout_for(plan, scorer.context, bos=start is not None)
    windows = windows_of([len(part.encoded.ids) for part in parts], layout)
    if not windows:
        raise InputError("the text has no token that can be predicted; give longer documents.")
    done, total = 0, sum(window.tokens for window in windows)

    def rows(batch: Sequence[int]) -> "BatchRows":
        chosen = [windows[i] for i in batch]
        fed = [layout.row(parts[w.document].encoded.ids, w, start) for w in chosen]
        return fed, [w.tokens for w in chosen]

    batches = list(batches_of(windows, scorer.batch_tokens(plan.batch_tokens)))
    for batch, (losses, greedy) in zip(batches, scorer.predictions(OnDemand(batches, rows)), strict=True):
        for i, loss, ids in zip(batch, losses, greedy, strict=True):
            _fill(parts[windows[i].document], windows[i], i, loss, ids, table)
        done += sum(windows[i].tokens for i in batch)
        if progress is not None:
            progress(done, total)
    return _Predicted(parts, windows, layout)


def _empty(encoded: Encoded, table: TokenBytes) -> Prediction:
    n = len(encoded.ids)
    starts, spaced = table.spans(encoded.ids, encoded.document.text, encoded.document.name)
    return Prediction(encoded, starts, spaced, np.zeros(n), np.zeros(n, dtype=np.int64), np.full(n, -1))


def _fill(
    part: Prediction, window: Window, index: int, losses: Floats, greedy: NDArray[np.int64], table: TokenBytes
) -> None:
    if not np.isfinite(losses).all():
        raise InputError(
            f"{part.encoded.document.name}: token {window.first + int(np.argmin(np.isfinite(losses)))} has no finite "
            "loss; load the model with `dtype='float32'`, or find out why it gives no probability."
        )
    here = slice(window.first, window.stop)
    part.losses[here] = losses
    part.agreed[here] = table.agreement(greedy, part.encoded.ids[here])
    part.window[here] = index


@dataclass(frozen=True, eq=False)
class Characters:
    """The characters of one document."""

    scripts: NDArray[np.int64]  # (characters,)
    counted: NDArray[np.bool_]  # all bytes were predicted
    right: NDArray[np.bool_]
    bits: Floats
    window: NDArray[np.int64]  # where the last byte was predicted
    mixed_bits: float


def characters_of(part: Prediction, ranges: Ranges) -> Characters:
    """Carry the results over from tokens to bytes, and from bytes to characters."""
    codes = codes_of(part.encoded.document.text)
    scripts, lengths = scripts_of(codes, ranges), np.diff(part.starts)
    token = np.repeat(np.arange(len(lengths)), lengths)  # (bytes,)
    place = np.arange(len(token)) - part.starts[token]
    first = _first_bytes(codes, spaced=part.spaced)
    owner = np.repeat(np.arange(len(codes)), np.diff(np.append(first, len(token))))
    nats = (part.losses / np.maximum(lengths, 1))[token]
    mixed = np.zeros(len(lengths), dtype=bool)
    np.logical_or.at(mixed, token[1:], (token[1:] == token[:-1]) & (scripts[owner][1:] != scripts[owner][:-1]))
    return Characters(
        scripts,
        np.logical_and.reduceat(part.window[token] >= 0, first),
        np.logical_and.reduceat(place < part.agreed[token], first),
        np.add.reduceat(nats, first) / log(2),
        part.window[token[np.append(first[1:], len(token)) - 1]],
        float(part.losses[mixed].sum()) / log(2),
    )


def _first_bytes(codes: NDArray[np.int32], *, spaced: bool) -> NDArray[np.int64]:
    """(characters,) Byte offset of each character in UTF-8; a space before the text belongs to the first one."""
    sizes = 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)
    sizes[0] += spaced
    return np.concatenate([[0], np.cumsum(sizes)[:-1]])


def _counted(predicted: _Predicted, name: str, ranges: Ranges) -> CharacterCounts:
    alone = len(predicted.documents) == 1
    names = script_names(ranges)
    units = _unit_names(predicted)
    sums = np.zeros((3, len(units) * len(names)))
    left_out, mixed = 0, 0.0
    for index, part in enumerate(predicted.documents):
        found = characters_of(part, ranges)
        of = found.counted
        unit = found.window[of] if alone else np.full(int(of.sum()), index)
        cell = unit * len(names) + found.scripts[of]
        parts = (None, found.right[of], found.bits[of])
        sums += np.array([np.bincount(cell, weights, minlength=sums.shape[1]) for weights in parts])
        left_out += int((~of).sum())
        mixed += found.mixed_bits
    shaped = sums.reshape(3, len(units), len(names))
    kept = shaped[0].sum(axis=1) > 0  # a unit without a predicted character says nothing
    return CharacterCounts(
        name=name,
        units=tuple(unit for unit, keep in zip(units, kept, strict=True) if keep),
        cluster_by="window" if alone else "document",
        scripts=names,
        characters=shaped[0][kept],
        right=shaped[1][kept],
        bits=shaped[2][kept],
        left_out=left_out,
        mixed_bits=mixed,
        ranges=ranges,
        normalize="none",
        context=predicted.layout.context,
        stride=predicted.layout.step,
        text="",
        tokenizer=None,
    )


def _unit_names(predicted: _Predicted) -> list[str]:
    if len(predicted.documents) > 1:
        return [part.encoded.document.name for part in predicted.documents]
    name = predicted.documents[0].encoded.document.name
    return [f"{name}:{predicted.layout.mark(window)}" for window in predicted.windows]
