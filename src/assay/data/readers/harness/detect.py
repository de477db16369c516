"""Detect which harness wrote a file or folder, by content; names count only where they are part of the format."""

import os
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Literal

from assay.data.columns import REQUIRED
from assay.data.readers import Format
from assay.data.readers.harness import Log, helm, inspect_ai, lighteval, lm_eval, responses
from assay.errors import InputError
from assay.files.reading import DEEPEST, TABLE, cannot_open, head_of, opened, pointer_fault
from assay.names import listed, one_line

#: The results of lm-evaluation-harness are a part of its format, and no log by themselves.
FileKind = Format | Literal["lm-eval results"]
Files = dict[FileKind, list[Path]]

_HEADS = (1 << 16, 1 << 24)  # a first look, and another if that does not settle it
#: What harnesses call their files: one of these that is only a pointer to a log is not passed over.
_SUFFIXES = frozenset({".json", ".jsonl", ".parquet", ".eval"})
_MOST_FILES = 200_000  # a folder with more is no output of a harness
# A text that the head cuts off is one token too: else every quotation mark in it would be tried as the start of one.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[][{}:]', re.DOTALL)


def logs_at(path: Path, asked: Format | None) -> list[Log] | None:
    """The logs at a path, of the requested format; ``None`` if there are none of any format."""
    label = one_line(str(path))
    if asked is not None and path.is_file():
        return logs_in({asked: [path]}, asked)
    files = files_in(path)
    formats = sorted({"lm-eval" if kind == "lm-eval results" else kind for kind in files})
    if asked is not None and asked not in formats:
        raise InputError(f"{label}: no file of the format {asked}, only of {listed(formats) or 'none'}.")
    if asked is None and len(formats) > 1:
        raise InputError(f"{label}: files of {listed(formats)}; choose one with `Selection(format=...)`.")
    return logs_in(files, asked or formats[0]) if formats else None


def files_in(path: Path) -> Files:
    """The harness files at a path: the file itself, or everything below the folder."""
    found: Files = {}
    for entry in _walk(path) if path.is_dir() else [path]:
        kind = "helm" if entry.is_dir() else kind_of(entry)
        if kind is not None:
            found.setdefault(kind, []).append(entry)
        elif path.is_dir():
            _check_named(entry)
    if "lm-eval" in found:  # then the results beside the samples only tell of them
        found.pop("lm-eval results", None)
    return found


#: What harnesses call their logs: a file of such a name in a folder is not passed over because it is damaged.
_NAMED = {
    "samples of lm-eval": re.compile(r"samples_.+_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl"),
    "details of lighteval": re.compile(r"details_.+_\d{4}-\d\d-\d\dT[\d.-]+\.parquet"),
    "a log of inspect": re.compile(r".+\.eval"),
}


def _check_named(path: Path) -> None:
    for what, pattern in _NAMED.items():
        if pattern.fullmatch(path.name):
            raise InputError(
                f"{one_line(str(path))}: named like {what}, but its content is not; copy it again, or take it "
                "out of the folder."
            )


def logs_in(files: Files, chosen: Format) -> list[Log]:
    """The logs of one format."""
    own = files.get(chosen, [])
    match chosen:
        case "lm-eval":
            return [*lm_eval.logs_of(own, files.get("lm-eval results", []))]
        case "inspect":
            return [inspect_ai.log_of(path) for path in own]
        case "lighteval":
            return [lighteval.log_of(path) for path in own]
        case "helm":
            return [helm.log_of(path) for path in own]
        case "responses":
            return [log for path in own for log in responses.logs_of(path)]
        case "table":
            raise AssertionError(chosen)


def _walk(folder: Path) -> Iterator[Path]:
    """The files below a folder, and the run folders of HELM, which are taken whole."""
    count = 0
    for name, folders, files in os.walk(folder, onerror=_refuse):
        here = Path(name)
        if helm.is_run(here):
            folders.clear()
            yield here
            continue
        folders.sort()
        for file in sorted(files):
            count += 1
            if count > _MOST_FILES:
                raise InputError(f"{folder}: more than {_MOST_FILES:,} files; name the folder of a harness's output.")
            if (here / file).is_file() or Path(file).suffix.lower() in _SUFFIXES:
                yield here / file


def _refuse(error: OSError) -> None:
    raise cannot_open(Path(str(error.filename)), error)


def kind_of(path: Path) -> FileKind | None:
    """The format of a harness's file; ``None`` for any other file."""
    if path.suffix.lower() not in _SUFFIXES and pointer_fault(head_of(path)):
        return None  # a picture or a model beside the logs
    try:
        with opened(path, TABLE) as file:
            head = file.read(_HEADS[0])
            if head.startswith(b"PK\x03\x04"):
                return "inspect" if inspect_ai.is_archive(path, head) else None
            if head.startswith(b"PAR1"):
                return "lighteval" if _is_details(path) else None
            if not head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")):
                return None
            kind, whole = _by_keys(head)
            if kind is None and not whole and len(head) == _HEADS[0]:
                kind, _ = _by_keys(head + file.read(_HEADS[1]))
    except OSError as error:
        raise cannot_open(path, error) from error
    return kind


def _is_details(path: Path) -> bool:
    columns = lighteval.columns_of(path)
    return columns >= lighteval.COLUMNS and not _is_table(columns)


def _by_keys(head: bytes) -> tuple[FileKind | None, bool]:
    keys, whole = first_keys(head.decode("utf-8-sig", errors="replace"))
    if _is_table(keys):
        return None, True
    known: dict[FileKind, bool] = {
        "lm-eval": keys >= lm_eval.SAMPLE_KEYS,
        "lm-eval results": keys >= lm_eval.RESULT_KEYS,
        "inspect": any(keys >= some for some in inspect_ai.KEYS),
        "helm": keys >= helm.KEYS,
        "responses": responses.has_keys(keys),
    }
    return next((kind for kind, fits in known.items() if fits), None), whole


def _is_table(columns: AbstractSet[str]) -> bool:
    """Whether these are the columns of a table of ours, which may have further ones."""
    return any(columns >= set(required) for required in REQUIRED.values())


def first_keys(text: str) -> tuple[set[str], bool]:
    """The keys of the first object (which may be inside a list), and whether the text holds all of it.

    >>> first_keys('[{"a": {"b": 1}, "c": [{"d": 2}]}, {"e": 3}]') == ({"a", "c"}, True)
    True
    """
    level = 2 if text.lstrip().startswith("[") else 1
    depth, last, keys = 0, "", set[str]()
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in "{[":
            depth += 1
            if depth > DEEPEST:
                return keys, True  # no reader would take it
        elif sign in "}]":
            depth -= 1
            if depth < level:
                return keys, True
        elif sign == ":" and depth == level:
            keys.add(last)
        last = sign[1:-1] if sign[0] == '"' else ""
    return keys, False
