"""memory://, in one process: the library on a store that needs no server."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import examples, models
from assay.errors import InputError


@pytest.fixture
def memory() -> Iterator[Any]:
    import fsspec

    store = fsspec.filesystem("memory")
    store.store.clear()  # one for the whole process
    for name in ("scores-base.csv", "scores-int3.csv"):
        store.pipe_file(f"/evals/{name}", examples.path(name).read_bytes())
    yield store
    store.store.clear()
    store.pseudo_dirs[:] = [""]


BASE, INT3 = "memory://evals/scores-base.csv", "memory://evals/scores-int3.csv"


def test_verbs_take_addresses_as_they_take_paths(memory: Any) -> None:
    here = [examples.path(name) for name in ("scores-base.csv", "scores-int3.csv")]
    assert assay.compare(BASE, INT3).difference == assay.compare(*here).difference
    assert assay.rank(BASE, INT3).sentence == assay.rank(*here).sentence
    assert assay.summarize(BASE, INT3).sentence == assay.summarize(*here).sentence
    assert [table.label for table in assay.read_tables([BASE, f"int3={INT3}"])] == [BASE, INT3]
    assert assay.read_tables(["memory://evals/*.csv"])[1].name == "scores-int3"


def test_a_path_that_lost_a_slash_is_the_address_it_was(memory: Any) -> None:
    assert str(Path(BASE)) != BASE
    assert assay.compare(Path(BASE), Path(INT3)).sentence == assay.compare(BASE, INT3).sentence


def test_results_are_written_and_read_again(memory: Any) -> None:
    certificate = assay.certify(BASE, INT3, "memory://evals/out/cert.json")
    assert assay.verify("memory://evals/out/cert.json").exit_code == (0 if certificate.passed else 1)
    assay.write_report("memory://evals/out/page.html", assay.compare(BASE, INT3))
    found = assay.convert(BASE, output="memory://evals/out/table.parquet")
    assert str(found).startswith("Written: memory://evals/out/table.parquet\n")
    assert sorted(Path(name).name for name in memory.find("/evals/out")) == [
        *("cert.evidence.parquet", "cert.json", "page.html", "table.parquet"),
    ]


def test_what_is_refused_is_named_by_its_address(memory: Any) -> None:
    memory.pipe_file("/evals/bad.csv", b"item,score\nq1,one\n")
    with pytest.raises(InputError) as refused:
        assay.compare(BASE, "memory://evals/bad.csv")
    assert str(refused.value).startswith("memory://evals/bad.csv")


def test_what_changed_is_read_again(memory: Any) -> None:
    """Nothing is kept from one call to the next."""
    before = assay.summarize(BASE).sentence
    memory.pipe_file("/evals/scores-base.csv", examples.path("scores-int3.csv").read_bytes())
    assert assay.summarize(BASE).sentence != before


def test_verbs_in_several_threads(memory: Any) -> None:
    with ThreadPoolExecutor(4) as pool:
        said = {result.sentence for result in pool.map(lambda _: assay.compare(BASE, INT3), range(12))}
    assert len(said) == 1


@pytest.mark.slow
def test_a_gate_keeps_its_runs_in_the_store(memory: Any) -> None:
    pytest.importorskip("torch", reason="the extra hf is not installed")
    texts = [assay.Document(f"story {i}", f"Once there were {i} models, and all were small.") for i in range(180)]
    base = models.path("base")
    found = assay.gate(base, base, texts, "memory://evals/gate.json", plan=assay.Plan(context=64))
    assert found.verdict == "pass"
    names = {name.removeprefix("/evals/") for name in memory.find("/evals")}
    assert {"gate.json", "gate.evidence.parquet", "gate.runs/baseline/run.json", "gate.runs/subject/run.json"} <= names
    assert not any("writer" in name or "unfinished" in name for name in names)
