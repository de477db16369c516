"""Models on text: `score` measures their loss (perplexity, bits per byte), and writes it as runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data.runs import Run
from assay.errors import UsageError
from assay.scoring.run import Encoded, Plan, Progress, layout_for, score_encoded, start_token
from assay.scoring.specs import EndpointSpec, Model, Spec, specs_of
from assay.scoring.texts import Document, Text, read_documents
from assay.scoring.tokens import model_digests, tokenized

if TYPE_CHECKING:
    from assay.scoring.endpoint import EndpointScorer
    from assay.scoring.hf import Scorer


def score(
    models: Model | Sequence[Model] | Mapping[str, Model],
    texts: Text | Sequence[Text],
    output: str | PathLike[str],
    *,
    plan: Plan | None = None,
    field: str | None = None,
    split_on: str | None = None,
    overwrite: bool = False,
    progress: Callable[[str], Progress] | None = None,
) -> dict[str, Run]:
    """Score text with one or several models and write a run for each.

    A model is a folder or hub name, a `ModelSpec` that says how to load it, or an `EndpointSpec`; a text is a file, a
    folder or a `Document`. One model writes to ``output`` itself, several to folders in it under their names. Texts are
    tokenized once per tokenizer. A run that was killed is resumed; one of another model or text is refused.

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
    plan, folder = plan or Plan(), Path(output)
    documents = read_documents(texts, field=field, split_on=split_on)
    known: dict[str, list[Encoded]] = {}
    runs = {}
    for name, spec in specs.items():
        target = folder if len(specs) == 1 else folder / name
        shown = None if progress is None else progress(name)
        scorer, digests = _loaded(spec), model_digests(spec)
        portion = replace(plan, batch_tokens=scorer.batch_tokens(plan.batch_tokens))
        encoded = _encoded(scorer, digests["tokenizer"], documents, known)
        start = start_token(plan, scorer)
        runs[name] = score_encoded(
            encoded,
            scorer.losses,
            target,
            about=_about(name, spec, scorer, digests) | {"bos": start},
            layout=layout_for(portion, scorer.context, bos=start is not None),
            plan=portion,
            bos=start,
            overwrite=overwrite,
            progress=shown,
        )
    return runs


def _loaded(spec: Spec) -> "Scorer | EndpointScorer":
    if isinstance(spec, EndpointSpec):
        from assay.scoring.endpoint import EndpointScorer
        from assay.scoring.transport import Patience

        return EndpointScorer(
            spec.url,
            spec.model,
            tokenizer=spec.tokenizer,
            dialect=spec.dialect,
            concurrency=spec.concurrency,
            patience=None if spec.timeout is None else Patience(answer=spec.timeout),
            api_key_env=spec.api_key_env,
        )
    from assay.scoring.hf import Scorer  # late: torch

    return Scorer(spec)


def _encoded(
    scorer: "Scorer | EndpointScorer",
    digest: str | None,
    documents: Sequence[Document],
    known: dict[str, list[Encoded]],
) -> list[Encoded]:
    """The documents as tokens, taken over from a model with the same tokenizer."""
    if digest is not None and digest in known:
        return known[digest]
    texts = [document.text for document in documents]
    pairs = zip(documents, tokenized(scorer.tokenizer, texts), strict=True)
    encoded = [Encoded(document, ids, ends) for document, (ids, ends) in pairs if len(ids)]
    if digest is not None:
        known[digest] = encoded
    return encoded


def _about(name: str, spec: Spec, scorer: "Scorer | EndpointScorer", digests: dict[str, str | None]) -> dict[str, Any]:
    """The manifest's part about the model: digests instead of paths, so that a moved folder is the same model."""
    used = ["transformers"] if isinstance(spec, EndpointSpec) else ["torch", "transformers"]
    return {
        "model": {"name": name, **scorer.about, "digests": digests},
        "versions": {package: version(package) for package in used},
    }
