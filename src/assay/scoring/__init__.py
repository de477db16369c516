"""Measure the loss of models on text (perplexity, bits per byte): `score` writes it as runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from math import exp
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.data import Panel, read_table
from assay.data.runs import MANIFEST, Run, create_or_resume, finish, look_for, note_halving, open_run
from assay.engines import LOCAL, Engine
from assay.engines.blocks import OnDemand
from assay.errors import InputError, UsageError
from assay.results.words import count
from assay.scoring.checkpoint import definition_digest, ids_digest, model_digests
from assay.scoring.loading import tokenized
from assay.scoring.models_and_texts import (
    Document,
    EndpointSpec,
    Model,
    ModelOrEndpoint,
    ModelSpec,
    Text,
    check_folders,
    read_documents,
    specs_of,
    texts_digest,
)
from assay.scoring.windows import Layout, Plan, Window, chosen_windows, layout_for, shards_of, start_token
from assay.version import VERSION

if TYPE_CHECKING:
    from assay.scoring.endpoint import EndpointScorer
    from assay.scoring.hf import ModelScorer
    from assay.scoring.memory import InTurn
    from assay.scoring.on_workers import BatchRows, ScorerOnWorkers, ShardLosses


TokenProgress = Callable[[int, int], None]  # tokens done, tokens in all
#: Rows of token ids, and how many of the last tokens of each count; the losses of those.
Losses = Callable[[Sequence[Sequence[int]], Sequence[int]], list[NDArray[np.float64]]]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A tokenized document; ``ends`` is where each token ends, in characters."""

    document: Document
    ids: NDArray[np.int64]
    ends: NDArray[np.int64]

    def size(self, first: int, stop: int) -> tuple[int, int]:
        """Number of bytes and characters of the tokens first … stop − 1."""
        low = int(self.ends[first - 1]) if first else 0
        text = self.document.text[low : int(self.ends[stop - 1])]
        return len(text.encode()), len(text)


def score(
    models: Model | Sequence[Model] | Mapping[str, Model],
    texts: Text | Sequence[Text],
    output: str | PathLike[str],
    *,
    plan: Plan | None = None,
    field: str | None = None,
    split_on: str | None = None,
    overwrite: bool = False,
    engine: Engine = LOCAL,
    progress: Callable[[str], TokenProgress] | None = None,
) -> dict[str, Run]:
    """Score text with one or several models and write a run for each.

    A model is a folder or hub name, a `ModelSpec` that says how to load it, or an `EndpointSpec`; a text is a file, a
    folder or a `Document`. One model writes to ``output`` itself, several to folders in it under their names. Texts are
    tokenized once per tokenizer. A run that was killed is resumed; one of another model or text is refused. ``engine``
    says where the model runs: each worker loads it once, and the run is the same to the last byte.

    >>> import tempfile
    >>> import assay
    >>> from assay.models import path
    >>> texts = [assay.Document(f"story {i}", f"Once there were {i} models, and all were small.") for i in range(8)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = assay.score(path("base"), texts, folder, plan=assay.Plan(context=64))
    ...     windows = assay.read_table(runs["base"])
    >>> len(windows)
    8
    """
    specs = specs_of(models)
    if not specs:
        raise UsageError("score needs a model.")
    check_folders(specs.values())
    plan, folder = plan or Plan(), Path(output)
    documents = read_documents(texts, field=field, split_on=split_on)
    known: dict[str, list[Encoded]] = {}
    runs = {}
    for name, spec in specs.items():
        target = folder if len(specs) == 1 else folder / name
        shown = None if progress is None else progress(name)
        look_for(target, overwrite=overwrite)  # first: what is refused there need not wait for a model
        with _scorer(spec, engine) as scorer:
            definition = definition_digest(scorer.tokenizer)
            digests = model_digests(spec) | {"tokenizer_definition": definition}
            begun = plan.batch_tokens or _begun_with(target, overwrite=overwrite)
            portion = replace(plan, batch_tokens=scorer.batch_tokens(begun))
            encoded = encoded_by(scorer.tokenizer, definition, documents, known)
            start = start_token(plan, scorer)
            runs[name] = score_encoded(
                encoded,
                scorer.losses,
                target,
                about=about_model(name, spec, scorer, digests) | {"bos": start},
                layout=layout_for(portion, scorer.context, bos=start is not None),
                plan=portion,
                bos=start,
                overwrite=overwrite,
                progress=shown,
                on_workers=getattr(scorer, "shards", None),
                halved_to=partial(getattr, scorer, "halved_to", None),
            )
        del scorer  # before the next one is loaded: two may not fit together
    return runs


def _begun_with(folder: Path, *, overwrite: bool) -> int | None:
    """The batches of the run that is there: it goes on as it began, also on a machine with other memory."""
    if overwrite or not (folder / MANIFEST).is_file():
        return None
    found = open_run(folder).manifest.get("batch_tokens")
    return found if isinstance(found, int) and found > 0 else None


@contextmanager
def _scorer(spec: ModelOrEndpoint, engine: Engine) -> Iterator["ModelScorer | EndpointScorer | ScorerOnWorkers"]:
    """A model in this process, or one on each worker of an engine."""
    if engine.here:
        yield loaded(spec)
        return
    from assay.scoring.on_workers import scorer_on_workers  # late: few runs need it

    with scorer_on_workers(spec, engine, local_scorer) as found:
        yield found


def loaded(spec: ModelOrEndpoint) -> "ModelScorer | EndpointScorer":
    if isinstance(spec, EndpointSpec):
        from assay.scoring.endpoint import EndpointScorer
        from assay.scoring.server import Patience

        if spec.tokenizer is None:
            raise UsageError(f"{spec.url}: to score, a server needs `tokenizer`: windows are cut here.")
        return EndpointScorer(
            spec.url,
            spec.model,
            tokenizer=spec.tokenizer,
            dialect=spec.dialect,
            concurrency=spec.concurrency,
            patience=None if spec.timeout is None else Patience(answer=spec.timeout),
            api_key_env=spec.api_key_env,
        )
    return local_scorer(spec)


def local_scorer(spec: ModelSpec) -> "ModelScorer":
    """Load a model in this process, which needs the extra hf."""
    try:
        from assay.scoring.hf import ModelScorer  # late: torch
    except ImportError as error:
        what = f"models need the extra hf ({error.name} is missing): pip install 'assay-eval[hf]'."
        raise UsageError(what) from error
    return ModelScorer(spec)


def encoded_by(
    tokenizer: Any, definition: str, documents: Sequence[Document], known: dict[str, list[Encoded]]
) -> list[Encoded]:
    """Tokenize the documents, once per tokenizer."""
    if definition not in known:
        pairs = zip(documents, tokenized(tokenizer, [document.text for document in documents]), strict=True)
        known[definition] = [Encoded(document, ids, ends) for document, (ids, ends) in pairs if len(ids)]
    return known[definition]


def about_model(
    name: str,
    spec: ModelOrEndpoint,
    scorer: "ModelScorer | EndpointScorer | ScorerOnWorkers | InTurn",
    digests: dict[str, str | None],
) -> dict[str, Any]:
    """The manifest's entry for the model: digests instead of paths, so that a moved folder is the same model."""
    used = ["transformers"] if isinstance(spec, EndpointSpec) else ["torch", "transformers"]
    return {
        "model": {"name": name, **scorer.about, "digests": digests},
        "versions": {package: version(package) for package in used},
    }


def summary_of(run: Run) -> str:
    """The loss of a run in one line."""
    panel = Panel.from_tables([read_table(run)], cluster="document")
    loss, tokens = panel.estimate(0), int(panel.denominators.sum())
    counts = f"{count(panel.n, 'window')} of {count(panel.n_clusters or 0, 'document')}, {count(tokens, 'token')}"
    return f"loss {loss:.4f} nats per token, perplexity {exp(loss):.4f} ({counts})"


# -------------------------------------------------------------------------------------------------- one run


def manifest_of(about: dict[str, Any], encoded: Sequence[Encoded], layout: Layout, plan: Plan) -> dict[str, Any]:
    """The manifest: everything that determines the numbers of the run."""
    return {
        **about,
        "assay": VERSION,
        "text": {
            "documents": len(encoded),
            "sha256": texts_digest([one.document for one in encoded]),
            "token_ids": ids_digest(one.ids for one in encoded),
        },
        "layout": asdict(layout) | {"stride": layout.step},
        "draw": None if plan.draw is None else {"preview": plan.draw[0], "final": plan.draw[1], "seed": plan.seed},
        "batch_tokens": plan.batch_tokens,
        "keep_tokens": plan.keep_tokens,
    }


def score_encoded(
    encoded: Sequence[Encoded],
    losses: Losses,
    folder: Path,
    *,
    about: dict[str, Any],
    layout: Layout,
    plan: Plan,
    bos: int | None,
    overwrite: bool = False,
    progress: TokenProgress | None = None,
    on_workers: "Callable[[Sequence[Sequence[BatchRows]]], Iterator[ShardLosses]] | None" = None,
    halved_to: Callable[[], int | None] = lambda: None,
) -> Run:
    """Score the missing shards of a run; ``on_workers`` gives the losses of whole shards.

    ``halved_to`` tells to how many tokens batches were cut that did not fit into memory.
    """
    windows = chosen_windows([len(document.ids) for document in encoded], layout, plan)
    assert plan.batch_tokens is not None  # chosen by whoever knows the model
    shards = shards_of(windows, plan.batch_tokens)
    manifest = manifest_of(about, encoded, layout, plan) | {"shards": len(shards)}
    run = create_or_resume(folder, manifest, overwrite=overwrite)
    missing = set(run.missing())
    total = sum(window.tokens for window in windows)
    done = sum(windows[i].tokens for n, shard in enumerate(shards) if n not in missing for b in shard for i in b)
    scored = WindowScorer(encoded, losses, layout, bos)

    def tell(tokens: int) -> None:
        nonlocal done
        done += tokens
        if progress is not None:
            progress(done, total)

    numbers = sorted(missing)
    every: Iterator[dict[int, NDArray[np.float64]]]
    if on_workers is None:
        every = (scored.losses_of(windows, shards[number], tell) for number in numbers)
    else:
        every = scored.losses_by(on_workers, windows, [shards[number] for number in numbers], tell)
    for number, found in zip(numbers, every, strict=True):
        note_halving(run, halved_to())
        with run.naming_space():
            write_windows(run, number, encoded, windows, found, layout=layout, keep_tokens=plan.keep_tokens)
    return finish(run)


@dataclass(frozen=True, slots=True)
class WindowScorer:
    """Feeds windows of tokenized documents to a model."""

    encoded: Sequence[Encoded]
    losses: Losses
    layout: Layout
    bos: int | None

    def losses_of(
        self, windows: Sequence[Window], batches: Sequence[Sequence[int]], tell: Callable[[int], None]
    ) -> dict[int, NDArray[np.float64]]:
        """The losses of the tokens of some windows, by the window's number; ``tell`` hears how many tokens are done."""
        found: dict[int, NDArray[np.float64]] = {}
        for batch in batches:
            found |= self._checked(windows, batch, self.losses(*self.rows(windows, batch)))
            tell(sum(windows[i].tokens for i in batch))
        return found

    def losses_by(
        self,
        on_workers: "Callable[[Sequence[Sequence[BatchRows]]], Iterator[ShardLosses]]",
        windows: Sequence[Window],
        shards: Sequence[Sequence[Sequence[int]]],
        tell: Callable[[int], None],
    ) -> Iterator[dict[int, NDArray[np.float64]]]:
        """The same of several shards, from workers that get a shard at a time."""
        rows = OnDemand(shards, lambda batches: [self.rows(windows, batch) for batch in batches])
        for batches, losses in zip(shards, on_workers(rows), strict=True):
            found: dict[int, NDArray[np.float64]] = {}
            for batch, values in zip(batches, losses, strict=True):
                found |= self._checked(windows, batch, values)
                tell(sum(windows[i].tokens for i in batch))
            yield found

    def rows(self, windows: Sequence[Window], batch: Sequence[int]) -> "BatchRows":
        """What a model is fed for a batch of windows, and how many of the last tokens count."""
        rows = [self.layout.row(self.encoded[windows[i].document].ids, windows[i], self.bos) for i in batch]
        return rows, [windows[i].tokens for i in batch]

    def _checked(
        self, windows: Sequence[Window], batch: Sequence[int], losses: Sequence[NDArray[np.float64]]
    ) -> dict[int, NDArray[np.float64]]:
        pairs = zip(batch, losses, strict=True)
        return {i: _finite(values, self.encoded, windows[i], self.layout) for i, values in pairs}


def _finite(
    losses: NDArray[np.float64], encoded: Sequence[Encoded], window: Window, layout: Layout
) -> NDArray[np.float64]:
    """Refuse losses that are infinite or NaN: such a token is never averaged."""
    good = np.isfinite(losses)
    if not good.all():
        token = window.first + int(np.argmin(good))
        raise InputError(
            f"{window_id(encoded, window, layout)}: token {token} has the loss {losses[token - window.first]}; "
            "score with `dtype='float32'`, or find out why the model gives it no probability."
        )
    return losses


def write_windows(
    run: Run,
    number: int,
    encoded: Sequence[Encoded],
    windows: Sequence[Window],
    found: dict[int, NDArray[np.float64]],
    *,
    layout: Layout,
    keep_tokens: bool,
) -> None:
    scored = [(windows[i], encoded[windows[i].document], found[i]) for i in sorted(found)]
    ids = [window_id(encoded, window, layout) for window, _, _ in scored]
    if keep_tokens:  # first, so that a shard of windows is never without its tokens
        run.write_shard(number, _token_columns(ids, scored), "tokens")
    run.write_shard(number, _window_columns(ids, scored, layout))


def window_id(encoded: Sequence[Encoded], window: Window, layout: Layout) -> str:
    return f"{encoded[window.document].document.name}:{layout.mark(window)}"


_Scored = Sequence[tuple[Window, Encoded, NDArray[np.float64]]]


def _window_columns(ids: Sequence[str], scored: _Scored, layout: Layout) -> dict[str, NDArray[Any]]:
    sizes = [document.size(w.first, w.stop) for w, document, _ in scored]
    columns: dict[str, NDArray[Any]] = {
        "window": np.array(ids, dtype=object),
        "document": np.array([document.document.name for _, document, _ in scored], dtype=object),
        "start": np.array([layout.begin(w) for w, _, _ in scored], dtype=np.int64),
        "stop": np.array([w.stop for w, _, _ in scored], dtype=np.int64),
        "tokens": np.array([w.tokens for w, _, _ in scored], dtype=np.int64),
        "bytes": np.array([size[0] for size in sizes], dtype=np.int64),
        "chars": np.array([size[1] for size in sizes], dtype=np.int64),
        "loss": np.array([float(losses.sum()) / w.tokens for w, _, losses in scored]),
    }
    if scored and scored[0][0].split is not None:
        columns["split"] = np.array([w.split for w, _, _ in scored], dtype=object)
    return columns


def _token_columns(ids: Sequence[str], scored: _Scored) -> dict[str, NDArray[Any]]:
    names = [document.document.name for _, document, _ in scored]
    counts = [w.tokens for w, _, _ in scored]
    return {
        "window": np.repeat(np.array(ids, dtype=object), counts),
        "document": np.repeat(np.array(names, dtype=object), counts),
        "token": np.concatenate([np.arange(w.first, w.stop) for w, _, _ in scored]),
        "position": np.concatenate([np.arange(w.first, w.stop) - w.start for w, _, _ in scored]),
        "loss": np.concatenate([losses for _, _, losses in scored]),
    }
