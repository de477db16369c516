"""How good is this model's Japanese? Characters by script, edit distance, BLEU and chrF, with intervals (T7–T9, C7)."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import msgspec
import numpy as np

from assay.analyses.contrast import FEW
from assay.analyses.japanese.counts import (
    BleuTokenizer,
    TextCounts,
    check_tokenizers,
    counts_of_characters,
    counts_of_generations,
)
from assay.analyses.japanese.estimates import Estimates
from assay.analyses.japanese.result import Japanese, SystemPair, SystemScores, TextKind
from assay.analyses.japanese.sentences import pair_sentence, system_sentence
from assay.data.generations import CharacterCounts, read_generations
from assay.data.writing_systems import JAPANESE, Normalization, Ranges, check_normalization, check_ranges
from assay.design import DEFAULT_RESAMPLES, Design, signature
from assay.errors import InputError, UsageError
from assay.results.words import count
from assay.stats.records import Fallback

TextSource = str | PathLike[str] | Mapping[str, Any] | CharacterCounts | Any


def japanese(
    *sources: TextSource,
    scripts: Ranges = "basic",
    normalize: Normalization = "none",
    bleu: Sequence[BleuTokenizer] = ("ja-mecab", "char"),
    columns: Mapping[str, str] | None = None,
    allow_empty: bool = False,
    design: Design | None = None,
) -> Japanese:
    """Measure Japanese text by script, and compare every system with the first.

    ``sources`` are tables of generations, or what `assay.characters` counted of models on a text. Generations have the
    columns ``item, prediction, reference``, ``model`` where there are several, and ``cluster`` for sentences that are
    to be drawn together. They are aligned with their references by edit distance; of them there are the character error
    rate, accuracy by script, BLEU with the tokenizers ``bleu``, and chrF. Of the design the method, level, resamples
    and seed count.

    >>> cats = {"item": ["1", "2", "3"], "reference": ["猫がいる。", "犬がいる。", "鳥が飛ぶ。"]}
    >>> found = japanese(cats | {"prediction": ["猫はいる。", "犬がいます。", "鳥が飛ぶ。"]}, bleu=["char"])
    >>> found.systems[0].value("accuracy/kanji").estimate.value
    1.0
    >>> round(found.systems[0].value("cer").estimate.value, 3)  # three edits, fifteen characters
    0.2
    """
    design = design or Design()
    _check_design(design)
    counts = [source for source in sources if isinstance(source, CharacterCounts)]
    if counts and len(counts) < len(sources):
        raise UsageError("japanese takes tables of generations or counts of characters, not both at once.")
    if counts:
        return _of_counts(counts, design)
    check_ranges(scripts)
    check_normalization(normalize)
    check_tokenizers(bleu)
    systems = read_generations(sources, columns=columns, allow_empty=allow_empty)
    evidence = counts_of_generations(systems, ranges=scripts, normalize=normalize, bleu=bleu)
    return _result("generations", evidence, design, scripts, normalize, {})


def _check_design(design: Design) -> None:
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("japanese takes the method, level, resamples and seed of a design; leave out the rest.")


def _of_counts(counts: Sequence[CharacterCounts], design: Design) -> Japanese:
    first = counts[0]
    names = [part.name for part in counts]
    if len(set(names)) < len(names):
        raise InputError(f"two models are called {next(n for n in names if names.count(n) > 1)!r}; rename a folder.")
    for other in counts[1:]:
        _check_same_characters(first, other)
    about = {"context": first.context, "stride": first.stride}
    evidence = counts_of_characters(counts)
    result = _result("characters", evidence, design, first.ranges, first.normalize, about)
    return msgspec.structs.replace(result, notes=(*_count_notes(counts), *result.notes))


def _count_notes(counts: Sequence[CharacterCounts]) -> tuple[str, ...]:
    """What of a text is not in the numbers, or only by convention."""
    first, notes = counts[0], []
    if first.left_out:
        left = count(first.left_out, "character")
        notes.append(f"not predicted, and not counted: {left} at the start of documents and windows")
    shares = {part.name: part.mixed_bits / max(float(part.bits.sum()), 1e-300) for part in counts}
    if any(share > 0 for share in shares.values()):
        parts = ", ".join(f"{name} {100 * share:.2g} %" for name, share in shares.items())
        notes.append(f"bits of tokens with several scripts, which are shared out by bytes: {parts}")
    return tuple(notes)


def _check_same_characters(first: CharacterCounts, other: CharacterCounts) -> None:
    """Accuracy under teacher forcing depends on where tokens end, so tokenizers must not differ."""
    both = f"{first.name} and {other.name}"
    if first.text != other.text or (first.ranges, first.normalize) != (other.ranges, other.normalize):
        raise InputError(f"{both} were counted on different text or scripts; count both in one call.")
    same = first.tokenizer == other.tokenizer and (first.context, first.stride) == (other.context, other.stride)
    if not same or not np.array_equal(first.characters, other.characters):
        raise InputError(
            f"{both} have different tokenizers or windows, so that different characters are predicted; look at each by "
            "itself, and compare their losses with assay compare --per character."
        )


def _result(
    kind: TextKind,
    evidence: TextCounts,
    design: Design,
    scripts: Ranges,
    normalize: Normalization,
    about: Mapping[str, int],
) -> Japanese:
    made = Estimates(evidence, design)
    systems = made.systems()
    pairs = tuple(_pair(made, systems, b) for b in range(1, len(systems)))
    n, unit = evidence.n, evidence.unit
    sentences = [system_sentence(system, unit, n) for system in systems]
    return Japanese(
        kind=kind,
        sentence="\n".join([*sentences, *(pair.sentence for pair in pairs)]),
        systems=systems,
        differences=pairs,
        n_units=n,
        unit=unit,
        scripts=scripts,
        normalize=normalize,
        tokenizers=evidence.tokenizers,
        fallbacks=(*_cluster_fallback(evidence), *made.fallbacks),
        notes=_notes(systems, pairs, evidence),
        design=design,
        signature=signature(
            "japanese",
            kind=kind,
            units=f"{unit}s",
            n=n,
            scripts=scripts,
            normalize=normalize,
            bleu="+".join(evidence.tokenizers.values()) or None,
            **about,
            method=design.resampling,
            resamples=design.resamples or f"exact+{DEFAULT_RESAMPLES}",
            level=design.level,
            seed=design.seed,
            data=evidence.digest,
        ),
    )


def _pair(made: Estimates, systems: Sequence[SystemScores], b: int) -> SystemPair:
    gaps, evidence = made.gaps(b), made.evidence
    both = systems[0], systems[b]
    sentence = pair_sentence(both, gaps, evidence.headline, evidence.unit, made.design)
    return SystemPair(a=both[0].name, b=both[1].name, sentence=sentence, headline=evidence.headline, gaps=gaps)


def _cluster_fallback(evidence: TextCounts) -> tuple[Fallback, ...]:
    if evidence.unit != "window":
        return ()
    return (Fallback("documents as clusters", "windows as clusters", "there is one document only"),)


def _notes(systems: Sequence[SystemScores], pairs: Sequence[SystemPair], evidence: TextCounts) -> tuple[str, ...]:
    notes = list(evidence.notes)
    scripts = [systems[0].value(f"accuracy/{script}") for script in JAPANESE]
    if not any(value.characters for value in scripts):
        notes.append("there is no Japanese character in the text: no hiragana, katakana or kanji")
    if evidence.n < FEW:
        notes.append(f"{count(evidence.n, evidence.unit)}: too few to rely on an interval")
    if pairs:
        label = next(gap.quantity.label for gap in pairs[0].gaps if gap.quantity.key == evidence.headline)
        notes.append(f"p-values are of single quantities, not adjusted for their number; {label} was chosen beforehand")
    return tuple(notes)
