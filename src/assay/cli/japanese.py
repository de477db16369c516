"""`assay japanese MODEL TEXT…` and `assay japanese GENERATIONS…`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from assay.cli import options, output
from assay.design import Design
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.analyses.japanese.text_panel import BleuTokenizer


def japanese(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="GENERATIONS… | MODEL TEXT…",
            help="Tables of item, prediction, reference, as [NAME=]PATH; or a model (folder, hub name) and text files.",
        ),
    ],
    scripts: Annotated[
        Literal["basic", "wide"],
        options.option("Ranges of the scripts; wide adds half-width katakana, rare kanji, marks, full-width Latin."),
    ] = "basic",
    normalize: Annotated[Literal["none", "nfkc"], options.option("Unicode normalization of all text.")] = "none",
    chart: options.Chart = None,
    bleu: Annotated[
        Sequence[str],
        options.option(
            "Tokenizers of BLEU: ja-mecab, char, 13a.",
            panel=options.GENERATIONS,
            value="NAME,…",
            parser=options.names_in,
        ),
    ] = "ja-mecab,char",
    columns: options.GenerationColumns = None,
    allow_empty: Annotated[
        bool, options.option("An empty prediction is one of nothing.", "--allow-empty", panel=options.GENERATIONS)
    ] = False,
    also: options.And = None,
    adapter: options.Adapter = None,
    dtype: options.Dtype = "auto",
    device: options.Device = "auto",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    allow_pickle: options.AllowPickle = False,
    context: options.Context = None,
    stride: options.Stride = None,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    save: options.Save = None,
    as_json: options.Json = False,
) -> None:
    """How good is this model's Japanese?

    On a text: the characters that a model would have written next, and bits per character, by script. On generations:
    character error rate, accuracy by script, BLEU and chrF. Everything has an interval, and every further system is
    compared with the first.
    """
    from assay.analyses.japanese import japanese as run  # late: --help and errors of usage need none of it
    from assay.scoring.models_and_texts import names_model

    output.check_outputs([chart, save], sources)
    design = Design(method=method, level=level, resamples=resamples, seed=seed)
    of_models = {
        "also": also,
        "adapter": adapter,
        "context": context,
        "stride": stride,
        "field": field,
        "split_on": split_on,
    }
    if names_model(sources[0]):
        from assay.scoring.characters import characters
        from assay.scoring.models_and_texts import ModelSpec
        from assay.scoring.windows import Plan

        _refuse(f"{sources[0]} is a model", {"columns": columns, "allow_empty": allow_empty})
        if len(sources) < 2:
            raise UsageError(f"{sources[0]}: a model needs text to read: assay japanese {sources[0]} TEXT….")
        counts = characters(
            [
                ModelSpec(name, adapter, dtype, device, revision, trust_remote_code, allow_pickle)
                for name in (sources[0], *(also or ()))
            ],
            sources[1:],
            scripts=scripts,
            normalize=normalize,
            plan=Plan(context=context, stride=stride),
            field=field,
            split_on=split_on,
            progress=output.progress_of,
        )
        result = run(*counts, design=design)
    else:
        _refuse(f"{sources[0]} is a table", of_models)
        result = run(
            *sources,
            scripts=scripts,
            normalize=normalize,
            bleu=cast("Sequence[BleuTokenizer]", bleu),
            columns=columns,
            allow_empty=allow_empty,
            design=design,
        )
    output.show(result, as_json=as_json, save=save, chart=chart)


def _refuse(what: str, given: Mapping[str, object]) -> None:
    """Options of the other kind of input, which would do nothing."""
    used = ["--and" if name == "also" else f"`{name}`" for name, value in given.items() if value]
    if used:
        raise UsageError(f"{what}, for which {', '.join(used)} does nothing; leave it out.")
