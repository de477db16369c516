"""`assay japanese MODEL TEXT…` and `assay japanese GENERATIONS…`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from assay.cli import options, output
from assay.design import Design
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.analyses.japanese.result import Japanese
    from assay.analyses.japanese.text_panel import BleuTokenizer
    from assay.data.writing_systems import Normalization, Ranges
    from assay.scoring.run import Plan
    from assay.scoring.specs import ModelSpec

_TABLES = options.GENERATIONS
_MODEL = options.MODEL
_STATISTICS = "Statistics"
_SUFFIXES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".pq"})


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
        typer.Option(help="Ranges of the scripts; wide adds half-width katakana, rare kanji, marks, full-width Latin."),
    ] = "basic",
    normalize: Annotated[Literal["none", "nfkc"], typer.Option(help="Unicode normalization of all text.")] = "none",
    chart: Annotated[Path | None, options.chart("accuracy by script")] = None,
    bleu: Annotated[
        str,
        typer.Option(metavar="NAME,…", help="Tokenizers of BLEU: ja-mecab, char, 13a.", rich_help_panel=_TABLES),
    ] = "ja-mecab,char",
    columns: options.GenerationColumns = None,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="An empty prediction is one of nothing.", rich_help_panel=_TABLES)
    ] = False,
    also: Annotated[
        list[str] | None,
        typer.Option("--and", metavar="MODEL", help="Another model on the same text.", rich_help_panel=_MODEL),
    ] = None,
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
    method: options.IntervalMethod = "auto",
    level: options.Level = 0.95,
    resamples: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Random resamples and swaps. (default: exact where possible, else 10,000)",
            rich_help_panel=_STATISTICS,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    save: output.Save = None,
    as_json: output.Json = False,
) -> None:
    """How good is this model's Japanese?

    On a text: the characters that a model would have written next, and bits per character, by script. On generations:
    character error rate, accuracy by script, BLEU and chrF. Everything has an interval, and every further system is
    compared with the first.
    """
    output.check_outputs([chart, save], sources)
    design = Design(method=method, level=level, resamples=resamples, seed=seed)
    if _is_model(sources[0]):
        _refuse_other(sources[0], {"--columns": columns, "--allow-empty": allow_empty})
        from assay.scoring.run import Plan
        from assay.scoring.specs import ModelSpec

        specs = [
            ModelSpec(name, adapter, dtype, device, revision, trust_remote_code, allow_pickle)
            for name in (sources[0], *(also or ()))
        ]
        plan = Plan(context=context, stride=stride)
        result = _of_models(specs, sources[1:], scripts, normalize, plan, field, split_on, design)
    else:
        given = {"--and": also, "--adapter": adapter, "--context": context, "--stride": stride, "--field": field}
        _refuse_other(sources[0], given | {"--split-on": split_on})
        result = _of_tables(sources, scripts, normalize, bleu, columns, design, allow_empty=allow_empty)

    output.show(result, as_json=as_json, save=save, chart=chart)


def _is_model(first: str) -> bool:
    """A folder, or what is no file and not called like a table: the name of a model on the hub."""
    from assay.data.readers.registry import exists, named

    path = named(first)[1]
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UsageError(f"{first}: a folder without config.json is no model; name a model, or tables.")
        return True
    if not exists(path):
        return path.suffix.lower() not in _SUFFIXES and "=" not in first
    if path.suffix.lower() in (".txt", ".md"):
        raise UsageError(f"{first}: a text needs a model before it: assay japanese MODEL {first}.")
    return False


def _refuse_other(first: str, given: Mapping[str, object]) -> None:
    """Options of the other kind of input, which would do nothing."""
    used = [name for name, value in given.items() if value]
    if used:
        what = "a model" if _is_model(first) else "a table"
        raise UsageError(f"{first} is {what}, for which {', '.join(used)} does nothing; leave it out.")


def _of_models(
    specs: "list[ModelSpec]",
    texts: list[str],
    scripts: "Ranges",
    normalize: "Normalization",
    plan: "Plan",
    field: str | None,
    split_on: str | None,
    design: Design,
) -> "Japanese":
    if not texts:
        raise UsageError(f"{specs[0].name}: a model needs text to read: assay japanese {specs[0].name} TEXT….")
    from assay.analyses.japanese import japanese as run  # late: --help and errors of usage need none of it
    from assay.cli.score import progress_line
    from assay.scoring.characters import characters

    short = [Path(spec.name).name for spec in specs]
    names = short if len(set(short)) == len(short) else [spec.name for spec in specs]
    if len(set(names)) < len(names):
        raise UsageError(f"the model {specs[0].name} is there twice; name every model once.")
    counts = characters(
        dict(zip(names, specs, strict=True)),
        texts,
        scripts=scripts,
        normalize=normalize,
        plan=plan,
        field=field,
        split_on=options.unescaped(split_on),
        progress=progress_line,
    )
    return run(*counts, design=design)


def _of_tables(
    sources: list[str],
    scripts: "Ranges",
    normalize: "Normalization",
    bleu: str,
    columns: dict[str, str] | None,
    design: Design,
    *,
    allow_empty: bool,
) -> "Japanese":
    from assay.analyses.japanese import japanese as run  # late, likewise

    return run(
        *sources,
        scripts=scripts,
        normalize=normalize,
        bleu=cast("list[BleuTokenizer]", [name.strip() for name in bleu.split(",") if name.strip()]),
        columns=columns,
        allow_empty=allow_empty,
        design=design,
    )
