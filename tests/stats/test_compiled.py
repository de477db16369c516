"""Whether compiled loops run, and that nothing but time depends on it."""

import sys
import warnings

import numpy as np
import pytest

from assay.errors import AssayWarning
from assay.stats import compiled
from assay.stats.bootstrap import resampling
from assay.stats.bootstrap.resampling import resampled_sums
from assay.stats.compiled import compiles


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled._say_once.cache_clear()


def test_loops_are_compiled_where_there_is_enough_to_do() -> None:
    assert [compiles("auto", work, 100) for work in (99, 100, 101)] == [False, False, True]
    assert (compiles("compiled", 1, 100), compiles("numpy", 1e9, 100)) == (True, False)


@pytest.mark.usefixtures("without_numba")
def test_without_numba_nothing_is_compiled_and_long_work_says_so_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not compiles("auto", 101, 100)
    with pytest.warns(AssayWarning, match=r"the numbers are the same.*assay-eval\[fast\]"):
        assert not compiles("auto", 1e9, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not compiles("auto", 1e9, 100)


@pytest.mark.parametrize("n", [7, 300])
@pytest.mark.filterwarnings("ignore:numba is not installed")
def test_the_bits_are_those_of_the_compiled_loops(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(n).normal(size=(n, 3))
    monkeypatch.setattr(resampling, "_COMPILE_ABOVE", 0)
    with_numba = resampled_sums(columns, None, 200, 5)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert (resampled_sums(columns, None, 200, 5) == with_numba).all()
