"""What `generate` writes: the table, how it was made, and until then what has been answered so far.

What has been answered stands beside the output, in `.NAME.unfinished`. A generation that was killed, or whose server
went away, goes on from there. A local model answers in fixed batches, of which only whole ones are kept, and every
prompt has random numbers of its own: the table ends up with the same bytes as without the kill.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from assay.data.generations import FINISH, Prompts
from assay.errors import InputError
from assay.files.reading import TABLE, read_bytes
from assay.files.writing import make_folder, remove_parts, remove_whole, together, write_bytes
from assay.names import listed, one_line
from assay.results.words import count
from assay.scoring.decoding import Continuation, Decoding, Finish
from assay.version import VERSION

SCHEMA = "assay/generations/1"
SECONDS_BETWEEN_RECORDS = 5.0  # of what has been answered so far

_MOVE = "move it away, or name another file"

T = TypeVar("T")
JsonObject = dict[str, Any]


class Job(msgspec.Struct, frozen=True):
    """What was asked of the models."""

    prompts: JsonObject  # how many, and their digest
    decoding: JsonObject

    def differences(self, other: "Job") -> list[str]:
        if self.prompts != other.prompts:
            return ["prompts"]
        names = self.decoding.keys() | other.decoding.keys()
        return sorted(name for name in names if self.decoding.get(name) != other.decoding.get(name))


class _Head(msgspec.Struct, frozen=True):
    """The first line of what has been answered so far."""

    schema: str
    job: Job
    models: list[JsonObject]


class _Said(msgspec.Struct, frozen=True):
    """A further line: an answer."""

    model: str
    row: int
    prediction: str
    finish: Finish
    tokens: int | None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """How a table of generations was made."""

    schema: str = SCHEMA
    assay: str = VERSION
    job: Job
    models: list[JsonObject]
    rows: int
    reached_max_tokens: int
    sha256: str  # of the table


@dataclass(frozen=True, slots=True)
class Generated:
    """A complete table of generations; `assay.japanese` takes it like its file."""

    file: Path
    record: Record

    def __fspath__(self) -> str:
        return str(self.file)

    def __str__(self) -> str:
        names = listed(str(model.get("name")) for model in self.record.models)
        cut, most = self.record.reached_max_tokens, int(self.record.job.decoding.get("max_tokens", 0))
        ended = f", {cut:,} of them cut off at {count(most, 'token')}" if cut else ""
        return f"{names}: {count(self.record.rows, 'generation')}{ended} → {one_line(str(self.file))}"


def job_of(prompts: Prompts, decoding: Decoding) -> Job:
    return Job({"rows": len(prompts), "sha256": prompts.digest}, _as_json(asdict(decoding)))


def record_of(output: Path) -> Path:
    """Where it stands how generations were made: ``said.jsonl`` has ``said.manifest.json``."""
    return output.with_name(f"{output.stem}.manifest.json")


def unfinished(output: Path) -> Path:
    """Where it stands what has been answered so far."""
    return output.with_name(f".{output.name}.unfinished")


@dataclass
class Journal:
    """What has been answered so far: the settings and models on its first line, then a line per answer."""

    output: Path
    job: Job
    overwrite: bool
    models: dict[str, JsonObject] = field(default_factory=dict)
    answers: dict[str, dict[int, Continuation]] = field(default_factory=dict)
    served_as: dict[str, str | None] = field(default_factory=dict)
    _kept: float = -inf

    @classmethod
    def opened(cls, output: Path, job: Job, *, overwrite: bool) -> "Journal":
        """A new journal, or the one that a killed generation left; that of another one is refused, or overwritten."""
        path, found = unfinished(output), cls(output, job, overwrite)
        for file in (path, output, record_of(output)):
            remove_parts(file)
        if path.exists():
            found._read(path)
        return found

    def _read(self, path: Path) -> None:
        head, *lines = read_bytes(path, TABLE).split(b"\n")
        begun = _decoded(head, _Head, path)
        changed = begun.job.differences(self.job)
        if changed and not self.overwrite:
            raise _another(path, "an unfinished generation", changed)
        if changed:
            return
        self.models = {str(model.get("name")): model for model in begun.models}
        for said in (_decoded(line, _Said, path) for line in lines if line):
            if not 0 <= said.row < self.job.prompts["rows"]:
                raise InputError(
                    f"{one_line(str(path))}: has an answer to prompt {said.row}, which is not one; {_MOVE}."
                )
            self.answers.setdefault(said.model, {})[said.row] = Continuation(said.prediction, said.finish, said.tokens)

    def begin(self, name: str, about: JsonObject) -> None:
        """Note which model answers; if answers are there already, it must be the one that gave them."""
        known, about = self.models.get(name), _as_json(about)
        if known is not None and known != about:
            if not self.overwrite:
                changed = [f"{key} of {name}" for key in about if known.get(key) != about[key]]
                raise _another(unfinished(self.output), "an unfinished generation", changed)
            self.answers[name].clear()
        self.models[name] = about

    def keep_now_and_then(self) -> None:
        if time.monotonic() - self._kept >= SECONDS_BETWEEN_RECORDS:
            self.keep()

    def keep(self) -> None:
        """Write it all anew, whole: neither a reader nor a kill ever meets half a line."""
        head = {"schema": SCHEMA, "job": msgspec.to_builtins(self.job), "models": list(self.models.values())}
        lines = [
            {"model": name, "row": row, "prediction": answer.text, FINISH: answer.finish, "tokens": answer.tokens}
            for name, answers in self.answers.items()
            for row, answer in answers.items()
        ]
        with together():
            make_folder(self.output.parent)
            write_bytes(unfinished(self.output), _json_lines([head, *lines]))
        self._kept = time.monotonic()


def finished(output: Path, job: Job, models: Callable[[], list[JsonObject]], *, overwrite: bool) -> Generated | None:
    """The generations that are there, if they are the wanted ones; others are refused, or replaced in the end."""
    path = record_of(output)
    if not output.exists():
        return None  # nothing, or a kill before the table had its name
    if not path.exists():
        raise InputError(f"{one_line(str(output))}: exists, and nothing says that it was generated; name another file.")
    found = _decoded(read_bytes(path, TABLE), Record, path)
    if overwrite:
        return None
    changed = found.job.differences(job)
    there = [{key: value for key, value in model.items() if key != "served_as"} for model in found.models]
    if changed or there != [_as_json(model) for model in models()]:
        raise _another(output, "generations", changed or ["models"])
    if found.sha256 != _digest(read_bytes(output, TABLE)):
        raise InputError(
            f"{one_line(str(output))}: was changed after it had been generated; name another file, or replace it "
            "with `overwrite=True`."
        )
    remove_whole(unfinished(output))
    return Generated(output, found)


def completed(journal: Journal, names: Sequence[str], prompts: Prompts) -> Generated:
    """Write the table and its record, together, and remove the journal."""
    rows = [row for name in names for row in _rows(name, journal.answers[name], prompts)]
    data, output = _json_lines(rows), journal.output
    record = Record(
        job=journal.job,
        models=[{**journal.models[name], "served_as": journal.served_as.get(name)} for name in names],
        rows=len(rows),
        reached_max_tokens=sum(row[FINISH] == "length" for row in rows),
        sha256=_digest(data),
    )
    text = json.dumps(msgspec.to_builtins(record), indent=2, ensure_ascii=False)
    with together():
        make_folder(output.parent)
        write_bytes(record_of(output), f"{text}\n".encode())
        write_bytes(output, data)
        remove_whole(unfinished(output))
    return Generated(output, record)


def _rows(name: str, answers: Mapping[int, Continuation], prompts: Prompts) -> Iterator[JsonObject]:
    for row, item in enumerate(prompts.items):
        answer = answers[row]
        yield {
            "item": item,
            "model": name,
            "prompt": prompts.texts[row],
            "prediction": answer.text,
            **({} if prompts.references is None else {"reference": prompts.references[row]}),
            **({} if prompts.clusters is None else {"cluster": prompts.clusters[row]}),
            FINISH: answer.finish,
            "tokens": answer.tokens,
        }


def _decoded(data: bytes, kind: type[T], path: Path) -> T:
    """A record of ours; anything else is refused."""
    try:
        found = msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{one_line(str(path))}: not what `assay generate` wrote ({one_line(str(error))}); {_MOVE}."
        ) from error
    if getattr(found, "schema", SCHEMA) != SCHEMA:
        raise InputError(f"{one_line(str(path))}: not of the schema {SCHEMA}; {_MOVE}.")
    return found


def _another(path: Path, what: str, changed: Sequence[str]) -> InputError:
    return InputError(
        f"{one_line(str(path))}: holds {what} with other settings ({', '.join(changed)} differ); name another "
        "file, or replace it with `overwrite=True`."
    )


def _json_lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def _as_json(data: Mapping[str, Any]) -> JsonObject:
    """As it comes back from a file: tuples are lists."""
    return cast("JsonObject", json.loads(json.dumps(data)))


def _digest(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()
