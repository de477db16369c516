"""`assay score MODEL TEXT… -o RUN`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from assay.cli import options
from assay.cli.dry_run import AS_USUAL, BeforeStart, score_size
from assay.cli.option_groups import with_groups
from assay.cli.output import say
from assay.cli.progress import tokens_of
from assay.cli.workers import HERE, OnWorkers


@with_groups
def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder or hub name, or endpoint:URL.")],
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT…", help="Text files, tables with --field, folders.")],
    output: options.RunFolder,
    also: options.And = None,
    adapter: options.Adapter = None,
    dtype: options.Dtype = "auto",
    device: options.Device = "auto",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    allow_pickle: options.AllowPickle = False,
    rope_scaling: Annotated[
        str | None,
        options.option(
            "Stretch rotary positions: yarn:8 reads 8 times the model's context.",
            panel=options.MODEL,
            value="linear|yarn:FACTOR",
        ),
    ] = None,
    served: options.Served = None,
    tokenizer: options.ServerTokenizer = None,
    dialect: Annotated[
        Literal["auto", "prompt_logprobs", "echo"],
        options.option("How it gives log-probabilities of a prompt.", panel=options.SERVER),
    ] = "auto",
    concurrency: options.Concurrency = 8,
    timeout: options.Timeout = None,
    api_key_env: options.ApiKeyEnv = None,
    context: options.Context = None,
    stride: options.Stride = None,
    cut: Annotated[
        Literal["rolling", "fresh"],
        options.option(
            "rolling: every token is predicted once, as in lm-eval; fresh: every window begins anew, and its "
            "first token is not predicted.",
            panel=options.TEXT,
        ),
    ] = "rolling",
    prefix: Annotated[
        Literal["auto", "none"],
        options.option(
            "Before a document stands the BOS token (or EOS), as in lm-eval, or none; then its first token is not "
            "predicted.",
            panel=options.TEXT,
        ),
    ] = "auto",
    no_bos: Annotated[bool, options.option("The same as --prefix none.", "--no-bos", panel=options.TEXT)] = False,
    windows: Annotated[
        options.Drawn | None,
        options.option(
            "Draw P preview and F final windows: 180x180.", panel=options.TEXT, value="PxF", parser=options.windows_in
        ),
    ] = None,
    seed: Annotated[int, options.option("Seed of that draw.", panel=options.TEXT)] = 0,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    keep_tokens: Annotated[
        bool,
        options.option("Store the loss of every token, for assay context.", "--keep-tokens", panel=options.TEXT),
    ] = False,
    batch_tokens: Annotated[
        int | None,
        options.option("Tokens per forward pass. (default: by the model's size)", value="N"),
    ] = None,
    overwrite: options.Overwrite = False,
    where: OnWorkers = HERE,
    before: BeforeStart = AS_USUAL,
) -> None:
    """What does this model lose on this text? Writes a run that compare, certify and context read.

    Every token of a document is predicted once and counts once; padding never does. Killed and started again with the
    same arguments, it goes on where it was.

    Example: assay score models/base text.txt -o runs/base
    """
    from assay.scoring import score as run  # late: --help and errors of usage need none of it
    from assay.scoring import summary_of
    from assay.scoring.models_and_texts import spec_of
    from assay.scoring.windows import Plan

    if not before.goes_on(lambda: score_size([model, *(also or ())], texts, batch_tokens), texts):
        return
    plan = Plan(
        context=context,
        stride=stride,
        cut=cut,
        prefix="none" if no_bos else prefix,
        draw=windows,
        seed=seed,
        batch_tokens=batch_tokens,
        keep_tokens=keep_tokens,
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
            rope_scaling=rope_scaling,
            model=served,
            tokenizer=tokenizer,
            dialect=dialect,
            concurrency=concurrency,
            timeout=timeout,
            api_key_env=api_key_env,
        )
        for name in (model, *(also or ()))
    ]
    runs = run(
        specs,
        texts,
        output,
        plan=plan,
        field=field,
        split_on=split_on,
        overwrite=overwrite,
        engine=where.chosen(),
        progress=tokens_of,
    )
    for name, found in runs.items():
        say(f"{name}: {summary_of(found)} → {found.folder}")
