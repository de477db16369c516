"""SWE-bench Pro: the oracle is the table of grades that the files were made of."""

from pathlib import Path
from typing import Any

import pytest

import assay
from tests.data.readers.harness.logs import FOLDER, assert_refused, copy, edit_json, one, read_json, scores
from tools.make_harness_fixtures.code_benchmark_files import PRO

SWE_BENCH_PRO = FOLDER / "swe_bench_pro"


@pytest.mark.parametrize("run", PRO)
def test_every_instance_is_read_against_a_plain_script(run: str) -> None:
    path = SWE_BENCH_PRO / run / "eval_results.json"
    table = one(path)
    assert scores(table) == {name: float(resolved) for name, resolved in read_json(path).items()}
    assert table.numbers["score"].sum() == PRO[run].count("p")
    assert table.name == run
    assert table.labels["task"].names == ("ansible", "flipt-io", "qutebrowser")


def test_runs_are_compared_on_what_is_common_by_hand() -> None:
    found = assay.compare(SWE_BENCH_PRO / "base", SWE_BENCH_PRO / "tuned")
    common = [(a, b) for a, b in zip(PRO["base"], PRO["tuned"], strict=True) if "." not in (a, b)]
    assert (found.n_pairs, found.dropped.only_a, found.dropped.only_b) == (len(common), 1, 1)
    assert found.difference.value == pytest.approx(sum((b == "p") - (a == "p") for a, b in common) / len(common))
    assert found.substance is not None
    assert found.substance.differing == sum(a != b for a, b in common)


def test_a_folder_holds_all_runs() -> None:
    found = assay.summarize(SWE_BENCH_PRO)
    by_hand = {run: grades.count("p") / (len(grades) - grades.count(".")) for run, grades in PRO.items()}
    assert {row.name: row.value.value for row in found.models} == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (
            lambda found: found.update({"instance_a__b-1": None}),
            "must be true or false, but got 'null'",
        ),
        (lambda found: found.update({"instance_a__b-1": "true"}), "instance_a__b-1: must be true or false"),
        (lambda found: found.clear(), "no instance at all"),
    ],
)
def test_a_bad_instance_is_named(tmp_path: Path, change: Any, part: str) -> None:
    path = edit_json(copy(SWE_BENCH_PRO / "base" / "eval_results.json", tmp_path), change)
    assert_refused(path, str(path), part, format="swe-bench-pro")


def test_an_instance_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "eval_results.json"
    path.write_text('{"instance_a__b-1": true, "instance_a__b-1": false}', encoding="utf-8")
    assert_refused(path, "the key 'instance_a__b-1' appears twice")
