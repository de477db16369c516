"""Attack a command: a fault at one of its file operations, then the same again, compared with no fault at all."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from tests.faults.commands import COMMANDS, Command, Files
from tests.faults.shim import Kind

ROOT = Path(__file__).parents[2]
FAULTS: tuple[Kind, ...] = ("kill", "terminate", "full")
CODES = {"kill": -signal.SIGKILL, "terminate": 143, "full": 74}


@dataclass(frozen=True)
class Ended:
    code: int
    said: str
    operations: int  # of all kinds; 0 if the process could not tell
    needing_room: int


class Runner:
    """The process that runs commands (`tests.faults.runner`)."""

    def __init__(self, *, models: bool) -> None:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false", "COLUMNS": "100"}
        environment.pop("GITHUB_STEP_SUMMARY", None)
        program = [sys.executable, "-m", "tests.faults.runner", *(["--models"] if models else [])]
        self.process = subprocess.Popen(
            program, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def __call__(self, command: Command, folder: Path, kind: Kind = "count", at: int = 0) -> Ended:
        said = folder.with_name(folder.name + ".said")
        request = {"arguments": command.arguments, "folder": str(folder), "said": str(said), "kind": kind, "at": at}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request | {"prelude": command.prelude}), file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        operations, needing_room = answer["counts"] or (0, 0)
        return Ended(answer["code"], said.read_text(encoding="utf-8"), operations, needing_room)

    def close(self) -> None:
        self.process.communicate()


@contextmanager
def runner(*, models: bool) -> Iterator[Runner]:
    """A runner, for a while."""
    made = Runner(models=models)
    try:
        yield made
    finally:
        made.close()


class Target:
    """A command that is attacked: what is there before it, and what it leaves if nothing goes wrong."""

    def __init__(self, command: Command, run: Runner, folder: Path) -> None:
        self.command, self.run, self.folder = command, run, folder
        self.before = folder / "before"
        (self.before / "tmp").mkdir(parents=True)
        command.prepare(self.before)
        for arguments in command.before:
            assert run(replace(command, arguments=arguments), self.before).code in (0, 1)
        whole = self._copy("whole")
        self.ended = run(command, whole)
        assert self.ended.code in (0, 1), self.ended.said
        self.wanted = self._contents(whole)

    def check_reproducible(self) -> None:
        """Without a fault, too, the command must leave the same each time, or nothing could be concluded."""
        again = self._copy("again")
        self.run(self.command, again)
        assert self._contents(again) == self.wanted

    def points(self, kind: Kind) -> int:
        """At how many operations this fault can strike."""
        return self.ended.needing_room if kind == "full" else self.ended.operations

    def attack(self, kind: Kind, at: int) -> list[str]:
        """What does not hold after this fault; nothing, if all does."""
        folder = self._copy("attacked")
        struck = self.run(self.command, folder, kind, at)
        faults = [f"ended with {struck.code}: {struck.said[-300:]}"] * (struck.code != CODES[kind])
        if kind == "terminate" and self._contents(folder) == self.wanted:
            shutil.rmtree(folder)  # the signal came when all was done: there is nothing to do again
            return [f"{self.command.name}, {kind} at {at}: {fault}" for fault in faults]
        if kind != "kill":
            faults += self._untidy(folder, struck)
        again = self.run(self.command, folder)
        if again.code != self.ended.code:
            faults.append(f"typed again: ended with {again.code}: {again.said[-500:]}")
        elif (found := self._contents(folder)) != self.wanted:
            names = sorted(
                name for name in found.keys() | self.wanted.keys() if found.get(name) != self.wanted.get(name)
            )
            faults.append(f"typed again: not as without a fault: {names}")
        shutil.rmtree(folder)
        return [f"{self.command.name}, {kind} at {at}: {fault}" for fault in faults]

    def _untidy(self, folder: Path, struck: Ended) -> list[str]:
        """A command that could end by itself says so in one line, and leaves no half of anything."""
        before, after = _files(self.before), _files(folder)
        faults = [f"changed {name}" for name, content in before.items() if after.get(name) != content]
        lines = [line for line in struck.said.splitlines() if line.startswith("assay: ")]
        if len(lines) != 1 or "Traceback" in struck.said:
            faults.append(f"said {struck.said[-500:]!r}")
        new = sorted(after.keys() - before.keys())
        litter = [name for name in new if name.endswith(".part") or name.startswith("tmp/") or not self.command.resumes]
        return faults + [f"left {litter}"] * bool(litter)

    def _copy(self, name: str) -> Path:
        folder = self.folder / name
        shutil.copytree(self.before, folder)
        return folder

    def _contents(self, folder: Path) -> dict[str, Any]:
        found: dict[str, Any] = dict(_files(folder))
        for name, compared in self.command.compared.items():
            if found.get(name) is not None:
                with suppress(AssayError):  # unfinished: then the bytes are compared, and are others
                    found[name] = compared(folder / name)
        return found


def _files(folder: Path) -> Files:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


@dataclass
class Tally:
    """How often a command was attacked in one way, and what did not hold."""

    command: str
    kind: Kind
    points: int
    tried: int
    held: int
    faults: list[str]


def attacked(
    names: Sequence[str] = tuple(COMMANDS), *, sample: int | None = None, seed: int = 0, kinds: Sequence[Kind] = FAULTS
) -> Iterator[Tally]:
    """Attack commands at every operation, or at a ``sample`` of so many for each command and kind."""
    chance = random.Random(seed)  # noqa: S311 - which points are tried is no secret
    for models in (False, True):
        chosen = [COMMANDS[name] for name in names if COMMANDS[name].models == models]
        if chosen:
            with runner(models=models) as run:
                yield from (tally for command in chosen for tally in _tallies(command, run, kinds, sample, chance))


def _tallies(
    command: Command, run: Runner, kinds: Sequence[Kind], sample: int | None, chance: random.Random
) -> Iterator[Tally]:
    with tempfile.TemporaryDirectory() as name:
        target = Target(command, run, Path(name))
        for kind in kinds:
            points = range(1, target.points(kind) + 1)
            tried = points if sample is None else sorted(chance.sample(points, min(sample, len(points))))
            found = [target.attack(kind, at) for at in tried]
            faults = [fault for faults in found for fault in faults]
            yield Tally(command.name, kind, len(points), len(tried), sum(not faults for faults in found), faults)
