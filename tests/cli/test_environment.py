"""What a bug report needs: against the interpreter and the packages' own metadata."""

import platform
from importlib.metadata import version

import pytest

from assay.cli import environment
from assay.cli.environment import RUNS_ON, described


def test_every_dependency_is_named_with_its_version_against_the_metadata() -> None:
    found = dict(described(devices=False))
    assert {name: found[name] for name in RUNS_ON} == {name: version(name) for name in RUNS_ON}
    assert platform.python_version() in found["python"]


def test_an_extra_that_is_not_there_says_what_it_would_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "EXTRAS", {"x": ("does something", ("no-such-package", "numpy"))})
    assert dict(described(devices=False))["[x]"] == "not installed (no-such-package): does something"
