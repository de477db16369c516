"""The panel of texts: counts of sentences or documents, of which error rates, accuracies, BLEU and chrF are made."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from assay.data import Panel
from assay.data.arrays import columnwise
from assay.data.generations import CharacterCounts, Generations, read_generations
from assay.data.metrics import CENTRE, bleu_parts, character_metrics, chrf_parts, generation_metrics
from assay.data.tables import Labels
from assay.data.text_columns import TextColumn
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
from assay.errors import InputError, UsageError
from assay.results.words import count
from assay.stats.text import MOST_CELLS, align, bleu_counts, bleu_of, chrf_counts
from assay.stats.units import Floats, Texts

BleuTokenizer = Literal["ja-mecab", "char", "13a"]
TextSource = str | PathLike[str] | Mapping[str, Any] | CharacterCounts | Any
Tokenize = Callable[[str], list[str]]

TOKENIZERS: tuple[BleuTokenizer, ...] = ("ja-mecab", "char")
_SACREBLEU = {"ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab"), "13a": ("tokenizer_13a", "Tokenizer13a")}


def text_panel(
    *sources: TextSource,
    scripts: Ranges = "basic",
    normalize: Normalization = "none",
    bleu: Sequence[BleuTokenizer] = TOKENIZERS,
    columns: Mapping[str, str] | None = None,
    allow_empty: bool = False,
) -> Panel:
    """Count the texts of several systems into the panel that `assay.japanese` judges.

    ``sources`` and options are those of `assay.japanese`: tables of generations with the columns ``item, prediction,
    reference``, or what `assay.characters` counted. The first metric is the one that a comparison is judged by.

    >>> import assay
    >>> cats = {"item": ["1", "2"], "reference": ["猫がいる。", "犬だ。"], "prediction": ["猫はいる。", "犬だ。"]}
    >>> panel = assay.text_panel(cats, bleu=["char"])
    >>> panel.unit, panel.metric.name, panel.parts["edits"].tolist(), panel.parts["characters/kanji"].tolist()
    ('sentence', 'bleu/char', [[1.0], [0.0]], [[1.0], [1.0]])
    """
    counts = [source for source in sources if isinstance(source, CharacterCounts)]
    if counts and len(counts) < len(sources):
        raise UsageError("give tables of generations or counts of characters, not both at once.")
    if counts:
        return _of_characters(counts)
    check_ranges(scripts)
    check_normalization(normalize)
    check_tokenizers(bleu)
    systems = read_generations(sources, columns=columns, allow_empty=allow_empty)
    return _of_generations(systems, scripts, normalize, bleu)


# ----------------------------------------------------------------------------------------------------------- characters


def _of_characters(counts: Sequence[CharacterCounts]) -> Panel:
    first, names = counts[0], [one.name for one in counts]
    if len(set(names)) < len(names):
        raise InputError(f"two models are called {next(n for n in names if names.count(n) > 1)!r}; rename a folder.")
    for other in counts[1:]:
        _check_same_characters(first, other)
    order = np.array(sorted(range(len(first.units)), key=first.units.__getitem__))
    parts = {}
    for k, script in enumerate(first.scripts):
        for name in ("right", "bits"):
            of_all = [getattr(one, name)[order, k] for one in counts]
            parts[f"{name}/{script}"] = columnwise(np.column_stack(of_all))
        parts[f"characters/{script}"] = first.characters[order][:, [k]]
    return Panel(
        tuple(names),
        _texts(first.units)[order],
        parts,
        character_metrics(first.scripts),
        first.cluster_by,
        notes=_character_notes(counts),
        settings={"normalize": first.normalize, "context": first.context, "stride": first.stride},
    )


def _check_same_characters(first: CharacterCounts, other: CharacterCounts) -> None:
    """Accuracy under teacher forcing depends on where tokens end, so tokenizers must not differ."""
    both = f"{first.name} and {other.name}"
    if first.text != other.text or (first.ranges, first.normalize) != (other.ranges, other.normalize):
        raise InputError(f"{both} were counted on different text or scripts; count both in one call.")
    same = first.tokenizer == other.tokenizer and (first.context, first.stride) == (other.context, other.stride)
    if not same or not np.array_equal(first.characters, other.characters):
        raise InputError(
            f"{both} have different tokenizers or windows, so they predict different characters; look at each on its "
            "own, and compare their losses with `per='character'` of compare."
        )


def _character_notes(counts: Sequence[CharacterCounts]) -> tuple[str, ...]:
    """What of a text is not in the numbers, or only by convention."""
    left, notes = counts[0].left_out, []
    if left:
        what = count(left, "character")
        notes.append(f"not predicted, and not counted: {what} at the start of documents and windows")
    shares = {one.name: one.mixed_bits / max(float(one.bits.sum()), 1e-300) for one in counts}
    if any(share > 0 for share in shares.values()):
        each = ", ".join(f"{name} {100 * share:.2g}%" for name, share in shares.items())
        notes.append(f"bits of tokens with several scripts, which are shared out by bytes: {each}")
    return tuple(notes)


def _texts(values: Sequence[str]) -> Texts:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


# ---------------------------------------------------------------------------------------------------------- generations


def _of_generations(
    systems: Sequence[Generations], ranges: Ranges, normalize: Normalization, bleu: Sequence[str]
) -> Panel:
    cutters = {name: tokenizer_of(name) for name in bleu}
    cut_by = {name: cut for name, (cut, _) in cutters.items()}
    wanted = [normalized(text, normalize) for text in systems[0].references]
    counts = []
    for system in systems:
        written = [normalized(text, normalize) for text in system.predictions]
        _check_sizes(system, written, wanted)
        counts.append(_counts(written, wanted, ranges, cut_by))
    metrics = generation_metrics(script_names(ranges), bleu)
    deciding = next(metric for metric in metrics if metric.name == f"bleu/{bleu[0]}")
    clusters = systems[0].clusters
    return Panel(
        tuple(system.name for system in systems),
        TextColumn.of(systems[0].items),
        {name: _part(name, [one[name] for one in counts]) for name in counts[0]},
        (deciding, *(metric for metric in metrics if metric is not deciding)),
        "sentence",
        labels={} if clusters is None else {"cluster": Labels.of(_texts(clusters))},
        cluster=None if clusters is None else "cluster",
        settings={"normalize": normalize, **{f"bleu/{name}": version for name, (_, version) in cutters.items()}},
    )


def _part(name: str, columns: Sequence[Floats]) -> Floats:
    """(n, k), or (n, 1) for what is of the references."""
    shared = name == "sentences" or name.startswith("characters/") or "/wanted" in name
    return columns[0][:, None] if shared else columnwise(np.column_stack(columns))


def _check_sizes(system: Generations, written: Sequence[str], wanted: Sequence[str]) -> None:
    for item, a, b in zip(system.items, written, wanted, strict=True):
        if (len(a) + 1) * (len(b) + 1) > MOST_CELLS:
            raise InputError(
                f"{system.label}: item {item!r} has {len(a):,} characters against {len(b):,}, too many to align; cut "
                "the texts into sentences."
            )


def _counts(
    written: Sequence[str], wanted: Sequence[str], ranges: Ranges, cutters: Mapping[str, Tokenize]
) -> dict[str, Floats]:
    """(n,) Every part of one system."""
    pairs = list(zip(written, wanted, strict=True))
    found = _edits(written, wanted, ranges)
    found |= _columns(("zipped", "both"), [_zipped(a, b) for a, b in pairs])
    found["sentences"] = np.ones(len(pairs))
    for name, cut in cutters.items():
        counts = _columns(bleu_parts(name), [bleu_counts(cut(a), cut(b)) for a, b in pairs])
        single = bleu_of(np.column_stack(list(counts.values())), effective_order=True)
        found |= {**counts, f"sentence_bleu/{name}": single, f"sentence_bleu_squares/{name}": (single - CENTRE) ** 2}
    return found | _columns(chrf_parts(), [chrf_counts(a, b) for a, b in pairs])


def _columns(names: Sequence[str], rows: Sequence[Sequence[int]]) -> dict[str, Floats]:
    return dict(zip(names, np.array(rows, dtype=np.float64).T.copy(), strict=True))


def _edits(written: Sequence[str], wanted: Sequence[str], ranges: Ranges) -> dict[str, Floats]:
    """Edit distance, and the characters of the reference that are matched, by script (C7)."""
    references = [codes_of(text) for text in wanted]
    alignments = align([codes_of(text) for text in written], references)
    names = script_names(ranges)
    matched, all_of = np.zeros((2, len(names), len(references)))
    for row, (alignment, reference) in enumerate(zip(alignments, references, strict=True)):
        scripts = scripts_of(reference, ranges)
        all_of[:, row] = np.bincount(scripts, minlength=len(names))
        matched[:, row] = np.bincount(scripts[alignment.matched], minlength=len(names))
    return {
        "edits": np.array([alignment.edits for alignment in alignments], dtype=np.float64),
        **{f"right/{script}": column for script, column in zip(names, matched, strict=True)},
        **{f"characters/{script}": column for script, column in zip(names, all_of, strict=True)},
    }


def _zipped(written: str, wanted: str) -> tuple[int, int]:
    """Equal characters at the same place, and the places that both have."""
    return sum(a == b for a, b in zip(written, wanted, strict=False)), min(len(written), len(wanted))


# ----------------------------------------------------------------------------------------------------------- tokenizers


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
            f"BLEU with {name} needs the extra ja: pip install 'assay-eval[ja]'. Or pass "
            "`bleu=['char']`, which needs none."
        ) from error
