"""Policies: read from JSON or TOML files, and what a verifier's own policy makes of a certificate.

A policy decides what passes, so a slip in it must not: unknown or duplicate fields, values of the wrong type and
numbers that are not finite or absurdly long are refused, each by its field.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from assay.certificate import sentences
from assay.certificate.fields import EqualWeightsRule, FinalMinimumRule, PrimaryMetric
from assay.certificate.record import Certificate
from assay.certificate.sentences import NOT_STATED, worth
from assay.design import (
    DEFAULT_LEVEL,
    MOST_RESAMPLES,
    OF_THE_TIER,
    STRICTNESS,
    GateMethod,
    Policy,
    Profile,
    Scheme,
    TierName,
    Weights,
    looser,
)
from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, parse_json, read_bytes
from assay.names import one_line, shown

SCHEMA = "assay/policy/1"
_LONGEST_NUMBER = 40  # characters


PICKS = ("task", "metric", "filter", "scorer")
_KINDS = {"max_ratio": "perplexity", "max_drop": "scores"}


# ------------------------------------------------------------------------------------------------ policies as files

FilledText = Annotated[
    str, msgspec.Meta(min_length=1, max_length=2_000, pattern=r"\S", extra={"must": "a text that is not blank"})
]


def _said(description: str, must: str | None = None, **bounds: Any) -> msgspec.Meta:
    """Metadata of a field: its meaning, the rule as messages word it, and the matching bounds."""
    meta: type[Any] = msgspec.Meta  # each pair of bounds is a signature of its own
    found: msgspec.Meta = meta(description=description, extra=None if must is None else {"must": must}, **bounds)
    return found


def _whole(description: str, low: int, high: int) -> Any:
    return Annotated[int, _said(description, f"a whole number from {low:,} to {high:,}", ge=low, le=high)]


_SEED = "Seed of the random replicates."
_LEVEL = f"Least confidence level of the intervals. Left out: {DEFAULT_LEVEL}."
_DIRECTION = "Whether a lower score is better. Left out: no. Lower losses are always better."
_WEIGHTS = "equal: scores with unequal weights are not accepted. any: they are. Left out: equal. Tokens are no weights."

_METHOD = "Method of the interval, or a stricter one: percentile, bca-plain, bca, auto. Left out: auto."
_SCHEME = "Scheme of the draws, or a stricter one: tokens, auto, windows. Left out: auto."

#: The fields of a policy's file. Reading, messages and the published schema all come from here.
FIELDS: dict[str, Any] = {
    "$schema": Annotated[FilledText, _said("For editors; not read.")],
    "schema": Annotated[Literal["assay/policy/1"], _said("Version of this format.")],
    "tier": Annotated[
        TierName, _said("Limits, minimum and replicates of this tier, where the fields below do not say otherwise.")
    ],
    "profile": Annotated[Profile, _said("Issued under this profile or a stricter one; its rules are met.")],
    "max_ratio": Annotated[float, _said("Largest acceptable ratio of perplexities.", "a number above 0", gt=0)],
    "max_drop": Annotated[
        float, _said("Largest acceptable change for the worse of a mean score.", "a number from 0 up", ge=0)
    ],
    "min_windows": _whole("Least number of windows in each split; for scores: of items.", 1, 10**9),
    "replicates": _whole("Least number of random replicates, where an interval has any.", 100, MOST_RESAMPLES),
    "seed": Annotated[
        int,
        # the maximum is beyond what msgspec can bound: the policy itself checks it
        _said(_SEED, "a whole number from 0 to 2^64 - 1", ge=0, extra_json_schema={"maximum": 2**64 - 1}),
    ],
    "level": Annotated[float, _said(_LEVEL, "a number from 0.5 to below 1", ge=0.5, lt=1)],
    "lower_is_better": Annotated[bool, _said(_DIRECTION, "true or false")],
    "weights": Annotated[Weights, _said(_WEIGHTS)],
    "method": Annotated[GateMethod, _said(_METHOD)],
    "scheme": Annotated[Scheme, _said(_SCHEME)],
    "cluster": Annotated[FilledText, _said("The column whose groups are drawn whole, such as document.")],
    "task": Annotated[FilledText, _said("The task that the scores are of.")],
    "metric": Annotated[FilledText, _said("The metric that the scores are of.")],
    "filter": Annotated[FilledText, _said("The filter of the answers, where a harness has several.")],
    "scorer": Annotated[FilledText, _said("The scorer, where a harness has several.")],
    "note": Annotated[
        FilledText, _said("Why it differs from its tier; certificates issued under the policy carry it.")
    ],
}


def policy_schema() -> dict[str, Any]:
    """The published JSON Schema; fields are left out rather than null."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy",
        "description": "What a model must meet to replace another. What is left out is open: see each field.",
        "type": "object",
        "properties": {name: msgspec.json.schema(kind) for name, kind in FIELDS.items()},
        "additionalProperties": False,
    }


def policy_of(given: Policy | str | PathLike[str] | None) -> Policy:
    """The given policy, or the one in a file; without either, everything is left open."""
    if given is None:
        return Policy()
    return given if isinstance(given, Policy) else read_policy(given)


def read_policy(path: str | PathLike[str]) -> Policy:
    """Read a policy from a JSON file, or from a .toml file.

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
    """What is wrong with a field, or ``None``."""
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
    """The rule of a field, in words: its choices, or its bounds."""
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
    """An invalid number in a policy; refused once its field is known."""

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
    """The content with invalid numbers marked, so that messages can name the field; ``None`` if it is not JSON."""
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


# ---------------------------------------------------------------------------------- by the policy of the verifier


def applied(own: Policy, stated: Policy) -> Policy:
    """The issuer's policy with the verifier's numbers; the verifier's level (default 0.95) is a lower bound."""
    fixed = {name: own.fixed(name) for name in (*OF_THE_TIER, "tier", "seed")}
    fixed["replicates"] = max(stated.limits.replicates, fixed["replicates"] or 0)
    return replace(
        stated,
        **{name: value for name, value in fixed.items() if value is not None},
        level=max(stated.design().level, own.design().level),
        weights=own.weights or "equal",
        method=_stricter_of("method", own, stated),
        scheme=_stricter_of("scheme", own, stated),
        note=stated.note or "the verifier's own limits",
    ).complete()


def _stricter_of(name: str, own: Policy, stated: Policy) -> Any:
    """The verifier's choice (default: auto), or the issuer's where it is stricter."""
    wanted, had = getattr(own, name) or "auto", getattr(stated, name)
    return had if looser(name, wanted, had) else wanted


def direction(own: Policy, metric: PrimaryMetric) -> bool:
    """Whether lower is better, for the verifier: losses always, scores only if the policy says so."""
    return metric.kind != "score" or bool(own.lower_is_better)


def unmet(own: Policy, issued: Certificate, judged: Certificate) -> list[str]:
    """The verifier's demands that the certificate or its evidence does not meet, except for the verdict."""
    return [*_choices_unmet(own, issued), *_evidence_unmet(own, issued, judged)]


def _choices_unmet(own: Policy, issued: Certificate) -> Iterator[str]:
    """Choices of the issuer that differ from the policy."""
    metric, stated = issued.primary_metric, issued.policy
    here, there = ("max_drop", "max_ratio") if issued.scores else ("max_ratio", "max_drop")
    if own.fixed(here) is None and own.fixed(there) is not None:
        about = _KINDS[here] if metric.kind == "score" else metric.kind
        yield f"about {about}, and the policy limits {_KINDS[there]} only ({there}); {here} required"
    floor = own.design().level
    if stated.level < floor:
        yield f"intervals at the level {stated.level}, at least {floor} required"
    if metric.lower_is_better is not direction(own, metric):
        better = {True: "lower scores as better", False: "higher scores as better"}
        yield f"issued with {better[metric.lower_is_better]}, {better[direction(own, metric)]} required"
    unequal = _unequal(issued)
    if unequal and own.weights != "any":
        yield f"unequal weights ({unequal}), equal ones required; 'weights' in a policy can allow any"
    for name in ("method", "scheme"):
        wanted, found = getattr(own, name) or "auto", getattr(stated, name)
        if looser(name, found, wanted):
            yield f"issued with the {name} {found}, {wanted} required; {name!r} in a policy can allow it"
    cluster = issued.stats.cluster_by
    if own.cluster is not None and cluster != own.cluster:
        had = "without clusters" if cluster is None else f"with the clusters {shown(cluster)}"
        yield f"issued {had}, {shown(own.cluster)} required"
    for name in PICKS:
        wanted, found = getattr(own, name), getattr(issued.measure, name)
        if wanted is not None and wanted != found:
            yield f"{name} {NOT_STATED if found is None else shown(found)}, {shown(wanted)} required"


def _evidence_unmet(own: Policy, issued: Certificate, judged: Certificate) -> Iterator[str]:
    final, least = judged.stats.coverage.final, own.fixed("min_windows")
    few = least is not None and not final.ok
    if few:
        counted = (
            worth(final.used, final.effective, losses=issued.primary_metric.kind != "score")
            if final.used >= least
            else ""
        )
        yield f"{final.used} paired windows{counted}, at least {least} required"
    if own.profile is not None:
        order, profile = STRICTNESS["profile"], issued.policy.profile
        if order.index(profile) < order.index(own.profile):
            yield f"issued under the profile {profile}, {own.profile} required"
        for rule in judged.rules:
            told = isinstance(rule, EqualWeightsRule) or (few and isinstance(rule, FinalMinimumRule))
            if not rule.ok and not told:
                yield f"{sentences.rule_name(rule)}: {judged.detail(rule)}"


def issuers_choice(own: Policy, issued: Certificate) -> dict[str, Any]:
    """Fields that the policy left to the issuer, with the issuer's choices; null means not stated."""
    scores, stated, stats, measure = issued.scores, issued.policy, issued.stats, issued.measure
    chosen = {
        "max_drop" if scores else "max_ratio": issued.decision.limit,
        "min_windows": stated.limits.windows,
        "replicates": stats.bootstrap.replicates,
        "seed": stats.bootstrap.seed,
        "profile": stated.profile,
        "cluster": stats.cluster_by,
        "task": measure.task,
        "metric": measure.metric,
        **{name: getattr(measure, name) for name in ("filter", "scorer") if getattr(measure, name) is not None},
    }
    if not own:  # then the defaults of a policy are not in force either
        chosen["level"] = stated.level
        chosen |= {name: kind for name in ("method", "scheme") if (kind := getattr(stated, name)) != "auto"}
        of_scores = issued.primary_metric.kind == "score"
        chosen |= {"lower_is_better": issued.primary_metric.lower_is_better} if of_scores else {}
    if stats.bootstrap.replicates is None:  # nothing is drawn, so there is nothing to choose
        del chosen["replicates"], chosen["seed"]
    left = {name: value for name, value in chosen.items() if own.fixed(name) is None}
    unequal = _unequal(issued)
    return left | ({"weights": f"unequal ({unequal})"} if unequal and (not own or own.weights == "any") else {})


def _unequal(issued: Certificate) -> str | None:
    """The items and their effective number if weights of scores are unequal, else ``None``."""
    final = issued.stats.coverage.final
    counted = worth(final.used, final.effective)
    return f"{final.used} items{counted}" if issued.primary_metric.kind == "score" and counted else None
