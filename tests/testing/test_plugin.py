"""The pytest plugin, run by pytest itself (pytester)."""

import os
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import pytest

from tools.docs_outputs import ROOT

pytest_plugins = ["pytester"]

#: As it is registered where the package is installed; else by its module.
PLUGIN = "assay" if any(entry.name == "assay" for entry in entry_points(group="pytest11")) else "assay.testing.plugin"
TESTS = """
    RIGHT, WORSE = [1, 1, 1, 0] * 100, [0, 1, 1, 0] * 100

    def test_same(assert_not_worse):
        assert assert_not_worse(RIGHT, RIGHT).n_pairs == 400

    def test_worse(assert_not_worse):
        assert_not_worse(RIGHT, WORSE, max_drop=0.02)

    def test_not_losses(assert_ratio_below):
        assert_ratio_below(RIGHT, WORSE)
"""
#: A finder that knows these modules not, as if they were not installed.
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {absent!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider", *options)


def test_the_entry_point_is_declared() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    assert declared == {"assay": "assay.testing.plugin"}


def test_a_failure_shows_the_sentence_and_only_the_line_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    found = run(pytester, "--junit-xml=report.xml")
    found.assert_outcomes(passed=1, failed=2)
    said = found.stdout.str()
    assert "E       AssertionError: candidate is a regression from baseline: mean score −0.2500, 95% CI" in said
    assert "these are scores" in said
    assert "assay/testing" not in said  # no frame of ours
    assert len(said.splitlines()) < 60
    report = (pytester.path / "report.xml").read_text("utf-8")
    assert '<property name="assay" value="No difference shown between baseline and candidate' in report
    assert 'name="assay_signature" value="assay:' in report


def test_a_marked_test_scores_only_as_much_as_it_needs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        import pytest

        asked = []

        def old(item):
            return item % 10 > 0

        def new(item):
            asked.append(item)
            return item % 10 > 2

        @pytest.mark.assay(looks=5)
        def test_looks(assert_not_worse):
            with pytest.raises(AssertionError, match="look 1 of 5"):
                assert_not_worse(old, new, items=range(3000), max_drop=0.05)
            assert len(asked) < 1000

        @pytest.mark.assay(look=5)
        def test_no_such_setting(assert_not_worse):
            assert_not_worse(old, new, items=range(3000))
    """)
    found = run(pytester, "--strict-markers")
    found.assert_outcomes(passed=1, failed=1)
    assert "takes looks=, spending= and seed=" in found.stdout.str()


def test_it_says_nothing_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_nothing():\n    pass\n")
    found = run(pytester, "-q", "--strict-markers", "-W", "error")
    found.assert_outcomes(passed=1)
    assert "assay" not in found.stdout.str() + found.stderr.str()


@pytest.mark.parametrize(("absent", "passed"), [(("numba", "pandas", "scipy", "duckdb"), 1), (("numba", "pandas"), 2)])
def test_it_loads_where_packages_are_absent(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, absent: tuple[str, ...], passed: int
) -> None:
    """Without numba the suites of others must still start; without pandas the assertions must work."""
    pytester.makepyfile(sitecustomize=WITHOUT.format(absent=absent))
    pytester.makepyfile((TESTS if passed > 1 else "") + "\n    def test_nothing():\n        pass\n")
    path = os.pathsep.join([str(pytester.path), os.environ.get("PYTHONPATH", "")])
    monkeypatch.setenv("PYTHONPATH", path)
    found = run(pytester)
    found.assert_outcomes(passed=passed, failed=2 if passed > 1 else 0)


def test_loading_it_imports_nothing_that_computes() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import assay.testing.plugin; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "scipy", "numba", "pandas", "duckdb", "msgspec", "rich", "assay.analyses", "assay.design"}
    assert not heavy & set(done.stdout.split())
    assert {"assay.testing", "assay.testing.plugin"} <= set(done.stdout.split())
