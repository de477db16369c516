"""The samples of a log of inspect_ai, column by column: ids, scores, errors and costs, and nothing of what was said.

An archive has a summary of each sample, which holds all of that unless the input is long; then the sample itself is
read. The samples of a large ``.json`` log are decoded some at a time. What is not plainly written is parsed as any
other JSON, which says what is wrong.
"""

from collections.abc import Sequence
from sys import intern
from typing import Any

import msgspec

from assay.data.readers.harness import digest
from assay.data.readers.harness.equal_keys import MOST_OF_A_FILE, EqualKeys
from assay.data.readers.harness.inspect_archive import Archive, open_archive
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted, costs_told
from assay.data.readers.harness.inspect_decoded import InspectScore, InspectUsage, add_quickly
from assay.data.readers.harness.inspect_json import samples_of_json
from assay.data.readers.harness.inspect_records import (
    ATTACHMENT,
    BETWEEN,
    SAMPLES,
    TOKENS,
    add_record,
    member_place,
    sample_object,
    zipped,
)
from assay.data.readers.harness.long_lists import NotPlainError, parts_of_list, records_of_list
from assay.data.readers.harness.places import MadePlaces
from assay.files.reading import parse_json
from assay.names import one_line

_SUMMARIES, _JOURNAL = "summaries.json", "_journal/summaries/"
_LONGEST_INPUT = 1000  # characters: longer ones are cut in summaries, by some versions after 1,024


def read_samples(wanted: Wanted) -> InspectSamples:
    """Read the samples of a log."""
    if not zipped(wanted.path):
        return samples_of_json(wanted)
    with open_archive(wanted.path) as archive:
        return _of_archive(wanted, archive)


class _Summary(msgspec.Struct, gc=False):
    """What the summary of a sample tells; older versions tell no costs and no metadata, so that these are refused."""

    id: int | str
    epoch: int
    input: str | list[Any]
    model_usage: dict[str, InspectUsage]
    scores: dict[str, InspectScore] | None = None
    total_time: float | None = None
    error: str | None = None


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
        if not quickly or not add_quickly(found, wanted, data):
            add_record(found, wanted, place, sample_object(parse_json(data, place), place))
    return found


def _of_summaries(wanted: Wanted, archive: Archive) -> InspectSamples:
    """The samples by their summaries, if there is one of each."""
    names = [_SUMMARIES] if _SUMMARIES in archive else [one for one in archive.names() if one.startswith(_JOURNAL)]
    found = InspectSamples(())
    for name in names:
        for records in records_of_list(parts_of_list(archive.blocks(name), BETWEEN), _Summary, _once):
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
    usages = [one.model_usage.get(wanted.model) or (None if one.model_usage else InspectUsage()) for one in records]
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
    if not add_quickly(found, wanted, data):
        add_record(found, wanted, place, sample_object(parse_json(data, place), place))
