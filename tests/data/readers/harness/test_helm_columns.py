"""Entries of HELM read column by column; the oracle is what Python's own parser of JSON finds in them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.data.readers.harness import helm_stats
from assay.data.readers.harness.helm_columns import EqualEntries, HelmColumns, HelmEntry

NAMES = ["num_a", "exact", "num_b", "num_c", "f1", "num_d"]


def keeps(name: str) -> bool:
    return not name.startswith("num_")


def stat_of(name: str, number: int, split: str) -> dict[str, Any]:
    told = {"name": {"name": name, "split": split}, "count": 1 + number % 3, "sum": number / 7, "sum_squared": number}
    return told | ({"min": -1, "mean": 1e-7 * number} if number % 2 else {})


def entry_of(number: int, names: list[str] = NAMES, *, split: str = "test") -> dict[str, Any]:
    stats = [stat_of(name, number + at, split) for at, name in enumerate(names)]
    return {"instance_id": f"id{number} é", "train_trial_index": number % 2, "stats": stats}


def part_of(entries: list[dict[str, Any]], indent: int | None = 2) -> bytes:
    """A part of a list, as lists are cut."""
    return b"[" + json.dumps(entries, indent=indent).encode()[1:-1].strip() + b"]"


def learned(part: bytes) -> EqualEntries:
    found = EqualEntries(keeps)
    found.learn(part, msgspec.json.decode(part, type=list[HelmEntry]))
    return found


def literally(entries: list[dict[str, Any]], name: str) -> tuple[list[float], list[float]]:
    stats = [stat for entry in entries for stat in entry["stats"] if stat["name"]["name"] == name]
    return [float(stat["count"]) for stat in stats], [float(stat["sum"]) for stat in stats]


@pytest.mark.parametrize("indent", [2, None, 4])
@pytest.mark.parametrize("names", [NAMES, NAMES[:-1], ["exact"], ["exact", "num_a"]])
def test_columns_are_what_stands_in_the_entries(names: list[str], indent: int | None) -> None:
    entries = [entry_of(at, names) for at in range(20)]
    found = learned(part_of([entry_of(at, names) for at in (5, 9)], indent))(part_of(entries, indent))
    assert isinstance(found, HelmColumns)
    assert found.instances == [entry["instance_id"] for entry in entries]
    assert found.trials == [entry["train_trial_index"] for entry in entries]
    assert found.split == "test"
    read = {name: (counts.tolist(), sums.tolist()) for name, (counts, sums) in found.metrics.items()}
    assert read == {name: literally(entries, name) for name in names if keeps(name)}


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda part: part[: len(part) // 2] + part[len(part) // 2 :].replace(old.encode(), new.encode(), 1)


@pytest.mark.parametrize(
    "change",
    [
        replaced('"exact"', '"exacter"'),
        replaced('"num_b"', '"exact"'),
        replaced('"num_b"', '"num_x"'),
        replaced('"split": "test"\n        },\n        "count": 3', '"split": "other"\n        },\n        "count": 3'),
        replaced('"f1"', '"f1{"'),
        replaced('"train_trial_index": ', '"perturbation": "typos", "train_trial_index": '),
        replaced('"train_trial_index": ', '"perturbation": {"name": "typos"}, "train_trial_index": '),
        replaced('"train_trial_index": 0', '"train_trial_index": 0.5'),
        replaced("    ]\n  }", '    ],\n    "perturbation": "typos"\n  }'),
        lambda part: part[:-1] + b', {"instance_id": "a", "stats": []}]',
        lambda part: part[:-4] + b', "perturbation": 1}]',
        lambda part: part[: len(part) // 2],
    ],
)
def test_what_is_written_otherwise_is_left_to_be_decoded(change: Callable[[bytes], bytes]) -> None:
    part = part_of([entry_of(at) for at in range(8)])
    read = learned(part)
    assert read(part) is not None
    changed = change(part)
    assert changed != part
    assert read(changed) is None
    assert read(b"[]") is read(b"") is None


@pytest.mark.parametrize("value", ['"1"', "null", "NaN", "[]", "1, 2"])
@pytest.mark.parametrize("key", ["count", "sum"])
def test_numbers_that_are_none_are_left_to_be_decoded(key: str, value: str) -> None:
    entries = [entry_of(at) for at in range(8)]
    part = part_of(entries)
    entries[3]["stats"][1][key] = 98765
    assert learned(part)(part_of(entries).replace(b"98765", value.encode())) is None
    del entries[3]["stats"][1][key]
    assert learned(part)(part_of(entries)) is None


def test_a_sum_that_is_there_twice_is_left_to_be_decoded() -> None:
    entries = [entry_of(at) for at in range(8)]
    part = part_of(entries)
    entries[3]["stats"][1]["again"] = 0
    assert learned(part)(part_of(entries)) is not None
    assert learned(part)(part_of(entries).replace(b'"again"', b'"sum"')) is None


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [entry_of(1)],
        [entry_of(1, ["num_a"])] * 2,
        [entry_of(1, ["exact", "exact"])] * 2,
        [entry_of(1) | {"perturbation": {"name": "typos"}}] * 2,
        [entry_of(1, []) | {"stats": [stat_of("exact", 1, "test"), stat_of("f1", 1, "valid")]}] * 2,
        [entry_of(1, []) | {"stats": [{"sum": 1, **stat_of("exact", 1, "test")}]}] * 2,
    ],
)
def test_nothing_is_learned_from_entries_that_differ_from_the_usual(entries: list[dict[str, Any]]) -> None:
    part = part_of(entries)
    assert learned(part)(part) is None


def _odd(at: int) -> dict[str, Any]:
    """Now and then an entry that is perturbed, of another split, of a unit that is known, or with other metrics."""
    if at in (300, 700):
        return entry_of(at) | {"perturbation": {"name": "typos"}}
    if 400 <= at < 450:
        return entry_of(at - 400, ["f2", "num_e"])
    return entry_of(at, NAMES[: 3 if at == 800 else 6], split="valid" if 500 <= at < 600 else "test")


@pytest.mark.parametrize("block", [3_000, 20_000])
@pytest.mark.parametrize("odd", [False, True])
def test_a_file_read_in_columns_is_the_same_as_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: bool, block: int
) -> None:
    path = tmp_path / "per_instance_stats.json"
    path.write_text(json.dumps([_odd(at) if odd else entry_of(at) for at in range(1000)], indent=2))
    monkeypatch.setattr("assay.data.readers.harness.long_lists._BLOCK", block)
    monkeypatch.setattr("assay.data.readers.harness.long_lists.MOST_OF_A_LIST", 30_000)
    added, add = list[bool](), helm_stats._add_columns

    def noted(units: helm_stats.HelmUnits, columns: HelmColumns, first: int) -> bool:
        added.append(add(units, columns, first))
        return added[-1]

    monkeypatch.setattr(helm_stats, "_add_columns", noted)
    found, want = helm_stats._quickly(path, keeps), helm_stats._slowly(path, keeps)
    assert sum(added) > 20  # most parts were read so
    assert list(found.keys.items()) == list(want.keys.items())
    assert found.entries == want.entries
    assert list(found.splits) == list(want.splits)
    assert found.perturbed == want.perturbed
    assert found.metrics.keys() == want.metrics.keys()
    every = np.arange(len(want.keys))
    for name, metric in want.metrics.items():
        mine = found.metrics[name]
        assert (mine is None) == (metric is None)
        if mine is not None and metric is not None:
            assert np.array_equal(mine.of(every), metric.of(every))
