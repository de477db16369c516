"""The samples of a log of inspect_ai parsed as any other JSON: all that they hold, and what is wrong with them."""

import re
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path
from typing import Any

from assay.data.readers.harness import digest, field_of, label_of, shown_value
from assay.data.readers.harness.inspect_archive import open_archive
from assay.data.readers.harness.inspect_columns import InspectSamples, Wanted, of_one_sample
from assay.errors import InputError
from assay.files.reading import LINES, opened, parse_json, read_json
from assay.names import one_line

SAMPLES = "samples/"
#: How one sample, or summary of one, follows another; the first group is what separates them.
BETWEEN = re.compile(rb'\}(\s*,\s*)\{\s*"id"\s*:\s*(?:\d+|"(?:[^"\\]|\\.)*")\s*,\s*"epoch"\s*:')
ATTACHMENT = "attachment://"
TOKENS = {"tokens_in": "input_tokens", "tokens_out": "output_tokens", "tokens_total": "total_tokens"}


def zipped(path: Path) -> bool:
    with opened(path, LINES) as file:
        return file.read(4) == b"PK\x03\x04"


def member_place(path: Path, name: str) -> str:
    return f"{path}, member {name!r}"


def every_sample(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all of each sample, with its location."""
    if zipped(path):
        with open_archive(path) as archive:
            for name in archive.names():
                if name.startswith(SAMPLES) and name.endswith(".json"):
                    place = member_place(path, name)
                    yield place, sample_object(parse_json(archive.read(name), place), place)
        return
    found = sample_object(read_json(path), str(path))
    for at, sample in enumerate([] if found.get("samples") is None else field_of(found, "samples", str(path), list)):
        place = f"{path}, sample {at + 1}"
        yield place, sample_object(sample, place)


def sample_object(found: object, place: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise InputError(f"{place}: not a log of inspect, which is a JSON object; name another file.")
    return found


def add_record(found: InspectSamples, wanted: Wanted, place: str, sample: dict[str, Any]) -> None:
    scores, cluster = sample.get("scores") or {}, wanted.cluster
    if not isinstance(scores, dict):
        raise InputError(f"{place}: 'scores' must be an object, but got {shown_value(scores)}; write the log again.")
    group = ""
    if cluster is not None:
        group = wanted.task if cluster == "task" else label_of([("metadata", sample.get("metadata"))], cluster, place)
    found.extend(
        of_one_sample(
            field_of(sample, "id", place, int, str),
            field_of(sample, "epoch", place, int),
            digest(asked(field_of(sample, "input", place, str, list), sample.get("attachments"))),
            {str(name): field_of(score, "value", f"{place}, score {name!r}") for name, score in scores.items()},
            _costs(sample, wanted.model),
            _error(sample.get("error")),
            group,
        )
    )


def _error(found: object) -> str:
    if not found:
        return ""
    message = found.get("message") if isinstance(found, dict) else found
    return one_line(str(message)) or "an error"


def _costs(sample: dict[str, Any], model: str) -> dict[str, float]:
    """Tokens of the model itself and not of a grader, and seconds, where they are told."""
    output, every = sample.get("output"), sample.get("model_usage")
    output, every = output if isinstance(output, dict) else {}, every if isinstance(every, dict) else {}
    usage = every.get(model) or every.get(str(output.get("model"))) or output.get("usage")
    told = {ours: usage.get(theirs) for ours, theirs in TOKENS.items()} if isinstance(usage, dict) else {}
    known = {**told, "seconds": sample.get("total_time")}
    numbers = {name: value for name, value in known.items() if isinstance(value, int | float)}
    return {name: float(value) for name, value in numbers.items() if 0 <= value < inf}


def asked(found: object, attachments: object) -> object:
    """The input without message ids, which differ in each run, and with its attachments restored."""
    if isinstance(found, list):
        return [asked(part, attachments) for part in found]
    if isinstance(found, dict):
        return {
            name: asked(found[name], attachments)
            for name in ("role", "type", "text", "content", "image")
            if name in found
        }
    if isinstance(found, str) and found.startswith(ATTACHMENT) and isinstance(attachments, Mapping):
        return attachments.get(found.removeprefix(ATTACHMENT), found)
    return found
