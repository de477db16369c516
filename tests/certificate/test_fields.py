"""The printed JSON Schema against every kind of certificate, checked by a validator of our own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.certificate.alterations import alterations
from tests.certificate.samples import assay, issue, load
from tests.certificate.schema_subset import Schema, violations


@pytest.fixture(scope="module")
def schema() -> Schema:
    ran = assay("schema", "certificate")
    assert (ran.code, ran.err) == (0, "")
    found: Schema = json.loads(ran.out)
    return found


def test_every_certificate_is_valid(certificate: Path, schema: Schema) -> None:
    assert list(violations(load(certificate), schema, schema)) == []


def test_what_is_missing_added_or_of_another_type_is_invalid(schema: Schema, tmp_path: Path) -> None:
    document = load(issue("losses", tmp_path))
    wrong = [a for a in alterations(document) if a.how in ("removed", "field added") and "rules" not in a.field]
    assert len(wrong) > 150
    in_lists = {"dataset.windows.stats.bootstrap.fallbacks", "policy.overrides"}
    valid = [str(a) for a in wrong if not any(violations(a.document, schema, schema)) and a.field not in in_lists]
    assert valid == []


def parts(value: Any) -> Iterator[Schema]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from parts(part)


def test_every_object_is_closed_and_lists_all_its_fields_as_required(schema: Schema) -> None:
    objects = [part for part in parts(schema) if part.get("type") == "object"]
    assert len(objects) > 20
    assert [part["title"] for part in objects if part["additionalProperties"] is not False] == []
    lacking = {part["title"]: set(part["properties"]) - set(part["required"]) for part in objects}
    assert {name: fields for name, fields in lacking.items() if fields} == {"Measured": {"conditions"}}  # newer


def test_an_unknown_schema_is_a_usage_error() -> None:
    assert assay("schema", "comparison").code == 2
