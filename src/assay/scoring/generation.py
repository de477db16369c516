"""Let models answer prompts: `generate` writes what they say as a table, with a record of how it was made beside it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.data.generations import Prompts, TableSource, read_prompts
from assay.engines import LOCAL, Engine
from assay.errors import UsageError
from assay.files.places import check_outputs
from assay.files.stores.addresses import is_copy
from assay.names import one_line
from assay.scoring.checkpoint import model_digests
from assay.scoring.decoding import Decoding, Writer
from assay.scoring.generation_files import Generated, Journal, completed, finished, job_of, record_of
from assay.scoring.models_and_texts import (
    ENDPOINT,
    EndpointSpec,
    Model,
    ModelOrEndpoint,
    ModelSpec,
    check_folders,
    specs_of,
)

if TYPE_CHECKING:
    from assay.scoring.hf_writer import ModelWriter

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
    engine: Engine = LOCAL,
    progress: Callable[[str], PromptProgress] | None = None,
) -> Generated:
    """Let one or several models answer prompts, and write what they say as JSON Lines that `assay.japanese` reads.

    A model is named as for `score`: a folder or hub name, a `ModelSpec`, an `EndpointSpec`. ``prompts`` is a table with
    the column ``prompt`` and, where they are there, ``item`` (or ``id``), ``reference`` and ``cluster``; with
    ``references`` it must have those. Rows of ``output`` have them, too, with ``model``, ``prediction``, how it ended
    (``finish``: stop or length) and its ``tokens``. A generation that was killed is resumed; one of other prompts,
    models or settings is refused. ``engine`` says where the model runs: each worker loads it once and gets a batch of
    prompts at a time, and the table is the same to the last byte.

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
    return generate_answers(
        models, asked, Path(output), decoding=decoding, overwrite=overwrite, engine=engine, progress=progress
    )


def generate_answers(
    models: Model | Sequence[Model] | Mapping[str, Model],
    prompts: Prompts,
    output: Path,
    *,
    decoding: Decoding | None = None,
    overwrite: bool = False,
    engine: Engine = LOCAL,
    progress: Callable[[str], PromptProgress] | None = None,
) -> Generated:
    """The same for prompts that have been read, at a place that has been checked."""
    specs, decoding = specs_of(models), decoding or Decoding()
    if not specs:
        raise UsageError("generate needs a model.")
    check_folders(specs.values())
    if output.suffix.lower() not in _SUFFIXES:
        raise UsageError(f"{one_line(str(output))}: generations are JSON Lines; name a file that ends in .jsonl.")
    if is_copy(output):
        from assay.files.stores.leases import hold  # late: few tables are in a store

        hold(output, folder=False)
    job = job_of(prompts, decoding)
    there = finished(output, job, lambda: [_about(*one) for one in specs.items()], overwrite=overwrite)
    if there is not None:
        return there
    journal = Journal.opened(output, job, overwrite=overwrite)
    for name, spec in specs.items():
        shown = None if progress is None else progress(name)
        _answered(journal, name, spec, prompts, decoding, engine=engine, progress=shown)
    return completed(journal, list(specs), prompts)


def _answered(
    journal: Journal,
    name: str,
    spec: ModelOrEndpoint,
    prompts: Prompts,
    decoding: Decoding,
    *,
    engine: Engine,
    progress: PromptProgress | None,
) -> None:
    """Let one model answer what it has not answered yet; what it has answered is kept, whatever happens."""
    answers = journal.answers.setdefault(name, {})
    with ExitStack() as ends:
        writer = None
        if len(answers) < len(prompts):  # first: only then are all files of a hub here
            writer = ends.enter_context(_writer(spec, engine, decoding))
        journal.begin(name, _about(name, spec))
        if len(answers) == len(prompts):
            return
        writer = writer or ends.enter_context(_writer(spec, engine, decoding))
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


@contextmanager
def _writer(spec: ModelOrEndpoint, engine: Engine, decoding: Decoding) -> Iterator[Writer]:
    """A server, a model in this process, or one on each worker of an engine."""
    if not engine.here:
        from assay.scoring.on_workers import writer_on_workers  # late: few need it

        with writer_on_workers(spec, engine, decoding, local_writer) as found:
            yield found
    elif isinstance(spec, EndpointSpec):
        from assay.scoring.served import ServedWriter  # late: what talks to servers

        yield ServedWriter(spec)
    else:
        yield local_writer(spec)


def local_writer(spec: ModelSpec) -> "ModelWriter":
    """Load a model that writes in this process."""
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
