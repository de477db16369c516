"""`assay score MODEL TEXT… -o RUN`."""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assay.cli import options
from assay.cli.output import say, say_over
from assay.errors import UsageError

if TYPE_CHECKING:
    from assay.data import Panel

_MODEL = "Model"
_SERVER = "Model behind a server"
_TEXT = "Text"
_SECONDS_BETWEEN_LINES = 10.0


def score(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A folder or hub name, or endpoint:URL.")],
    texts: Annotated[list[Path], typer.Argument(metavar="TEXT…", help="Text files, tables with --field, folders.")],
    output: options.RunFolder,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--and", metavar="MODEL", help="Another model on the same text, into RUN/NAME.", rich_help_panel=_MODEL
        ),
    ] = None,
    adapter: options.Adapter = None,
    dtype: options.Dtype = "auto",
    device: options.Device = "auto",
    revision: options.Revision = None,
    trust_remote_code: options.TrustRemoteCode = False,
    allow_pickle: options.AllowPickle = False,
    served: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="What the server calls the model.", rich_help_panel=_SERVER),
    ] = None,
    tokenizer: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Folder or hub name of its tokenizer.", rich_help_panel=_SERVER),
    ] = None,
    dialect: Annotated[
        Literal["auto", "prompt_logprobs", "echo"],
        typer.Option(help="How it gives log-probabilities of a prompt.", rich_help_panel=_SERVER),
    ] = "auto",
    concurrency: Annotated[int, typer.Option(help="Requests at a time.", rich_help_panel=_SERVER)] = 8,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="For a whole answer. (default: 300)", rich_help_panel=_SERVER),
    ] = None,
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="VARIABLE", help="Environment variable with the key.", rich_help_panel=_SERVER),
    ] = None,
    context: options.Context = None,
    stride: options.Stride = None,
    cut: Annotated[
        Literal["rolling", "fresh"],
        typer.Option(
            help="rolling: every token is predicted once, as in lm-eval; fresh: every window begins anew, and its "
            "first token is not predicted.",
            rich_help_panel=_TEXT,
        ),
    ] = "rolling",
    prefix: Annotated[
        Literal["auto", "none"],
        typer.Option(
            help="Before a document stands the BOS token (or EOS), as in lm-eval, or none; then its first token is not "
            "predicted.",
            rich_help_panel=_TEXT,
        ),
    ] = "auto",
    windows: Annotated[
        str | None,
        typer.Option(metavar="PxF", help="Draw P preview and F final windows: 180x180.", rich_help_panel=_TEXT),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of that draw.", rich_help_panel=_TEXT)] = 0,
    field: options.Field = None,
    split_on: options.SplitOn = None,
    keep_tokens: Annotated[
        bool,
        typer.Option("--keep-tokens", help="Store the loss of every token, for assay context.", rich_help_panel=_TEXT),
    ] = False,
    batch_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="Tokens per forward pass. (default: by the model's size)", show_default=False),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """What does this model lose on this text? Writes a run that compare, certify and context read.

    Every token of a document is predicted once and counts once; padding never does. Killed and started again with the
    same arguments, it goes on where it was.
    """
    from assay.data import pair, read_table
    from assay.scoring import score as run
    from assay.scoring.run import Plan
    from assay.scoring.specs import ENDPOINT, EndpointSpec, ModelSpec, Spec

    plan = Plan(
        context=context,
        stride=stride,
        cut=cut,
        prefix=prefix,
        draw=_draw(windows),
        seed=seed,
        batch_tokens=batch_tokens,
        keep_tokens=keep_tokens,
    )

    def spec_of(name: str) -> Spec:
        if not name.startswith(ENDPOINT):
            return ModelSpec(name, adapter, dtype, device, revision, trust_remote_code, allow_pickle)
        if served is None or tokenizer is None:
            raise UsageError("a server needs --model NAME (what it calls the model) and --tokenizer MODEL.")
        url = name.removeprefix(ENDPOINT)
        return EndpointSpec(url, served, tokenizer, dialect, concurrency, timeout, api_key_env)

    specs = [spec_of(name) for name in (model, *(also or ()))]
    runs = run(
        specs,
        texts,
        output,
        plan=plan,
        field=field,
        split_on=options.unescaped(split_on),
        overwrite=overwrite,
        progress=progress_line,
    )
    for name, found in runs.items():
        table = read_table(found.folder)
        say(f"{name}: {_summary(pair(table, table, names=(name, ''), cluster='document'))} → {found.folder}")


def _summary(panel: "Panel") -> str:
    from math import exp

    from assay.results.words import count

    loss, tokens = panel.estimate(0), int(panel.denominators.sum())
    counts = f"{count(panel.n, 'window')} of {count(panel.n_clusters or 0, 'document')}, {count(tokens, 'token')}"
    return f"loss {loss:.4f} nats per token, perplexity {exp(loss):.4f} ({counts})"


def _draw(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None or not all(map(int, found.groups())):
        raise UsageError(f"--windows must look like 180x180 (preview x final), but got {text!r}.")
    return int(found[1]), int(found[2])


def progress_line(name: str) -> Callable[[int, int], None]:
    """A line that is written over on a terminal, plain lines now and then elsewhere; tokens/s and time left."""
    began, first = time.monotonic(), -1
    last = began

    def show(done: int, total: int) -> None:
        nonlocal last, first
        if first < 0:
            first, last = done, time.monotonic() - 2 * _SECONDS_BETWEEN_LINES
        now = time.monotonic()
        terminal = sys.stderr.isatty()
        if done < total and now - last < (0.2 if terminal else _SECONDS_BETWEEN_LINES):
            return
        last = now
        rate = (done - first) / max(now - began, 1e-9)
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 and done < total else ""
        speed = f", {rate:,.0f} tokens/s" if rate > 0 else ""  # after the first batch nothing is known yet
        text = f"{name}: {done:,} of {total:,} tokens{speed}{left}"
        say_over(text, last=done >= total)

    return show
