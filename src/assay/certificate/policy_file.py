"""Policies as files: JSON, TOML or YAML, read strictly, and the JSON Schema that says the same.

A policy decides what passes, so a slip in it must not: unknown or duplicate fields, values of the wrong type and
numbers that are not finite or absurdly long are refused, each by its field.
"""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

from assay.certificate.policy_fields import FIELDS, Invalid, ObjectFields, definitions, seen
from assay.design import Policy
from assay.errors import InputError, UsageError
from assay.files.reading import SETTINGS, parse_json, read_bytes
from assay.limits import GroupLimits, Limits, TotalLimits
from assay.names import one_line

SCHEMA = "assay/policy/1"
_LONGEST_NUMBER = 40  # characters
_READ_BY_NAME = ("$schema", "schema", "total", "each", "tasks", "groups")


def policy_schema() -> dict[str, Any]:
    """The published JSON Schema; fields are left out rather than null."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy",
        "description": "What a model must meet to replace another. What is left out is open: see each field.",
        **ObjectFields("", FIELDS).schema(),
        "$defs": definitions(),
    }


def policy_of(given: Policy | str | PathLike[str] | None) -> Policy:
    """The given policy, or the one in a file; without either, everything is left open."""
    if given is None:
        return Policy()
    return given if isinstance(given, Policy) else read_policy(given)


def read_policy(path: str | PathLike[str]) -> Policy:
    r"""Read a policy from a JSON file, or from one whose name ends in .toml, .yaml or .yml.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "gate.yaml").write_text("profile: ci\neach: {max_drop: 0.04}")
    ...     policy = read_policy(f"{folder}/gate.yaml")
    >>> policy.profile, policy.each.max_drop
    ('ci', 0.04)
    """
    file = Path(path)
    content = _content(file)
    faults = list(ObjectFields("", FIELDS).faults("", content))
    if faults:
        raise InputError(f"{file}: {'; '.join(faults[:_MOST_FAULTS])}{_more(faults)}.")
    try:
        return policy_from(ObjectFields("", FIELDS).read(content))
    except UsageError as error:
        raise InputError(f"{file}: {error}") from error


_MOST_FAULTS = 8


def _more(faults: list[str]) -> str:
    return f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""


def policy_from(content: Mapping[str, Any]) -> Policy:
    """The policy that a file's content, or `policy_content`, describes."""
    plain = {name: value for name, value in content.items() if name not in _READ_BY_NAME}
    if "total" in content:
        plain["total"] = TotalLimits(**content["total"])
    if "each" in content:
        plain["each"] = Limits(**content["each"])
    if "tasks" in content:
        plain["tasks"] = {name: Limits(**one) for name, one in content["tasks"].items()}
    if "groups" in content:
        plain["groups"] = _groups(content["groups"])
    return Policy(**plain)


def _groups(content: Mapping[str, Any]) -> dict[str, GroupLimits]:
    return {name: GroupLimits(**{**one, "groups": _groups(one.get("groups", {}))}) for name, one in content.items()}


def policy_content(policy: Policy) -> dict[str, Any]:
    """What a file of the policy would hold: only what it fixes."""
    found: dict[str, Any] = _said(asdict(policy))
    return found


def _said(value: Any) -> Any:
    if isinstance(value, Mapping):
        empty = {name for name in ("tasks", "groups") if name in value and not value[name]}
        return {name: _said(one) for name, one in value.items() if one is not None and name not in empty}
    return list(value) if isinstance(value, tuple) else value


# ------------------------------------------------------------------------------------------------------------- content


def _content(file: Path) -> dict[str, Any]:
    label, ending = one_line(str(file)), file.suffix.lower()
    data = read_bytes(file, SETTINGS, label=label)
    content = _toml(data, label) if ending == ".toml" else _yaml_or_json(data, label, ending)
    if not isinstance(content, dict):
        raise InputError(f"{label}: a policy must be an object of fields such as max_ratio, but got {seen(content)}.")
    return content


def _yaml_or_json(data: bytes, label: str, ending: str) -> Any:
    if ending in (".yaml", ".yml"):
        from assay.certificate.yaml_text import parse_yaml  # late: most policies are JSON

        return parse_yaml(data, label, number=_yaml_number, advice="write lines such as max_ratio: 1.05")
    marked = _marked(data)
    if isinstance(marked, dict) and any(_invalid(marked)):
        return marked
    return parse_json(data, label, advice='write a JSON object, such as {"max_ratio": 1.05}')


def _invalid(value: Any) -> Iterator[Invalid]:
    """Every invalid number within."""
    if isinstance(value, Invalid):
        yield value
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        yield from _invalid(one)


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
    checked: dict[str, Any] = _without_long(found)
    return checked


def _without_long(value: Any) -> Any:
    """TOML's whole numbers come as numbers: those that are too long are marked here."""
    if isinstance(value, dict):
        return {name: _without_long(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_long(one) for one in value]
    long = isinstance(value, int) and abs(value) >= 10**_LONGEST_NUMBER
    return _too_long(len(str(value))) if long else value


def _too_long(length: int) -> Invalid:
    return Invalid(f"must be a number of at most {_LONGEST_NUMBER} characters, but has {length}")


def _constant(name: str) -> Invalid:
    return Invalid(f"must be a finite number, but got {name}")


def _number(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        return kind(text) if len(text) <= _LONGEST_NUMBER else _too_long(len(text))

    return parse


def _yaml_number(text: str, kind: type) -> Any:
    if len(text) > _LONGEST_NUMBER:
        return _too_long(len(text))
    if text.lower().endswith((".inf", ".nan")):
        return _constant(text)
    return kind(text)
