"""Items that occur more than once are counted and named, and those of several tasks are one in the total."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Panel
from assay.data import read_table
from assay.data.same_items import owners_of
from tests.data.readers.harness.logs import LM_EVAL, SMALL, copy, edit_lines, one, only


def table(tasks: str, hashes: str) -> dict[str, Any]:
    n = len(tasks)
    return {
        "item": [f"q{i:02d}" for i in range(n)],
        "task": list(tasks),
        "doc_hash": list(hashes),
        "score": [0, 1] * (n // 2),
    }


def notes_of(columns: dict[str, Any], **how: Any) -> list[str]:
    panel = Panel.from_tables([read_table(columns, name="m", **how)])
    return [note for note in panel.notes if "more than once" in note]


def test_copies_within_a_task_are_counted_and_named() -> None:
    (note,) = notes_of(table("xxxxxx", "abacde"))
    assert note == (
        "1 item occurs more than once, with the same doc_hash: 'q00' = 'q02' "
        "(`cluster='doc_hash'` draws copies together)"
    )


def test_copies_in_several_tasks_are_told_from_others() -> None:
    (note,) = notes_of(table("xxxyyy", "aabbcd"))
    assert note.startswith(
        "2 items occur more than once, with the same doc_hash, 1 of them in several tasks: 'q00' = 'q01'"
    )
    (note,) = notes_of(table("xxxyyy", "abcabc"))
    assert "3 items occur more than once, with the same doc_hash, in several tasks: 'q00' = 'q03'" in note


def test_at_most_three_are_named_with_three_ids_each() -> None:
    (note,) = notes_of(table("xxxxxxxxxxxx", "aaaabbccddee"))
    assert "5 items" in note
    assert "'q00' = 'q01' = 'q02' = 1 more, 'q04' = 'q05', 'q06' = 'q07' and 2 more (" in note


@pytest.mark.parametrize("hashes", ["abcdef", "aaaaaa"])
def test_all_different_or_one_hash_of_all_is_nothing_to_say(hashes: str) -> None:
    assert notes_of(table("xxxxxx", hashes)) == []


def test_where_copies_are_drawn_together_nothing_is_advised() -> None:
    (note,) = notes_of(table("xxxxxx", "abacde"), cluster="doc_hash")
    assert note.endswith("'q00' = 'q02'")


def test_windows_of_one_document_are_no_copies() -> None:
    columns = {"window": list("abcd"), "tokens": [8] * 4, "loss": [1.0, 2.0, 3.0, 4.0], "document": list("xxyz")}
    assert notes_of(columns | {"doc_hash": list("ppqr")}) == []
    (note,) = notes_of(columns | {"doc_hash": list("ppqq")})
    assert "1 window occurs more than once, with the same doc_hash: 'c' = 'd'" in note


def test_runs_of_an_item_are_no_copies() -> None:
    columns = {"item": list("aabb"), "run": [1, 2, 1, 2], "score": [0, 1, 1, 1], "doc_hash": list("xxyy")}
    assert notes_of(columns) == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two documents of tiny_sky have the hash of a third."""
    found = copy(LM_EVAL / SMALL, tmp_path)
    edit_lines(only(found, "samples_tiny_sky*"), lambda i, row: row | ({"doc_hash": "same"} if i in (1, 4, 6) else {}))
    return found


def test_every_verb_has_the_note(folder: Path, tmp_path: Path) -> None:
    picked = assay.Selection(task="tiny_sky", metric="acc")
    models, policy = [f"a={folder}", f"b={folder}"], assay.Policy(max_drop=0.5, note="a few items")
    compared = assay.compare(*models, selection=picked)
    results = [
        assay.summarize(*models, selection=picked),
        compared,
        assay.rank(*models, selection=picked),
        assay.certify(models[0], models[1], tmp_path / "cert.json", selection=picked, policy=policy),
    ]
    for result in results:
        assert any("1 item occurs more than once" in str(caution) for caution in result.cautions), result.kind_name
    drawn = assay.compare(*models, selection=picked, cluster="doc_hash")
    assert (drawn.n_pairs, drawn.n_clusters, drawn.cluster_by) == (8, 6, "doc_hash")


def test_a_harness_without_hashes_has_none_to_cluster_by(folder: Path) -> None:
    def bare(_: int, row: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in row.items() if name != "doc_hash"}

    edit_lines(only(folder, "samples_tiny_sky*"), bare)
    with pytest.raises(assay.InputError, match="no hash of each item to cluster by"):
        one(folder, cluster="doc_hash", task="tiny_sky", metric="acc")


# -------------------------------------------------------------------------------------------------------------- owners


def panel_of(tasks: str, hashes: str | None = None, clusters: str | None = None) -> Panel:
    labels = {"task": list(tasks), **({} if hashes is None else {"doc_hash": list(hashes)})}
    return Panel.from_arrays(
        np.zeros((len(tasks), 2)), labels=labels, clusters=None if clusters is None else list(clusters)
    )


def parts(panel: Panel) -> set[frozenset[int]]:
    """Which units are drawn together."""
    owners = owners_of(panel, "task")
    assert owners is not None
    return {frozenset(np.flatnonzero(owners == code).tolist()) for code in set(owners.tolist())}


def test_without_copies_in_several_tasks_clusters_alone_are_drawn() -> None:
    assert owners_of(panel_of("xxyy"), "task") is None
    assert owners_of(panel_of("xxyy", "aabc"), "task") is None
    assert parts(panel_of("xxyy", "aabc", "pqqp")) == {frozenset({0, 3}), frozenset({1, 2})}


def test_copies_in_several_tasks_are_one() -> None:
    assert parts(panel_of("xxyy", "abca")) == {frozenset({0, 3}), frozenset({1}), frozenset({2})}


@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.sampled_from("abcd"), st.sampled_from("pqrs")), min_size=4, max_size=12
    )
)
def test_clusters_with_a_copy_in_common_are_one_against_a_walk(units: list[tuple[str, str, str]]) -> None:
    """By walking from each unit to those of its cluster or with its contents, until nothing is added."""
    tasks, hashes, clusters = ("".join(column) for column in zip(*units, strict=True))
    panel = panel_of(tasks, hashes, clusters)
    shared = any(a[1] == b[1] and a[0] != b[0] for a in units for b in units) and 1 < len(set(hashes)) < len(units)
    expected = set()
    for start in range(len(units)):
        seen, left = {start}, [start]
        while left:
            here = units[left.pop()]
            near = [i for i, one in enumerate(units) if one[2] == here[2] or (shared and one[1] == here[1])]
            left += [i for i in near if i not in seen]
            seen |= set(near)
        expected.add(frozenset(seen))
    assert parts(panel) == expected


def test_two_systems_that_are_equal_everywhere_are_named() -> None:
    """Two folders of different names may hold the same file."""
    right = [i % 3 for i in range(25)]
    given_scores = {"a": right, "b": right, "c": right[::-1]}
    tables = [read_table({"item": range(25), "score": scores}, name=name) for name, scores in given_scores.items()]
    [warning] = [note for note in Panel.from_tables(tables).notes if "equal in all" in note]
    assert warning == "warning: a, b are equal in all 25 items: are these the same results twice?"


@pytest.mark.parametrize("scores", [[1] * 30, [0, 1] * 5])
def test_few_items_and_items_of_one_score_may_be_equal_by_chance(scores: list[int]) -> None:
    tables = [read_table({"item": range(len(scores)), "score": scores}, name=name) for name in "ab"]
    assert not any("equal in all" in note for note in Panel.from_tables(tables).notes)


def test_runs_of_a_model_may_be_equal() -> None:
    rows = {"item": [*range(25)] * 2, "score": [i % 3 for i in range(25)] * 2, "run": ["1"] * 25 + ["2"] * 25}
    assert not any("equal in all" in note for note in assay.reliability(rows).notes)
