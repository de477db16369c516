"""Let models answer prompts: `generate` writes what they say as a table, with a record of how it was made beside it."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from assay.data.generations import Prompts, TableSource, read_prompts
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.names import one_line
from assay.scoring.checkpoint import model_digests
from assay.scoring.decoding import Decoding, Writer
from assay.scoring.generation_files import Generated, Journal, completed, finished, job_of, record_of
from assay.scoring.models_and_texts import ENDPOINT, EndpointSpec, Model, ModelOrEndpoint, check_folders, specs_of

_SUFFIXES = (".jsonl", ".ndjson")

PromptProgress = Callable[[int, int], None]  # prompts done, prompts in all


def generate(
    models: Model | Sequence[Model] | Mapping[str, Model],
    prompts: TableSource,
    output: str | PathLike[str],
    *,
    decoding: Decoding | None = None,
    columns: Mapping[str, str] | None = None,
    references: bool = False,
    overwrite: bool = False,
    progress: Callable[[str], PromptProgress] | None = None,
) -> Generated:
    """Let one or several models answer prompts, and write what they say as JSON Lines that `assay.japanese` reads.

    A model is named as for `score`: a folder or hub name, a `ModelSpec`, an `EndpointSpec`. ``prompts`` is a table with
    the column ``prompt`` and, where they are there, ``item`` (or ``id``), ``reference`` and ``cluster``; with
    ``references`` it must have those. Rows of ``output`` have them, too, with ``model``, ``prediction``, how it ended
    (``finish``: stop or length) and its ``tokens``. A generation that was killed is resumed; one of other prompts,
    models or settings is refused.

    >>> import tempfile
    >>> import assay
    >>> from assay.models import path
    >>> prompts = {"prompt": ["むかし、", "ある日、"], "reference": ["犬がいた。", "猫がいた。"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = assay.generate(path("base"), prompts, f"{folder}/said.jsonl", decoding=assay.Decoding(max_tokens=8))
    ...     result = assay.japanese(found, bleu=["char"])
    >>> result.systems[0].name, result.n_units
    ('base', 2)
    """
    check_outputs([output, record_of(Path(output))], [prompts])
    asked = read_prompts(prompts, columns=columns, references=references)
    return generate_answers(models, asked, Path(output), decoding=decoding, overwrite=overwrite, progress=progress)


def generate_answers(
    models: Model | Sequence[Model] | Mapping[str, Model],
    prompts: Prompts,
    output: Path,
    *,
    decoding: Decoding | None = None,
    overwrite: bool = False,
    progress: Callable[[str], PromptProgress] | None = None,
) -> Generated:
    """The same for prompts that have been read, at a place that has been checked."""
    specs, decoding = specs_of(models), decoding or Decoding()
    if not specs:
        raise UsageError("generate needs a model.")
    check_folders(specs.values())
    if output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{one_line(str(output))}: generations are JSON Lines; name a file that ends in .jsonl.")
    job = job_of(prompts, decoding)
    there = finished(output, job, lambda: [_about(*one) for one in specs.items()], overwrite=overwrite)
    if there is not None:
        return there
    journal = Journal.opened(output, job, overwrite=overwrite)
    for name, spec in specs.items():
        _answered(journal, name, spec, prompts, decoding, None if progress is None else progress(name))
    return completed(journal, list(specs), prompts)


def _answered(
    journal: Journal,
    name: str,
    spec: ModelOrEndpoint,
    prompts: Prompts,
    decoding: Decoding,
    progress: PromptProgress | None,
) -> None:
    """Let one model answer what it has not answered yet; what it has answered is kept, whatever happens."""
    answers = journal.answers.setdefault(name, {})
    writer = _writer(spec) if len(answers) < len(prompts) else None  # first: only then are all files of a hub here
    journal.begin(name, _about(name, spec))
    if len(answers) == len(prompts):
        return
    writer = writer or _writer(spec)
    try:
        for found in writer.written(prompts.items, prompts.texts, decoding, frozenset(answers)):
            answers.update(found)
            journal.keep_now_and_then()
            if progress is not None:
                progress(len(answers), len(prompts))
    finally:
        journal.served_as[name] = writer.served_as
        if answers:
            journal.keep()


def _writer(spec: ModelOrEndpoint) -> Writer:
    if isinstance(spec, EndpointSpec):
        from assay.scoring.served import ServedWriter  # late: what talks to servers

        return ServedWriter(spec)
    from assay.scoring import local_scorer

    scorer = local_scorer(spec)  # first: it says so if torch is missing
    from assay.scoring.hf_writer import ModelWriter  # late: torch

    return ModelWriter(scorer)


def _about(name: str, spec: ModelOrEndpoint) -> dict[str, Any]:
    """What decides the text besides the prompts and settings: digests instead of paths."""
    if isinstance(spec, EndpointSpec):
        return {"name": name, "source": f"{ENDPOINT}{spec.url.removeprefix(ENDPOINT)}", "model": spec.model}
    folder = Path(spec.name)
    return {
        "name": name,
        "source": folder.name if folder.is_dir() else spec.name,
        "revision": spec.revision,
        "dtype": spec.dtype,
        "digests": model_digests(spec),
        "versions": {package: version(package) for package in ("torch", "transformers")},
    }
