"""The samples of inspect_ai as they are decoded: ids, scores, errors and costs, and nothing of what was said."""

from collections.abc import Sequence
from operator import attrgetter
from sys import intern
from typing import Any

import msgspec

from assay.data.readers.harness import digest, digests
from assay.data.readers.harness.equal_keys import key_twice
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted, costs_told, of_one_sample
from assay.data.readers.harness.inspect_records import ATTACHMENT, TOKENS, asked
from assay.data.readers.harness.long_lists import NotPlainError
from assay.names import one_line

REFUSED = (msgspec.MsgspecError, UnicodeError, RecursionError)


class InspectScore(msgspec.Struct, gc=False):
    value: Any


class InspectUsage(msgspec.Struct, gc=False):
    input_tokens: float | None = None
    output_tokens: float | None = None
    total_tokens: float | None = None


class _Output(msgspec.Struct, gc=False):
    model: str | None = None
    usage: InspectUsage | None = None


class _Error(msgspec.Struct, gc=False):
    message: str


class InspectSample(msgspec.Struct, gc=False):
    id: int | str
    epoch: int
    input: str | list[Any]
    scores: msgspec.Raw = msgspec.Raw(b"null")
    model_usage: dict[str, InspectUsage] | None = None
    output: _Output | None = None
    total_time: float | None = None
    error: _Error | None = None
    attachments: msgspec.Raw = msgspec.Raw(b"null")


_decode_sample = msgspec.json.Decoder(InspectSample).decode
_decode_all_scores = msgspec.json.Decoder(list[dict[str, InspectScore] | None]).decode
_decode_scores = msgspec.json.Decoder(dict[str, InspectScore] | None).decode


def samples_together(wanted: Wanted, samples: Sequence[InspectSample]) -> InspectSamples | None:
    """What is kept of samples that have the same scorers and a text for input; ``None`` of any others."""
    inputs = [one.input for one in samples if isinstance(one.input, str) and not one.input.startswith(ATTACHMENT)]
    written = b",".join(one.scores for one in samples)
    try:
        scores = [found or {} for found in _decode_all_scores(b"[" + written + b"]")]
    except REFUSED:
        return None
    scorers = scores[0].keys() if scores else {}.keys()
    alike = all(map(scorers.__eq__, map(dict.keys, scores)))
    plain = alike and written.count(b'"value":') == len(scorers) * len(samples)
    if not plain or len(inputs) < len(samples):
        return None
    usages = [
        (one.model_usage and one.model_usage.get(wanted.model)) or _usage(wanted, one) or _NO_USAGE for one in samples
    ]
    epochs = {epoch: intern(str(epoch)) for epoch in {one.epoch for one in samples}}
    costs = {ours: list(map(attrgetter(theirs), usages)) for ours, theirs in TOKENS.items()}
    costs["seconds"] = [one.total_time for one in samples]
    return InspectSamples(
        (),
        [str(one.id) for one in samples],
        [epochs[one.epoch] for one in samples],
        digests(inputs),
        ["" if wanted.cluster is None else wanted.task] * len(samples),
        ["" if one.error is None else _error(one) for one in samples],
        {name: [one[name].value for one in scores] for name in scorers},
        {name: told for name, values in costs.items() if (told := costs_told(values)) is not None},
    )


def _is_text(found: str | list[Any]) -> bool:
    return isinstance(found, str) and not found.startswith(ATTACHMENT)


def add_quickly(found: InspectSamples, wanted: Wanted, data: bytes) -> bool:
    """Add a sample; False where it is not what it should be, or not plainly written."""
    try:
        add_sample(found, wanted, _decode_sample(data))
    except (*REFUSED, NotPlainError):
        return False
    return True


def add_sample(found: InspectSamples, wanted: Wanted, sample: InspectSample) -> None:
    attached = None if _is_text(sample.input) else msgspec.json.decode(sample.attachments)
    usage = _usage(wanted, sample)
    costs = {} if usage is None else {ours: getattr(usage, theirs) for ours, theirs in TOKENS.items()}
    costs["seconds"] = sample.total_time
    found.extend(
        of_one_sample(
            sample.id,
            sample.epoch,
            digest(asked(sample.input, attached)),
            _scores(sample),
            costs,
            _error(sample),
            "" if wanted.cluster is None else wanted.task,
        )
    )


def _error(sample: InspectSample) -> str:
    return "" if sample.error is None else one_line(sample.error.message) or "an error"


def _usage(wanted: Wanted, sample: InspectSample) -> InspectUsage | None:
    """Tokens of the model itself and not of a grader."""
    every, output = sample.model_usage or {}, sample.output or _NO_OUTPUT
    return every.get(wanted.model) or every.get(output.model or "") or output.usage


_NO_USAGE, _NO_OUTPUT = InspectUsage(), _Output()


def _scores(sample: InspectSample) -> dict[str, Any]:
    """The scores of a sample by scorer."""
    written = bytes(sample.scores)
    found = _decode_scores(written) or {}
    if written.count(b'"value":') != len(found) and key_twice(written):
        raise NotPlainError
    return {name: score.value for name, score in found.items()}
