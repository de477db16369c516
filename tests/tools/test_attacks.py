"""The table of attacks says what the tallies say."""

import sys

import pytest

if sys.platform != "linux":
    pytest.skip("attacks need fork and /proc", allow_module_level=True)

from tests.faults.harness import Tally
from tools.attacks import faults_table, samples


def test_samples_are_of_one_command_or_of_all_others() -> None:
    assert samples(["30", "tune run --overwrite=10", "demo=3"]) == {"": 30, "tune run --overwrite": 10, "demo": 3}


def test_a_row_for_each_tally_and_the_total() -> None:
    tallies = [Tally("score", "kill", 27, 20, 20, []), Tally("score", "full", 13, 5, 4, ["score, full at 3: left x"])]
    text = faults_table(tallies)
    assert text.startswith("25 faults, ")
    assert "| `assay score` | SIGKILL at a file operation | 27 | 20 | 20 of 20 |" in text
    assert "| `assay score` | the disk is full from a write on | 13 | 5 | 4 of 5 |" in text
