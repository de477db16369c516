"""The page of certificate fields: against the schema, against real certificates, and against a forger."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.certificate.signing import canonical_bytes, digest_of
from tests.certificate.issuing import certify_alone, certify_tasks
from tools.certificate_fields import PAGE, certificate_fields, rewritten

FIELDS = {field.path: field for field in certificate_fields()}
OF_TASKS = {field.path: field for field in certificate_fields("fields of several tasks")}
OTHERS = {
    "policy.tier": "aggressive",
    "policy.profile": "release",
    "primary_metric.kind": "score",
    "policy.method": "percentile",
    "policy.scheme": "tokens",
    "scheme": "tokens",
    "overlap_from": "token spans",
    "verdict": "regression",
    "decision.rule": "every bound",
    ".limit": "max_steps_ratio",
    "comparison.kind": "perplexity",
    "total_weights": "items",
    ".outcome": "open",
    "limits[].rule": "bound",
    "limits[].of": "group",
    "sha256": "sha256:" + "0" * 64,
}


def windows(shift: int) -> dict[str, list[Any]]:
    numbers = range(24)
    return {
        "window": [f"w{i:02d}" for i in numbers],
        "document": [f"d{i // 4}" for i in numbers],
        "split": ["preview" if i < 12 else "final" for i in numbers],
        "tokens": [100 + 37 * i % 90 for i in numbers],
        "bytes": [400 + 11 * i for i in numbers],
        "loss": [2 + (7 * i % 5) / 10 + shift * (1 + i % 3) / 100 for i in numbers],
    }


def items(shift: int) -> dict[str, list[Any]]:
    return {"item": [f"q{i}" for i in range(20)], "score": [int((3 * i + shift) % 7 < 5) for i in range(20)]}


@pytest.fixture(scope="module", params=["losses", "scores"])
def issued(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> assay.Certificate:
    folder = tmp_path_factory.mktemp(request.param)
    make, least = {"losses": (windows, 12), "scores": (items, 20)}[request.param]
    for name, shift in (("before", 0), ("after", 1)):
        write(folder / f"{name}.csv", make(shift))
    return certify_alone(
        folder / "before.csv",
        folder / "after.csv",
        folder / "certificate.json",
        policy=assay.Policy(replicates=100, min_windows=least, note="quick"),
        cluster="document" if request.param == "losses" else None,
    )


@pytest.fixture(scope="module")
def over_tasks(tmp_path_factory: pytest.TempPathFactory) -> assay.SuiteCertificate:
    """Of every kind of limit, with costs, groups and weights."""
    folder = tmp_path_factory.mktemp("tasks")
    for name, shift in (("before", 0), ("after", 1)):
        price = [1 + (5 * i + shift) % 7 for i in range(60)]
        write(folder / f"{name}.csv", {"item": [f"q{i}" for i in range(60)], "task": [f"t{i % 3}" for i in range(60)],
              "score": [int((3 * i + shift) % 7 < 5) for i in range(60)], "price": price})  # fmt: skip
    policy = assay.Policy(
        note="quick",
        min_windows=60,
        total=assay.TotalLimits(weights={"t0": 1, "t1": 2, "t2": 1}, min_score=0.1, max_price_ratio=2),
        tasks={"t1": assay.Limits(max_drop=0.2, min_score=0.1, max_price_ratio=2)},
        groups={"some": assay.GroupLimits(tasks=("t0", "t1"), max_drop=0.3)},
    )
    return certify_tasks(folder / "before.csv", folder / "after.csv", folder / "certificate.json", policy=policy)


def write(path: Path, columns: dict[str, list[Any]]) -> None:
    rows = [columns.keys(), *zip(*columns.values(), strict=True)]
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What a document holds, one value at a time; an interval is one value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, (*path, name))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for i, inner in enumerate(value):
            yield from leaves(inner, (*path, i))
    else:
        yield path, value


def field_of(path: tuple[str | int, ...]) -> str:
    return re.sub(r"\.\d+", "[]", ".".join(map(str, path)))


def test_the_page_is_made_from_the_schema() -> None:
    page = PAGE.read_text("utf-8")
    assert rewritten(page) == page, "run `make docs-outputs`"


def test_a_page_that_was_edited_by_hand_is_found() -> None:
    page = PAGE.read_text("utf-8")
    assert rewritten(page.replace("Version of Python.", "The snake.")) == page
    with pytest.raises(ValueError, match="needs the lines"):
        rewritten("# A page without a place for the tables\n")


def test_every_field_of_a_real_certificate_is_on_the_page(issued: assay.Certificate) -> None:
    assert {field_of(path) for path, _ in leaves(issued.to_dict())} <= FIELDS.keys()


def test_every_field_of_a_certificate_over_tasks_is_on_the_page(over_tasks: assay.SuiteCertificate) -> None:
    found = {field_of(path) for path, _ in leaves(over_tasks.to_dict())}
    assert found <= OF_TASKS.keys()
    assert len(found) > 80


def other(path: str, value: Any) -> Any:
    """Another value of the same type."""
    for name, instead in OTHERS.items():
        if path.endswith(name) and instead != value:
            return instead
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.001 + 1e-6
        case str():
            return value + " "
        case [float(), *_]:
            return [limit * 1.001 + 1e-6 for limit in value]
        case list():
            return [*value, "another"]
        case _:
            return "something"


def forged(document: dict[str, Any], path: tuple[str | int, ...], value: Any) -> bytes:
    """One value changed, and the digest made to fit."""
    copied = copy.deepcopy(document)
    inner: Any = copied
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    copied["digest"] = digest_of(copied)
    return canonical_bytes(copied)


def accepted(certificate: Path, evidence: Path) -> bool:
    try:
        return assay.verify(certificate, evidence=evidence).true
    except assay.InputError:  # not even a certificate
        return False


def test_so_it_is_with_certificates_over_tasks(over_tasks: assay.SuiteCertificate, tmp_path: Path) -> None:
    evidence, fake = over_tasks.path.with_suffix(".evidence.parquet"), tmp_path / "fake.json"
    document = over_tasks.to_dict()
    changed = [(path, value) for path, value in leaves(document) if path != ("digest",)]
    unnoticed = set()
    for path, value in changed:
        fake.write_bytes(forged(document, path, other(field_of(path), value)))
        if accepted(fake, evidence):
            unnoticed.add(field_of(path))
    assert unnoticed == {field_of(path) for path, _ in changed if OF_TASKS[field_of(path)].trust == "stated"}


def test_what_the_page_calls_stated_is_what_a_forger_can_change(issued: assay.Certificate, tmp_path: Path) -> None:
    """A forger rewrites the digest: `verify` must find every field but the stated ones."""
    evidence, fake = issued.path.with_suffix(".evidence.parquet"), tmp_path / "fake.json"
    unnoticed = set()
    changed = [(path, value) for path, value in leaves(issued.to_dict()) if path != ("digest",)]
    for path, value in changed:
        fake.write_bytes(forged(issued.to_dict(), path, other(field_of(path), value)))
        if accepted(fake, evidence):
            unnoticed.add(field_of(path))
    stated = {field_of(path) for path, _ in changed if FIELDS[field_of(path)].trust == "stated"}
    idle = {"policy.limits.replicates", "policy.scheme"} if issued.scores else set()  # they had no part in the result
    assert unnoticed == stated | idle
