"""What arms write, and the bits that they need for a character: where runs have generations, and scored windows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log

import msgspec

from assay.analyses.japanese import japanese_of
from assay.analyses.japanese.result import Japanese, Quantity
from assay.analyses.japanese.text_panel import BleuTokenizer, text_panel, tokenizer_of
from assay.analyses.tune.arms import Trained
from assay.analyses.tune.contrasts import windows_panel
from assay.data.generations import read_generations
from assay.data.panel_views import Runs
from assay.data.writing_systems import codes_of, scripts_of
from assay.design import Design
from assay.errors import UsageError
from assay.names import listed
from assay.results.parts import Column, ResultTable, Value
from assay.stats.records import Estimate
from assay.stats.units import Units, grouped, joined, standard_error

_BITS = Quantity("bits_per_character", "bits per character", "bits", lower_is_better=True)
_KANA = 2  # hiragana and katakana are the first scripts
_SHOWN = ("cer", "accuracy", "bleu", "sentence_bleu", "chrf")


class Language(msgspec.Struct, frozen=True):
    """Bits per character over the validation windows, and the scores of generations over prompts, by arm.

    Seeds of an arm are averaged window by window and prompt by prompt, so that intervals are of other text.
    """

    bits_per_character: dict[str, Estimate]
    generations: Japanese | None = None
    notes: tuple[str, ...] = ()

    @property
    def japanese(self) -> bool:
        """Whether prompts are Japanese, so that words are MeCab's."""
        return any(quantity.key == "bleu/ja-mecab" for own in self.scores().values() for quantity in own)

    @property
    def said(self) -> tuple[str, ...]:
        """What arms wrote, in pairs."""
        return () if self.generations is None else tuple(pair.sentence for pair in self.generations.differences)

    def scores(self) -> dict[str, dict[Quantity, Estimate]]:
        """Everything by arm."""
        found: dict[str, dict[Quantity, Estimate]] = {
            arm: {_BITS: estimate} for arm, estimate in self.bits_per_character.items()
        }
        for system in () if self.generations is None else self.generations.systems:
            own = {value.quantity: value.estimate for value in system.values if value.quantity.name in _SHOWN}
            found[system.name] = found.get(system.name, {}) | own
        return found

    def table(self) -> ResultTable:
        scores = self.scores()
        quantities = list(dict.fromkeys(quantity for own in scores.values() for quantity in own))
        columns = [Column("quantity", [quantity.label for quantity in quantities])]
        for arm, own in scores.items():
            found: list[Value] = [own.get(quantity) for quantity in quantities]
            written = [quantity.cell(own[quantity]) if quantity in own else "–" for quantity in quantities]
            columns.append(Column(arm, found, written=written))
        return ResultTable(
            "language", "text and bits per character", tuple(columns), "intervals over other text", "scores of text"
        )


def language_of(groups: Mapping[str, Sequence[Trained]], baseline: str | None, design: Design) -> Language | None:
    """What the runs have of it; ``None`` if that is nothing."""
    bits = {name: found for name, runs in groups.items() if (found := _bits(name, runs, design)) is not None}
    written, notes = _generations(groups, baseline, design)
    return Language(bits, written, notes) if bits or written is not None or notes else None


def _bits(name: str, runs: Sequence[Trained], design: Design) -> Estimate | None:
    """Bits per character of the validation text, the loss of a window being the mean over seeds."""
    if any(run.validation_loss is None for run in runs):
        return None
    panel = windows_panel([name], [runs])
    if panel is None or "chars" not in panel.sizes:
        return None
    panel = panel.averaged()
    top, below = panel.numerators[:, 0] / log(2), panel.sizes["chars"]
    if panel.clusters is not None:
        top, below = grouped(top, panel.clusters), grouped(below, panel.clusters)
    units = Units(*joined(top, below))
    if units.n < 2:
        return Estimate(units.estimate, None, None, units.n, f"only one {panel.unit} counts in it")
    return Estimate(units.estimate, design.interval(units).interval, standard_error(units), units.n)


def _generations(
    groups: Mapping[str, Sequence[Trained]], baseline: str | None, design: Design
) -> tuple[Japanese | None, tuple[str, ...]]:
    """The scores of what arms wrote, the baseline's first; seeds are averaged prompt by prompt."""
    having = [name for name, runs in groups.items() if all(run.log.generations is not None for run in runs)]
    if not having:
        return None, ()
    lacking = [name for name in groups if name not in having]
    notes = [f"no generations of {listed(lacking)}: not every run has them"] if lacking else []
    order = sorted(having, key=lambda name: name != baseline)
    files = [str(run.log.generations) for name in order for run in groups[name]]
    sources = [f"{number}={file}" for number, file in enumerate(files)]
    of_words = _of_words(read_generations(sources[:1])[0].references)
    if of_words is None:
        notes.append("BLEU of words needs the extra ja: pip install 'assay-eval[ja]'")
    panel = text_panel(*sources, bleu=["char"] if of_words is None else [of_words, "char"])
    columns, place = [], 0
    for name in order:
        own = tuple(range(place, place + len(groups[name])))
        columns.append(Runs(name, tuple(map(str, own)), own))
        place += len(own)
    return japanese_of(replace(panel, models=tuple(columns)).averaged(), design), tuple(notes)


def _of_words(references: Sequence[str]) -> BleuTokenizer | None:
    """The tokenizer of words for these texts: MeCab where there are kana; none where it is not installed."""
    kana = (scripts_of(codes_of("".join(references)), "basic") < _KANA).any()
    found: BleuTokenizer = "ja-mecab" if kana else "13a"
    try:
        tokenizer_of(found)
    except UsageError:
        return None
    return found
