"""A column per model is the same as a file per model."""

from pathlib import Path

import numpy as np
import pytest

from assay import compare
from assay.analyses.compare.result import Systems
from assay.data import read_table, read_tables
from assay.errors import InputError

WIDE = "id,topic,small,large,medium\nq1,a,0,1,1\nq2,a,1,1,0\nq3,b,0,1,1\n"


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    path.write_text(WIDE)
    return path


def test_each_column_against_a_file_of_its_own(wide: Path, tmp_path: Path) -> None:
    found = read_tables([wide], columns={"item": "id", "cluster": "topic", "score": "*"})
    assert [table.name for table in found] == ["small", "large", "medium"]
    for place, table in enumerate(found, start=2):
        rows = [line.split(",") for line in WIDE.splitlines()[1:]]
        alone = tmp_path / f"{table.name}.csv"
        alone.write_text("item,cluster,score\n" + "".join(f"{r[0]},{r[1]},{r[place]}\n" for r in rows))
        expected = read_table(alone)
        assert table.ids.tolist() == expected.ids.tolist()
        np.testing.assert_array_equal(table.numbers["score"], expected.numbers["score"])
        assert table.labels["cluster"].names == expected.labels["cluster"].names
        assert table.notes == ()


def test_a_pattern_means_the_columns_that_are_like_it(wide: Path) -> None:
    assert [t.name for t in read_tables([wide], columns={"item": "id", "score": "?arge"})] == ["large"]
    assert [t.name for t in read_tables([wide], columns={"item": "id", "score": "*m*"})] == ["small", "medium"]


def test_two_columns_are_compared_by_their_names(wide: Path) -> None:
    columns = {"item": "id", "cluster": "topic", "score": "*"}
    found = compare(wide, models=("small", "large"), columns=columns)
    assert found.systems == Systems("small", "large")
    assert found.difference.value == pytest.approx(2 / 3)


def test_a_frame_in_memory_may_be_wide_too() -> None:
    found = read_tables([{"id": ["a", "b"], "x": [1, 0], "y": [0, 0]}], columns={"item": "id", "score": "*"})
    assert {table.name: table.numbers["score"].tolist() for table in found} == {"x": [1.0, 0.0], "y": [0.0, 0.0]}


def test_a_pattern_that_no_column_is_like_is_refused(wide: Path) -> None:
    with pytest.raises(InputError, match=r"no column matches score=huge\* among id, topic, small, large, medium"):
        read_tables([wide], columns={"item": "id", "score": "huge*"})


def test_a_column_that_holds_no_numbers_is_named(wide: Path) -> None:
    with pytest.raises(InputError, match=r"wide\.csv, line 2, column 'topic': 'a' is not a number"):
        read_tables([wide], columns={"item": "id", "score": "*"})
