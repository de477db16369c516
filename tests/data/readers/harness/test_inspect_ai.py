"""inspect_ai: the oracle is what inspect itself says in the header and the reductions of its logs."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from assay.data import Table, read_tables
from assay.data.readers.harness.inspect_archive import open_archive
from tests.data.files import panel_of
from tests.data.readers.harness.logs import INSPECT, assert_refused, copy, edit_json, one, read_json, scores

#: As tools/make_harness_fixtures/inspect_files.py has the mock models answer, epoch by epoch.
RIGHT = {"small": ("1100", "1001"), "large": ("1110", "1101")}


def member(path: Path, name: str) -> Any:
    with open_archive(path) as archive:
        return json.loads(archive.read(name))


@pytest.mark.parametrize("model", RIGHT)
def test_epochs_are_runs_and_the_scores_are_those_of_the_mock_model(model: str) -> None:
    table = one(INSPECT / f"{model}.eval")
    runs = table.labels["run"]
    assert table.name == f"mockllm/{model}"
    for epoch, right in enumerate(RIGHT[model]):
        chosen = table.where(runs.codes == epoch)
        assert scores(chosen) == {f"q{i}": float(grade) for i, grade in enumerate(right)}


@pytest.mark.parametrize("model", RIGHT)
def test_the_mean_of_an_item_over_epochs_is_inspect_s_reduction(model: str) -> None:
    path = INSPECT / f"{model}.eval"
    [reduction] = member(path, "reductions.json")
    panel = panel_of([one(path)])
    found = dict(zip(panel.ids.tolist(), panel.numerators[:, 0].tolist(), strict=True))
    assert found == {sample["sample_id"]: sample["value"] for sample in reduction["samples"]}


@pytest.mark.parametrize("model", RIGHT)
def test_the_mean_of_a_log_is_inspect_s_accuracy(model: str) -> None:
    path = INSPECT / f"{model}.eval"
    [score] = member(path, "header.json")["results"]["scores"]
    assert panel_of([one(path)]).estimate(0) == pytest.approx(score["metrics"]["accuracy"]["value"], abs=1e-15)


@pytest.mark.parametrize("name", ["small.json", "small-deflate.eval"])
def test_json_and_deflated_logs_hold_what_the_same_run_holds_with_zstandard(name: str) -> None:
    part, whole = one(INSPECT / name), one(INSPECT / "small.eval")
    runs = {
        (table.ids[i], table.labels["run"].codes[i]): table.numbers["score"][i] for table in [whole] for i in range(8)
    }
    assert {(part.ids[i], part.labels["run"].codes[i]): part.numbers["score"][i] for i in range(len(part))}.items() <= (
        runs.items()
    )
    assert len(part) == (2 if name == "small.json" else 4)


def test_parts_of_a_score_are_chosen_with_a_scorer_and_a_metric() -> None:
    path = INSPECT / "parts.eval"
    assert_refused(path, "3 scorers (graded, includes, match)", "`Selection(scorer=...)`")
    assert_refused(path, "scorer graded: 2 metrics (length, right)", "`Selection(metric=...)`", scorer="graded")
    assert_refused(path, "no scorer 'mach'", "did you mean `Selection(scorer='match')`?", scorer="mach")
    assert_refused(path, "no parts", "`Selection(metric=...)`", scorer="match", metric="right")
    table = one(path, scorer="graded", metric="right")
    means = [
        score["metrics"]["mean"]["value"]
        for score in member(path, "header.json")["results"]["scores"]
        if score["scorer"] == "graded" and score["name"] == "right"
    ]
    assert means == [pytest.approx(table.answered().numbers["score"].mean(), abs=1e-15)]


def test_samples_that_inspect_calls_unscored_are_lost_answers() -> None:
    path = INSPECT / "parts.eval"
    said = [score for score in member(path, "header.json")["results"]["scores"] if score["scorer"] == "graded"]
    table = one(path, scorer="graded", metric="right")
    assert {score["unscored_samples"] for score in said} == {4 - len(table.answered())} == {1}
    assert len(one(path, scorer="match")) == 4


def test_metadata_gives_clusters() -> None:
    table = one(INSPECT / "parts.eval", scorer="match", cluster="topic")
    assert table.labels["topic"].names == ("animals",)
    assert_refused(INSPECT / "parts.eval", "'passage'", "metadata.topic", scorer="match", cluster="passage")


def test_one_epoch_is_no_run() -> None:
    assert "run" not in one(INSPECT / "parts.eval", scorer="match").labels


def test_the_same_question_has_the_same_content_in_every_log_and_epoch() -> None:
    tables = [one(INSPECT / name) for name in ("small.eval", "large.eval", "small.json", "small-deflate.eval")]
    told = {
        (item, table.labels["doc_hash"].names[code])
        for table in tables
        for item, code in zip(table.ids, table.labels["doc_hash"].codes, strict=True)
    }
    assert len(told) == 4


# ------------------------------------------------------------------------------------------------- spoiled .json logs


def spoiled(tmp_path: Path, **changes: Any) -> Path:
    """The .json log with changes to its first sample."""
    path = copy(INSPECT / "small.json", tmp_path)
    edit_json(path, lambda log: log["samples"][0].update(changes))
    return path


def graded(value: Any) -> dict[str, Any]:
    return {"match": {"value": value}}


@pytest.mark.parametrize(
    ("value", "score"),
    [
        ("C", 1.0),
        ("I", 0.0),
        ("P", 0.5),
        ("N", 0.0),
        ("Yes", 1.0),
        ("FALSE", 0.0),
        ("0.25", 0.25),
        (True, 1.0),
        (3, 3.0),
    ],
)
def test_grades_are_what_inspect_s_own_value_to_float_makes_of_them(tmp_path: Path, value: Any, score: float) -> None:
    assert one(spoiled(tmp_path, scores=graded(value))).numbers["score"][0] == score


@pytest.mark.parametrize("scored", [None, {}, graded(math.nan), graded(None)])
def test_a_sample_without_a_score_is_a_lost_answer(tmp_path: Path, scored: Any) -> None:
    table = one(spoiled(tmp_path, scores=scored))
    assert table.lost is not None
    assert table.lost.tolist() == [True, False]


def test_a_sample_with_an_error_is_a_lost_answer_whatever_its_score(tmp_path: Path) -> None:
    broken = spoiled(tmp_path, scores=graded("I"), error={"message": "APIConnectionError"})
    table = one(broken)
    assert table.lost is not None
    assert table.lost.tolist() == [True, False]
    assert one(broken, errors="wrong").numbers["score"][0] == 0.0


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"scores": graded("maybe")}, ["'maybe'", "neither a number nor"]),
        ({"scores": graded("nan")}, ["finite number", "NaN"]),
        ({"scores": graded([1, 0])}, ["finite number", "[1, 0]"]),
        ({"scores": graded(math.inf)}, ["finite number", "Infinity"]),
        ({"scores": [1]}, ["'scores' must be an object"]),
        ({"scores": {"match": 1}}, ["must be an object with a field 'value'"]),
        ({"scores": {"match": {}}}, ["no field 'value'"]),
        ({"id": None}, ["'id' must be"]),
        ({"epoch": "1"}, ["'epoch' must be a whole number"]),
        ({"epoch": 2}, ["item 'q0' of the model 'mockllm/small' is there already (sample 1)"]),
        ({"input": 7}, ["'input' must be"]),
    ],
)
def test_a_bad_sample_is_refused_by_name(tmp_path: Path, changes: dict[str, Any], parts: list[str]) -> None:
    path = spoiled(tmp_path, **changes)
    assert_refused(path, f"{path}, sample ", *parts)


def test_a_log_without_samples_or_scores_is_refused(tmp_path: Path) -> None:
    path = copy(INSPECT / "small.json", tmp_path)
    edit_json(path, lambda log: log.update(samples=[sample | {"scores": {}} for sample in log["samples"]]))
    assert_refused(path, "no sample has been scored", "inspect score")
    edit_json(path, lambda log: log.update(samples=None, status="error"))
    assert_refused(path, "no samples in the log", "the run ended with the status error")
    edit_json(path, lambda log: log.update(samples=7))
    assert_refused(path, "'samples' must be a list")
    edit_json(path, lambda log: log["eval"].pop("model"))
    assert_refused(path, "no field 'model'")


def test_a_run_that_did_not_end_well_is_read_and_said_so(tmp_path: Path) -> None:
    path = edit_json(copy(INSPECT / "small.json", tmp_path), lambda log: log.update(status="cancelled"))
    assert any("ended with the status cancelled" in note for note in one(path).notes)


def test_a_log_that_is_invalid_or_reduced_in_another_way_says_so(tmp_path: Path) -> None:
    path = edit_json(copy(INSPECT / "small.json", tmp_path), lambda log: log.update(invalidated=True))
    edit_json(path, lambda log: log["eval"]["config"].update(epochs_reducer=["mode"]))
    notes = " ".join(one(path).notes)
    assert "marked as invalid" in notes
    assert "reduces epochs by" in notes


def test_messages_and_attachments_are_compared_by_what_they_say(tmp_path: Path) -> None:
    """The id of a message is new in each run, and where a long text is kept differs between versions."""
    first, second = tmp_path / "a", tmp_path / "b"
    for folder, name, asked, attachments in (
        (first, "x", [{"id": "1", "role": "user", "content": "attachment://k"}], {"k": "A long text"}),
        (second, "y", [{"id": "2", "role": "user", "content": "A long text"}], {}),
    ):
        folder.mkdir()
        path = spoiled(folder, input=asked, attachments=attachments)
        edit_json(path, lambda log, name=name: log["eval"].update(model=name))  # type: ignore[misc]
        edit_json(path, lambda log: log["samples"].pop())
    panel = panel_of(read_tables([first / "small.json", second / "small.json"]))
    assert panel.n == 1


def test_the_log_is_what_its_bytes_say_whatever_it_is_called(tmp_path: Path) -> None:
    named = (tmp_path / "scores.csv", tmp_path / "a.zip", tmp_path / "b")
    for source, path in zip(("small.json", "small.eval", "small-deflate.eval"), named, strict=True):
        path.write_bytes((INSPECT / source).read_bytes())
        assert one(path).name == "mockllm/small"
    assert read_json(named[0])["eval"]["model"] == "mockllm/small"


# ------------------------------------------------------------------------------------ read quickly, and read as a whole


def packed(source: Path, path: Path, change: Callable[[str, Any], Any]) -> Path:
    """A log with other members; None leaves one out."""
    with open_archive(source) as log, ZipFile(path, "w") as made:
        for name in log.names():
            found = change(name, json.loads(log.read(name)))
            if found is not None:
                made.writestr(name, json.dumps(found))
    return path


def contents(table: Table) -> dict[str, Any]:
    labels = {name: [own.names[code] for code in own.codes] for name, own in table.labels.items()}
    return {**labels, **{name: values.tolist() for name, values in table.numbers.items()}, "ids": table.ids.tolist()}


@pytest.mark.parametrize("name", ["small.eval", "large.eval", "small-deflate.eval"])
@pytest.mark.parametrize("without", [r"summaries\.json", r".*summaries.*"])
def test_summaries_tell_what_the_samples_tell(tmp_path: Path, name: str, without: str) -> None:
    path = packed(INSPECT / name, tmp_path / "a", lambda one, found: None if re.fullmatch(without, one) else found)
    by_item = [
        {key: sorted(zip(found["ids"], found["run"], values, strict=True)) for key, values in found.items()}
        for found in (contents(one(INSPECT / name)), contents(one(path)))
    ]
    assert by_item[0] == by_item[1]
    assert {"tokens_in", "seconds", "doc_hash"} <= by_item[0].keys()


def test_an_input_that_the_summary_cuts_is_read_from_the_sample(tmp_path: Path) -> None:
    text = "A long question. " * 400

    def change(name: str, found: Any) -> Any:
        if name == "summaries.json":
            found[0]["input"] = text[:1000] + "..."
        if name == "samples/q0_epoch_1.json":
            found["input"] = text
        return found

    table = one(packed(INSPECT / "small.eval", tmp_path / "a", change))
    whole = one(spoiled(tmp_path, input=text))
    assert contents(table)["doc_hash"][0] == contents(whole)["doc_hash"][0]


def test_a_sample_without_a_summary_counts_too(tmp_path: Path) -> None:
    """As in a log that was still written when it was copied: the samples are the oracle."""

    def change(name: str, found: Any) -> Any:
        return found[:3] if name == "summaries.json" else found

    assert len(one(packed(INSPECT / "small.eval", tmp_path / "a", change))) == 8


@pytest.mark.parametrize("block", [64, 1000, 1 << 18])
def test_a_log_over_several_lines_is_read_as_on_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr("assay.data.readers.harness.long_lists._BLOCK", block)
    log = read_json(INSPECT / "small.json")
    spread, tight = tmp_path / "spread.json", tmp_path / "tight.json"
    spread.write_text(json.dumps(log, indent=2), "utf-8")
    tight.write_text(json.dumps(log), "utf-8")
    assert contents(one(spread)) == contents(one(tight)) == contents(one(INSPECT / "small.json"))
    whole = spread.read_text("utf-8")
    spread.write_text(whole[:-2000], "utf-8")
    assert_refused(spread, str(spread), "line ")
    spread.write_text(whole.rstrip()[:-2], "utf-8")  # all samples are there, but the log was cut off behind them
    assert_refused(spread, str(spread), "it ends too early")
