"""`certify(against=…)`: the same numbers as from the files of the release itself, and nothing from a false one."""

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import examples
from assay.certificate.released import released
from assay.errors import InputError, UsageError

BASE, INT8, TRIGRAM = (examples.path(f"losses-{name}.csv") for name in ("base", "int8", "trigram"))
TASKS = {"item": list(range(600)), "task": [f"t{i % 3}" for i in range(600)]}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    assay.certify(BASE, INT8, tmp_path / "release.json", cluster="document")
    return tmp_path / "release.json"


def facts(issued: Any) -> dict[str, Any]:
    """What is computed; names of files and digests are of other files."""
    data: dict[str, Any] = issued.to_dict()
    return {name: value for name, value in data.items() if name not in ("systems", "evidence", "digest")}


def test_losses_against_certifying_with_the_file_of_the_release(release: Path, tmp_path: Path) -> None:
    found = assay.certify(None, TRIGRAM, tmp_path / "next.json", against=release, cluster="document")
    direct = assay.certify(INT8, TRIGRAM, tmp_path / "direct.json", cluster="document")
    assert facts(found) == facts(direct)
    assert found.systems.baseline.name == "losses-int8"
    assert found.systems.baseline.file == "release.evidence.parquet"
    assert assay.verify(tmp_path / "next.json").true


@pytest.mark.parametrize("lower", [False, True])
def test_scores_keep_their_direction(tmp_path: Path, lower: bool) -> None:
    a, b, c = ({"item": list(range(900)), "score": [(i * k) % 97 / 97 for i in range(900)]} for k in (5, 5, 7))
    assay.certify(a, b, tmp_path / "release.json", lower_is_better=lower)
    found = assay.certify(None, c, tmp_path / "next.json", against=tmp_path / "release.json", max_drop=0.5, note="wide")
    direct = assay.certify(b, c, tmp_path / "direct.json", lower_is_better=lower, max_drop=0.5, note="wide")
    assert facts(found) == facts(direct)


def test_suites_against_certifying_with_the_scores_of_the_release(tmp_path: Path) -> None:
    old, new = ([int(i % 10 > k) for i in range(600)] for k in (1, 0))
    assay.certify(TASKS | {"score": old}, TASKS | {"score": new}, tmp_path / "release.json")
    found = assay.certify(None, TASKS | {"score": new}, tmp_path / "next.json", against=tmp_path / "release.json")
    direct = assay.certify(TASKS | {"score": new}, TASKS | {"score": new}, tmp_path / "direct.json")
    assert isinstance(found, assay.SuiteCertificate)
    assert facts(found) == facts(direct)


def test_bits_per_byte_too(tmp_path: Path) -> None:
    how: dict[str, Any] = {"per": "byte", "min_windows": 20, "note": "documents"}
    assay.certify(BASE, INT8, tmp_path / "release.json", **how)
    found = assay.certify(None, TRIGRAM, tmp_path / "next.json", against=tmp_path / "release.json", **how)
    assert facts(found) == facts(assay.certify(INT8, TRIGRAM, tmp_path / "direct.json", **how))


def test_a_certificate_that_did_not_pass_is_no_release(tmp_path: Path) -> None:
    assay.certify(BASE, TRIGRAM, tmp_path / "failed.json", cluster="document")
    with pytest.raises(InputError, match="'insufficient evidence', so that it certified no release"):
        assay.certify(None, INT8, tmp_path / "next.json", against=tmp_path / "failed.json")
    assert not (tmp_path / "next.json").exists()


def test_a_forged_certificate_is_refused(release: Path, tmp_path: Path) -> None:
    document = json.loads(release.read_text("utf-8"))
    document["systems"]["subject"]["name"] = "another"
    release.write_text(json.dumps(document), "utf-8")
    with pytest.raises(InputError, match="not true"):
        released(release)


def test_changed_evidence_is_refused(release: Path, tmp_path: Path) -> None:
    assay.certify(BASE, BASE, tmp_path / "other.json", cluster="document")
    release.with_name("release.evidence.parquet").write_bytes((tmp_path / "other.evidence.parquet").read_bytes())
    with pytest.raises(InputError, match=r"evidence\.sha256"):
        released(release)


def test_a_certificate_without_evidence_has_no_rows(release: Path) -> None:
    release.with_name("release.evidence.parquet").unlink()
    with pytest.raises(InputError, match="there is no evidence beside the certificate"):
        released(release)


def test_windows_of_another_text_do_not_pair(release: Path, tmp_path: Path) -> None:
    other = {
        "window": [f"x{i}" for i in range(360)],
        "split": ["final"] * 360,
        "tokens": [50] * 360,
        "loss": [3.0] * 360,
    }
    with pytest.raises(InputError, match="no final window"):
        assay.certify(None, other, tmp_path / "next.json", against=release, profile="ci")


@pytest.mark.parametrize(("baseline", "subject"), [(BASE, INT8), (None, None)])
def test_what_is_too_much_or_missing_is_refused(release: Path, tmp_path: Path, baseline: Any, subject: Any) -> None:
    with pytest.raises(UsageError, match="`against`"):
        assay.certify(baseline, subject, tmp_path / "next.json", against=release)


def test_without_a_baseline_there_is_no_gate(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs the results of a baseline"):
        assay.certify(None, INT8, tmp_path / "next.json")
