"""`import assay`: what it offers, and what it must not cost."""

import doctest
import inspect
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import assay


def modules_after(code: str) -> set[str]:
    """The top-level packages that a fresh interpreter has imported after running some code."""
    script = f"import sys, json\n{code}\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_every_name_of_the_front_door_opens() -> None:
    assert len(assay.__all__) == len(set(assay.__all__))
    assert all(getattr(assay, name) is not None for name in assay.__all__)
    assert dir(assay) == sorted(assay.__all__)


def test_the_verbs_and_records_of_the_design_are_there() -> None:
    wanted = {"compare", "Comparison", "Design", "Panel", "Table", "Estimate", "Interval", "Test", "Fallback"}
    assert wanted <= set(assay.__all__)
    assert {"AssayError", "InputError", "UsageError", "__version__"} <= set(assay.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assay' has no attribute 'comparison_of'"):
        assert assay.comparison_of


def test_the_names_are_those_of_their_homes() -> None:
    from assay.analyses.compare import compare
    from assay.design import Design
    from assay.errors import InputError

    assert (inspect.unwrap(assay.compare), assay.Design, assay.InputError) == (compare, Design, InputError)


@pytest.mark.parametrize("name", sorted(set(assay.__all__) - {"__version__"}))
def test_public_names_say_where_a_user_finds_them(name: str) -> None:
    found = getattr(assay, name)
    assert (found.__module__, found.__qualname__) == ("assay", name)
    assert pickle.loads(pickle.dumps(found)) is found  # noqa: S301 - our own


def test_every_verb_has_an_example() -> None:
    """They run as docstrings of their modules (--doctest-modules)."""
    verbs = {name: verb for name in assay.__all__ if inspect.isfunction(verb := getattr(assay, name))}
    assert [name for name, verb in verbs.items() if not doctest.DocTestParser().get_examples(verb.__doc__ or "")] == []


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert assay.__version__ == version("assay-eval")


def test_importing_assay_costs_nothing() -> None:
    assert not modules_after("import assay") & {
        "numpy",
        "scipy",
        "numba",
        "pandas",
        "pydantic",
        "duckdb",
        "typer",
        "rich",
    }


@pytest.mark.parametrize("kind", ["losses", "scores"])
def test_the_default_path_imports_nothing_heavy(tmp_path: Path, kind: str) -> None:
    """scipy takes 0.3 s, numba and pandas half a second: `assay compare` on two small files must not need them."""
    header = "window,tokens,loss" if kind == "losses" else "item,score"
    for name, shift in (("a", 0), ("b", 1)):
        rows = [
            f"w{i},{100 + i},{(i * 7 + shift) % 11 / 10}" if kind == "losses" else f"q{i},{(i + shift) % 2}"
            for i in range(40)
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *rows]) + "\n")
    files = f"{str(tmp_path / 'a.csv')!r}, {str(tmp_path / 'b.csv')!r}"
    call = f"command_line(['compare'])(['compare', {files}], standalone_mode=False)"
    code = f"import sys\nfrom assay.cli.command_line import command_line\n{call}"
    heavy = {"scipy", "numba", "pandas", "statsmodels", "torch", "fsspec", "s3fs", "botocore", "aiohttp"}
    assert not modules_after(code) & heavy
