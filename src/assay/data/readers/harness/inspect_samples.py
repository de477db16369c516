"""The samples of a log of inspect_ai, column by column: ids, scores, errors and costs, and nothing of what was said.

An archive has a summary of each sample, which holds all of that unless the input is long; then the sample itself is
read. The samples of a large ``.json`` log are decoded some at a time. What is not plainly written is parsed as any
other JSON, which says what is wrong.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from sys import intern
from typing import Any

import msgspec

from assay.data.readers.harness import digest, field_of
from assay.data.readers.harness.equal_keys import MOST_OF_A_FILE, EqualKeys, key_twice
from assay.data.readers.harness.inspect_archive import Archive, open_archive
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted, costs_told, of_one_sample
from assay.data.readers.harness.inspect_records import (
    ATTACHMENT,
    SAMPLES,
    TOKENS,
    add_record,
    asked,
    member_place,
    sample_object,
    zipped,
)
from assay.data.readers.harness.long_lists import NotPlainError, file_blocks, parts_of_list, records_of_list
from assay.data.readers.harness.places import MadePlaces, NumberedPlaces
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, opened, parse_json, read_json
from assay.names import one_line

_SUMMARIES, _JOURNAL = "summaries.json", "_journal/summaries/"
_LONGEST_INPUT = 1000  # characters: longer ones are cut in summaries, by some versions after 1,024
_LARGEST_HEADER = 1 << 24
_START_OF_SAMPLES = re.compile(rb'\n  "samples": (?=\[)')
_END_OF_SAMPLES = b"\n  ]"
_BETWEEN = re.compile(rb'\}(\s*,\s*)\{\s*"id"\s*:\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*,\s*"epoch"\s*:')


def read_samples(wanted: Wanted) -> InspectSamples:
    """Read the samples of a log."""
    if not zipped(wanted.path):
        return _of_json(wanted)
    with open_archive(wanted.path) as archive:
        return _of_archive(wanted, archive)


class _Score(msgspec.Struct, gc=False):
    value: Any


class _Usage(msgspec.Struct, gc=False):
    input_tokens: float | None = None
    output_tokens: float | None = None
    total_tokens: float | None = None


class _Summary(msgspec.Struct, gc=False):
    """What the summary of a sample tells; older versions tell no costs and no metadata, so that these are refused."""

    id: int | str
    epoch: int
    input: str | list[Any]
    model_usage: dict[str, _Usage]
    scores: dict[str, _Score] | None = None
    total_time: float | None = None
    error: str | None = None


class _Output(msgspec.Struct, gc=False):
    model: str | None = None
    usage: _Usage | None = None


class _Error(msgspec.Struct, gc=False):
    message: str


class _Sample(msgspec.Struct, gc=False):
    id: int | str
    epoch: int
    input: str | list[Any]
    scores: msgspec.Raw = msgspec.Raw(b"null")
    model_usage: dict[str, _Usage] | None = None
    output: _Output | None = None
    total_time: float | None = None
    error: _Error | None = None
    attachments: msgspec.Raw = msgspec.Raw(b"null")


_decode_sample = msgspec.json.Decoder(_Sample).decode
_decode_scores = msgspec.json.Decoder(dict[str, _Score] | None).decode
_REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)


def _of_archive(wanted: Wanted, archive: Archive) -> InspectSamples:
    if wanted.cluster in (None, "task"):
        try:
            return _of_summaries(wanted, archive)
        except NotPlainError:
            pass
    names = [name for name in archive.names() if name.startswith(SAMPLES) and name.endswith(".json")]
    found = InspectSamples(MadePlaces(len(names), lambda at: member_place(wanted.path, names[at])))
    equal = EqualKeys(MOST_OF_A_FILE)
    for name in names:
        data, place = archive.read(name), member_place(archive.path, name)
        quickly = wanted.cluster in (None, "task") and not equal.found_in(data)
        if not quickly or not _add_quickly(found, wanted, data):
            add_record(found, wanted, place, sample_object(parse_json(data, place), place))
    return found


def _of_summaries(wanted: Wanted, archive: Archive) -> InspectSamples:
    """The samples by their summaries, if there is one of each."""
    names = [_SUMMARIES] if _SUMMARIES in archive else [one for one in archive.names() if one.startswith(_JOURNAL)]
    found = InspectSamples(())
    for name in names:
        for records in records_of_list(parts_of_list(archive.blocks(name), _BETWEEN), _Summary, _once):
            together = _summarized(records, wanted)
            if together is not None:
                found.extend(together)
                continue
            for one in records:
                alone = _summarized([one], wanted)
                if alone is None:
                    _add_whole(found, wanted, archive, one)
                else:
                    found.extend(alone)
    if len(found) != archive.count(SAMPLES):
        raise NotPlainError
    items, epochs, path = found.items, found.epochs, archive.path
    found.places = MadePlaces(
        len(found), lambda at: member_place(path, f"{SAMPLES}{items[at]}_epoch_{epochs[at]}.json")
    )
    return found


def _once(records: list[_Summary], part: bytes) -> bool:
    """Whether the keys that scores hang on are written once for each summary and score."""
    scores = sum(len(one.scores or ()) for one in records)
    return part.count(b'"epoch":') == len(records) and part.count(b'"value":') == scores


def _summarized(records: Sequence[_Summary], wanted: Wanted) -> InspectSamples | None:
    """What summaries tell of their samples; ``None`` where one of them does not tell all that the sample does."""
    inputs = [one.input for one in records if isinstance(one.input, str) and len(one.input) < _LONGEST_INPUT]
    if len(inputs) < len(records) or any(one.startswith(ATTACHMENT) for one in inputs):
        return None
    usages = [one.model_usage.get(wanted.model) or (None if one.model_usage else _Usage()) for one in records]
    scorers = (records[0].scores or {}).keys() if records else ()
    if None in usages or any((one.scores or {}).keys() != scorers for one in records):
        return None
    costs = {ours: [getattr(one, theirs) for one in usages] for ours, theirs in TOKENS.items()}
    costs["seconds"] = [one.total_time for one in records]
    return InspectSamples(
        (),
        [str(one.id) for one in records],
        [intern(str(one.epoch)) for one in records],
        [digest(text) for text in inputs],
        ["" if wanted.cluster is None else wanted.task] * len(records),
        [one_line(one.error) if one.error else "" for one in records],
        {name: [one.scores[name].value for one in records if one.scores] for name in scorers},
        {name: told for name, values in costs.items() if (told := costs_told(values)) is not None},
    )


def _add_whole(found: InspectSamples, wanted: Wanted, archive: Archive, one: _Summary) -> None:
    """Add a sample of which the summary does not tell all."""
    name = f"{SAMPLES}{one.id}_epoch_{one.epoch}.json"
    if name not in archive:
        raise NotPlainError
    data, place = archive.read(name), member_place(archive.path, name)
    if not _add_quickly(found, wanted, data):
        add_record(found, wanted, place, sample_object(parse_json(data, place), place))


def _is_text(found: str | list[Any]) -> bool:
    return isinstance(found, str) and not found.startswith(ATTACHMENT)


def _add_quickly(found: InspectSamples, wanted: Wanted, data: bytes) -> bool:
    """Add a sample; False where it is not what it should be, or not plainly written."""
    try:
        _add_sample(found, wanted, _decode_sample(data))
    except (*_REFUSED, NotPlainError):
        return False
    return True


def _add_sample(found: InspectSamples, wanted: Wanted, sample: _Sample) -> None:
    attached = None if _is_text(sample.input) else msgspec.json.decode(sample.attachments)
    error = "" if sample.error is None else one_line(sample.error.message) or "an error"
    every, output = sample.model_usage or {}, sample.output or _Output()
    usage = every.get(wanted.model) or every.get(output.model or "") or output.usage
    costs = {} if usage is None else {ours: getattr(usage, theirs) for ours, theirs in TOKENS.items()}
    costs["seconds"] = sample.total_time
    found.extend(
        of_one_sample(
            sample.id,
            sample.epoch,
            digest(asked(sample.input, attached)),
            _scores(sample),
            costs,
            error,
            "" if wanted.cluster is None else wanted.task,
        )
    )


def _scores(sample: _Sample) -> dict[str, Any]:
    """The scores of a sample by scorer."""
    written = bytes(sample.scores)
    found = _decode_scores(written) or {}
    if written.count(b'"value":') != len(found) and key_twice(written):
        raise NotPlainError
    return {name: score.value for name, score in found.items()}


# ---------------------------------------------------------------------------------------------------------- .json logs


def header_of_json(path: Path) -> Any:
    """A log without its samples."""
    with opened(path, LINES) as file:
        start = file.read(_LARGEST_HEADER)
    found = _START_OF_SAMPLES.search(start)
    if found is not None:
        try:
            return parse_json(start[: found.start()].rstrip().removesuffix(b",") + b"}", str(path))
        except InputError:
            pass  # what is wrong is said of all of it
    return read_json(path)


def _of_json(wanted: Wanted) -> InspectSamples:
    path = wanted.path
    if wanted.cluster in (None, "task"):
        try:
            return _of_list(wanted)
        except NotPlainError:
            if path.stat().st_size > DOCUMENT.bytes:
                raise InputError(
                    f"{path}: cannot be decoded, and is too large to say why (over {DOCUMENT.bytes / 1e6:.0f} MB); "
                    "write the log as .eval with `inspect log convert`."
                ) from None
    log = sample_object(read_json(path), str(path))
    samples = [] if log.get("samples") is None else field_of(log, "samples", str(path), list)
    found = InspectSamples(NumberedPlaces(str(path), range(1, len(samples) + 1), "sample"))
    for at, sample in enumerate(samples, start=1):
        place = f"{path}, sample {at}"
        add_record(found, wanted, place, sample_object(sample, place))
    return found


def _of_list(wanted: Wanted) -> InspectSamples:
    found = InspectSamples(())
    for samples in records_of_list(_ended(parts_of_list(_from_samples(wanted.path), _BETWEEN)), _Sample):
        for sample in samples:
            try:
                _add_sample(found, wanted, sample)
            except _REFUSED as error:
                raise NotPlainError from error
    found.places = NumberedPlaces(str(wanted.path), range(1, len(found) + 1), "sample")
    return found


def _from_samples(path: Path) -> Iterator[bytes]:
    """The list of samples in a log that is written over several lines, and what follows it."""
    before: bytes | None = b""
    for block in file_blocks(path):
        if before is None:
            yield block
            continue
        before += block
        start = _START_OF_SAMPLES.search(before)
        if start is not None:
            yield before[start.end() :]
            before = None
        elif len(before) > _LARGEST_HEADER:
            raise NotPlainError
    if before is not None:
        raise NotPlainError


def _ended(parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same without what follows the list, which only the last part has."""
    last = None
    for part in parts:
        if last is not None:
            yield last
        last = part
    end = (last or b"").find(_END_OF_SAMPLES)
    if last is None or end < 0:
        raise NotPlainError
    yield last[:end] + b"]"
