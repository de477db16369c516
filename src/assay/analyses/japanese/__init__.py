"""How good is this model's Japanese? Characters by script, edit distance, BLEU and chrF, with intervals (T7–T9, C7)."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from assay.analyses.contrast import FEW
from assay.analyses.japanese.estimates import Estimates
from assay.analyses.japanese.result import Japanese, Quantity, SystemPair, SystemScores, TextKind
from assay.analyses.japanese.sentences import pair_sentence, system_sentence
from assay.analyses.japanese.text_panel import TOKENIZERS, BleuTokenizer, TextSource, text_panel
from assay.data import Metric, Panel
from assay.data.metrics import character_metrics, generation_metrics
from assay.data.writing_systems import JAPANESE, Normalization, Ranges, check_normalization, script_names
from assay.design import DEFAULT_RESAMPLES, Design, signature
from assay.errors import InputError, UsageError
from assay.names import listed
from assay.results.words import count
from assay.stats.records import Fallback


def japanese(
    *sources: TextSource | Panel,
    scripts: Ranges = "basic",
    normalize: Normalization = "none",
    bleu: Sequence[BleuTokenizer] = TOKENIZERS,
    columns: Mapping[str, str] | None = None,
    allow_empty: bool = False,
    design: Design | None = None,
) -> Japanese:
    """Measure Japanese text by script, and compare every system with the first.

    ``sources`` are tables of generations, or what `assay.characters` counted of models on a text, or one `Panel` that
    `assay.text_panel` has made of either. Generations have the columns ``item, prediction, reference``, ``model`` where
    there are several, and ``cluster`` for sentences that are to be drawn together. They are aligned with their
    references by edit distance; of them there are the character error rate, accuracy by script, BLEU with the
    tokenizers ``bleu``, and chrF. Of the design the method, level, resamples and seed count.

    >>> cats = {"item": ["1", "2", "3"], "reference": ["猫がいる。", "犬がいる。", "鳥が飛ぶ。"]}
    >>> found = japanese(cats | {"prediction": ["猫はいる。", "犬がいます。", "鳥が飛ぶ。"]}, bleu=["char"])
    >>> found.systems[0].value("accuracy/kanji").estimate.value
    1.0
    >>> round(found.systems[0].value("cer").estimate.value, 3)  # three edits, fifteen characters
    0.2
    """
    design = design or Design()
    _check_design(design)
    panels = [source for source in sources if isinstance(source, Panel)]
    if panels:
        if len(sources) > 1:
            raise UsageError("japanese takes one panel, or files and tables, but not both.")
        _check_usual((scripts, normalize, tuple(bleu), columns, allow_empty))
        return japanese_of(panels[0], design)
    panel = text_panel(
        *sources, scripts=scripts, normalize=normalize, bleu=bleu, columns=columns, allow_empty=allow_empty
    )
    return japanese_of(panel, design)


def _check_usual(options: tuple[object, ...]) -> None:
    """Options of counting must be left as they are where texts have been counted."""
    usual = {"scripts": "basic", "normalize": "none", "bleu": TOKENIZERS, "columns": None, "allow_empty": False}
    given = [name for (name, left), value in zip(usual.items(), options, strict=True) if value != left]
    if given:
        raise UsageError(
            f"{given[0]} says how texts are counted, but those of a panel have been; pass it to assay.text_panel."
        )


def _check_design(design: Design) -> None:
    used = Design(method=design.method, level=design.level, resamples=design.resamples, seed=design.seed)
    if used != design:
        raise UsageError("japanese takes the method, level, resamples and seed of a design; leave out the rest.")


def japanese_of(panel: Panel, design: Design) -> Japanese:
    """The result of a panel of texts; the first of its metrics is the one that systems are judged by."""
    kind, scripts, metrics = _kind_of(panel)
    _check_counts(panel)
    made = Estimates(panel, metrics, design)
    systems = made.systems()
    headline, n, unit = Quantity.of(panel.metric), made.panel.n, made.panel.unit
    pairs = tuple(_pair(made, systems, headline.key, b) for b in range(1, panel.k))
    sentences = [system_sentence(system, unit, n) for system in systems]
    tokenizers = _tokenizers(panel)
    return Japanese(
        kind=kind,
        sentence="\n".join([*sentences, *(pair.sentence for pair in pairs)]),
        systems=systems,
        differences=pairs,
        n_units=n,
        unit=unit,
        scripts=scripts,
        normalize=_normalization(panel),
        tokenizers=tokenizers,
        fallbacks=(*_cluster_fallback(unit), *made.fallbacks),
        notes=_notes(panel, made.panel, systems, headline if pairs else None),
        design=design,
        signature=signature(
            "japanese",
            kind=kind,
            units=f"{unit}s",
            n=n,
            scripts=scripts,
            normalize=_normalization(panel),
            bleu="+".join(tokenizers.values()) or None,
            **{name: panel.settings[name] for name in ("context", "stride") if name in panel.settings},
            method=design.resampling,
            resamples=design.resamples or f"exact+{DEFAULT_RESAMPLES}",
            level=design.level,
            seed=design.seed,
            data=panel.digest[:16],
        ),
    )


def _kind_of(panel: Panel) -> tuple[TextKind, Ranges, tuple[Metric, ...]]:
    """What was counted, by which scripts, and its metrics in the order of the result."""
    tokenizers = list(_tokenizers(panel))
    for scripts in get_args(Ranges):
        names = script_names(scripts)
        known = {"characters": character_metrics(names), "generations": generation_metrics(names, tokenizers)}
        for kind, metrics in known.items():
            if set(metrics) == set(panel.metrics):
                return cast("TextKind", kind), scripts, metrics
    shown = listed(metric.name for metric in panel.metrics)
    raise UsageError(f"japanese takes a panel of texts, as assay.text_panel makes it, but got the metrics {shown}.")


def _tokenizers(panel: Panel) -> dict[str, str]:
    """Those of BLEU, with their versions."""
    names = [metric.name for metric in panel.metrics if metric.name.startswith("bleu/")]
    return {name.removeprefix("bleu/"): str(panel.settings.get(name, name.removeprefix("bleu/"))) for name in names}


def _normalization(panel: Panel) -> Normalization:
    found = panel.settings.get("normalize", "none")
    check_normalization(str(found))
    return cast("Normalization", found)


def _check_counts(panel: Panel) -> None:
    if panel.models:
        raise UsageError("japanese compares systems, but the columns of this panel are runs; take one run of each.")
    if not panel.whole:
        raise InputError(
            f"japanese needs counts of every system for every {panel.unit}, but this panel has holes; leave them out: "
            "panel.complete()."
        )
    for name, part in panel.parts.items():
        if (part < 0).any():
            raise InputError(f"part {name!r} must hold counts, but {part.min():g} is negative.")
    for metric in panel.metrics:
        own = [name for name in (metric.ratio or ((), ()))[1] if panel.parts[name].shape[1] > 1]
        if own:
            raise InputError(
                f"part {own[0]!r} must be shared by all systems, of the shape ({panel.n}, 1): all are measured by the "
                "same references."
            )


def _pair(made: Estimates, systems: Sequence[SystemScores], headline: str, b: int) -> SystemPair:
    gaps, both = made.gaps(b), (systems[0], systems[b])
    sentence = pair_sentence(both, gaps, headline, made.panel.unit, made.design)
    return SystemPair(a=both[0].name, b=both[1].name, sentence=sentence, headline=headline, gaps=gaps)


def _cluster_fallback(unit: str) -> tuple[Fallback, ...]:
    if unit != "window":
        return ()
    return (Fallback("documents as clusters", "windows as clusters", "there is one document only"),)


def _notes(panel: Panel, drawn: Panel, systems: Sequence[SystemScores], headline: Quantity | None) -> tuple[str, ...]:
    notes = list(panel.notes)
    if drawn is not panel:
        notes.append(f"{panel.n:,} {panel.unit}s in {drawn.n:,} clusters, which are drawn whole")
    scripts = [systems[0].value(f"accuracy/{script}") for script in JAPANESE]
    if not any(value.characters for value in scripts):
        notes.append("there is no Japanese character in the text: no hiragana, katakana or kanji")
    if drawn.n < FEW:
        notes.append(f"{count(drawn.n, drawn.unit)}: too few to rely on an interval")
    if headline is not None:
        chosen = f"{headline.label} was chosen beforehand"
        notes.append(f"p-values are of single quantities, not adjusted for their number; {chosen}")
    return tuple(notes)
