"""Files that are damaged, hostile or strange: each is refused in one line, or gives a correct answer; nothing else.

Every reader and every verb that reads files, a change at a time, in forks with 4 GB of memory and 20 seconds. The same
cases each time: a sample of them here, all of them in the nightly target. `python -m tests.fuzz.cases N` shows one.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.cases import PLACES, SPECIAL, spoiled
from tests.fuzz.targets import TARGETS
from tools.warm import possible

SAMPLE, ALL = 300, 2_000
PARTS = 2  # as many as there are workers

pytestmark = pytest.mark.skipif(not possible(), reason="needs forks")


def attacked(first: int, last: int, *how: str) -> None:
    """Run cases in a process of its own, which starts no threads and so can fork."""
    command = [sys.executable, "-m", "tests.fuzz.cases", *how, str(first), str(last)]
    ran = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_a_sample_is_refused_in_one_line_or_answered_correctly(part: int) -> None:
    attacked(part * SAMPLE // PARTS, (part + 1) * SAMPLE // PARTS)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_all_are_refused_in_one_line_or_answered_correctly(part: int) -> None:
    first = SAMPLE + part * (ALL - SAMPLE) // 10
    attacked(first, SAMPLE + (part + 1) * (ALL - SAMPLE) // 10)


@pytest.mark.slow
def test_what_is_no_file_is_refused_wherever_a_file_is_read() -> None:
    attacked(0, len(PLACES), "special")


@pytest.mark.slow
def test_ten_megabytes_of_brackets_are_refused_in_under_a_second_wherever_a_file_is_read() -> None:
    attacked(0, len(PLACES), "deep")


@pytest.mark.nightly
def test_whatever_is_no_file_is_refused_wherever_a_file_is_read() -> None:
    attacked(len(PLACES), len(PLACES) * len(SPECIAL), "special")


def test_a_sample_meets_every_target_file_and_kind_of_change() -> None:
    cases = [spoiled(number)[1] for number in range(SAMPLE)]
    assert {case.target for case in cases} == {target.name for target in TARGETS}
    assert {(target.name, file) for target in TARGETS for file in target.changed} == {
        (case.target, case.file) for case in cases
    }
    assert len({case.change for case in cases}) > 40
    assert [spoiled(number)[2] for number in (3, 40)] == [spoiled(number)[2] for number in (3, 40)]
