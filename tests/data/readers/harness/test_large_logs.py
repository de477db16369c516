"""Logs of some megabytes: many rows decoded at a time, without what nobody asks for, are what the file says."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.data.readers.harness.logs import FOLDER, HELM, INSPECT, assert_refused, one, only, scores

ROWS = 1200


def choices(seed: int) -> list[float]:
    rng = random.Random(seed)  # noqa: S311 - scores of a test
    return [rng.choice((0.0, 1.0)) for _ in range(ROWS)]


@pytest.fixture
def inspect_log(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A log as inspect writes it, of three megabytes, in which a sample has no events and one an error."""
    log = json.loads((INSPECT / "small.json").read_text("utf-8"))
    sample, path = log["samples"][0], tmp_path / "log.json"
    log["samples"] = []
    for at, score in enumerate(choices(1)):
        scored = {name: {**own, "value": "C" if score else "I"} for name, own in sample["scores"].items()}
        log["samples"].append({**sample, "id": f"q{at}", "scores": scored, "total_time": at / 8})
    log["samples"][-3]["events"] = []
    log["samples"][-5] |= {"error": {"message": "the sandbox died", "traceback": "", "traceback_ansi": ""}}
    path.write_text(json.dumps(log, indent=2), encoding="utf-8")
    assert path.stat().st_size > 5e6  # well beyond what is looked at closely
    return path, log


def test_samples_without_their_events_are_the_samples(inspect_log: tuple[Path, dict[str, Any]]) -> None:
    path, _ = inspect_log
    table = one(path)
    expected = {f"q{at}": score for at, score in enumerate(choices(1))}
    lost = f"q{ROWS - 5}"
    found = scores(table)
    assert {item: score for item, score in found.items() if item != lost} == {
        item: score for item, score in expected.items() if item != lost
    }
    assert scores(table, "seconds") == {f"q{at}": at / 8 for at in range(ROWS)}


@pytest.mark.parametrize("end", [0.5, 0.9, 0.99])
def test_a_log_that_is_cut_is_refused(inspect_log: tuple[Path, dict[str, Any]], end: float) -> None:
    path, _ = inspect_log
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * end)])
    assert_refused(path, str(path))


def helm_entries() -> tuple[list[dict[str, Any]], bytes]:
    source = next(HELM.glob("tiny_choices*"))
    entries = json.loads((source / "per_instance_stats.json").read_text("utf-8"))
    first = max(entries, key=lambda entry: len(entry["stats"]))
    made = []
    for at, score in enumerate(choices(2)):
        copied = json.loads(json.dumps(first).replace('"split": "test"', f'"split": "{("test", "valid")[at % 2]}"'))
        copied["instance_id"] = f"id{at}"
        for stat in copied["stats"]:
            if stat["name"]["name"] == "exact_match":
                stat |= {"count": 1, "sum": score}
        made.append(copied)
    return made, (source / "run_spec.json").read_bytes()


def helm_run(folder: Path, text: str, spec: bytes) -> Path:
    (folder / "run_spec.json").write_bytes(spec)
    (folder / "per_instance_stats.json").write_text(text, encoding="utf-8")
    assert len(text) > 4e6
    return folder


def test_statistics_without_what_describes_requests_are_those_of_the_file(tmp_path: Path) -> None:
    entries, spec = helm_entries()
    entries[-7]["stats"] = entries[-7]["stats"][3:]  # another layout than before it, far behind
    run = helm_run(tmp_path, json.dumps(entries, indent=2), spec)
    for split, first in (("test", 0), ("valid", 1)):
        found = scores(one(run, metric="exact_match", filter=split))
        assert found == {f"id{at}": choices(2)[at] for at in range(first, ROWS, 2)}


def test_a_sum_that_is_there_twice_far_behind_is_refused(tmp_path: Path) -> None:
    entries, spec = helm_entries()
    before, name, after = json.dumps(entries, indent=2).rpartition('"name": "exact_match"')
    after = after.replace('"sum":', '"sum": 7,\n        "sum":', 1)
    assert_refused(helm_run(tmp_path, before + name + after, spec), "sum", metric="exact_match")


def samples(change: dict[int, dict[str, Any]]) -> list[str]:
    source = only(FOLDER / "every_eval_ever" / "data" / "tiny_sky", "*15M*/*_samples.jsonl")
    record = json.loads(source.read_text("utf-8").splitlines()[0])
    lines = []
    for at, score in enumerate(choices(3)):
        own = {"sample_id": f"q{at}", "evaluation": {**record["evaluation"], "score": score}}
        lines.append(json.dumps({**record, "sample_hash": None, **own, **change.get(at, {})}))
    return lines


def test_rows_of_every_eval_ever_come_one_by_one_where_they_must(tmp_path: Path) -> None:
    path = tmp_path / "a_samples.jsonl"
    again: dict[int, dict[str, Any]] = {
        700: {"performance": {"latency_ms": 250}},
        1100: {"sample_id": "q3"},
        1150: {"error": "no answer"},
    }
    path.write_text("\n".join(samples(again)), encoding="utf-8")
    table = one(path)
    rows = list(zip(table.ids.tolist(), table.numbers["score"].tolist(), strict=True))
    expected = [("q3" if at == 1100 else f"q{at}", score) for at, score in enumerate(choices(3))]
    assert [row for at, row in enumerate(rows) if at != 1150] == [row for at, row in enumerate(expected) if at != 1150]
    assert rows[1150][1] != rows[1150][1]
    assert table.numbers["seconds"][700] == 0.25


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('"sample_id": "q1100", "sample_id": "q1101"', ["line 1101", "sample_id"]),
        ('"sample_id": 7', ["line 1101", "sample_id", "must be a text"]),
    ],
)
def test_a_bad_line_far_behind_is_named(tmp_path: Path, text: str, parts: list[str]) -> None:
    path, lines = tmp_path / "a_samples.jsonl", samples({})
    lines[1100] = lines[1100].replace('"sample_id": "q1100"', text)
    path.write_text("\n".join(lines), encoding="utf-8")
    assert_refused(path, *parts)
