"""Certificates of many windows: replicates from the exact distribution, stated as version 3 of the interval."""

import json
from pathlib import Path

import numpy as np
import pytest

from assay.certificate import certify
from assay.certificate.build import DRAWN_VERSION, INTERVAL_VERSION, MADE_BY
from assay.certificate.record import Certificate
from assay.certificate.signing import canonical_bytes, digest_of
from assay.certificate.verify import verify

FIXTURES = Path(__file__).parent / "fixtures"
MANY = 100_000


def _certified(n: int, path: Path) -> Certificate:
    before, after = _tables(n)
    found = certify(before, after, path)
    assert isinstance(found, Certificate)
    return found


def _tables(n: int) -> list[dict[str, object]]:
    rng = np.random.default_rng(1)
    loss = rng.gamma(9, 0.3, n)
    ids = [f"w{i:06d}" for i in range(n)]
    return [
        {"window": ids, "tokens": np.full(n, 512), "loss": loss + rng.normal(0.01 * arm, 0.05, n).clip(-0.2)}
        for arm in (0, 1)
    ]


@pytest.mark.slow
def test_many_windows_state_it_and_verify(tmp_path: Path) -> None:
    path = tmp_path / "many.json"
    found = _certified(MANY, path)
    assert found.stats.bootstrap.version == DRAWN_VERSION
    assert found.stats.bootstrap.replicates == 1_200
    assert found.exact.distance is not None
    assert found.exact.distance < 0.3  # of a standard error: what 1,200 replicates leave open
    assert verify(path).true
    document = json.loads(path.read_text())
    document["dataset"]["windows"]["stats"]["bootstrap"]["version"] = INTERVAL_VERSION
    document["ppl"]["stats"]["bootstrap"]["version"] = INTERVAL_VERSION
    document["digest"] = digest_of(document)
    path.write_bytes(canonical_bytes(document))
    assert not verify(path).true  # these are not the limits that drawing windows gives


def test_few_windows_state_the_version_before(tmp_path: Path) -> None:
    path = tmp_path / "few.json"
    assert _certified(400, path).stats.bootstrap.version == INTERVAL_VERSION
    assert verify(path).true


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*.json")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_certificates_from_before_are_recomputed_as_they_were(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.stats.bootstrap.DRAWN_FROM", 2)
    monkeypatch.setattr("assay.certificate.build.DRAWN_FROM", 2)
    if json.loads(path.read_bytes()).get("dataset") is not None:
        assert verify(path).true


def test_every_version_of_the_interval_is_known() -> None:
    assert sorted(MADE_BY) == [1, INTERVAL_VERSION, DRAWN_VERSION]
