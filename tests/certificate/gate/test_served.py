"""A gate whose MODEL is behind a completions server: the same answer as from the folder, resumed where it was."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.models import path, round_weights
from assay.scoring.models_and_texts import EndpointSpec
from assay.scoring.windows import Plan
from tests.certificate.gate.test_gate import Watching
from tests.scoring.running_server import running_server

PLAN = Plan(context=32)


@pytest.fixture(scope="module")
def int3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return round_weights(path("base"), tmp_path_factory.mktemp("models") / "int3", bits=3)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("text") / "text.txt"
    found.write_text("\n\n".join(path("en.txt").read_text().split("\n\n")[:60]))
    return found


@pytest.fixture(scope="module")
def port(int3: Path) -> Iterator[int]:
    with running_server() as serve:
        yield serve([int3])


def _served(port: int, habit: str) -> EndpointSpec:
    return EndpointSpec(f"http://127.0.0.1:{port}/{habit}/v1", "int3", tokenizer=str(path("base")))


def test_server_beside_the_run_of_a_baseline(port: int, int3: Path, text: Path, tmp_path: Path) -> None:
    """The run of the baseline on disk, the model on a server: the folder's own losses are the oracle."""
    run = next(iter(assay.score(path("base"), text, tmp_path / "run", plan=PLAN).values()))
    found = assay.gate(run, _served(port, "plain"), text, tmp_path / "served.json", plan=PLAN)
    folder = assay.gate(run, int3, text, tmp_path / "folder.json", plan=PLAN)
    assert (found.verdict, len(found.looks)) == ("fail", len(folder.looks))
    assert found.found.ratio == pytest.approx(folder.found.ratio, rel=1e-5)
    assert found.plan == folder.plan
    assert found.systems.subject.model is None  # nobody has seen its weights
    checked = assay.verify(found.path)
    assert (checked.true, checked.exit_code) == (True, 1)


def test_killed_gate_asks_the_server_only_for_the_rest(port: int, text: Path, tmp_path: Path) -> None:
    served, out = _served(port, "plain.resumed"), tmp_path / "gate.json"
    with pytest.raises(KeyboardInterrupt):
        assay.gate(path("base"), served, text, out, plan=PLAN, watcher=Watching(1))
    kept = tmp_path / "gate.runs" / "subject" / "windows-00000.parquet"
    written = kept.stat().st_mtime_ns
    found = assay.gate(path("base"), served, text, out, plan=PLAN)
    assert kept.stat().st_mtime_ns == written
    assert len(found.looks) > 1
    manifest = json.loads(kept.with_name("run.json").read_text())
    assert manifest["gate"]["plan"] == found.plan.digest


def test_server_that_refuses_names_itself_and_leaves_no_certificate(port: int, text: Path, tmp_path: Path) -> None:
    unknown = EndpointSpec(f"http://127.0.0.1:{port}/plain/v1", "other", tokenizer=str(path("base")))
    with pytest.raises(InputError, match=r"127\.0\.0\.1"):
        assay.gate(path("base"), unknown, text, tmp_path / "gate.json", plan=PLAN)
    assert not (tmp_path / "gate.json").exists()
