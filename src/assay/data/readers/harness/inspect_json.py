"""The samples of a ``.json`` log of inspect_ai: many decoded at a time without what was said, or parsed as any JSON."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.data.readers.harness import field_of
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted
from assay.data.readers.harness.inspect_decoded import REFUSED, InspectSample, add_sample, samples_together
from assay.data.readers.harness.inspect_records import BETWEEN, add_record, sample_object
from assay.data.readers.harness.long_lists import NotPlainError, file_blocks, parts_of_list, records_of_list
from assay.data.readers.harness.places import NumberedPlaces
from assay.data.readers.harness.shorter_lists import WithoutLists
from assay.errors import InputError
from assay.files.reading import DOCUMENT, LINES, opened, parse_json, read_json

_LARGEST_HEADER = 1 << 24
_START_OF_SAMPLES = re.compile(rb'\n  "samples": (?=\[)')
_END_OF_SAMPLES, _END_OF_LOG = b"\n  ]", b"\n}"
_INDENT = 6  # of the fields of a sample
_LEFT_OUT = ("messages", "events")


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


def samples_of_json(wanted: Wanted) -> InspectSamples:
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
    shorter = WithoutLists(_LEFT_OUT, _INDENT, msgspec.json.Decoder(list[InspectSample]).decode)
    parts = _ended(parts_of_list(_from_samples(wanted.path), BETWEEN))
    for samples in records_of_list(parts, InspectSample, shorter=shorter):
        together = samples_together(wanted, samples)
        if together is not None:
            found.extend(together)
            continue
        for sample in samples:
            try:
                add_sample(found, wanted, sample)
            except REFUSED as error:
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
    """The same without what follows the list, which only the last part has: there the log must end."""
    last = None
    for part in parts:
        if last is not None:
            yield last
        last = part
    end = (last or b"").find(_END_OF_SAMPLES)
    if last is None or end < 0 or not last.rstrip().endswith(_END_OF_LOG):
        raise NotPlainError
    yield last[:end] + b"]"
