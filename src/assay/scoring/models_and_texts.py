"""What a user may name: as a model a folder, a hub name or a server; as text a file, a folder or a document."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from assay.data.readers.registry import exists, named, open_source
from assay.errors import AssayWarning, InputError, UsageError
from assay.files.reading import Limit, read_bytes
from assay.names import argument, listed, nearest, one_line, shown

_TEXT = Limit(4_000_000_000, "a text", "split it into several files")
TABLES = frozenset({".jsonl", ".ndjson", ".parquet", ".pq", ".csv", ".tsv"})
_TEXTS = frozenset({".txt", ".md"})


@dataclass(frozen=True, slots=True)
class Document:
    """A named text; documents are the clusters of a comparison."""

    name: str
    text: str


#: What may be named as text: a file or folder, or the text itself.
Text = str | PathLike[str] | Document


def read_documents(
    texts: Text | Sequence[Text], *, field: str | None = None, split_on: str | None = None
) -> list[Document]:
    """Read documents from text files (split at ``split_on``), from a column of tables, and from folders of either."""
    given = [texts] if isinstance(texts, str | PathLike | Document) else list(texts)
    how = _How(field, split_on)
    found = [document for text in given for document in _of_text(text, how)]
    if not found:
        what = ", ".join(text.name if isinstance(text, Document) else fspath(text) for text in given)
        raise InputError(f"{what}: no text in it; give .txt files, or tables with `field`.")
    names = [document.name for document in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the document {twice!r} is there twice; name every file once.")
    if split_on is not None and not how.cut:
        kept = "the text is 1 document" if len(found) == 1 else f"they are {len(found)} documents"
        warnings.warn(f"{argument(split_on=split_on)} is in no text: {kept}, as given.", AssayWarning, stacklevel=3)
    return found


@dataclass(slots=True)
class _How:
    """How files become documents, and whether a text was cut."""

    field: str | None
    split_on: str | None
    cut: bool = False


def texts_digest(documents: Sequence[Document]) -> str:
    """The sha256 of the names and texts."""
    hashed = sha256()
    for document in documents:
        for part in (document.name.encode(), document.text.encode()):
            hashed.update(len(part).to_bytes(8, "little"))
            hashed.update(part)
    return "sha256:" + hashed.hexdigest()


def _of_text(text: Text, how: _How) -> Iterator[Document]:
    if not isinstance(text, Document):
        yield from _of_path(Path(text), how)
    elif text.text.strip():
        yield text


def _of_path(path: Path, how: _How) -> Iterator[Document]:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in TABLES | _TEXTS | {""})
        for file in inside:
            yield from _of_file(file, str(file.relative_to(path)), how)
        return
    yield from _of_file(path, path.name, how)


def _of_file(path: Path, name: str, how: _How) -> Iterator[Document]:
    if path.suffix.lower() in TABLES:
        yield from _of_table(path, name, how.field)
        return
    text = _decoded(path)
    parts = [text] if how.split_on is None else text.split(how.split_on)
    how.cut |= len(parts) > 1
    filled = [part for part in parts if part.strip()]
    for index, part in enumerate(filled):
        yield Document(name if len(filled) == 1 else f"{name}#{index}", part)


def _of_table(path: Path, name: str, field: str | None) -> Iterator[Document]:
    source = open_source(path)
    if field is None:
        raise UsageError(f"{path}: which column holds the text? Name it with `field` ({', '.join(source.columns)}).")
    if field not in source.columns:
        raise InputError(f"{path}: no column {field!r} among {', '.join(source.columns)}; name one with `field`.")
    texts = next(iter(source.read([(field, "text")])))
    for row, text in enumerate(texts.tolist(), start=1):
        if text.strip():
            yield Document(f"{name}#{row}", text)


def _decoded(path: Path) -> str:
    data = read_bytes(path, _TEXT)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: not UTF-8 at byte {error.start} (0x{data[error.start]:02x}); save the file as UTF-8."
        ) from error


ENDPOINT = "endpoint:"
MOST_STRETCHED = 1024  # times the context of a model


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """What to load, and how."""

    name: str  # a folder or a hub name
    adapter: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    revision: str | None = None
    trust_remote_code: bool = False
    allow_pickle: bool = False
    rope_scaling: str | None = None  # "yarn:8": rotary positions stretched to 8 times the context of the model


def rope_of(text: str) -> tuple[str, float]:
    """Kind and factor of a scaling of rotary positions.

    >>> rope_of("linear:4")
    ('linear', 4.0)
    """
    kind, _, number = text.partition(":")
    try:
        factor = float(number)
    except ValueError:
        factor = 0.0
    if kind not in ("linear", "yarn") or not 1 < factor <= MOST_STRETCHED:
        raise UsageError(
            f"rope_scaling must look like yarn:8 (linear or yarn, and a factor above 1, at most {MOST_STRETCHED:,}), "
            f"but got {shown(text)}."
        )
    return kind, factor


@dataclass(frozen=True, slots=True)
class EndpointSpec:
    """A model behind an OpenAI-compatible completions server; the API key is read from an environment variable."""

    url: str
    model: str
    tokenizer: str | None = None  # a folder or hub name: windows are cut here, not there; generating needs none
    dialect: Literal["auto", "prompt_logprobs", "echo"] = "auto"
    concurrency: int = 8
    timeout: float | None = None  # seconds to wait for an answer
    api_key_env: str | None = None


ModelOrEndpoint = ModelSpec | EndpointSpec

#: What may be named as a model: a folder or hub name, or all that is to be said of it.
Model = str | PathLike[str] | ModelSpec | EndpointSpec


def spec_of(
    name: str,
    *,
    model: str | None = None,
    tokenizer: str | None = None,
    dialect: Literal["auto", "prompt_logprobs", "echo"] = "auto",
    concurrency: int = 8,
    timeout: float | None = None,
    api_key_env: str | None = None,
    generates: bool = False,
    **loading: Any,
) -> ModelOrEndpoint:
    """The spec of a model named on the command line: endpoint:URL is a server, which the first keywords describe.

    A server that generates needs no tokenizer.

    >>> spec_of("models/base", dtype="float32").dtype
    'float32'
    """
    if not name.startswith(ENDPOINT):
        return ModelSpec(name, **loading)
    if model is None or (tokenizer is None and not generates):
        also = "" if generates else " and `tokenizer=MODEL`"
        raise UsageError(f"a server needs `model=NAME` (what it calls the model){also}.")
    if loading.get("rope_scaling") is not None:
        raise UsageError("a server stretches positions by its own settings; leave out `rope_scaling`.")
    url = name.removeprefix(ENDPOINT)
    return EndpointSpec(url, model, tokenizer, dialect, concurrency, timeout, api_key_env)


def names_model(first: str) -> bool:
    """Whether a name is a model's rather than a table's: a folder, or a name unlike that of any file."""
    path = named(first)[1]
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise UsageError(f"{first}: a folder without config.json is not a model; name a model, or tables.")
        return True
    if not exists(path):
        return path.suffix.lower() not in TABLES and "=" not in first
    if path.suffix.lower() in _TEXTS:
        raise UsageError(f"{first}: a text needs a model before it.")
    return False


def leading_models(sources: Sequence[str]) -> list[str]:
    """The models that stand before texts or prompts; none where the first is a table."""
    found = [sources[0]] if names_model(sources[0]) else []
    for name in sources[1:] if found else ():
        path = Path(name)
        if exists(path) and not (path / "config.json").is_file():
            break
        if path.suffix.lower() in TABLES | _TEXTS:
            break
        found.append(name)
    return found


def names_prompts(texts: Sequence[str], field: str | None, columns: Mapping[str, str] | None = None) -> bool:
    """Whether what follows models is a table of prompts: a table whose text column is not named."""
    if len(texts) != 1 or field is not None or Path(texts[0]).suffix.lower() not in TABLES:
        return False
    wanted, source = (columns or {}).get("prompt", "prompt"), open_source(Path(texts[0]))
    if wanted not in source.columns:
        raise UsageError(
            f"{texts[0]}: no column {wanted!r} of prompts among {listed(source.columns)}; name it with "
            "`columns={'prompt': 'NAME'}`, or name the column of a text to read with `field`."
        )
    return True


def specs_of(
    models: Model | Sequence[Model] | Mapping[str, Model], *, whole_names: bool = False
) -> dict[str, ModelOrEndpoint]:
    """Models by name: the given names, or the last part of the path, or the server's name for the model.

    With ``whole_names`` models go by their whole path where two would get the same name.

    >>> list(specs_of(["models/base", "models/int4"]))
    ['base', 'int4']
    """
    if isinstance(models, Mapping):
        return {name: _spec(model) for name, model in models.items()}
    given = [models] if isinstance(models, str | PathLike | ModelSpec | EndpointSpec) else list(models)
    specs = [_spec(model) for model in given]
    names = [_name(spec) for spec in specs]
    if whole_names and len(set(names)) < len(names):
        names = [spec.name if isinstance(spec, ModelSpec) else spec.model for spec in specs]
    found: dict[str, ModelOrEndpoint] = {}
    for name, spec in zip(names, specs, strict=True):
        if name in found and whole_names:
            raise UsageError(f"the model {name} is there twice; name every model once.")
        if name in found:
            raise UsageError(f"two models are called {name!r}; score them one by one, each into a folder of its own.")
        found[name] = spec
    return found


def check_folders(specs: Iterable[ModelOrEndpoint]) -> None:
    """Refuse models that name a folder which is not there, before any is loaded."""
    for spec in specs:
        name = spec.tokenizer if isinstance(spec, EndpointSpec) else spec.name
        if name is not None:
            check_folder(name)


def check_folder(name: str) -> None:
    """Refuse a path that is nowhere. A hub's name is one word, or two around a slash, the first no folder of models."""
    hint = no_folder(name)
    if hint is None:
        return
    if name.startswith((".", "/", "~")) or name.endswith("/") or name.count("/") > 1:
        raise InputError(f"{one_line(name)}: no such folder; {hint}")
    if "/" in name and any(Path(name).parent.glob("*/config.json")):
        elsewhere = "where there is no such folder of models, it is a hub's name"
        raise InputError(f"{one_line(name)}: no such folder ({elsewhere}); {hint}")


def no_folder(name: str) -> str | None:
    """What to do about a model that is no folder here: name a similar one beside it; ``None`` where it is one."""
    path = Path(name)
    try:
        if path.exists() or path.is_symlink():
            return None
        beside = [one.name for one in path.parent.iterdir() if one.is_dir()] if path.parent.is_dir() else []
    except (OSError, ValueError):  # no path can be called so
        beside = []
    close = nearest(path.name, beside)
    return "name a folder or a hub model." if close is None else f"did you mean {one_line(str(path.parent / close))}?"


def _name(spec: ModelOrEndpoint) -> str:
    if isinstance(spec, EndpointSpec):
        return spec.model
    return Path(spec.name).name or Path(spec.name).resolve().name  # "." is the name of its folder


def _spec(model: Model) -> ModelOrEndpoint:
    if isinstance(model, ModelSpec | EndpointSpec):
        return model
    if not isinstance(model, str | PathLike):
        raise UsageError(f"a model must be a folder, a hub name or a ModelSpec, but got {type(model).__name__}.")
    name = fspath(model)
    if name.startswith(ENDPOINT):
        raise UsageError(f"{name}: a server is an EndpointSpec, with what it calls the model and the tokenizer.")
    return ModelSpec(name)
