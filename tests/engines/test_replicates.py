"""Random resampling in ranges, wherever they are drawn: every number of a result is the same."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import assay
from assay.engines import LOCAL, Engine
from assay.engines.replicates import resampling_on
from assay.examples import SURVEY
from assay.results.record import Result
from assay.stats import ranges
from assay.stats.bootstrap.resampling import resampled_sums
from assay.stats.compiled import Backend
from assay.stats.ranges import drawn_by, in_ranges
from assay.stats.survey.respondents import draw

RNG = np.random.default_rng(5)
LOST = RNG.gamma(2, 1, 500)
LOSSES = {"window": [f"w{i}" for i in range(500)], "loss": LOST, "tokens": RNG.integers(50, 90, 500)}
FEWER = LOSSES | {"loss": LOST - RNG.normal(0.01, 0.1, 500)}
SCORES = np.column_stack([RNG.normal(k / 40, 1, 700) for k in range(5)])
DRAWN = (SURVEY / "survey.json", SURVEY / "predictions.csv")


def of_survey() -> Result:
    return assay.survey(*DRAWN, only=["baselines", "noise", "intervals", "cells", "fairness"], resamples=150)


def of_comparison() -> Result:
    return assay.compare(LOSSES, FEWER, resamples=3_001, seed=4)


def of_board() -> Result:
    panel = assay.Panel.from_arrays(SCORES, systems=[f"m{k}" for k in range(5)])
    return assay.rank(panel, resamples=9_000, adjust="max-t", seed=2)


RESULTS = [of_survey, of_comparison, of_board]


class Pieces:
    """Ranges that are drawn here, the last one first, one at a time."""

    def __init__(self, ranges: int) -> None:
        self.ranges = ranges
        self.given: list[int] = []

    def drawn(self, draw: Any, shared: Any, ranges: Sequence[tuple[int, int]]) -> Iterator[Any]:
        self.given.append(len(ranges))
        found = {one: draw(shared, *one) for one in reversed(ranges)}
        return iter([found[one] for one in ranges])


@pytest.fixture
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "WORTH_SHARING", 0.0)
    monkeypatch.setattr("assay.stats.ranking.flips._SIGNS", 700 * 512)  # several batches


@pytest.mark.usefixtures("always_worth_it")
@pytest.mark.parametrize("made", RESULTS)
@pytest.mark.parametrize("number", [2, 7])
def test_ranges_change_no_number(made: Callable[[], Result], number: int) -> None:
    pieces, here = Pieces(number), made().to_dict()
    with drawn_by(pieces):
        assert made().to_dict() == here
    assert max(pieces.given) > 1  # there was something to cut


@pytest.mark.slow
@pytest.mark.usefixtures("always_worth_it")
def test_processes_change_no_number() -> None:
    here = [made().to_dict() for made in RESULTS]
    with resampling_on(Engine(workers=2)):
        assert [made().to_dict() for made in RESULTS] == here


def test_little_is_drawn_here_and_starts_no_worker() -> None:
    import multiprocessing

    pieces = Pieces(4)
    with drawn_by(pieces):
        of_comparison()
    assert pieces.given == []
    with resampling_on(Engine(workers=2)):
        of_comparison()
        assert multiprocessing.active_children() == []
    with resampling_on(LOCAL):
        assert ranges._drawers.get() is None


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_a_range_are_those_of_the_whole(backend: Any, weighted: bool) -> None:
    """Replicate b depends on b: drawn alone, from b on, or with all before it."""
    columns, chances = RNG.normal(size=(450, 2)), RNG.random(450) if weighted else None
    whole = resampled_sums(columns, chances, 40, 9, backend=backend)
    part = resampled_sums(columns, chances, 13, 9, first=27, backend=backend)
    assert part.tobytes() == whole[27:].tobytes()


def test_answers_of_a_range_are_those_of_the_whole() -> None:
    from assay.stats.streams import stream_key
    from tests.stats.survey.test_respondents import small

    people, key = small()[0], stream_key(3, "respondents")
    cells = slice(0, len(people.n))
    backends: tuple[Backend, ...] = ("numpy", "compiled")
    for backend in backends:
        whole = draw(people, cells, 30, key, backend).counts
        part = draw(people, cells, 11, key, backend, first=19).counts
        np.testing.assert_array_equal(part, whole[:, 19:])


@pytest.mark.parametrize(("count", "step", "number"), [(10, 1, 3), (10, 4, 2), (9, 3, 50), (5, 5, 2), (1, 1, 4)])
def test_ranges_cover_every_draw_once_and_begin_at_steps(count: int, step: int, number: int) -> None:
    seen: list[tuple[int, int]] = []

    def draw(_: None, first: int, many: int) -> list[int]:
        seen.append((first, many))
        return list(range(first, first + many))

    with drawn_by(Pieces(number)):
        found = list(in_ranges(draw, None, count, seconds=60.0, step=step))
    assert [number for part in found for number in part] == list(range(count))
    assert all(first % step == 0 for first, _ in seen)
    assert len(seen) <= number
