"""`assay generate MODEL PROMPTS -o FILE`."""

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options
from assay.cli.option_groups import with_groups
from assay.cli.output import say
from assay.cli.progress import prompts_of
from assay.cli.workers import HERE, OnWorkers


@with_groups
def generate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder or hub name, or endpoint:URL.")],
    prompts: Annotated[
        str,
        typer.Argument(metavar="PROMPTS", help="A table (JSON Lines, CSV, Parquet) of prompt, reference, item."),
    ],
    output: Annotated[
        Path, options.option("The table of generations, as JSON Lines.", "-o", "--output", value="FILE.jsonl")
    ],
    temperature: options.Temperature = 0.0,
    seed: Annotated[int, options.option("Seed of what is drawn.", panel=options.PROMPTS)] = 0,
    max_tokens: options.MaxTokens = 256,
    stop: options.Stop = None,
    batch_size: options.BatchSize = 16,
    overwrite: options.OverwriteGenerations = False,
    columns: options.PromptColumns = None,
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
    where: OnWorkers = HERE,
) -> None:
    """What does this model answer? Writes a table that assay japanese reads.

    Prompts are given to the model as they are, and every answer ends with the model's end token or after --max-tokens.
    Killed and started again with the same arguments, it goes on where it was. How the table was made stands beside it,
    in FILE.manifest.json.

    Example: assay generate models/base prompts.jsonl -o said.jsonl --max-tokens 64
    """
    from assay.scoring.decoding import Decoding  # late: --help and errors of usage need none of it
    from assay.scoring.generation import generate as run
    from assay.scoring.models_and_texts import spec_of

    decoding = Decoding(
        temperature=temperature, seed=seed, max_tokens=max_tokens, stop=tuple(stop or ()), batch_size=batch_size
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
        for name in (model, *(also or ()))
    ]
    found = run(
        specs,
        prompts,
        output,
        decoding=decoding,
        columns=columns,
        overwrite=overwrite,
        engine=where.chosen(),
        progress=prompts_of,
    )
    say(str(found))
