"""Text to score: documents from files and folders, decoded strictly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path

from assay.data.readers.registry import open_source
from assay.errors import InputError, UsageError
from assay.files.reading import Limit, read_bytes

_TEXT = Limit(4_000_000_000, "a text", "split it into several files")
TABLES = frozenset({".jsonl", ".ndjson", ".parquet", ".pq", ".csv", ".tsv"})


@dataclass(frozen=True, slots=True)
class Document:
    """A text and what it is called; documents are the clusters of a comparison."""

    name: str
    text: str


#: What may be named as text: a file or folder, or the text itself.
Text = str | PathLike[str] | Document


def read_documents(
    texts: Text | Sequence[Text], *, field: str | None = None, split_on: str | None = None
) -> list[Document]:
    """The documents of text files (split at ``split_on``), of a column of tables, and of all such files in folders."""
    given = [texts] if isinstance(texts, str | PathLike | Document) else list(texts)
    found = [document for text in given for document in _of_text(text, field, split_on)]
    if not found:
        what = ", ".join(text.name if isinstance(text, Document) else fspath(text) for text in given)
        raise InputError(f"{what}: no text in it; give .txt files, or tables with `field`.")
    names = [document.name for document in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the document {twice!r} is there twice; name every file once.")
    return found


def texts_digest(documents: Sequence[Document]) -> str:
    """The sha256 of the names and texts."""
    hashed = sha256()
    for document in documents:
        for part in (document.name.encode(), document.text.encode()):
            hashed.update(len(part).to_bytes(8, "little"))
            hashed.update(part)
    return "sha256:" + hashed.hexdigest()


def _of_text(text: Text, field: str | None, split_on: str | None) -> Iterator[Document]:
    if not isinstance(text, Document):
        yield from _of_path(Path(text), field, split_on)
    elif text.text.strip():
        yield text


def _of_path(path: Path, field: str | None, split_on: str | None) -> Iterator[Document]:
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in TABLES | {".txt", ".md", ""})
        for file in inside:
            yield from _of_file(file, str(file.relative_to(path)), field, split_on)
        return
    yield from _of_file(path, path.name, field, split_on)


def _of_file(path: Path, name: str, field: str | None, split_on: str | None) -> Iterator[Document]:
    if path.suffix.lower() in TABLES:
        yield from _of_table(path, name, field)
        return
    text = _decoded(path)
    parts = [text] if split_on is None else text.split(split_on)
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
