"""Counts and sums read from many places together; the oracle is what Python's own parser of JSON reads there."""

import json
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data.readers.harness.helm_numbers import CountsAndSums, around_sum
from assay.stats.units import Floats

BEFORE, BEHIND = b', "sum": ', b', "mean":'


def read(stats: list[str]) -> Floats | None:
    """The numbers of statistics, each written from behind its count on."""
    data = "".join(stats).encode()
    stops = np.cumsum([len(one.encode()) for one in stats])
    return CountsAndSums(BEFORE, BEHIND)(data, np.append(0, stops[:-1]), stops)


def written(count: str, total: str, rest: str = "0.5}") -> str:
    return f'{count}, "sum": {total}, "mean": {rest}'


numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr) | st.integers(-(10**18), 10**18).map(str)


@given(st.lists(st.tuples(st.integers(0, 9_999_999).map(str), numbers, st.text(max_size=60)), min_size=1, max_size=20))
def test_numbers_are_those_of_the_parser(rows: list[tuple[str, str, str]]) -> None:
    found = read([written(count, total, json.dumps(rest)) for count, total, rest in rows])
    if any(end in json.dumps(rest)[1:] for end in ('m"', 't"') for _, _, rest in rows):
        assert found is None  # it may be a key
    else:
        assert found is not None
        assert found.tolist() == [[float(json.loads(count)), float(json.loads(total))] for count, total, _ in rows]


@pytest.mark.parametrize(
    "stat",
    [
        written("123456789", "1"),  # longer than counts are
        written("1", "1" * 40),
        written("1", "1.5.5"),
        written("1 2", "1"),
        written("1", "[1"),
        written("1", "1e999"),
        written("1", ""),
        written("", "1"),
        written("1", '"1"'),
        written("1", "1", '0, "sum": 2}'),
        written("1", "1", '0, "count": 2}'),
        written("1", "1").replace("sum", "min"),
        written("1", "1").replace("mean", "min"),
        written("1", "1, 2"),
        written("1", "1")[:12],
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_written_otherwise_is_not_read(stat: str, place: int) -> None:
    plain: list[Any] = [written("3", "1.5"), written("2", "1e-3")]
    assert read(plain) is not None
    try:
        found = read([*plain[:place], stat, *plain[place:]])
    except msgspec.MsgspecError:
        return
    assert found is None


def test_a_range_ends_where_it_ends() -> None:
    """The window of a short statistic reaches into the next one, which is none of its own."""
    stats = [written("1", "2"), written("3", "4", "9" * 200 + "}"), written("5", "6")]
    found = read(stats)
    assert found is not None
    assert found.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert read([written("1", "2", '"m"}'), *stats]) is None


def test_a_brace_in_a_number_is_not_read() -> None:
    data = written("1", "{2").encode()
    assert CountsAndSums(BEFORE, BEHIND)(data, np.array([0]), np.array([data.index(b"{")])) is None


def test_what_stands_around_a_sum() -> None:
    text = written("3", "1.5").encode()
    assert around_sum(text, 0) == (BEFORE, BEHIND)
    assert around_sum(b"3, " + text, 0) is None
    assert around_sum(written("3", "1.5").replace(', "mean": 0.5', "").encode(), 0) is None
