"""Whether compiled loops run, and that nothing but time depends on it."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from assay.errors import AssayWarning
from assay.stats import compiled
from assay.stats.bootstrap import resampling
from assay.stats.bootstrap.resampling import resampled_sums
from assay.stats.compiled import compiles

LOOP = "assay.stats.bootstrap.kernels_resampling.paired_sums"


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    compiled._say_once.cache_clear()


def test_loops_are_loaded_where_there_is_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "kept", lambda loop: loop == LOOP)
    assert [compiles("auto", work, 100, LOOP) for work in (99, 100, 101)] == [False, False, True]
    assert (compiles("compiled", 1, 100, LOOP), compiles("numpy", 1e9, 100, LOOP)) == (True, False)


def test_a_loop_that_was_never_compiled_waits_for_seconds_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "kept", lambda _: False)
    assert [compiles("auto", work, 100, LOOP) for work in (101, 2_000, 2_001)] == [False, False, True]


SUMS = """
import numpy as np
from assay.progress import heard_by
from assay.stats.bootstrap import resampling
from assay.stats.compiled import kept

class Listener:
    def began(self, name, unit, total):
        print(name)
        return lambda done, total: None
    def ended(self, work):
        pass

resampling._COMPILE_ABOVE = {above}
loop = resampling.loop_of(7, 2, weighted=False)
print(kept(loop))
with heard_by(Listener()):
    resampling.resampled_sums(np.arange(14.0).reshape(7, 2), None, 200, 5)
print(kept(loop))
"""


def test_a_machine_compiles_a_loop_once_and_says_so(tmp_path: Path) -> None:
    def said(above: float) -> list[str]:
        run = [sys.executable, "-c", SUMS.format(above=above)]
        told = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        return subprocess.run(run, env=told, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]

    assert said(1_399) == ["False", "False"]  # 1,400 draws: not worth it
    assert list(tmp_path.iterdir()) == []
    assert said(10) == ["False", "compiling loops, once on this machine", "True"]
    assert said(1_399) == ["True", "True"]


def test_what_was_compiled_before_the_code_changed_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(compiled.__file__).parent / "bootstrap" / "kernels_resampling.py"
    file = tmp_path / "bootstrap_0a" / "kernels_resampling.anything-1.py311.nbi"
    file.parent.mkdir()
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delitem(sys.modules, "assay.stats.bootstrap.kernels_resampling", raising=False)
    loop = "assay.stats.bootstrap.kernels_resampling.anything"
    assert compiled.kept(loop)
    os.utime(file, (0, source.stat().st_mtime - 1))
    assert not compiled.kept(loop)
    assert not compiled.kept("assay.stats.bootstrap.kernels_resampling.another")
    assert not compiled.kept("assay.stats.no_such_module.loop")


@pytest.mark.usefixtures("without_numba")
def test_without_numba_nothing_is_compiled_and_long_work_says_so_once() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not compiles("auto", 101, 100, LOOP)
    with pytest.warns(AssayWarning, match=r"the numbers are the same.*assay-eval\[fast\]"):
        assert not compiles("auto", 1e9, 100, LOOP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not compiles("auto", 1e9, 100, LOOP)


@pytest.mark.parametrize("n", [7, 300])
@pytest.mark.filterwarnings("ignore:numba is not installed")
def test_the_bits_are_those_of_the_compiled_loops(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(n).normal(size=(n, 3))
    monkeypatch.setattr(resampling, "_COMPILE_ABOVE", 0)  # anything is more than twenty times that
    with_numba = resampled_sums(columns, None, 200, 5)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert (resampled_sums(columns, None, 200, 5) == with_numba).all()
