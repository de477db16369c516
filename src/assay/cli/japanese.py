"""`assay japanese MODEL… TEXT…`, `assay japanese MODEL… PROMPTS` and `assay japanese GENERATIONS…`."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from assay.cli import options, output
from assay.cli.option_groups import with_groups
from assay.cli.progress import prompts_of, tokens_of
from assay.cli.shown import Outputs
from assay.cli.workers import HERE, OnWorkers
from assay.design import Design
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.analyses.japanese.text_panel import BleuTokenizer


@with_groups
def japanese(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="GENERATIONS… | MODEL… PROMPTS | MODEL… TEXT…",
            help="Tables of item, prediction, reference, as [NAME=]PATH; or models (folder, hub name, endpoint:URL) "
            "and a table of prompt, reference; or models and text files.",
        ),
    ],
    scripts: Annotated[
        Literal["basic", "wide"],
        options.option("Ranges of the scripts; wide adds half-width katakana, rare kanji, marks, full-width Latin."),
    ] = "basic",
    normalize: Annotated[Literal["none", "nfkc"], options.option("Unicode normalization of all text.")] = "none",
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
    generations: Annotated[
        Path | None,
        options.option(
            "Keep what the models write. (default: a temporary file, which is named)",
            "-o",
            "--output",
            panel=options.PROMPTS,
            value="FILE.jsonl",
        ),
    ] = None,
    temperature: options.Temperature = 0.0,
    max_tokens: options.MaxTokens = 256,
    stop: options.Stop = None,
    batch_size: options.BatchSize = 16,
    overwrite: options.OverwriteGenerations = False,
    also: options.And = None,
    adapter: options.Adapter = None,
    dtype: options.Dtype = "auto",
    device: options.Device = "auto",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    allow_pickle: options.AllowPickle = False,
    served: options.Served = None,
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = None,
    api_key_env: options.ApiKeyEnv = None,
    context: options.Context = None,
    stride: options.Stride = None,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    method: options.IntervalMethod = options.DESIGN.method,
    level: options.Level = options.DESIGN.level,
    resamples: options.Resamples = options.DESIGN.resamples,
    seed: options.Seed = options.DESIGN.seed,
    *,
    where: OnWorkers = HERE,
    out: Outputs,
) -> None:
    """How good is this model's Japanese?

    On a text: the characters that a model would have written next, and bits per character, by script. On prompts with
    references, which the models answer first, or on generations: character error rate, accuracy by script, BLEU and
    chrF. Everything has an interval, and every further system is compared with the first.

    Example: assay japanese models/base models/int3 prompts.jsonl -o said.jsonl --max-tokens 64
    """
    from assay.analyses.japanese import japanese as run  # late: --help and errors of usage need none of it
    from assay.scoring.models_and_texts import leading_models, names_prompts, spec_of

    out.check(map(Path, sources), generations)
    design = Design(method=method, level=level, resamples=resamples, seed=seed)
    of_texts = {"context": context, "stride": stride, "field": field, "split_on": split_on}
    of_models = {"also": also, "adapter": adapter, "served": served}
    of_prompts = {"generations": generations, "temperature": temperature, "stop": stop, "overwrite": overwrite}
    models = leading_models(sources)
    texts, names = sources[len(models) :], [*models, *(also or ())]
    if models and not texts:
        raise UsageError(
            f"{models[0]}: a model needs text to read or prompts to answer: assay japanese {models[0]} TEXT…."
        )
    specs = [
        spec_of(
            name,
            adapter=adapter,
            dtype=dtype,
            device=device,
            revision=revision,
            trust_remote_code=trust_remote_code,
            allow_pickle=allow_pickle,
            model=served,
            concurrency=concurrency,
            timeout=timeout,
            api_key_env=api_key_env,
            generates=True,
        )
        for name in names
    ]
    if models and names_prompts(texts, field, columns):
        from assay.scoring.decoding import Decoding
        from assay.scoring.generation import generate

        _refuse(f"{texts[0]} holds prompts", {**of_texts, "allow_empty": allow_empty})
        found = generate(
            specs,
            texts[0],
            generations or Path(tempfile.gettempdir(), f"assay-{token_hex(6)}", "generations.jsonl"),
            decoding=Decoding(
                temperature=temperature, seed=seed, max_tokens=max_tokens, stop=tuple(stop or ()), batch_size=batch_size
            ),
            columns=columns,
            references=True,
            overwrite=overwrite,
            engine=where.chosen(),
            progress=prompts_of,
        )
        output.say(f"Generations: {found}", err=True)
        sources, columns = [str(found.file)], None
    elif models:
        from assay.scoring.characters import characters
        from assay.scoring.windows import Plan

        _refuse(f"{models[0]} is a model", {"columns": columns, "allow_empty": allow_empty, **of_prompts})
        counts = characters(
            specs,
            texts,
            scripts=scripts,
            normalize=normalize,
            plan=Plan(context=context, stride=stride),
            field=field,
            split_on=split_on,
            engine=where.chosen(),
            progress=tokens_of,
        )
        out.show(run(*counts, design=design))
        return
    else:
        _refuse(f"{sources[0]} is a table", {**of_models, **of_texts, **of_prompts, **where.given()})
    result = run(
        *sources,
        scripts=scripts,
        normalize=normalize,
        bleu=cast("Sequence[BleuTokenizer]", bleu),
        columns=columns,
        allow_empty=allow_empty,
        design=design,
    )
    out.show(result)


_OTHERWISE = {"also": "--and", "served": "--model", "generations": "-o"}


def _refuse(what: str, given: Mapping[str, object]) -> None:
    """Options of the other kind of input, which would do nothing."""
    used = [_OTHERWISE.get(name, f"`{name}`") for name, value in given.items() if value]
    if used:
        raise UsageError(f"{what}, for which {', '.join(used)} does nothing; leave it out.")
