"""The policy as a file, JSON or TOML: one format, read strictly, for `certify` and `verify` alike.

A policy decides what passes, so a slip in it must not decide: fields that are unknown or stand twice, numbers that are
none or absurdly long and values of another type are refused as the policy's fault, each with its field.
"""

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.design import DEFAULT_LEVEL, MOST_RESAMPLES, Policy, Profile, TierName, Weights
from assay.errors import InputError, UsageError
from assay.files.json_text import parse_json
from assay.files.reading import SETTINGS, read_bytes
from assay.names import one_line

SCHEMA = "assay/policy/1"
_LONGEST_NUMBER = 40  # characters
_SHOULD = re.compile(r"^(Input|String|Value) should")

Text = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]


class PolicyFile(BaseModel):
    """What a model must meet to replace another. What is left out is open: see the description of each field."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False, title="Policy")

    schema_uri: Text | None = Field(None, alias="$schema", description="For editors; not read.")
    schema_: Literal["assay/policy/1"] | None = Field(None, alias="schema", description="Version of this format.")
    tier: TierName | None = Field(
        None, description="Limits, minimum and replicates of this tier, where the fields below do not say otherwise."
    )
    profile: Profile | None = Field(None, description="Issued under this profile or a stricter one; its rules are met.")
    max_ratio: float | None = Field(None, gt=0, description="Largest acceptable ratio of perplexities.")
    max_drop: float | None = Field(None, ge=0, description="Largest acceptable change for the worse of a mean score.")
    min_windows: int | None = Field(
        None,
        ge=1,
        le=10**9,
        description="Least number of windows in each split; for scores: of items.",
    )
    replicates: int | None = Field(
        None, ge=100, le=MOST_RESAMPLES, description="Least number of random replicates, where an interval has any."
    )
    seed: int | None = Field(None, ge=0, le=2**64 - 1, description="Seed of the random replicates.")
    level: float | None = Field(
        None, ge=0.5, lt=1, description=f"Least confidence level of the intervals. Left out: {DEFAULT_LEVEL}."
    )
    lower_is_better: bool | None = Field(
        None, description="Whether a lower score is better. Left out: no. Lower losses are always better."
    )
    weights: Weights | None = Field(
        None,
        description="equal: scores with unequal weights are not accepted. any: they are. Left out: equal. Tokens are "
        "no weights.",
    )
    cluster: Text | None = Field(None, description="The column whose groups are drawn whole, such as document.")
    task: Text | None = Field(None, description="The task that the scores are of.")
    metric: Text | None = Field(None, description="The metric that the scores are of.")
    filter: Text | None = Field(None, description="The filter of the answers, where a harness has several.")
    scorer: Text | None = Field(None, description="The scorer, where a harness has several.")
    note: Text | None = Field(
        None, description="Why it differs from its tier; certificates issued under the policy carry it."
    )


def policy_schema() -> dict[str, Any]:
    """The JSON Schema that is published: a field is left out rather than null."""
    schema = PolicyFile.model_json_schema()
    for field in schema["properties"].values():
        choices = [choice for choice in field.pop("anyOf", []) if choice.get("type") != "null"]
        field.pop("default", None)
        for choice in choices:
            field.update(choice)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def policy_of(given: Policy | str | PathLike[str] | None) -> Policy:
    """A policy, or the one in a file; none leaves everything open."""
    if given is None:
        return Policy()
    return given if isinstance(given, Policy) else read_policy(given)


def read_policy(path: str | PathLike[str]) -> Policy:
    """The policy in a JSON file, or in a TOML file if its name ends so."""
    file = Path(path)
    content = _content(file)
    for name, value in content.items():
        if isinstance(value, _NoNumber):
            raise InputError(f"{file}: {one_line(name)}: {value.why}.")
        if value is None:
            raise InputError(f"{file}: {one_line(name)}: must not be null; leave the field out to leave it open.")
    try:
        # TOML and JSON differ in what is a date; a field of a policy never is one, and pydantic says so.
        fields = PolicyFile.model_validate(content).model_dump(exclude_none=True)
        return Policy(**{name: value for name, value in fields.items() if not name.startswith("schema_")})
    except ValidationError as error:
        raise InputError(f"{file}: {'; '.join(_fault(e) for e in error.errors(include_url=False))}.") from error
    except UsageError as error:
        raise InputError(f"{file}: {error}") from error


def _fault(error: Any) -> str:
    field = one_line(".".join(map(str, error["loc"])))
    if error["type"] == "extra_forbidden":
        return f"{field}: no such field; `assay schema policy` lists them"
    if error["type"] == "string_pattern_mismatch":
        return f"{field}: must not be blank"
    rule = _SHOULD.sub("must", error["msg"], count=1)
    return f"{field}: {rule}, but got {_seen(error['input'])}"


def _seen(value: Any) -> str:
    text = one_line(json.dumps(value, default=str, ensure_ascii=False))
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(frozen=True, slots=True)
class _NoNumber:
    """What stands in a policy where a number should; refused once its field is known."""

    why: str


def _content(file: Path) -> dict[str, Any]:
    label = one_line(str(file))
    data = read_bytes(file, SETTINGS, label=label)
    if file.suffix.lower() == ".toml":
        return _toml(data, label)
    marked = _marked(data)
    if isinstance(marked, dict) and any(isinstance(value, _NoNumber) for value in marked.values()):
        return marked
    content = parse_json(data, label, advice='write a JSON object, such as {"max_ratio": 1.05}')
    if not isinstance(content, dict):
        raise InputError(f"{label}: a policy must be an object of fields such as max_ratio, but got {_seen(content)}.")
    return content


def _marked(data: bytes) -> Any:
    """The content with what is no number marked, so that its field can be named; what is no JSON is told elsewhere."""
    try:
        return json.loads(data, parse_constant=_constant, parse_int=_number(int), parse_float=_number(float))
    except (ValueError, RecursionError):
        return None


def _toml(data: bytes, label: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(data.decode("utf-8-sig"), parse_float=_number(float))
    except (ValueError, RecursionError) as error:
        said = "nested too deeply" if isinstance(error, RecursionError) else error
        raise InputError(f"{label}: not TOML ({said}); write lines such as max_ratio = 1.05.") from error
    return {name: _too_long(len(str(v))) if _long(v) else v for name, v in found.items()}


def _long(value: Any) -> bool:
    return isinstance(value, int) and abs(value) >= 10**_LONGEST_NUMBER


def _too_long(length: int) -> _NoNumber:
    return _NoNumber(f"must be a number of at most {_LONGEST_NUMBER} characters, but has {length}")


def _constant(name: str) -> _NoNumber:
    return _NoNumber(f"must be a finite number, but got {name}")


def _number(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        return kind(text) if len(text) <= _LONGEST_NUMBER else _too_long(len(text))

    return parse
