"""Policies: read from a file, JSON or TOML, and how a verdict follows from one.

A policy decides what passes, so a slip in it must not decide: fields that are unknown or stand twice, numbers that are
none or absurdly long and values of another type are refused as the policy's fault, each with its field.
"""

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, isfinite
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from assay.certificate.canonical import rounded
from assay.certificate.fields import Decision, GateVerdict, PrimaryMetric, TierLimits
from assay.design import DEFAULT_LEVEL, MOST_RESAMPLES, Policy, Profile, TierName, Weights
from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, parse_json, read_bytes
from assay.names import one_line

SCHEMA = "assay/policy/1"
VERDICT_VERSION = 1
MOST_NEEDED = 1e9  # more windows than this is "never"
_LONGEST_NUMBER = 40  # characters


# ------------------------------------------------------------------------------------ the bound decides, not the point


@dataclass(frozen=True, slots=True)
class Decided:
    """A verdict, the limit, the bound that decided, and how many units would settle an open case."""

    verdict: GateVerdict
    limit: float
    bound: float
    needed: int | None


def decide(estimate: float, low: float, high: float, limit: float, n: int) -> Decided:
    """Is a quantity that should stay at or below ``limit`` (a ratio, the fall of a score) shown to be there?

    >>> decide(1.09, 0.94, 1.30, 1.10, 180).verdict  # the point is below the limit, the interval is not
    'insufficient evidence'
    """
    if high <= limit:
        return Decided("pass", limit, high, None)
    if low > limit:
        return Decided("regression", limit, low, None)
    reach, gap = (high - estimate, limit - estimate) if estimate <= limit else (estimate - low, estimate - limit)
    shrink = reach / gap if gap > 0 else float("inf")  # an interval shrinks as 1/√n
    needed = n * shrink * shrink
    return Decided("insufficient evidence", limit, high, max(n + 1, ceil(needed)) if needed < MOST_NEEDED else None)


def decide_by(metric: PrimaryMetric, limits: TierLimits, n: int) -> Decision:
    """The decision of a certificate, on its printed numbers, so that a reader decides as the certificate does."""
    low, high = metric.display_ci
    mean, drop = metric.difference_vs_baseline, limits.max_drop
    if metric.ratio_vs_baseline is not None:
        found = decide(metric.ratio_vs_baseline, low, high, limits.max_ratio, n)
    elif metric.lower_is_better:
        found = decide(mean, low, high, drop, n)
    else:
        found = decide(-mean, -high, -low, drop, n)
    if (
        metric.standard_error is None
    ):  # one unit (all windows in one cluster) has a collapsed interval: it shows nothing
        found = replace(found, verdict="insufficient evidence")
    return Decision(
        rule="bound",
        version=VERDICT_VERSION,
        verdict=found.verdict,
        limit=found.limit,
        bound=rounded(found.bound),
        windows_needed=found.needed,
    )


# ------------------------------------------------------------------------------------------------ policies as files

Text = Annotated[
    str, msgspec.Meta(min_length=1, max_length=2_000, pattern=r"\S", extra={"must": "a text that is not blank"})
]


def _said(description: str, must: str | None = None, **bounds: Any) -> msgspec.Meta:
    """What a field means, what it must be, for messages, and the bounds that say the same."""
    meta: type[Any] = msgspec.Meta  # each pair of bounds is a signature of its own
    found: msgspec.Meta = meta(description=description, extra=None if must is None else {"must": must}, **bounds)
    return found


#: The fields of a policy's file. Reading, messages and the published schema all come from here.
FIELDS: dict[str, Any] = {
    "$schema": Annotated[Text, _said("For editors; not read.")],
    "schema": Annotated[Literal["assay/policy/1"], _said("Version of this format.")],
    "tier": Annotated[
        TierName, _said("Limits, minimum and replicates of this tier, where the fields below do not say otherwise.")
    ],
    "profile": Annotated[Profile, _said("Issued under this profile or a stricter one; its rules are met.")],
    "max_ratio": Annotated[float, _said("Largest acceptable ratio of perplexities.", "a number above 0", gt=0)],
    "max_drop": Annotated[
        float, _said("Largest acceptable change for the worse of a mean score.", "a number from 0 up", ge=0)
    ],
    "min_windows": Annotated[
        int,
        _said(
            "Least number of windows in each split; for scores: of items.",
            f"a whole number from 1 to {10**9:,}",
            ge=1,
            le=10**9,
        ),
    ],
    "replicates": Annotated[
        int,
        _said(
            "Least number of random replicates, where an interval has any.",
            f"a whole number from 100 to {MOST_RESAMPLES:,}",
            ge=100,
            le=MOST_RESAMPLES,
        ),
    ],
    "seed": Annotated[
        int,
        _said(
            "Seed of the random replicates.",
            "a whole number from 0 to 2^64 - 1",
            ge=0,
            extra_json_schema={"maximum": 2**64 - 1},  # beyond what msgspec can bound: the policy itself checks it
        ),
    ],
    "level": Annotated[
        float,
        _said(
            f"Least confidence level of the intervals. Left out: {DEFAULT_LEVEL}.",
            "a number from 0.5 to below 1",
            ge=0.5,
            lt=1,
        ),
    ],
    "lower_is_better": Annotated[
        bool,
        _said("Whether a lower score is better. Left out: no. Lower losses are always better.", "true or false"),
    ],
    "weights": Annotated[
        Weights,
        _said(
            "equal: scores with unequal weights are not accepted. any: they are. Left out: equal. Tokens are no "
            "weights."
        ),
    ],
    "cluster": Annotated[Text, _said("The column whose groups are drawn whole, such as document.")],
    "task": Annotated[Text, _said("The task that the scores are of.")],
    "metric": Annotated[Text, _said("The metric that the scores are of.")],
    "filter": Annotated[Text, _said("The filter of the answers, where a harness has several.")],
    "scorer": Annotated[Text, _said("The scorer, where a harness has several.")],
    "note": Annotated[Text, _said("Why it differs from its tier; certificates issued under the policy carry it.")],
}


def policy_schema() -> dict[str, Any]:
    """The JSON Schema that is published: a field is left out rather than null."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy",
        "description": "What a model must meet to replace another. What is left out is open: see each field.",
        "type": "object",
        "properties": {name: msgspec.json.schema(kind) for name, kind in FIELDS.items()},
        "additionalProperties": False,
    }


def policy_of(given: Policy | str | PathLike[str] | None) -> Policy:
    """A policy, or the one in a file; none leaves everything open."""
    if given is None:
        return Policy()
    return given if isinstance(given, Policy) else read_policy(given)


def read_policy(path: str | PathLike[str]) -> Policy:
    """The policy in a JSON file, or in a TOML file if its name ends so.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "gate.toml").write_text('profile = "ci"')
    ...     read_policy(f"{folder}/gate.toml").profile
    'ci'
    """
    file = Path(path)
    content = _content(file)
    faults = [fault for name, value in content.items() if (fault := _fault(name, value)) is not None]
    if faults:
        raise InputError(f"{file}: {'; '.join(faults)}.")
    try:
        read = {name: msgspec.convert(value, FIELDS[name]) for name, value in content.items()}
        return Policy(**{name: value for name, value in read.items() if name not in ("$schema", "schema")})
    except UsageError as error:
        raise InputError(f"{file}: {error}") from error


def _fault(name: str, value: Any) -> str | None:
    """What is wrong with a field."""
    field = one_line(name)
    if isinstance(value, _NoNumber):
        return f"{field}: {value.why}"
    if value is None:
        return f"{field}: must not be null; leave the field out to leave it open"
    if name not in FIELDS:
        return f"{field}: no such field; `assay schema policy` lists them"
    if isinstance(value, float) and not isfinite(value):
        return f"{field}: must be a finite number, but got {_seen(value)}"
    try:
        msgspec.convert(value, FIELDS[name])
    except (msgspec.ValidationError, UnicodeEncodeError):
        return f"{field}: must be {_must(FIELDS[name])}, but got {_seen(value)}"
    return None


def _must(kind: Any) -> str:
    """What a field must be: one of its choices, or what its bounds say."""
    inner, *about = get_args(kind)
    if get_origin(inner) is Literal:
        choices = [repr(choice) for choice in get_args(inner)]
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]
    told = (meta.extra["must"] for meta in about if meta.extra is not None)
    return str(next(told))


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
