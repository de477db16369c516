"""Kill, terminate, or fill the disk at a file operation; the same command, typed again, leaves what it always does.

`make test` tries 150 operations, chosen by seed; `make nightly` tries every one of every command.
"""

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.commands import COMMANDS, Command
from tests.faults.harness import FAULTS, Runner, Target, runner
from tests.faults.shim import Kind

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="handles are named through /proc")

#: How many operations of each command `make test` tries; dear commands fewer.
SAMPLE = {
    "certify": 17,
    "certify over another": 15,
    "certify tasks": 12,
    "rank": 12,
    "report": 3,
    "report --chart-format": 1,
    "survey": 2,
    "convert": 4,
    "convert --to": 6,
    "keygen": 15,
    "score": 16,
    "score --overwrite": 16,
    "generate": 8,
    "generate --overwrite": 6,
    "tune run": 5,
    "tune run --overwrite": 5,
    "gate": 6,
    "demo": 1,
}


def test_the_sample_has_150_operations_of_every_command() -> None:
    assert (sum(SAMPLE.values()), list(SAMPLE)) == (150, list(COMMANDS))


@pytest.fixture(scope="module")
def runners() -> Iterator[Callable[[bool], Runner]]:
    made: dict[bool, Runner] = {}

    def started(models: bool) -> Runner:
        if models:
            pytest.importorskip("peft")
        if models not in made:
            made[models] = Runner(models=models)
        return made[models]

    yield started
    for found in made.values():
        found.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_operations(name: str, runners: Callable[[bool], Runner], tmp_path: Path) -> None:
    target = Target(COMMANDS[name], runners(COMMANDS[name].models), tmp_path)
    every = [(kind, at) for kind in FAULTS for at in range(1, target.points(kind) + 1)]
    chosen = random.Random(name).sample(every, SAMPLE[name])  # noqa: S311 - no secret
    faults = [fault for kind, at in sorted(chosen) for fault in target.attack(kind, at)]
    assert not faults, "\n".join(faults)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("name", SAMPLE)
def test_every_operation(name: str, kind: Kind, runners: Callable[[bool], Runner], tmp_path: Path) -> None:
    target = Target(COMMANDS[name], runners(COMMANDS[name].models), tmp_path)
    target.check_reproducible()
    faults = [fault for at in range(1, target.points(kind) + 1) for fault in target.attack(kind, at)]
    assert not faults, "\n".join(faults)


def test_the_harness_sees_a_file_that_is_written_in_place(tmp_path: Path) -> None:
    """Against a writer that is known to be wrong: it writes to the target itself, and refuses what is there."""
    with runner(models=False) as run:
        careless = Command("careless", ["compare"], lambda _: None, prelude="careless_writer")
        target = Target(careless, run, tmp_path)
        found = [target.attack("kill", at) for at in range(1, target.points("kill") + 1)]
    assert any(found), "kills of a careless writer went unnoticed"
