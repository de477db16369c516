"""What `tools.golden` calls a difference."""

from pathlib import Path
from typing import Any

import pytest

from tools.golden import CASES, STORE, differences, leaves, options, settle


def case(**changed: Any) -> dict[str, Any]:
    return {"exit": 0, "text": ["A and B", "n  2"], "json": {"n": 2, "p": 0.25, "notes": []}} | changed


def test_leaves_by_hand() -> None:
    value = {"a": [1, {"b": None}], "c": {}, "d": []}
    assert dict(leaves(value)) == {"a.0": 1, "a.1.b": None, "c": {}, "d": []}
    assert dict(leaves(7)) == {"": 7}


def test_the_same_is_no_difference() -> None:
    assert list(differences(case(), case())) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"exit": 3}, ["exit 0 → 3"]),
        ({"text": ["A and B", "n  3"]}, ["line 2: 'n  2' → 'n  3'"]),
        ({"text": ["A and B"]}, ["line 2: 'n  2' → ''"]),
        ({"text": ["A and B", "n  2", "more"]}, ["line 3: '' → 'more'"]),
        ({"json": {"n": 2, "p": 0.25000000000000006, "notes": []}}, ["p: 0.25 → 0.25000000000000006"]),
        ({"json": {"n": 2, "p": None, "notes": []}}, ["p: 0.25 → None"]),
        ({"json": {"n": 2, "notes": []}}, ["p: 0.25 → 'absent'"]),
        ({"json": {"n": 2, "p": 0.25, "notes": [], "q": None}}, ["q: 'absent' → None"]),
    ],
)
def test_what_differs_is_named_by_hand(changed: dict[str, Any], said: list[str]) -> None:
    assert list(differences(case(), case(**changed))) == said


def test_a_case_is_stored_then_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "compare.json"
    assert settle(path, case(), check=True) == 1  # not stored yet
    assert settle(path, case(), check=False) == 0
    assert settle(path, case(), check=True) == 0
    assert settle(path, case(exit=1), check=True) == 1
    assert capsys.readouterr().out.splitlines() == ["compare: not stored yet", "compare: exit 0 → 1"]


def test_every_case_is_stored() -> None:
    assert {path.stem for path in STORE.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("arguments", [[], ["--chekc"], ["--check", "--write"], ["compare"], ["--write", "no-case"]])
def test_nothing_is_written_unless_that_is_what_was_asked_for(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        options(arguments)
    assert stopped.value.code == 2


def test_help_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        options(["--help"])
    assert stopped.value.code == 0
    assert "--write" in capsys.readouterr().out


def test_cases_are_picked_by_how_they_begin() -> None:
    case = next(iter(CASES))
    assert options(["--check", case]).cases == [case]
    assert not options(["--check", case]).write
